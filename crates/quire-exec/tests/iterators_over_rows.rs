//! Joins, sorts, filters, limits and unions make the rows that lists of the same rows do.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::test_runner::Config;
use quire_exec::avm::{
    Attribute, ColumnBinding, Compiler, Program, Register, RegisterPool, RegisterSet, Trap, Tuple,
};
use quire_exec::plan::{ComparisonExpression, Expression, PlanScalar, ValueKind};
use quire_exec::tuple::{
    Explanation, Filter, HashJoin, JoinSides, KeptRowShape, LimitIterator, RegisterIterator,
    SortIterator, SpillCosts, TupleJoinKind, TupleSortKey, Union, Workspace,
};
use quire_tables::row_table::Value;

/// An integer and a text, either may be NULL.
type Row = (Option<i64>, Option<&'static str>);

const TEXTS: [&str; 4] = ["", "a", "a longer text than others", "b"];

fn row() -> impl Strategy<Value = Row> {
    (
        prop::option::of(-2_i64..4),
        prop::option::of(prop::sample::select(TEXTS.to_vec())),
    )
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(row(), 0..14)
}

/// Room for everything, for some rows, or for one.
fn workspace() -> impl Strategy<Value = Workspace> {
    let memory_bytes = prop::sample::select(vec![0, 700, 1 << 20]);
    let choices = (memory_bytes, any::<bool>());
    choices.prop_map(|(memory_bytes, packs)| Workspace {
        memory_bytes,
        // Blocks of files are compressed if writing is dear.
        costs: SpillCosts {
            write_ns: if packs { 1e9 } else { 0.001 },
            read_ns: 0.001,
            seek_ns: 0.001,
            pack_ns: 1.0,
            unpack_ns: 1.0,
        },
        ..Workspace::default()
    })
}

/// Rows in two registers.
struct Given {
    rows: std::vec::IntoIter<Row>,
    number: Register,
    text: Register,
}

impl Given {
    fn new(rows: &[Row], pool: &mut RegisterPool) -> Self {
        Self {
            rows: Vec::from(rows).into_iter(),
            number: pool.fresh(ValueKind::Integer).unwrap(),
            text: pool.fresh(ValueKind::Bytes).unwrap(),
        }
    }

    fn columns(&self) -> [Register; 2] {
        [self.number, self.text]
    }
}

impl RegisterIterator for Given {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let Some((number, text)) = self.rows.next() else {
            return Ok(false);
        };
        let number = number.map_or(PlanScalar::Null, PlanScalar::Integer);
        let text = text.map_or(PlanScalar::Null, |text| {
            PlanScalar::Bytes(text.as_bytes().into())
        });
        registers.set_value(self.number, &number)?;
        registers.set_value(self.text, &text)?;
        Ok(true)
    }

    fn explain(&self, explanation: &mut Explanation) {
        explanation.line("given");
    }
}

fn column(slot: usize) -> Expression {
    let kind = [ValueKind::Integer, ValueKind::Bytes][slot % 2];
    Expression::Column {
        slot,
        kind,
        nullable: true,
    }
}

/// A program that puts the columns of a tuple into registers.
fn loads(pool: &mut RegisterPool, tuple: Tuple) -> (Program, Vec<Register>) {
    let place = |ordinal| ColumnBinding::Attribute {
        attribute: Attribute { tuple, ordinal },
        is_shared: true,
    };
    let expressions = [column(0), column(1)];
    let mut compiler = Compiler::new(pool, vec![place(0), place(1)], &[(tuple, 2)]);
    let registers = expressions
        .iter()
        .map(|column| compiler.output(column).unwrap())
        .collect();
    (compiler.finish().unwrap().0, registers)
}

fn shown(registers: &RegisterSet, columns: &[Register]) -> Row {
    let number = match registers.value(columns[0]) {
        PlanScalar::Integer(number) => Some(number),
        _ => None,
    };
    let text = match registers.value(columns[1]) {
        PlanScalar::Bytes(bytes) => TEXTS.into_iter().find(|text| text.as_bytes() == &*bytes),
        _ => None,
    };
    (number, text)
}

