//! How is the budget of a pool divided between pages and their compressed images?

use std::fmt;
use std::str::FromStr;

use super::tuner::{Miss, Tuner};

/// What a pool does with the image of a page that has a frame, and how much of its budget is for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolPolicy {
    /// An image is kept as long as it is used, whether its page has a frame or not, and what is measured decides how much is for frames.
    #[default]
    Tuned,
    /// InnoDB's pool (J. Ma et al., *Leveraging Page-Level Compression in MySQL*, §III): a frame holds its compressed image as long as it
    /// stays, its *twin*. An image outlives its frame, and no frame its image. The share of the frames is fixed.
    ///
    /// Pages of trees without a codec have no twin. A pool for such trees should have 100 percent, as InnoDB's has.
    Twins {
        /// Percent of the budget that is for frames, 1 to 100: 100 less the paper's *R*. Twins and other images have the rest.
        uncompressed_percent: u8,
    },
}

impl PoolPolicy {
    /// InnoDB's default: a tenth for uncompressed pages (§III).
    pub const TWINS: Self = Self::Twins {
        uncompressed_percent: 10,
    };

    /// Whether frames hold their images.
    pub(super) const fn has_twins(&self) -> bool {
        matches!(self, Self::Twins { .. })
    }
}

/// `tuned`, `twins:10`: what [`FromStr`] reads.
impl fmt::Display for PoolPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tuned => formatter.write_str("tuned"),
            Self::Twins {
                uncompressed_percent,
            } => write!(formatter, "twins:{uncompressed_percent}"),
        }
    }
}

/// A text that names no policy.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "\"{text}\" is no policy of the pool; write tuned, twins, or twins:PERCENT with 1 to 100 percent of the memory for uncompressed pages"
)]
pub struct PoolPolicyError {
    text: String,
}

impl FromStr for PoolPolicy {
    type Err = PoolPolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || PoolPolicyError {
            text: text.to_owned(),
        };
        match text.to_ascii_lowercase().split_once(':') {
            None if text.eq_ignore_ascii_case("tuned") => Ok(Self::Tuned),
            None if text.eq_ignore_ascii_case("twins") => Ok(Self::TWINS),
            Some(("twins", percent)) => match percent.parse() {
                Ok(uncompressed_percent @ 1..=100) => Ok(Self::Twins {
                    uncompressed_percent,
                }),
                _ => Err(unknown()),
            },
            _ => Err(unknown()),
        }
    }
}

/// The division of a budget under a policy.
#[derive(Debug)]
pub(super) enum BudgetSplit {
    Tuned(Tuner),
    Twins {
        budget_bytes: usize,
        /// The share of frames.
        share_bytes: usize,
    },
}

impl BudgetSplit {
    pub(super) fn new(policy: PoolPolicy, budget_bytes: usize) -> Self {
        match policy {
            PoolPolicy::Tuned => Self::Tuned(Tuner::new(budget_bytes)),
            PoolPolicy::Twins {
                uncompressed_percent,
            } => {
                let percent = usize::from(uncompressed_percent.clamp(1, 100));
                Self::Twins {
                    budget_bytes,
                    share_bytes: budget_bytes / 100 * percent + budget_bytes % 100 * percent / 100,
                }
            }
        }
    }

    /// Bytes for frames, whose twins take `twin_bytes` at the moment: where that is more than the rest of the budget, there is room for fewer.
    pub(super) fn frame_bytes(&self, twin_bytes: usize) -> usize {
        match self {
            Self::Tuned(tuner) => tuner.frame_bytes(),
            Self::Twins {
                budget_bytes,
                share_bytes,
            } => (*share_bytes).min(budget_bytes.saturating_sub(twin_bytes)),
        }
    }

    /// Bytes that what is remembered of either part has taken.
    pub(super) fn window_bytes(&self) -> usize {
        match self {
            Self::Tuned(tuner) => tuner.window_bytes(),
            Self::Twins { budget_bytes, .. } => Tuner::new(*budget_bytes).window_bytes(),
        }
    }

    /// Notes an access that found no frame.
    pub(super) fn note(&mut self, miss: Miss, read_ns: u64, decode_ns: u64) {
        if let Self::Tuned(tuner) = self {
            tuner.note(miss, read_ns, decode_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_read_as_it_is_written() {
        let all = [PoolPolicy::Tuned, PoolPolicy::TWINS];
        for policy in all {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        assert_eq!("Twins".parse(), Ok(PoolPolicy::TWINS));
        let most = PoolPolicy::Twins {
            uncompressed_percent: 100,
        };
        assert_eq!("twins:100".parse(), Ok(most));
        for text in ["", "twins:", "twins:0", "twins:101", "tuned:10", "lru"] {
            let error = text.parse::<PoolPolicy>().err();
            let message = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains("write tuned, twins"), "{text}: {message}");
        }
    }

    #[test]
    fn frames_have_their_share_unless_their_twins_take_it() {
        let split = BudgetSplit::new(
            PoolPolicy::Twins {
                uncompressed_percent: 60,
            },
            1_050,
        );
        assert_eq!(split.frame_bytes(0), 630);
        assert_eq!(split.frame_bytes(420), 630);
        assert_eq!(split.frame_bytes(500), 550);
        assert_eq!(split.frame_bytes(2_000), 0);
    }
}
