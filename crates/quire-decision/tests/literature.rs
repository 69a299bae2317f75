//! Saaty's printed examples: judgements that contradict each other, and a whole hierarchy of them.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use quire_decision::{AlternativeValues, CriteriaHierarchy, CriteriaWeights, PairwiseMatrix};

/// One unit of the third and last digit that he prints, for he did not round exactly: for 0.6491 he has 0.650.
const UNIT: f64 = 0.001;

/// The whole matrix from the comparisons above its diagonal, row by row.
fn judged(rows: usize, above: &[f64]) -> PairwiseMatrix {
    let mut judgements = vec![vec![1.0; rows]; rows];
    let pairs = (0..rows).flat_map(|row| (row + 1..rows).map(move |column| (row, column)));
    assert_eq!(pairs.clone().count(), above.len());
    for ((row, column), judgement) in pairs.zip(above) {
        judgements[row][column] = *judgement;
        judgements[column][row] = 1.0 / judgement;
    }
    PairwiseMatrix::from_judgements(&judgements).unwrap()
}

fn assert_near(what: &str, calculated: f64, printed: f64) {
    let difference = (calculated - printed).abs();
    assert!(difference <= UNIT, "{what}: {calculated} is not {printed}");
}

fn assert_priorities(what: &str, calculated: &[f64], printed: &[f64]) {
    assert_eq!(calculated.len(), printed.len(), "{what}");
    for (calculated, printed) in calculated.iter().zip(printed) {
        assert_near(what, *calculated, *printed);
    }
}

/// T. L. Saaty, *Decision making with the analytic hierarchy process*, Int. J. Services Sciences 1 (2008): which drink is consumed more in the United
/// States. Coffee, wine, tea, beer, sodas, milk, water. (His lower triangle has 2 for tea over wine, where 1/3 above it means 3.)
#[test]
fn consumption_of_drinks() {
    #[rustfmt::skip]
    let matrix = judged(7, &[
        9.0, 5.0,       2.0,       1.0,       1.0,       1.0 / 2.0,
             1.0 / 3.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0,
                        1.0 / 3.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 9.0,
                                   1.0 / 2.0, 1.0,       1.0 / 3.0,
                                              2.0,       1.0 / 2.0,
                                                         1.0 / 3.0,
    ]);
    let vector = matrix.priorities().unwrap();
    let printed = [0.177, 0.019, 0.042, 0.116, 0.190, 0.129, 0.327];
    assert_priorities("drinks", &vector.priorities, &printed);
    assert_near("consistency ratio", vector.consistency.ratio, 0.022);
    assert!(vector.consistency.is_acceptable());
}

/// T. L. Saaty, *How to make a decision: the analytic hierarchy process*, European Journal of Operational Research 48 (1990), table 2: size, transport,
/// neighbourhood, age, yard, modern facilities, condition, financing.
fn criteria_of_a_house() -> PairwiseMatrix {
    #[rustfmt::skip]
    let matrix = judged(8, &[
        5.0, 3.0,       7.0, 6.0,       6.0,       1.0 / 3.0, 1.0 / 4.0,
             1.0 / 3.0, 5.0, 3.0,       3.0,       1.0 / 5.0, 1.0 / 7.0,
                        6.0, 3.0,       4.0,       6.0,       1.0 / 5.0,
                             1.0 / 3.0, 1.0 / 4.0, 1.0 / 7.0, 1.0 / 8.0,
                                        1.0 / 2.0, 1.0 / 5.0, 1.0 / 6.0,
                                                   1.0 / 5.0, 1.0 / 6.0,
                                                              1.0 / 2.0,
    ]);
    matrix
}