fn collect(
    mut iterator: impl RegisterIterator,
    columns: &[Register],
    registers: &mut RegisterSet,
) -> Vec<Row> {
    let mut made = Vec::new();
    while iterator.next(registers).unwrap() {
        made.push(shown(registers, columns));
    }
    assert!(!iterator.next(registers).unwrap());
    made
}

/// Pairs of rows, `None` where there is none, and what a mark says.
type Pair = (Option<Row>, Option<Row>, Option<bool>);

const KINDS: [TupleJoinKind; 7] = [
    TupleJoinKind::Inner,
    TupleJoinKind::Left,
    TupleJoinKind::Right,
    TupleJoinKind::Full,
    TupleJoinKind::Semi,
    TupleJoinKind::Anti,
    TupleJoinKind::Mark(quire_exec::avm::WordRegister(255)),
];

/// Left rows with right rows of the same number (and text), the left text not above the right one if that is asked.
fn joined(
    kind: TupleJoinKind,
    left: &[Row],
    right: &[Row],
    by_text: bool,
    ordered: bool,
) -> Vec<Pair> {
    let matches = |(number, text): &Row, (other_number, other_text): &Row| {
        number.is_some()
            && number == other_number
            && (!by_text || (text.is_some() && text == other_text))
            && (!ordered
                || matches!((text, other_text), (Some(text), Some(other)) if text <= other))
    };
    let mut pairs = Vec::new();
    for one in left {
        let found: Vec<&Row> = right.iter().filter(|other| matches(one, other)).collect();
        match kind {
            TupleJoinKind::Semi if !found.is_empty() => pairs.push((Some(*one), None, None)),
            TupleJoinKind::Anti if found.is_empty() => pairs.push((Some(*one), None, None)),
            TupleJoinKind::Semi | TupleJoinKind::Anti => {}
            TupleJoinKind::Mark(_) => pairs.push((Some(*one), None, Some(!found.is_empty()))),
            _ => pairs.extend(found.iter().map(|other| (Some(*one), Some(**other), None))),
        }
        if matches!(kind, TupleJoinKind::Left | TupleJoinKind::Full) && found.is_empty() {
            pairs.push((Some(*one), None, None));
        }
    }
    if matches!(kind, TupleJoinKind::Right | TupleJoinKind::Full) {
        let alone = right
            .iter()
            .filter(|other| !left.iter().any(|one| matches(one, other)));
        pairs.extend(alone.map(|other| (None, Some(*other), None)));
    }
    pairs.sort();
    pairs
}

