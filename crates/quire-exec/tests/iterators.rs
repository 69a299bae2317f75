//! Rows that iterators make are those that a list of the same rows has.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../quire-tables/tests/fill/fixture.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::sync::Arc;

use fixture::{Random, Row, create, definition, engine_on, fill, rows};
use quire_exec::avm::{
    Accumulation, AggregateSlot, Attribute, ColumnBinding, Compiler, Extremum, Program, Register,
    RegisterPool, RegisterSet, Trap, Tuple,
};
use quire_exec::plan::{ComparisonExpression, Expression, LikePattern, PlanScalar, ValueKind};
use quire_exec::tuple::{
    Explanation, GroupPrograms, HashGroup, RegisterIterator, ScanPath, TableScan, Workspace,
};
use quire_kv::{btree::Direction, mvcc::TransactionOptions};
use quire_store::MemDisk;
use quire_tables::RowTable;
use quire_tables::row_table::{ColumnRange, KeyRange, TupleValue, Value};

const KINDS: [ValueKind; 4] = [
    ValueKind::Integer,
    ValueKind::Integer,
    ValueKind::Bytes,
    ValueKind::Bytes,
];

fn column(slot: usize) -> Expression {
    Expression::Column {
        slot,
        kind: KINDS[slot],
        nullable: true,
    }
}

fn integer(value: i64) -> Expression {
    Expression::Constant(Value::Integer(value))
}

fn compare(comparison: ComparisonExpression, slot: usize, value: i64) -> Expression {
    Expression::Compare(comparison, Box::new([column(slot), integer(value)]))
}

fn table(random: &mut Random, has_key: bool, count: usize) -> (Arc<RowTable>, Vec<Row>) {
    let engine = engine_on(Arc::new(MemDisk::new()), 64 << 20);
    create(&engine, definition(has_key));
    let mut made = rows(random, count);
    // The order of the keys: by b, and by a the other way round.
    if has_key {
        made.sort_by(|left, right| left[1].cmp(&right[1]).then(right[0].cmp(&left[0])));
    }
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &made).unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().row_table("t").unwrap().unwrap();
    (table, made)
}

/// The registers of a query over the table, and what its columns are in.
struct Query {
    pool: RegisterPool,
    registers: RegisterSet,
    tuple: Tuple,
    places: Vec<ColumnBinding>,
}

impl Query {
    fn new() -> Self {
        let mut pool = RegisterPool::default();
        let tuple = pool.tuple().unwrap();
        let place = |ordinal| ColumnBinding::Attribute {
            attribute: Attribute { tuple, ordinal },
            is_shared: true,
        };
        Self {
            pool,
            registers: RegisterSet::new(),
            tuple,
            places: (0..4).map(place).collect(),
        }
    }

    fn program(
        &mut self,
        condition: Option<&Expression>,
        outputs: &[Expression],
    ) -> (Program, Vec<Register>) {
        let mut compiler = Compiler::new(&mut self.pool, self.places.clone(), &[(self.tuple, 4)]);
        compiler.announce(condition);
        compiler.announce(outputs);
        if let Some(condition) = condition {
            compiler.filter(condition).unwrap();
        }
        let registers = outputs
            .iter()
            .map(|output| compiler.output(output).unwrap())
            .collect();
        let (program, places) = compiler.finish().unwrap();
        self.places = places;
        (program, registers)
    }

    fn collect(
        &mut self,
        mut iterator: impl RegisterIterator,
        outputs: &[Register],
    ) -> Vec<Vec<Value>> {
        let mut made = Vec::new();
        while iterator.next(&mut self.registers).unwrap() {
            let value = |(register, is_text): (&Register, bool)| {
                self.registers.value(*register).into_value(is_text).unwrap()
            };
            let pairs = outputs
                .iter()
                .map(|register| (register, matches!(register, Register::Text(_))));
            made.push(pairs.map(value).collect());
        }
        assert!(
            !iterator.next(&mut self.registers).unwrap(),
            "no row comes behind the last"
        );
        made
    }
}

