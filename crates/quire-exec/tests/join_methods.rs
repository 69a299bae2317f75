//! Joins by each method give the pairs that nested loops do: with keys that are NULL, keys that many rows have, and little memory.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_schema::DataType;
use proptest::prelude::*;
use proptest::test_runner::Config;
use quire_exec::costs::CostModel;
use quire_exec::plan::{
    ComparisonExpression, Expression, Join, JoinKey, JoinKind, Plan, PlanColumn, PlanNode,
    PlanQuery, PlanScalar, PlanSortKey, SortNode, ValueKind,
};
use quire_exec::tuple::{QueryOptions, TupleQuery};
use quire_tables::row_table::Value;

/// A key, which may be NULL, and a number.
type Row = (Option<i64>, i64);

const KINDS: [JoinKind; 7] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Right,
    JoinKind::Full,
    JoinKind::Semi,
    JoinKind::Anti,
    JoinKind::Mark,
];

/// What is joined, and how.
#[derive(Clone, Copy, Debug)]
struct Question {
    kind: JoinKind,
    nulls_match: bool,
    /// Whether the left number must not be above the right one.
    is_ordered: bool,
}

impl Question {
    fn matches(self, left: Row, right: Row) -> bool {
        let is_equal = match (left.0, right.0) {
            (None, None) => self.nulls_match,
            (left, right) => left == right,
        };
        is_equal && (!self.is_ordered || left.1 <= right.1)
    }

    /// By nested loops.
    fn answer(self, left: &[Row], right: &[Row]) -> Vec<Vec<Option<i64>>> {
        let of = |row: &Row| vec![row.0, Some(row.1)];
        let nulls = vec![None, None];
        let mut rows = Vec::new();
        for one in left {
            let found: Vec<&Row> = right.iter().filter(|it| self.matches(*one, **it)).collect();
            match self.kind {
                JoinKind::Semi if !found.is_empty() => rows.push(of(one)),
                JoinKind::Anti if found.is_empty() => rows.push(of(one)),
                JoinKind::Semi | JoinKind::Anti => {}
                JoinKind::Mark => {
                    let mark = Some(i64::from(!found.is_empty()));
                    rows.push([of(one), vec![mark]].concat());
                }
                _ => rows.extend(found.iter().map(|other| [of(one), of(other)].concat())),
            }
            let is_alone = found.is_empty();
            if is_alone && matches!(self.kind, JoinKind::Left | JoinKind::Full) {
                rows.push([of(one), nulls.clone()].concat());
            }
        }
        if matches!(self.kind, JoinKind::Right | JoinKind::Full) {
            let alone = right
                .iter()
                .filter(|other| !left.iter().any(|one| self.matches(*one, **other)));
            rows.extend(alone.map(|other| [nulls.clone(), of(other)].concat()));
        }
        rows
    }

    fn plan(self, left: Plan, right: Plan) -> Plan {
        let first_numbers = [(&left, 1, 0), (&right, 1, left.columns.len())]
            .map(|(plan, slot, first)| column(plan, slot, first));
        let residual =
            Expression::Compare(ComparisonExpression::LessOrEqual, Box::new(first_numbers));
        let key = JoinKey {
            left: column(&left, 0, 0),
            right: column(&right, 0, 0),
        };
        let join = Join {
            kind: self.kind,
            left,
            right,
            keys: vec![key],
            nulls_match: self.nulls_match,
            residual: self.is_ordered.then_some(residual),
            is_null_aware: false,
        };
        Plan::join(join, "mark")
    }
}

fn column(plan: &Plan, slot: usize, first: usize) -> Expression {
    let column = &plan.columns[slot];
    Expression::Column {
        slot: slot + first,
        kind: column.kind().unwrap(),
        nullable: column.nullable,
    }
}

fn given(rows: &[Row]) -> Plan {
    let column = |name: &str| PlanColumn {
        name: name.to_owned(),
        data_type: DataType::Int64,
        nullable: name == "key",
    };
    let key = |key: Option<i64>| match key {
        Some(key) => Expression::Constant(Value::Integer(key)),
        None => Expression::Null(ValueKind::Integer),
    };
    let row = |(of, number): &Row| vec![key(*of), Expression::Constant(Value::Integer(*number))];
    Plan {
        node: PlanNode::Values(rows.iter().map(row).collect()),
        columns: vec![column("key"), column("n")],
    }
}

