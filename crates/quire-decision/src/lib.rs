//! Which of several alternatives is best by several criteria? The analytic hierarchy process (AHP).
//!
//! Criteria are benefits or costs. Each gives the alternatives priorities that sum to 1: by their measured values, or by a matrix of pairwise
//! judgements, whose consistency is reported. The criteria of a group have weights. The result is each alternative's benefit, cost, benefit/cost and rank.
//!
//! Source of the method: T. L. Saaty, *Decision making with the analytic hierarchy process*, 2008. Source of its use for compression: paper 5,
//! Suharjito and A. B. Kurnadi, *OLTP performance improvement using file-systems layer compression*, 2017, §2.3 and §3.
//!
//! ```
//! use quire_decision::{AlternativeValues, CriteriaWeights, CriteriaHierarchy};
//!
//! // Order Entry of the paper: tables 5 to 8, in per cent.
//! let ranking = CriteriaHierarchy::new(["ZLE", "LZJB", "LZ4"])
//!     .benefit("saving", AlternativeValues::Percentages(vec![40.83, 66.89, 73.40]))
//!     .benefit("performance", AlternativeValues::Percentages(vec![3.59, 18.22, 27.27]))
//!     .benefit("response", AlternativeValues::Percentages(vec![-0.95, 100.31, -16.75]))
//!     .benefit_weights(CriteriaWeights::AsGiven(vec![0.333; 3]))
//!     .cost("CPU overhead", AlternativeValues::Percentages(vec![12.5, 25.0, 187.5]))
//!     .rank()?;
//! let names: Vec<&str> = ranking.best_first().map(|ranked| ranked.name.as_str()).collect();
//! assert_eq!(names, ["LZJB", "ZLE", "LZ4"]);
//! # Ok::<(), quire_decision::DecisionError>(())
//! ```
#![forbid(unsafe_code)]

mod consistency;
mod error;
mod hierarchy;
mod measured;
mod pairwise_matrix;
mod weights;

pub use consistency::{JudgementConsistency, PriorityVector};
pub use error::{DecisionError, MATRIX_ROWS_MAX, RATIO_MAX};
pub use hierarchy::ranking::{CriterionPriorities, RankedAlternative, Ranking};
pub use hierarchy::{AlternativeValues, CriteriaHierarchy};
pub use pairwise_matrix::PairwiseMatrix;
pub use weights::CriteriaWeights;

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct DecisionExamples;