fn all_columns() -> Vec<Expression> {
    (0..4).map(column).collect()
}

#[test]
fn a_scan_gives_the_rows_of_its_ranges_that_pass() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let has_key = seed % 2 == 0;
        let (table, made) = table(&mut random, has_key, 3_000);
        let condition = Expression::And(Box::new([
            compare(ComparisonExpression::GreaterOrEqual, 1, 20),
            Expression::Like(
                Box::new(column(3)),
                Box::new(LikePattern::new("%numbers%")),
                false,
            ),
        ]));
        let ranges = if has_key {
            [(10, 40), (40, 40), (100, 180)]
                .map(|(low, high)| {
                    let (low, high) = (TupleValue::Integer(low), TupleValue::Integer(high));
                    let between = ColumnRange::Between(
                        std::ops::Bound::Included(low),
                        std::ops::Bound::Excluded(high),
                    );
                    table.layout().key_range(&[], between).unwrap()
                })
                .to_vec()
        } else {
            vec![KeyRange::all()]
        };
        for direction in [Direction::Forward, Direction::Backward] {
            let mut query = Query::new();
            let (program, outputs) = query.program(Some(&condition), &all_columns());
            let scan = TableScan::new(
                Arc::clone(&table),
                ScanPath {
                    ranges: ranges.clone(),
                    direction,
                    ..ScanPath::all()
                },
                (query.tuple, &[0, 1, 2, 3]),
                Some(program),
                &mut query.registers,
            );
            let found = query.collect(scan.unwrap(), &outputs);
            let in_range = |row: &&Row| match row[1] {
                Value::Integer(b) => !has_key || (10..40).contains(&b) || (100..180).contains(&b),
                _ => false,
            };
            let passes = |row: &&Row| match (&row[1], &row[3]) {
                (Value::Integer(b), Value::Text(d)) => *b >= 20 && d.contains("numbers"),
                _ => false,
            };
            let mut expected: Vec<Vec<Value>> = made
                .iter()
                .filter(in_range)
                .filter(passes)
                .map(|row| row.to_vec())
                .collect();
            if direction == Direction::Backward {
                // Backward within each range, and the ranges as they are given.
                let split = expected.partition_point(|row| has_key && row[1] < Value::Integer(40));
                expected[..split].reverse();
                expected[split..].reverse();
            }
            assert!(expected.len() > 100);
            assert_eq!(found, expected, "seed {seed}, {direction:?}");
        }
    }
}

#[test]
fn an_index_gives_the_rows_of_its_ranges_in_its_order() {
    for seed in 0..6 {
        let mut random = Random(100 + seed);
        let (table, made) = table(&mut random, seed % 2 == 0, 4_000);
        // The index on b, descending.
        let index = &table.indexes()[1];
        let ranges: Vec<KeyRange> = [17, 399, 5]
            .map(|b| {
                index
                    .layout
                    .range(&[TupleValue::Integer(b)], ColumnRange::All)
                    .unwrap()
            })
            .to_vec();
        let mut query = Query::new();
        let condition = Expression::IsNull(Box::new(column(2)), false);
        let (program, outputs) = query.program(Some(&condition), &all_columns());
        let scan = TableScan::new(
            Arc::clone(&table),
            ScanPath {
                index: Some(1),
                ranges,
                ..ScanPath::all()
            },
            (query.tuple, &[0, 1, 2, 3]),
            Some(program),
            &mut query.registers,
        );
        let mut found = query.collect(scan.unwrap(), &outputs);
        let mut expected = Vec::new();
        for b in [17, 399, 5] {
            let rows = made
                .iter()
                .filter(|row| row[1] == Value::Integer(b) && row[2] != Value::Null);
            expected.extend(rows.map(|row| row.to_vec()));
        }
        assert!(expected.len() > 15);
        let order = |rows: &[Vec<Value>]| rows.iter().map(|row| row[1].clone()).collect::<Vec<_>>();
        assert_eq!(order(&found), order(&expected), "seed {seed}");
        // Rows of the same b come in the order of their keys.
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}");
        let missing = TableScan::new(
            Arc::clone(&table),
            ScanPath {
                index: Some(9),
                ..ScanPath::all()
            },
            (query.tuple, &[0, 1, 2, 3]),
            None,
            &mut query.registers,
        );
        assert!(missing.is_err());
    }
}

