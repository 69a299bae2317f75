//! Random plans over row tables: the tuple engine's rows are those of the naive interpreter. `QUIRE_SEED` and `QUIRE_PLANS` choose them.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::datatypes::DataType;
use quire_engine::iterators::{TupleQuery, TupleQueryError};
use quire_engine::plan::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, Comparison, DecimalOperation,
    Expression, FloatOperator, IntegerOperation, IntegerWidth, Join, JoinKey, JoinKind,
    LikePattern, Node, Operator, Plan, PlanColumn, Query, Scan, Sort, SortKey, SumKind, ValueKind,
};
use quire_engine::row_table::{TupleValue, Value};
use quire_engine::{
    ColumnDefinition, Engine, EngineOptions, Insertion, KeyDefinition, KeyPart, RowTable, SqlType,
    Storage, TableDefinition, TransactionOptions,
};
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_testkit::plan::{Row, Tables, answer};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Columns of both tables: the first is NOT NULL and the primary key of one of them.
const TYPES: [SqlType; 6] = [
    SqlType::BigInt,
    SqlType::Integer,
    SqlType::Text,
    SqlType::Decimal {
        precision: 12,
        scale: 2,
    },
    SqlType::Double,
    SqlType::Boolean,
];

const TEXTS: [&str; 5] = ["", "a", "ab", "b", "a text that is longer than the others"];

fn value(random: &mut Random, sql_type: SqlType) -> Value {
    let small = random.below(7) as i64 - 3;
    match ValueKind::of(sql_type) {
        ValueKind::Integer => Value::Integer(small),
        ValueKind::Decimal => Value::Decimal(i128::from(small * 50).into()),
        ValueKind::Double => Value::Double(small as f64 / 2.0),
        ValueKind::Boolean => Value::Boolean(random.one_in(2)),
        _ => Value::Text(random.of(&TEXTS).into()),
    }
}

fn make_table(engine: &Engine, random: &mut Random, name: &str, has_key: bool) -> Vec<Row> {
    let columns = TYPES.iter().enumerate().map(|(number, sql_type)| {
        let mut column = ColumnDefinition::new(format!("{name}{number}"), *sql_type);
        column.nullable = number != 0;
        column
    });
    let mut definition = TableDefinition::new(name, columns.collect());
    definition.storage = Storage::Row;
    definition.primary_key = has_key.then(|| KeyDefinition {
        name: format!("{name}_pkey"),
        columns: vec![KeyPart {
            column: 0,
            is_descending: false,
        }],
    });
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    let table = transaction.snapshot().row_table(name).unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let mut rows = Vec::new();
    for number in 0..random.below(12) {
        let row: Row = TYPES
            .iter()
            .enumerate()
            .map(|(column, sql_type)| match column {
                0 => Value::Integer(number as i64 * 3 - 5),
                _ if random.one_in(4) => Value::Null,
                _ => value(random, *sql_type),
            })
            .collect();
        let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        assert!(matches!(
            writer.insert(&values).unwrap(),
            Insertion::Inserted(_)
        ));
        rows.push(row);
    }
    transaction.commit().unwrap();
    rows
}

/// Makes plans whose expressions never fail.
struct Maker<'r> {
    random: &'r mut Random,
}

fn column(plan: &Plan, slot: usize) -> Expression {
    let column = &plan.columns[slot];
    Expression::Column {
        slot,
        kind: column.kind().unwrap(),
        nullable: column.nullable,
    }
}

fn scan(name: &str) -> Plan {
    let columns = TYPES
        .iter()
        .enumerate()
        .map(|(number, sql_type)| PlanColumn {
            name: format!("{name}{number}"),
            data_type: sql_type.arrow_type(),
            nullable: number != 0,
        });
    Plan {
        columns: columns.collect(),
        node: Node::Scan(Scan {
            table: name.to_owned(),
            columns: (0..TYPES.len()).collect(),
            conditions: Vec::new(),
        }),
    }
}

