//! Plans that several places of a query read: their rows are made once, and each place has all of them.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_schema::DataType;
use proptest::prelude::*;
use proptest::test_runner::Config;
use quire_exec::avm::TrapReason;
use quire_exec::plan::{
    Aggregate, AggregateCall, AggregateFunction, EvaluationError, Expression, IntegerOperation,
    IntegerWidth, Join, JoinKey, JoinKind, Operator, Plan, PlanColumn, PlanError, PlanNode,
    PlanQuery, PlanScalar, SumKind, ValueKind,
};
use quire_exec::tuple::{QueryOptions, TemporaryDisks, TupleQuery, TupleQueryError};
use quire_tables::row_table::Value;

/// A group, and a number.
type Row = (i64, i64);

fn column(plan: &Plan, slot: usize) -> Expression {
    let column = &plan.columns[slot];
    Expression::Column {
        slot,
        kind: column.kind().unwrap(),
        nullable: column.nullable,
    }
}

fn integer(value: i64) -> Expression {
    Expression::Constant(Value::Integer(value))
}

/// Rows of two numbers.
fn given(rows: &[Row]) -> Plan {
    let column = |name: &str| PlanColumn {
        name: name.to_owned(),
        data_type: DataType::Int64,
        nullable: false,
    };
    Plan {
        node: PlanNode::Values(
            rows.iter()
                .map(|(group, number)| vec![integer(*group), integer(*number)])
                .collect(),
        ),
        columns: vec![column("g"), column("n")],
    }
}

fn total(input: Plan, groups: Vec<Expression>, function: AggregateFunction, slot: usize) -> Plan {
    let call = AggregateCall {
        function,
        argument: Some(column(&input, slot)),
        is_distinct: false,
        filter: None,
    };
    let mut names: Vec<(String, DataType)> = groups
        .iter()
        .map(|_| ("group".to_owned(), DataType::Int64))
        .collect();
    names.push(("total".to_owned(), DataType::Int64));
    let aggregate = Aggregate {
        input,
        groups,
        calls: vec![call],
    };
    Plan::aggregate(aggregate, names)
}

/// The sum of the numbers of each group.
fn sums(rows: &[Row]) -> Plan {
    let input = given(rows);
    let group = column(&input, 0);
    total(
        input,
        vec![group],
        AggregateFunction::Sum(SumKind::BigInt),
        1,
    )
}

fn group_sums(rows: &[Row]) -> Vec<Row> {
    let mut groups = std::collections::BTreeMap::new();
    for (group, number) in rows {
        *groups.entry(*group).or_insert(0) += number;
    }
    groups.into_iter().collect()
}

fn joined(left: Plan, right: Plan, keys: Vec<JoinKey>) -> Plan {
    Plan::join(
        Join {
            kind: JoinKind::Inner,
            left,
            right,
            keys,
            nulls_match: false,
            residual: None,
            is_null_aware: false,
        },
        "",
    )
}

fn query_of(values: Vec<Plan>, plan: Plan) -> PlanQuery {
    let query = PlanQuery {
        parameter_count: 0,
        values,
        plan,
    };
    query.check().unwrap();
    query
}

fn no_tables(_: &str) -> Option<Arc<quire_tables::RowTable>> {
    None
}

fn options(memory_bytes: usize) -> QueryOptions {
    QueryOptions {
        memory_bytes,
        ..QueryOptions::default()
    }
}

fn answer(query: &PlanQuery, options: &QueryOptions) -> Result<Vec<Vec<i64>>, TupleQueryError> {
    let mut running = TupleQuery::with_options(query, &no_tables, &[], options)?;
    let mut rows = Vec::new();
    while running.next_row()? {
        let value = |slot| match running.value(slot) {
            PlanScalar::Integer(value) => value,
            other => panic!("{other:?}"),
        };
        rows.push((0..query.plan.columns.len()).map(value).collect());
    }
    assert!(!running.next_row()?, "it ends once");
    rows.sort();
    Ok(rows)
}

/// Query 15 of TPC-D in small: the groups whose total is the greatest of all.
fn greatest(rows: &[Row]) -> PlanQuery {
    let view = Arc::new(sums(rows));
    let place = || Plan::shared(1, Arc::clone(&view));
    let highest = total(place(), Vec::new(), AggregateFunction::Max, 1);
    let parameter = Expression::Parameter {
        number: 0,
        kind: ValueKind::Integer,
    };
    let equal = Expression::Compare(
        quire_exec::plan::ComparisonExpression::Equal,
        Box::new([column(&view, 1), parameter]),
    );
    query_of(vec![highest], place().filter(equal))
}

