//! What is refused, and the limits of what is not.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use quire_decision::{
    AlternativeValues, CriteriaHierarchy, CriteriaWeights, DecisionError, PairwiseMatrix, RATIO_MAX,
};

fn refusal(judgements: &[&[f64]]) -> DecisionError {
    PairwiseMatrix::from_judgements(judgements).unwrap_err()
}

fn two(values: AlternativeValues) -> CriteriaHierarchy {
    CriteriaHierarchy::new(["a", "b"]).benefit("speed", values)
}

fn measured(values: &[f64]) -> AlternativeValues {
    AlternativeValues::Measured(values.to_vec())
}

#[test]
fn a_matrix_has_as_many_columns_as_rows_and_at_most_15() {
    assert_eq!(refusal(&[]), DecisionError::NoRows);
    let not_square = DecisionError::NotSquare {
        row: 2,
        columns: 1,
        rows: 2,
    };
    assert_eq!(refusal(&[&[1.0, 2.0], &[0.5]]), not_square);
    let equal = |rows: usize| PairwiseMatrix::from_judgements(&vec![vec![1.0; rows]; rows]);
    assert_eq!(equal(15).unwrap().rows(), 15);
    let too_many = DecisionError::TooManyRows { rows: 16 };
    assert_eq!(equal(16).unwrap_err(), too_many);
    assert_eq!(
        PairwiseMatrix::from_values(&[1.0; 16]).unwrap_err(),
        too_many
    );
    assert_eq!(
        PairwiseMatrix::from_values(&[]).unwrap_err(),
        DecisionError::NoRows
    );
}

#[test]
fn a_comparison_is_a_positive_finite_ratio() {
    for value in [0.0, -3.0, f64::NAN, f64::INFINITY, 1e13, 1e-13] {
        let refused = refusal(&[&[1.0, value], &[1.0 / 3.0, 1.0]]);
        let place = matches!(
            refused,
            DecisionError::NoRatio {
                row: 1,
                column: 2,
                ..
            }
        );
        assert!(place, "{value}: {refused}");
    }
    let diagonal = refusal(&[&[1.0, 3.0], &[1.0 / 3.0, 2.0]]);
    assert_eq!(
        diagonal,
        DecisionError::DiagonalNotOne { row: 2, value: 2.0 }
    );
}

#[test]
fn opposite_comparisons_are_reciprocal_within_half_a_per_cent() {
    let refused = refusal(&[&[1.0, 3.0], &[0.5, 1.0]]);
    let expected = DecisionError::NotReciprocal {
        row: 1,
        column: 2,
        value: 3.0,
        opposite: 0.5,
    };
    assert_eq!(refused, expected);
    // The larger one of a pair is taken, on whichever side of the diagonal it is.
    for judgements in [[[1.0, 7.0], [0.143, 1.0]], [[1.0, 0.143], [7.0, 1.0]]] {
        let vector = PairwiseMatrix::from_judgements(&judgements)
            .unwrap()
            .priorities()
            .unwrap();
        let larger = vector.priorities.iter().copied().fold(0.0, f64::max);
        assert!((larger - 7.0 / 8.0).abs() < 1e-12, "{larger}");
    }
}

#[test]
fn contradictions_between_enormous_ratios_do_not_converge() {
    let (more, less) = (1e9, 1e-9);
    let circle = [[1.0, more, less], [less, 1.0, more], [more, less, 1.0]];
    // All three are equal, by symmetry: the iteration begins there. One ratio that differs ends the symmetry.
    let equal = PairwiseMatrix::from_judgements(&circle)
        .unwrap()
        .priorities()
        .unwrap();
    equal
        .priorities
        .iter()
        .for_each(|one| assert!((one - 1.0 / 3.0).abs() < 1e-12));
    let circle = [
        [1.0, 2.0 * more, less],
        [0.5 * less, 1.0, more],
        [more, less, 1.0],
    ];
    let refused = PairwiseMatrix::from_judgements(&circle)
        .unwrap()
        .priorities();
    assert!(
        matches!(refused, Err(DecisionError::NotConverged { .. })),
        "{refused:?}"
    );
}

#[test]
fn measured_values_are_positive_and_comparable() {
    let refused = |values: [f64; 2]| two(measured(&values)).rank().unwrap_err();
    let of = || "criterion speed".to_owned();
    let zero = DecisionError::NotPositive {
        of: of(),
        place: 2,
        value: 0.0,
    };
    assert_eq!(refused([1.0, 0.0]), zero);
    let infinite = DecisionError::NotFinite {
        of: of(),
        place: 1,
        value: f64::INFINITY,
    };
    assert_eq!(refused([f64::INFINITY, 1.0]), infinite);
    assert!(matches!(
        refused([1.0, f64::NAN]),
        DecisionError::NotFinite { place: 2, .. }
    ));
    let apart = DecisionError::TooFarApart {
        of: of(),
        smallest: 1.0,
        largest: 2.0 * RATIO_MAX,
    };
    assert_eq!(refused([2.0 * RATIO_MAX, 1.0]), apart);
    assert!(matches!(
        refused([f64::MAX, 5e-324]),
        DecisionError::TooFarApart { .. }
    ));
    assert!(PairwiseMatrix::from_values(&[1.0, -1.0]).is_err());
}