impl Maker<'_> {
    /// Slots of columns of a type.
    fn slots(&self, plan: &Plan, data_type: &DataType) -> Vec<usize> {
        let slots = plan.columns.iter().enumerate();
        slots
            .filter(|(_, column)| column.data_type == *data_type)
            .map(|(slot, _)| slot)
            .collect()
    }

    fn constant(&mut self, data_type: &DataType) -> Expression {
        let sql_type = TYPES
            .into_iter()
            .find(|sql_type| sql_type.arrow_type() == *data_type);
        match sql_type {
            Some(sql_type) => Expression::Constant(value(self.random, sql_type)),
            None => Expression::Null(ValueKind::of_arrow(data_type).unwrap()),
        }
    }

    /// A value of one of the columns' types; what it is made of is in `plan`'s columns from `first` on, `count` of them.
    fn operand(&mut self, plan: &Plan, data_type: &DataType) -> Expression {
        let slots = self.slots(plan, data_type);
        match slots.is_empty() || self.random.one_in(4) {
            true => self.constant(data_type),
            false => column(plan, self.random.of(&slots)),
        }
    }

    fn condition(&mut self, plan: &Plan, depth: usize) -> Expression {
        let data_type = plan.columns[self.random.below(plan.columns.len())]
            .data_type
            .clone();
        match self.random.below(if depth == 0 { 5 } else { 8 }) {
            0 => Expression::IsNull(
                Box::new(self.operand(plan, &data_type)),
                self.random.one_in(2),
            ),
            1 => {
                let text = self.operand(plan, &DataType::Utf8View);
                let pattern = self.random.of(&["%a%", "_", "a%", "%"]);
                Expression::Like(
                    Box::new(text),
                    Box::new(LikePattern::new(pattern)),
                    self.random.one_in(3),
                )
            }
            2 => {
                let items = (0..3).map(|_| self.constant(&data_type)).collect();
                Expression::In(
                    Box::new(self.operand(plan, &data_type)),
                    items,
                    self.random.one_in(3),
                )
            }
            3 | 4 => {
                let comparison = self.random.of(&[
                    Comparison::Equal,
                    Comparison::NotEqual,
                    Comparison::Less,
                    Comparison::LessOrEqual,
                    Comparison::Greater,
                    Comparison::GreaterOrEqual,
                    Comparison::NotDistinct,
                ]);
                let sides = [
                    self.operand(plan, &data_type),
                    self.operand(plan, &data_type),
                ];
                Expression::Compare(comparison, Box::new(sides))
            }
            5 => Expression::Not(Box::new(self.condition(plan, depth - 1))),
            6 => Expression::And(Box::new([
                self.condition(plan, depth - 1),
                self.condition(plan, depth - 1),
            ])),
            _ => Expression::Or(Box::new([
                self.condition(plan, depth - 1),
                self.condition(plan, depth - 1),
            ])),
        }
    }

    fn output(&mut self, plan: &Plan) -> (PlanColumn, Expression) {
        let slot = self.random.below(plan.columns.len());
        let data_type = plan.columns[slot].data_type.clone();
        let sides = Box::new([
            self.operand(plan, &data_type),
            self.operand(plan, &data_type),
        ]);
        let (data_type, expression) = match (&data_type, self.random.below(4)) {
            (_, 0) => (DataType::Boolean, self.condition(plan, 1)),
            (DataType::Int64, 1) => {
                let operation = IntegerOperation::new(Operator::Add, IntegerWidth::Bits64);
                (data_type, Expression::Integer(operation, sides))
            }
            (DataType::Float64, 1) => (
                data_type,
                Expression::Double(FloatOperator(Operator::Multiply), sides),
            ),
            (DataType::Decimal128(..), 1) => {
                let operation = DecimalOperation::new(Operator::Subtract, 2, 2).unwrap();
                (data_type, Expression::Decimal(operation, sides))
            }
            (DataType::Utf8View, 1) => (data_type, Expression::Concatenate(sides)),
            (_, 2) => {
                let [left, right] = *sides;
                let branches = vec![(self.condition(plan, 1), left)];
                (
                    data_type,
                    Expression::Case(branches, self.random.one_in(2).then(|| Box::new(right))),
                )
            }
            _ => (data_type, column(plan, slot)),
        };
        (PlanColumn::of("made", data_type, &expression), expression)
    }

    fn join(&mut self, left: Plan, right: Plan) -> Plan {
        let kind = self.random.of(&[
            JoinKind::Inner,
            JoinKind::Left,
            JoinKind::Right,
            JoinKind::Full,
            JoinKind::Semi,
            JoinKind::Anti,
            JoinKind::Mark,
        ]);
        let mut keys = Vec::new();
        for _ in 0..self.random.below(3) {
            let data_type = left.columns[self.random.below(left.columns.len())]
                .data_type
                .clone();
            let (left, right) = (
                self.operand(&left, &data_type),
                self.operand(&right, &data_type),
            );
            keys.push(JoinKey { left, right });
        }
        let pair = Plan {
            columns: [left.columns.clone(), right.columns.clone()].concat(),
            node: Node::Values(Vec::new()),
        };
        let is_null_aware = kind == JoinKind::Anti && keys.len() == 1 && self.random.one_in(2);
        let nulls_match = !is_null_aware && self.random.one_in(4);
        let residual = (!is_null_aware && self.random.one_in(2)).then(|| self.condition(&pair, 1));
        Plan::join(
            Join {
                kind,
                left,
                right,
                keys,
                nulls_match,
                residual,
                is_null_aware,
            },
            "mark",
        )
    }

    fn call(&mut self, plan: &Plan) -> (AggregateCall, DataType) {
        let slot = self.random.below(plan.columns.len());
        let data_type = plan.columns[slot].data_type.clone();
        let average = AverageKind::Decimal {
            factor: 10_000,
            precision: 16,
        };
        let (function, result) = match (&data_type, self.random.below(4)) {
            (_, 0) => (AggregateFunction::Count, DataType::Int64),
            (_, 1) => (AggregateFunction::Min, data_type.clone()),
            (DataType::Int64 | DataType::Int32, 2) => {
                (AggregateFunction::Sum(SumKind::BigInt), DataType::Int64)
            }
            (DataType::Decimal128(..), 2) => (
                AggregateFunction::Sum(SumKind::Decimal { precision: 22 }),
                DataType::Decimal128(22, 2),
            ),
            (DataType::Decimal128(..), 3) => (
                AggregateFunction::Average(average),
                DataType::Decimal128(16, 6),
            ),
            (DataType::Float64, 2) => (AggregateFunction::Sum(SumKind::Double), data_type.clone()),
            (DataType::Float64, 3) => (
                AggregateFunction::Average(AverageKind::Double),
                data_type.clone(),
            ),
            (DataType::Boolean, 2) => (AggregateFunction::All, data_type.clone()),
            (DataType::Boolean, 3) => (AggregateFunction::Any, data_type.clone()),
            _ => (AggregateFunction::Max, data_type.clone()),
        };
        let counts_rows = function == AggregateFunction::Count && self.random.one_in(2);
        let call = AggregateCall {
            function,
            argument: (!counts_rows).then(|| column(plan, slot)),
            is_distinct: false,
            filter: self.random.one_in(4).then(|| self.condition(plan, 1)),
        };
        (call, result)
    }

    fn aggregate(&mut self, input: Plan) -> Plan {
        let mut names = Vec::new();
        let mut groups = Vec::new();
        for _ in 0..self.random.below(3) {
            let slot = self.random.below(input.columns.len());
            names.push(("group".to_owned(), input.columns[slot].data_type.clone()));
            groups.push(column(&input, slot));
        }
        let mut calls = Vec::new();
        for _ in 0..=self.random.below(3) {
            let (call, data_type) = self.call(&input);
            names.push(("call".to_owned(), data_type));
            calls.push(call);
        }
        Plan::aggregate(
            Aggregate {
                input,
                groups,
                calls,
            },
            names,
        )
    }

    /// All columns are keys: rows that are alike in all of them are the same.
    fn sort(&mut self, input: Plan) -> Plan {
        let first = self.random.below(input.columns.len());
        let keys = (0..input.columns.len()).map(|slot| SortKey {
            expression: column(&input, (slot + first) % input.columns.len()),
            is_descending: self.random.one_in(2),
            nulls_first: self.random.one_in(2),
        });
        let keys = keys.collect();
        let fetch = self.random.one_in(2).then(|| self.random.below(6) as u64);
        Plan::sort(Sort { input, keys, fetch })
    }

    fn plan(&mut self, depth: usize) -> Plan {
        if depth == 0 {
            let mut plan = scan(self.random.of(&["s", "t"]));
            if self.random.one_in(3) {
                let condition = self.condition(&plan, 1);
                if let Node::Scan(scan) = &mut plan.node {
                    scan.conditions.push(condition);
                }
            }
            return plan;
        }
        let input = self.plan(depth - 1);
        match self.random.below(8) {
            0 => {
                let condition = self.condition(&input, 2);
                input.filter(condition)
            }
            1 => {
                let outputs = (0..=self.random.below(4))
                    .map(|_| self.output(&input))
                    .collect();
                input.project(outputs)
            }
            2 | 3 => {
                let below = self.random.below(depth);
                let right = self.plan(below);
                self.join(input, right)
            }
            4 => self.aggregate(input),
            5 => input.distinct(),
            6 => {
                let sorted = self.sort(input);
                let skip = Expression::Constant(Value::Integer(self.random.below(3) as i64));
                let fetch = Expression::Constant(Value::Integer(self.random.below(9) as i64));
                sorted.limit(Some(skip), self.random.one_in(2).then_some(fetch))
            }
            _ => {
                let condition = self.condition(&input, 1);
                Plan::union_all(vec![input.clone(), input.filter(condition)])
            }
        }
    }
}