proptest! {
    #![proptest_config(Config { cases: 200, ..Config::default() })]

    #[test]
    fn a_value_and_the_rows_read_the_same_groups(
        rows in prop::collection::vec((0_i64..40, -5_i64..5), 0..200),
        memory_bytes in prop::sample::select(vec![0, 600, 4_000, 1 << 20]),
    ) {
        let groups = group_sums(&rows);
        let most = groups.iter().map(|(_, sum)| *sum).max();
        let expected = groups.into_iter().filter(|(_, sum)| Some(*sum) == most);
        let expected: Vec<Vec<i64>> = expected.map(|(group, sum)| vec![group, sum]).collect();
        prop_assert_eq!(answer(&greatest(&rows), &options(memory_bytes)).unwrap(), expected);
    }

    /// Both sides of a join, one of which the join reads to its end before the other has begun.
    #[test]
    fn two_sides_of_a_join_read_the_same_groups(
        rows in prop::collection::vec((0_i64..40, -5_i64..5), 0..200),
        memory_bytes in prop::sample::select(vec![0, 600, 4_000, 1 << 20]),
    ) {
        let view = Arc::new(sums(&rows));
        let place = || Plan::shared(1, Arc::clone(&view));
        let key = JoinKey { left: column(&view, 1), right: column(&view, 1) };
        let query = query_of(Vec::new(), joined(place(), place(), vec![key]));
        let groups = group_sums(&rows);
        let mut expected = Vec::new();
        for (group, sum) in &groups {
            let same = groups.iter().filter(|(_, other)| other == sum);
            expected.extend(same.map(|(other, _)| vec![*group, *sum, *other, *sum]));
        }
        prop_assert_eq!(answer(&query, &options(memory_bytes)).unwrap(), expected);
    }

    /// A place that stops early leaves all rows for the others, whichever of them is first.
    #[test]
    fn a_place_that_stops_early_takes_nothing_from_others(
        rows in prop::collection::vec((0_i64..40, -5_i64..5), 0..200),
        fetch in 0_i64..50,
        stops_first: bool,
        memory_bytes in prop::sample::select(vec![0, 600, 1 << 20]),
    ) {
        let view = Arc::new(sums(&rows));
        let place = || Plan::shared(1, Arc::clone(&view));
        let stopped = place().limit(None, Some(integer(fetch)));
        let places = if stops_first { vec![stopped, place()] } else { vec![place(), stopped] };
        let query = query_of(Vec::new(), Plan::union_all(places));
        let groups = group_sums(&rows);
        let found = answer(&query, &options(memory_bytes)).unwrap();
        prop_assert_eq!(found.len(), groups.len() + groups.len().min(fetch as usize));
        for (group, sum) in groups {
            let same = found.iter().filter(|row| **row == [group, sum]);
            prop_assert!((1..=2).contains(&same.count()));
        }
    }
}

fn headings<'e>(
    operator: &'e quire_exec::explained::ExplainedOperator,
    found: &mut Vec<&'e quire_exec::explained::ExplainedOperator>,
) {
    found.push(operator);
    for input in &operator.inputs {
        headings(input, found);
    }
}

/// How often what is said of operators contains some words, in `EXPLAIN` and in `EXPLAIN ANALYZE`.
fn counted(query: &PlanQuery, words: &str) -> [usize; 2] {
    let options = QueryOptions {
        is_counted: true,
        ..QueryOptions::default()
    };
    let unstarted = TupleQuery::unstarted(query, &no_tables, &options).unwrap();
    let mut run = TupleQuery::with_options(query, &no_tables, &[], &options).unwrap();
    while run.next_row().unwrap() {}
    [unstarted, run].map(|query| {
        let explained = query.explanation(false);
        let mut operators = Vec::new();
        headings(&explained, &mut operators);
        let operators = operators.into_iter();
        operators.filter(|it| it.heading.contains(words)).count()
    })
}

#[test]
fn what_is_shared_is_shown_and_run_once() {
    let rows: Vec<Row> = (0..100).map(|number| (number % 10, number)).collect();
    let query = greatest(&rows);
    assert_eq!(counted(&query, "given rows"), [1, 1]);
    assert_eq!(counted(&query, "shared rows 1"), [2, 2]);
    assert_eq!(counted(&query, "made once for 2 places"), [1, 1]);
    let text = query.to_string();
    assert_eq!(text.matches("shared rows 1").count(), 2, "{text}");
    assert_eq!(text.matches("values: 100 rows").count(), 1, "{text}");
}

/// The place that is read second costs reading only.
#[test]
fn a_second_place_costs_less_than_making_the_rows_again() {
    let rows: Vec<Row> = (0..5_000).map(|number| (number % 50, number)).collect();
    let of = |query: &PlanQuery| {
        TupleQuery::estimate(query, &no_tables, &[], &QueryOptions::default()).unwrap()
    };
    let view = Arc::new(sums(&rows));
    let place = || Plan::shared(1, Arc::clone(&view));
    let plain = || Plan::clone(&view);
    let once = of(&query_of(Vec::new(), place())).tuple_ns;
    let shared = of(&query_of(
        Vec::new(),
        Plan::union_all(vec![place(), place()]),
    ))
    .tuple_ns;
    let repeated = of(&query_of(
        Vec::new(),
        Plan::union_all(vec![plain(), plain()]),
    ))
    .tuple_ns;
    let start = QueryOptions::default()
        .costs
        .of(quire_exec::costs::Cost::TupleStart);
    assert!(shared - once < (once - start) / 10.0, "{once} {shared}");
    assert!(
        shared - start < (repeated - start) * 0.7,
        "{shared} {repeated}"
    );
}