/// Rows of table `t` by `keys`: how many, how many with c, the sum of a, the least c and the greatest d.
fn grouped(
    table: &Arc<RowTable>,
    keys: &[Expression],
    condition: Option<&Expression>,
    memory_bytes: usize,
) -> Result<Vec<Vec<Value>>, Trap> {
    let mut query = Query::new();
    let (filter, _) = query.program(condition, &[]);
    let decoded = query.places.iter().filter_map(|place| match place {
        ColumnBinding::Register(register) => Some(*register),
        _ => None,
    });
    let input = (decoded.collect(), vec![query.tuple]);
    let (keys, key_registers) = query.program(None, keys);
    let (a, c, d) = (column(0), column(2), column(3));
    let places = query.places.clone();
    let mut compiler = Compiler::new(&mut query.pool, places, &[(query.tuple, 4)]);
    compiler.announce([&c, &a, &c, &d]);
    let accumulations = [
        Accumulation::CountRows,
        Accumulation::Count(&c),
        Accumulation::Sum(&a),
        Accumulation::Extreme(Extremum::Least, &c),
        Accumulation::Extreme(Extremum::Greatest, &d),
    ];
    for (slot, accumulation) in (0..).zip(accumulations) {
        let slot = AggregateSlot(slot);
        compiler.accumulate(slot, accumulation).unwrap();
    }
    let (accumulate, _) = compiler.finish().unwrap();
    let mut compiler = Compiler::new(&mut query.pool, Vec::new(), &[]);
    let mut outputs = key_registers.clone();
    for slot in 0..3 {
        outputs.push(
            compiler
                .result(AggregateSlot(slot), ValueKind::Integer, 0)
                .unwrap(),
        );
    }
    for slot in 3..5 {
        outputs.push(
            compiler
                .result(AggregateSlot(slot), ValueKind::Bytes, 0)
                .unwrap(),
        );
    }
    let (results, _) = compiler.finish().unwrap();
    let programs = GroupPrograms {
        input,
        keys,
        key_registers,
        accumulate,
        distinct: Vec::new(),
        results,
    };
    let scan = TableScan::new(
        Arc::clone(table),
        ScanPath::all(),
        (query.tuple, &[0, 1, 2, 3]),
        Some(filter),
        &mut query.registers,
    )?;
    let workspace = Workspace {
        memory_bytes,
        ..Workspace::default()
    };
    let groups = HashGroup::new(scan, programs, workspace, &mut query.registers)?;
    Ok(query.collect(groups, &outputs))
}

type Expected = BTreeMap<Vec<Value>, (i64, i64, i64, Value, Value)>;

fn expected(made: &[Row], keys: impl Fn(&Row) -> Vec<Value>) -> Vec<Vec<Value>> {
    let mut groups = Expected::new();
    for row in made {
        let group = groups
            .entry(keys(row))
            .or_insert((0, 0, 0, Value::Null, Value::Null));
        group.0 += 1;
        group.1 += i64::from(row[2] != Value::Null);
        if let Value::Integer(a) = row[0] {
            group.2 += a;
        }
        // NULL is above all.
        group.3 = group.3.clone().min(row[2].clone());
        if group.4 == Value::Null || row[3] > group.4 {
            group.4 = row[3].clone();
        }
    }
    let shown = |(mut key, (rows, cs, sum, least, greatest)): (Vec<Value>, _)| {
        key.extend([
            Value::Integer(rows),
            Value::Integer(cs),
            Value::Integer(sum),
            least,
            greatest,
        ]);
        key
    };
    groups.into_iter().map(shown).collect()
}