#[test]
fn a_percentage_is_above_minus_100() {
    let refused = |values: [f64; 2]| two(AlternativeValues::Percentages(values.to_vec())).rank();
    let too_low = DecisionError::PercentageTooLow {
        of: "criterion speed".to_owned(),
        place: 2,
        value: -100.0,
    };
    assert_eq!(refused([5.0, -100.0]).unwrap_err(), too_low);
    assert!(refused([5.0, f64::NAN]).is_err());
    // 50 % more and 50 % less: 150 and 50 of 200.
    assert_eq!(
        refused([50.0, -50.0]).unwrap().benefits[0].priorities,
        [0.75, 0.25]
    );
}

#[test]
fn extreme_values_that_are_comparable_have_finite_results() {
    for scale in [f64::MAX / 3.5, 1e-300, f64::MIN_POSITIVE / 4096.0] {
        let values = measured(&[scale, scale * 3.0]);
        let ranking = two(values.clone()).cost("time", values).rank().unwrap();
        for (alternative, share) in ranking.alternatives.iter().zip([0.25, 0.75]) {
            assert!((alternative.benefit - share).abs() < 1e-12, "{scale:e}");
            assert!(
                (alternative.benefit_to_cost.unwrap() - 1.0).abs() < 1e-12,
                "{scale:e}"
            );
        }
    }
}

#[test]
fn there_is_one_value_for_each_alternative_and_one_weight_for_each_criterion() {
    let none: [&str; 0] = [];
    assert_eq!(
        CriteriaHierarchy::new(none).rank().unwrap_err(),
        DecisionError::NoAlternatives
    );
    let costs_only = CriteriaHierarchy::new(["a"]).cost("time", measured(&[1.0]));
    assert_eq!(costs_only.rank().unwrap_err(), DecisionError::NoBenefits);
    let count = |of: &str, given, needed| DecisionError::WrongCount {
        of: of.to_owned(),
        given,
        needed,
    };
    let three = two(measured(&[1.0, 2.0, 3.0])).rank().unwrap_err();
    assert_eq!(three, count("criterion speed", 3, 2));
    let matrix = PairwiseMatrix::from_values(&[1.0]).unwrap();
    let judged = two(AlternativeValues::Judged(matrix.clone()))
        .rank()
        .unwrap_err();
    assert_eq!(judged, count("criterion speed", 1, 2));
    let weighed = two(measured(&[1.0, 2.0])).cost("time", measured(&[1.0, 2.0]));
    let weights = weighed
        .clone()
        .cost_weights(CriteriaWeights::Ratios(vec![1.0, 1.0]));
    assert_eq!(
        weights.rank().unwrap_err(),
        count("weights of the costs", 2, 1)
    );
    assert!(
        weighed
            .cost_weights(CriteriaWeights::Judged(matrix))
            .rank()
            .is_ok()
    );
}

#[test]
fn weights_are_not_negative_and_not_all_0() {
    let weighed = |weights: CriteriaWeights| {
        two(measured(&[1.0, 3.0]))
            .benefit("saving", measured(&[3.0, 1.0]))
            .benefit_weights(weights)
    };
    let refused = |weights: CriteriaWeights| weighed(weights).rank().unwrap_err();
    let of = || "weights of the benefits".to_owned();
    let negative = DecisionError::NegativeWeight {
        of: of(),
        place: 2,
        value: -1.0,
    };
    assert_eq!(refused(CriteriaWeights::Ratios(vec![2.0, -1.0])), negative);
    assert_eq!(
        refused(CriteriaWeights::Ratios(vec![0.0; 2])),
        DecisionError::NoWeight { of: of() }
    );
    let sum = DecisionError::WeightSum { of: of(), sum: 3.0 };
    assert_eq!(refused(CriteriaWeights::AsGiven(vec![1.0, 2.0])), sum);
    assert!(matches!(
        refused(CriteriaWeights::AsGiven(vec![f64::NAN, 1.0])),
        DecisionError::NotFinite { place: 1, .. }
    ));
    // A criterion of weight 0 does not count.
    let ranking = weighed(CriteriaWeights::Ratios(vec![0.0, 5.0]))
        .rank()
        .unwrap();
    assert_eq!(ranking.alternatives[0].benefit, 0.75);
}

#[test]
fn equal_scores_share_a_rank_in_the_order_of_the_alternatives() {
    // a and d have the same values of the three criteria in another order: the sums are the same number.
    let ranking = CriteriaHierarchy::new(["a", "b", "c", "d"])
        .benefit("x", measured(&[0.1, 0.7, 0.1, 0.3]))
        .benefit("y", measured(&[0.2, 0.7, 0.1, 0.2]))
        .benefit("z", measured(&[0.3, 0.7, 0.1, 0.1]))
        .rank()
        .unwrap();
    let ranks: Vec<usize> = ranking.alternatives.iter().map(|one| one.rank).collect();
    assert_eq!(ranks, [2, 1, 4, 2]);
    let names: Vec<&str> = ranking.best_first().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "d", "c"]);
}