fn hash_joined(
    kind: TupleJoinKind,
    left: &[Row],
    right: &[Row],
    (by_text, ordered): (bool, bool),
    (workspace, are_suppressed): (Workspace, bool),
) -> Vec<Pair> {
    let mut pool = RegisterPool::default();
    let mut registers = RegisterSet::new();
    let (left, right) = (Given::new(left, &mut pool), Given::new(right, &mut pool));
    let tuple = pool.tuple().unwrap();
    let left_columns = left.columns();
    let keys =
        |columns: [Register; 2]| columns.into_iter().take(1 + usize::from(by_text)).collect();
    let is_ordered = Expression::Compare(
        ComparisonExpression::LessOrEqual,
        Box::new([column(1), column(3)]),
    );
    let condition = ordered.then(|| {
        let mut places: Vec<ColumnBinding> = left_columns.map(ColumnBinding::Register).to_vec();
        places.extend((0..2).map(|ordinal| ColumnBinding::Attribute {
            attribute: Attribute { tuple, ordinal },
            is_shared: false,
        }));
        let mut compiler = Compiler::new(&mut pool, places, &[(tuple, 2)]);
        compiler.announce([&is_ordered]);
        compiler.filter(&is_ordered).unwrap();
        compiler.finish().unwrap().0
    });
    let (load, loaded_columns) = loads(&mut pool, tuple);
    let sides = JoinSides {
        kind,
        nulls_match: false,
        is_null_aware: false,
        left_keys: keys(left_columns),
        right_keys: keys(right.columns()),
        right: KeptRowShape::of_values(&right.columns(), tuple, are_suppressed),
        left_columns: left_columns.to_vec(),
        left_tuples: Vec::new(),
        condition,
    };
    let has_right = !matches!(
        kind,
        TupleJoinKind::Semi | TupleJoinKind::Anti | TupleJoinKind::Mark(_)
    );
    let join = HashJoin::new(left, right, sides, workspace, &mut registers).unwrap();
    let mut pairs = Vec::new();
    // Where no right row comes, its register points nowhere.
    let mut join: Box<dyn RegisterIterator> = if has_right {
        Box::new(Filter::new(join, load, &mut registers).unwrap())
    } else {
        Box::new(join)
    };
    while join.next(&mut registers).unwrap() {
        let mark = match kind {
            TupleJoinKind::Mark(word) => Some(registers.word(word) != 0),
            _ => None,
        };
        let right = has_right.then(|| shown(&registers, &loaded_columns));
        pairs.push((Some(shown(&registers, &left_columns)), right, mark));
    }
    assert!(!join.next(&mut registers).unwrap());
    pairs.sort();
    pairs
}

/// A row that is missing looks like one of NULLs.
fn with_nulls(kind: TupleJoinKind, pairs: Vec<Pair>) -> Vec<Pair> {
    let has_right = !matches!(
        kind,
        TupleJoinKind::Semi | TupleJoinKind::Anti | TupleJoinKind::Mark(_)
    );
    let nulls = (None, None);
    let shown = |(left, right, mark): Pair| {
        (
            Some(left.unwrap_or(nulls)),
            has_right.then(|| right.unwrap_or(nulls)),
            mark,
        )
    };
    let mut pairs: Vec<Pair> = pairs.into_iter().map(shown).collect();
    pairs.sort();
    pairs
}

fn sorted(rows: &[Row], descending: [bool; 2], nulls_first: [bool; 2]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    let order =
        |left_is_null: bool, right_is_null: bool, order: std::cmp::Ordering, key: usize| match (
            left_is_null,
            right_is_null,
        ) {
            (true, true) => std::cmp::Ordering::Equal,
            (true, false) if nulls_first[key] => std::cmp::Ordering::Less,
            (true, false) => std::cmp::Ordering::Greater,
            (false, true) if nulls_first[key] => std::cmp::Ordering::Greater,
            (false, true) => std::cmp::Ordering::Less,
            (false, false) if descending[key] => order.reverse(),
            (false, false) => order,
        };
    rows.sort_by(|left, right| {
        let numbers = order(left.0.is_none(), right.0.is_none(), left.0.cmp(&right.0), 0);
        numbers.then(order(
            left.1.is_none(),
            right.1.is_none(),
            left.1.cmp(&right.1),
            1,
        ))
    });
    rows
}