/// Pairs that are many more than what they are made of are made in each place; few pairs of many rows are kept.
#[test]
fn a_join_is_repeated_where_that_costs_less() {
    let rows: Vec<Row> = (0..200).map(|number| (number, number)).collect();
    let all_pairs = || joined(given(&rows), given(&rows), Vec::new());
    let few_pairs = || {
        let (left, right) = (given(&rows), given(&rows));
        let keys = [0, 1].map(|slot| JoinKey {
            left: column(&left, slot),
            right: column(&right, slot),
        });
        let one = Expression::Compare(
            quire_exec::plan::ComparisonExpression::Equal,
            Box::new([column(&left, 0), integer(7)]),
        );
        let mut join = joined(left, right, keys.into());
        if let PlanNode::Join(join) = &mut join.node {
            join.residual = Some(one);
        }
        join
    };
    for (plan, made_once) in [(all_pairs(), 0), (few_pairs(), 1)] {
        let plan = Arc::new(plan);
        let place = || Plan::shared(1, Arc::clone(&plan));
        let query = query_of(Vec::new(), Plan::union_all(vec![place(), place()]));
        assert_eq!(counted(&query, "made once")[0], made_once, "{query}");
        let plain = Plan::union_all(vec![Plan::clone(&plan), Plan::clone(&plan)]);
        let plain = query_of(Vec::new(), plain);
        for memory_bytes in [0, 1 << 20] {
            let of = |query| answer(query, &options(memory_bytes)).unwrap();
            assert_eq!(of(&query), of(&plain));
        }
    }
}

/// An error in what is shared ends the query, whoever reads it first; rows that were made before it are nobody's.
#[test]
fn an_error_is_that_of_the_query() {
    let rows = given(&[(1, 1), (2, i64::MAX), (3, 3)]);
    let operation = IntegerOperation::new(Operator::Add, IntegerWidth::Bits64);
    let sum = Expression::Integer(operation, Box::new([column(&rows, 0), column(&rows, 1)]));
    let sum_column = PlanColumn::of("sum", DataType::Int64, &sum);
    let view = Arc::new(rows.project(vec![(sum_column, sum)]));
    let place = || Plan::shared(1, Arc::clone(&view));
    let stopped = place().limit(None, Some(integer(1)));
    let query = query_of(Vec::new(), Plan::union_all(vec![stopped, place()]));
    let mut running = TupleQuery::with_options(&query, &no_tables, &[], &options(0)).unwrap();
    let trap = running.next_row().unwrap_err().into_reason();
    let beyond = EvaluationError::IntegerOutOfRange(IntegerWidth::Bits64);
    assert!(
        matches!(&trap, TrapReason::Evaluation(error) if *error == beyond),
        "{trap}"
    );
    // What was made before the error is not all.
    let trap = running.next_row().unwrap_err().into_reason();
    assert!(matches!(trap, TrapReason::NoSharedRows(1)), "{trap}");
}

#[test]
fn a_query_ends_when_it_is_cancelled_while_shared_rows_are_made() {
    use quire_exec::avm::Cancellation;
    let rows: Vec<Row> = (0..100).map(|number| (number, number)).collect();
    let options = QueryOptions {
        cancellation: Cancellation(Some(Arc::new(|| true))),
        ..options(1 << 20)
    };
    match answer(&greatest(&rows), &options) {
        Err(TupleQueryError::Trap(trap)) => {
            assert!(matches!(trap.into_reason(), TrapReason::Cancelled));
        }
        other => panic!("{other:?}"),
    }
}

/// Memory that is too small for the rows has them written into a file, and only then.
#[test]
fn shared_rows_that_do_not_fit_are_in_a_file() {
    let rows: Vec<Row> = (0..2_000).map(|number| (number, number)).collect();
    let plan = Arc::new(given(&rows));
    let place = || Plan::shared(1, Arc::clone(&plan));
    let query = query_of(Vec::new(), Plan::union_all(vec![place(), place()]));
    let options = |memory_bytes| QueryOptions {
        temporary_disks: TemporaryDisks::in_directory("/no directory"),
        ..options(memory_bytes)
    };
    assert_eq!(answer(&query, &options(1 << 20)).unwrap().len(), 4_000);
    match answer(&query, &options(10_000)) {
        Err(TupleQueryError::Trap(trap)) => {
            let reason = trap.into_reason();
            assert!(matches!(reason, TrapReason::TemporaryFile(_)), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn places_of_one_plan_have_the_same_one() {
    let place = |rows: &[Row]| Plan::shared(1, Arc::new(given(rows)));
    let query = PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan: Plan::union_all(vec![place(&[(1, 1)]), place(&[(2, 2)])]),
    };
    assert_eq!(query.check(), Err(PlanError::Shared { id: 1 }));
}