fn options(memory_bytes: usize, costs: &[(&str, &str)]) -> QueryOptions {
    let mut model = CostModel::default();
    for (name, ns) in costs {
        model.set(name, ns).unwrap();
    }
    QueryOptions {
        memory_bytes,
        costs: model,
        ..QueryOptions::default()
    }
}

/// The rows of a plan, and what its iterators say of themselves when they have made them.
fn run(plan: Plan, options: &QueryOptions) -> (Vec<Vec<Option<i64>>>, String) {
    let query = PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan,
    };
    query.check().unwrap();
    let mut running = TupleQuery::with_options(&query, &|_| None, &[], options).unwrap();
    let mut rows = Vec::new();
    while running.next_row().unwrap() {
        let value = |slot| match running.value(slot) {
            PlanScalar::Integer(value) => Some(value),
            PlanScalar::Boolean(value) => Some(i64::from(value)),
            PlanScalar::Null => None,
            other => panic!("{other:?}"),
        };
        rows.push((0..query.plan.columns.len()).map(value).collect());
    }
    assert!(!running.next_row().unwrap(), "it ends once");
    let text = running.explanation(false).to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    (rows, words.join(" "))
}

fn sorted(mut rows: Vec<Vec<Option<i64>>>) -> Vec<Vec<Option<i64>>> {
    rows.sort();
    rows
}

fn row(keys: i64) -> impl Strategy<Value = Row> {
    (prop::option::weighted(0.9, 0..keys), 0_i64..100)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    // Few keys with many rows, or many with few.
    prop_oneof![
        prop::collection::vec(row(4), 0..most),
        prop::collection::vec(row(200), 0..most),
    ]
}

proptest! {
    #![proptest_config(Config { cases: 150, ..Config::default() })]

    /// Right sides of some blocks, for each of which the left side is read from a file, or begins again.
    #[test]
    fn blocks_pair_what_nested_loops_do(
        left in rows(60),
        right in prop::collection::vec(row(50), 60..120),
        nulls_match: bool,
        is_ordered: bool,
        is_restarted: bool,
    ) {
        let (mut block_count, mut kinds_by_blocks) = (0, 0);
        for kind in KINDS {
            let question = Question { kind, nulls_match, is_ordered };
            let plan = Arc::new(given(&left));
            let read = if is_restarted { Plan::shared(1, plan) } else { given(&left) };
            // Writing a file is dear, and looking for keys is not.
            let costs = [
                ("spill_write", "1e6"),
                ("spill_read", "1"),
                ("spill_pack", "1e9"),
                ("hash_probe", "0.01"),
            ];
            // What is shared has a share of the memory.
            let memory_bytes = if is_restarted { 12_000 } else { 6_000 };
            let plan = question.plan(read, given(&right));
            let (found, text) = run(plan, &options(memory_bytes, &costs));
            prop_assert_eq!(sorted(found), sorted(question.answer(&left, &right)), "{:?}", question);
            if text.contains("join by a nested loop over blocks") {
                kinds_by_blocks += 1;
                block_count = block_count.max(usize::from(!text.contains("has kept 1 blocks")));
            }
        }
        // Where less is kept, the other side is.
        prop_assert!(kinds_by_blocks >= 3, "{}", kinds_by_blocks);
        prop_assert!(block_count > 0);
    }

    /// Both sides are sorted, since the rows are wanted in order.
    #[test]
    fn sorted_sides_pair_what_nested_loops_do(
        left in rows(60),
        right in rows(60),
        nulls_match: bool,
        is_ordered: bool,
        is_descending: bool,
        nulls_first: bool,
        memory_bytes in prop::sample::select(vec![0, 3_000, 1 << 20]),
    ) {
        for kind in KINDS {
            let question = Question { kind, nulls_match, is_ordered };
            let join = question.plan(given(&left), given(&right));
            let key = PlanSortKey { expression: column(&join, 0, 0), is_descending, nulls_first };
            let sort = SortNode { input: join, keys: vec![key], fetch: None };
            let costs = [("hash_insert", "1e6"), ("hash_probe", "1e6")];
            let (found, text) = run(Plan::sort(sort), &options(memory_bytes, &costs));
            let keys: Vec<Option<i64>> = found.iter().map(|row| row[0]).collect();
            let rank = |key: &Option<i64>| match key {
                None => (if nulls_first { -1 } else { 1 }, 0),
                Some(key) => (0, if is_descending { -key } else { *key }),
            };
            prop_assert!(keys.is_sorted_by_key(rank), "{:?} {:?}", question, keys);
            prop_assert_eq!(sorted(found), sorted(question.answer(&left, &right)), "{:?}", question);
            let can_be = !matches!(kind, JoinKind::Right | JoinKind::Full);
            prop_assert_eq!(text.contains("join in order of 1 keys"), can_be, "{}", text);
            prop_assert_eq!(text.matches("sort by 1 keys").count(), if can_be { 2 } else { 1 });
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 16, ..Config::default() })]

    /// Partitions that do not fit are divided again.
    #[test]
    fn divided_partitions_pair_what_nested_loops_do(
        left in prop::collection::vec(row(3_000), 400..800),
        right in prop::collection::vec(row(3_000), 1_000..1_500),
        nulls_match: bool,
        is_ordered: bool,
    ) {
        for kind in KINDS {
            let question = Question { kind, nulls_match, is_ordered };
            let plan = question.plan(given(&left), given(&right));
            // Reading rows again is dear.
            let costs = [("spill_write", "0.01"), ("spill_read", "1000")];
            let (found, text) = run(plan, &options(1_000, &costs));
            prop_assert_eq!(sorted(found), sorted(question.answer(&left, &right)), "{:?}", question);
            prop_assert!(text.contains("partitions divided again"), "{}", text);
        }
    }
}