proptest! {
    #![proptest_config(Config { cases: 500, ..Config::default() })]

    #[test]
    fn joins_pair_what_nested_loops_do(
        left in rows(),
        right in rows(),
        by_text: bool,
        ordered: bool,
        workspace in workspace(),
        are_suppressed: bool,
    ) {
        for kind in KINDS {
            let expected = with_nulls(kind, joined(kind, &left, &right, by_text, ordered));
            let workspace = (workspace.clone(), are_suppressed);
            let found = hash_joined(kind, &left, &right, (by_text, ordered), workspace);
            prop_assert_eq!(found, expected, "{:?}", kind);
        }
    }

    #[test]
    fn sorts_put_rows_in_order(
        rows in rows(),
        descending in any::<[bool; 2]>(),
        nulls_first in any::<[bool; 2]>(),
        most_rows in prop::option::of(0_usize..6),
        workspace in workspace(),
        are_suppressed: bool,
    ) {
        let mut pool = RegisterPool::default();
        let mut registers = RegisterSet::new();
        let input = Given::new(&rows, &mut pool);
        let columns = input.columns();
        let tuple = pool.tuple().unwrap();
        let (load, loaded) = loads(&mut pool, tuple);
        let keys = [0, 1].map(|key| TupleSortKey {
            register: columns[key],
            is_descending: descending[key],
            nulls_first: nulls_first[key],
        });
        let kept = KeptRowShape::of_values(&columns, tuple, are_suppressed);
        let sort = SortIterator::new(input, &keys, kept, most_rows, workspace, &mut registers);
        let sort = sort.unwrap();
        let sort = Filter::new(sort, load, &mut registers).unwrap();
        let mut expected = sorted(&rows, descending, nulls_first);
        expected.truncate(most_rows.unwrap_or(usize::MAX));
        prop_assert_eq!(collect(sort, &loaded, &mut registers), expected);
    }

    #[test]
    fn limits_and_unions_pass_rows_on(
        inputs in prop::collection::vec(rows(), 0..4),
        skipped in 0_u64..12,
        most in prop::option::of(0_u64..12),
    ) {
        let mut pool = RegisterPool::default();
        let mut registers = RegisterSet::new();
        let first = Given::new(&[], &mut pool);
        let columns = first.columns();
        let given = |rows: &Vec<Row>| Given {
            rows: rows.clone().into_iter(),
            number: columns[0],
            text: columns[1],
        };
        let union = Union::new(inputs.iter().map(given).collect());
        let limited = LimitIterator::new(union, skipped, most);
        let most = most.map_or(usize::MAX, |most| most as usize);
        let expected: Vec<Row> = inputs.concat().into_iter().skip(skipped as usize).take(most).collect();
        prop_assert_eq!(collect(limited, &columns, &mut registers), expected);
    }
}

/// Rows that are not wanted are forgotten on the way, and the right ones are left.
#[test]
fn the_first_few_of_many_are_the_least() {
    let mut pool = RegisterPool::default();
    let mut registers = RegisterSet::new();
    let rows: Vec<Row> = (0..10_000_i64)
        .map(|number| (Some(number * 7_919 % 10_007), None))
        .collect();
    let input = Given::new(&rows, &mut pool);
    let columns = input.columns();
    let tuple = pool.tuple().unwrap();
    let (load, loaded) = loads(&mut pool, tuple);
    let key = TupleSortKey {
        register: columns[0],
        is_descending: true,
        nulls_first: false,
    };
    let workspace = Workspace::default();
    let sort = SortIterator::new(
        input,
        &[key],
        KeptRowShape::of_values(&columns, tuple, false),
        Some(20),
        workspace,
        &mut registers,
    );
    let sort = sort.unwrap();
    let sort = Filter::new(sort, load, &mut registers).unwrap();
    let mut expected = rows;
    expected.sort();
    expected.reverse();
    expected.truncate(20);
    assert_eq!(collect(sort, &loaded, &mut registers), expected);
}

#[test]
fn a_filter_leaves_out_what_its_program_rejects() {
    let mut pool = RegisterPool::default();
    let mut registers = RegisterSet::new();
    let rows: Vec<Row> = vec![(Some(1), None), (None, Some("a")), (Some(3), Some("b"))];
    let input = Given::new(&rows, &mut pool);
    let columns = input.columns();
    let condition = Expression::Compare(
        ComparisonExpression::Greater,
        Box::new([column(0), Expression::Constant(Value::Integer(1))]),
    );
    let mut compiler = Compiler::new(
        &mut pool,
        columns.map(ColumnBinding::Register).to_vec(),
        &[],
    );
    compiler.filter(&condition).unwrap();
    let program = compiler.finish().unwrap().0;
    let filter = Filter::new(input, program, &mut registers).unwrap();
    assert_eq!(
        collect(filter, &columns, &mut registers),
        [(Some(3), Some("b"))]
    );
}