fn tuple_answer(
    query: &Query,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    parameters: &[Value],
) -> Result<Vec<Row>, TupleQueryError> {
    let mut running = TupleQuery::new(query, tables, parameters, 0)?;
    let mut rows = Vec::new();
    while running.next_row()? {
        let columns = query.plan.columns.iter().enumerate();
        let value = |(slot, column): (usize, &PlanColumn)| {
            running.value(slot).into_value(column.is_text()).unwrap()
        };
        rows.push(columns.map(value).collect());
    }
    Ok(rows)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn random_plans_have_the_rows_of_the_naive_interpreter() {
    let first = number("QUIRE_SEED", 0);
    let mut row_count = 0;
    for seed in first..first + number("QUIRE_PLANS", 4_000) {
        let mut random = Random(seed);
        let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
        let engine = Engine::open_with(volume, EngineOptions::default()).unwrap();
        let mut naive = Tables::new();
        naive.insert("s".to_owned(), make_table(&engine, &mut random, "s", true));
        naive.insert("t".to_owned(), make_table(&engine, &mut random, "t", false));
        let snapshot = engine.snapshot();
        let tables = |name: &str| snapshot.row_table(name).unwrap();
        for _ in 0..20 {
            let depth = random.below(5);
            let plan = Maker {
                random: &mut random,
            }
            .plan(depth);
            let query = Query {
                parameter_count: 0,
                values: Vec::new(),
                plan,
            };
            query
                .check()
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{query}"));
            let mut expected = answer(&query, &naive, &[])
                .unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{query}"));
            let mut found = tuple_answer(&query, &tables, &[])
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{query}"));
            let is_ordered = matches!(query.plan.node, Node::Sort(_) | Node::Limit { .. });
            if !is_ordered {
                expected.sort();
                found.sort();
            }
            assert_eq!(found, expected, "seed {seed}\n{query}\n{naive:?}");
            row_count += expected.len();
        }
    }
    assert!(row_count > 10_000, "{row_count} rows say little");
}