#[test]
fn groups_come_to_what_their_rows_do() {
    for seed in 0..6 {
        // Room for all groups, for some, or for one.
        let memory_bytes = [1 << 30, 20_000, 2_000][seed as usize / 2];
        let mut random = Random(200 + seed);
        let (table, made) = table(&mut random, seed % 2 == 0, 3_000);
        let no_c = Expression::IsNull(Box::new(column(2)), true);
        let mut found = grouped(&table, &[column(1), no_c], None, memory_bytes).unwrap();
        found.sort();
        let by_both = |row: &Row| vec![row[1].clone(), Value::Boolean(row[2] == Value::Null)];
        assert_eq!(found, expected(&made, by_both), "seed {seed}");
        let mut found = grouped(&table, &[column(2)], None, memory_bytes).unwrap();
        found.sort();
        assert_eq!(
            found,
            expected(&made, |row| vec![row[2].clone()]),
            "seed {seed}"
        );
        let found = grouped(&table, &[], None, memory_bytes).unwrap();
        assert_eq!(found, expected(&made, |_| Vec::new()), "seed {seed}");
    }
}

#[test]
fn no_rows_are_one_group_only_without_keys() {
    let (table, _) = table(&mut Random(7), true, 50);
    let never = compare(ComparisonExpression::Less, 1, -1);
    let zero = Value::Integer(0);
    assert_eq!(
        grouped(&table, &[], Some(&never), 0).unwrap(),
        [[zero.clone(), zero, Value::Null, Value::Null, Value::Null]]
    );
    assert!(
        grouped(&table, &[column(1)], Some(&never), 0)
            .unwrap()
            .is_empty()
    );
}

/// One zero and one NaN: floats that are equal are in one group.
#[test]
fn equal_floats_are_one_group() {
    struct Floats(std::vec::IntoIter<f64>, Register);
    impl RegisterIterator for Floats {
        fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
            let Some(value) = self.0.next() else {
                return Ok(false);
            };
            registers.set_value(self.1, &PlanScalar::Double(value))?;
            Ok(true)
        }

        fn explain(&self, explanation: &mut Explanation) {
            explanation.line("floats");
        }
    }
    let mut pool = RegisterPool::default();
    let mut registers = RegisterSet::new();
    let key = pool.fresh(ValueKind::Double).unwrap();
    let place = vec![ColumnBinding::Register(key)];
    let (keys, _) = Compiler::new(&mut pool, place.clone(), &[])
        .finish()
        .unwrap();
    let mut compiler = Compiler::new(&mut pool, place, &[]);
    compiler
        .accumulate(AggregateSlot(0), Accumulation::CountRows)
        .unwrap();
    let (accumulate, _) = compiler.finish().unwrap();
    let mut compiler = Compiler::new(&mut pool, Vec::new(), &[]);
    let count = compiler
        .result(AggregateSlot(0), ValueKind::Integer, 0)
        .unwrap();
    let (results, _) = compiler.finish().unwrap();
    let programs = GroupPrograms {
        input: (vec![key], Vec::new()),
        keys,
        key_registers: vec![key],
        accumulate,
        distinct: Vec::new(),
        results,
    };
    let floats = vec![0.0, 1.5, f64::NAN, -0.0, -f64::NAN, 1.5, 0.0];
    let mut groups = HashGroup::new(
        Floats(floats.into_iter(), key),
        programs,
        Workspace::default(),
        &mut registers,
    )
    .unwrap();
    let mut counts = Vec::new();
    while groups.next(&mut registers).unwrap() {
        counts.push(registers.value(count));
        counts.push(PlanScalar::Boolean(
            matches!(registers.value(key), PlanScalar::Double(value) if value.is_nan()),
        ));
        counts = counts
            .into_iter()
            .map(|scalar| match scalar {
                PlanScalar::Integer(value) => PlanScalar::Integer(value),
                PlanScalar::Boolean(value) => PlanScalar::Boolean(value),
                _ => PlanScalar::Null,
            })
            .collect();
    }
    let (yes, no) = (PlanScalar::Boolean(true), PlanScalar::Boolean(false));
    let count = PlanScalar::Integer;
    assert_eq!(counts, [count(3), no.clone(), count(2), no, count(2), yes]);
}