/// Rows of one key are not divided, however often that is tried; they are joined all the same.
#[test]
fn rows_of_one_key_are_joined_part_by_part() {
    let rows = |count: i64| {
        (0..count)
            .map(|number| (Some(7), number))
            .collect::<Vec<Row>>()
    };
    let (left, right) = (rows(40), rows(300));
    for kind in KINDS {
        let question = Question {
            kind,
            nulls_match: false,
            is_ordered: true,
        };
        let plan = question.plan(given(&left), given(&right));
        let (found, text) = run(plan, &options(2_000, &[]));
        assert_eq!(
            sorted(found),
            sorted(question.answer(&left, &right)),
            "{kind:?}"
        );
        assert!(!text.contains("divided again"), "{text}");
    }
}

/// The first rows of a join in order need no sort, and no more rows than are wanted.
#[test]
fn the_first_rows_of_a_join_in_order_are_the_least() {
    let rows: Vec<Row> = (0..500)
        .map(|number| (Some(number * 37 % 101), number))
        .collect();
    let question = Question {
        kind: JoinKind::Inner,
        nulls_match: false,
        is_ordered: false,
    };
    let join = question.plan(given(&rows), given(&rows));
    // By the key of the right side, which equals that of the left one.
    let key = PlanSortKey {
        expression: column(&join, 2, 0),
        is_descending: false,
        nulls_first: false,
    };
    let sort = SortNode {
        input: join,
        keys: vec![key],
        fetch: Some(10),
    };
    let costs = [("hash_insert", "1e6"), ("hash_probe", "1e6")];
    let (found, text) = run(Plan::sort(sort), &options(1 << 20, &costs));
    assert!(text.contains("join in order of 1 keys"), "{text}");
    let keys: Vec<Option<i64>> = found.iter().map(|row| row[2]).collect();
    // Each key has four or five rows on both sides, of which the least has at least 16 pairs.
    assert_eq!(keys, vec![Some(0); 10]);
}

/// Many rows of one key on both sides, more than memory holds.
#[test]
fn many_rows_of_one_key_are_joined_in_order() {
    let rows = |count: i64| {
        (0..count)
            .map(|number| (Some(7), number))
            .collect::<Vec<Row>>()
    };
    let (left, right) = (rows(20), rows(400));
    for kind in [
        JoinKind::Inner,
        JoinKind::Left,
        JoinKind::Semi,
        JoinKind::Mark,
    ] {
        let question = Question {
            kind,
            nulls_match: false,
            is_ordered: true,
        };
        let join = question.plan(given(&left), given(&right));
        let key = PlanSortKey {
            expression: column(&join, 0, 0),
            is_descending: false,
            nulls_first: false,
        };
        let sort = SortNode {
            input: join,
            keys: vec![key],
            fetch: None,
        };
        let costs = [("hash_insert", "1e6"), ("hash_probe", "1e6")];
        let (found, text) = run(Plan::sort(sort), &options(3_000, &costs));
        assert!(text.contains("join in order of 1 keys"), "{text}");
        assert_eq!(
            sorted(found),
            sorted(question.answer(&left, &right)),
            "{kind:?}"
        );
    }
}