#[test]
fn criteria_of_a_house_contradict_each_other() {
    let vector = criteria_of_a_house().priorities().unwrap();
    let printed = [0.173, 0.054, 0.188, 0.018, 0.031, 0.036, 0.167, 0.333];
    assert_priorities("criteria", &vector.priorities, &printed);
    assert_near("λmax", vector.consistency.lambda_max, 9.669);
    assert_near("consistency index", vector.consistency.index, 0.238);
    assert_near("consistency ratio", vector.consistency.ratio, 0.169);
    assert!(!vector.consistency.is_acceptable());
}

/// The same, table 3: two of the eight criteria, with λmax and consistency ratio.
#[test]
fn houses_by_transport_and_by_financing() {
    let transport = judged(3, &[7.0, 1.0 / 5.0, 1.0 / 8.0])
        .priorities()
        .unwrap();
    assert_near("λmax", transport.consistency.lambda_max, 3.247);
    assert_near("consistency index", transport.consistency.index, 0.124);
    assert_near("consistency ratio", transport.consistency.ratio, 0.213);
    // In three rows λmax is 1 + k^(1/3) + k^(-1/3), where k = a12 a23 / a13.
    let root = (7.0 * (1.0 / 8.0) * 5.0f64).cbrt();
    let exact = 1.0 + root + 1.0 / root;
    assert!((transport.consistency.lambda_max - exact).abs() < 1e-11);
    let financing = judged(3, &[1.0 / 7.0, 1.0 / 5.0, 3.0])
        .priorities()
        .unwrap();
    assert_near("λmax", financing.consistency.lambda_max, 3.065);
    assert_near("consistency ratio", financing.consistency.ratio, 0.056);
}

/// The same, tables 3 and 4: three houses by all criteria.
#[test]
fn choice_of_a_house() {
    let third = 1.0 / 3.0;
    let criteria: [(&str, [f64; 3], [f64; 3]); 8] = [
        ("size", [6.0, 8.0, 4.0], [0.754, 0.181, 0.065]),
        (
            "transport",
            [7.0, 1.0 / 5.0, 1.0 / 8.0],
            [0.233, 0.055, 0.713],
        ),
        (
            "neighbourhood",
            [8.0, 6.0, 1.0 / 4.0],
            [0.754, 0.065, 0.181],
        ),
        ("age", [1.0, 1.0, 1.0], [0.333, 0.333, 0.333]),
        ("yard", [5.0, 4.0, third], [0.674, 0.101, 0.226]),
        (
            "modern facilities",
            [8.0, 6.0, 1.0 / 5.0],
            [0.747, 0.060, 0.193],
        ),
        (
            "condition",
            [1.0 / 2.0, 1.0 / 2.0, 1.0],
            [0.200, 0.400, 0.400],
        ),
        (
            "financing",
            [1.0 / 7.0, 1.0 / 5.0, 3.0],
            [0.072, 0.650, 0.278],
        ),
    ];
    let mut hierarchy = CriteriaHierarchy::new(["A", "B", "C"])
        .benefit_weights(CriteriaWeights::Judged(criteria_of_a_house()));
    for (name, above, _) in criteria {
        hierarchy = hierarchy.benefit(name, AlternativeValues::Judged(judged(3, &above)));
    }
    let ranking = hierarchy.rank().unwrap();
    for (criterion, (name, _, printed)) in ranking.benefits.iter().zip(criteria) {
        assert_eq!(criterion.name, name);
        assert_priorities(name, &criterion.priorities, &printed);
    }
    for (alternative, printed) in ranking.alternatives.iter().zip([0.396, 0.341, 0.263]) {
        assert_near(&alternative.name, alternative.benefit, printed);
        assert_eq!(
            (alternative.cost, alternative.benefit_to_cost),
            (None, None)
        );
    }
    let ranks: Vec<usize> = ranking.alternatives.iter().map(|one| one.rank).collect();
    assert_eq!(ranks, [1, 2, 3]);
    assert!(!ranking.benefit_weights.consistency.is_acceptable());
    assert_eq!((ranking.costs.len(), ranking.cost_weights), (0, None));
}
