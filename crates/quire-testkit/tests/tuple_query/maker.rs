//! Random plans over the tables.

use std::sync::Arc;

use arrow::datatypes::DataType;
use quire_exec::plan::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, ComparisonExpression,
    DecimalOperation, Expression, FloatOperator, IntegerOperation, IntegerWidth, Join, JoinKey,
    JoinKind, LikePattern, Operator, Plan, PlanColumn, PlanNode, PlanSortKey, ScanNode, SortNode,
    SumKind, ValueKind,
};
use quire_tables::SqlType;
use quire_tables::row_table::Value;

use crate::tables::{NOT_NULL, Random, TYPES, value};

/// Makes plans whose expressions never fail.
pub struct Maker<'r> {
    pub random: &'r mut Random,
}

pub fn column(plan: &Plan, slot: usize) -> Expression {
    let column = &plan.columns[slot];
    Expression::Column {
        slot,
        kind: column.kind().unwrap(),
        nullable: column.nullable,
    }
}

pub fn scan(name: &str) -> Plan {
    let columns = TYPES
        .iter()
        .enumerate()
        .map(|(number, sql_type)| PlanColumn {
            name: format!("{name}{number}"),
            data_type: sql_type.arrow_type(),
            nullable: number >= NOT_NULL,
        });
    Plan {
        columns: columns.collect(),
        node: PlanNode::Scan(ScanNode {
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
        let kind = ValueKind::of_arrow(data_type).unwrap();
        match sql_type {
            Some(SqlType::Integer) if self.random.one_in(20) => {
                Expression::Constant(Value::Integer(self.random.of(&[-1 << 40, 1 << 40])))
            }
            Some(SqlType::Decimal { .. }) if self.random.one_in(20) => {
                let beyond = 10_i128.pow(15);
                Expression::Constant(Value::Decimal(self.random.of(&[-beyond, beyond]).into()))
            }
            Some(_) if self.random.one_in(4) => {
                let number = TYPES.iter().position(|one| Some(*one) == sql_type);
                let number = number.unwrap();
                Expression::Parameter { number, kind }
            }
            Some(sql_type) => Expression::Constant(value(self.random, sql_type)),
            None => Expression::Null(kind),
        }
    }

    /// A condition on one column of a table, of a kind that keys are looked up by.
    fn key_condition(&mut self, plan: &Plan, slot: usize) -> Expression {
        let data_type = plan.columns[slot].data_type.clone();
        let column = || column(plan, slot);
        let compare =
            |comparison, right| Expression::Compare(comparison, Box::new([column(), right]));
        match self.random.below(8) {
            0 | 1 => compare(ComparisonExpression::Equal, self.constant(&data_type)),
            2 => {
                let items = (0..4).map(|_| self.constant(&data_type)).collect();
                Expression::In(Box::new(column()), items, false)
            }
            3 => Expression::And(Box::new([
                compare(
                    ComparisonExpression::GreaterOrEqual,
                    self.constant(&data_type),
                ),
                compare(ComparisonExpression::LessOrEqual, self.constant(&data_type)),
            ])),
            4 => Expression::Or(Box::new([
                self.key_condition(plan, slot),
                self.key_condition(plan, slot),
            ])),
            5 => Expression::IsNull(Box::new(column()), self.random.one_in(2)),
            6 => {
                let comparison = self.random.of(&[
                    ComparisonExpression::Less,
                    ComparisonExpression::Greater,
                    ComparisonExpression::NotDistinct,
                ]);
                let constant = self.constant(&data_type);
                Expression::Compare(comparison.mirrored(), Box::new([constant, column()]))
            }
            _ if data_type == DataType::Utf8View => {
                let pattern = Box::new(LikePattern::new(self.random.of(&["a%", "ab", "%", "a_"])));
                Expression::Like(Box::new(column()), pattern, false)
            }
            _ => self.condition(plan, 1),
        }
    }

    /// Rows of a table, perhaps those of some keys.
    fn scan(&mut self) -> Plan {
        let mut plan = scan(self.random.of(&["s", "t"]));
        let mut conditions = Vec::new();
        for _ in 0..self.random.of(&[0, 0, 1, 2, 3]) {
            let slot = self.random.below(plan.columns.len());
            conditions.push(self.key_condition(&plan, slot));
        }
        if self.random.one_in(3) {
            conditions.push(self.condition(&plan, 1));
        }
        // Some in the scan, some above it.
        for condition in conditions {
            match &mut plan.node {
                PlanNode::Scan(scan) if self.random.one_in(2) => scan.conditions.push(condition),
                _ => plan = plan.filter(condition),
            }
        }
        plan
    }

    /// A value of one of the columns' types; what it is made of is in `plan`'s columns from `first` on, `count` of them.
    fn operand(&mut self, plan: &Plan, data_type: &DataType) -> Expression {
        let slots = self.slots(plan, data_type);
        if slots.is_empty() || self.random.one_in(4) {
            self.constant(data_type)
        } else {
            column(plan, self.random.of(&slots))
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
                    ComparisonExpression::Equal,
                    ComparisonExpression::NotEqual,
                    ComparisonExpression::Less,
                    ComparisonExpression::LessOrEqual,
                    ComparisonExpression::Greater,
                    ComparisonExpression::GreaterOrEqual,
                    ComparisonExpression::NotDistinct,
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
            // A column, or a constant in all rows: joins and groups write the registers of both.
            _ => {
                let [operand, _] = *sides;
                (data_type, operand)
            }
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
        // The columns that are most often first in a key.
        if self.random.one_in(3) && left.columns[0].data_type == right.columns[0].data_type {
            keys.push(JoinKey {
                left: column(&left, 0),
                right: column(&right, 0),
            });
        }
        for _ in 0..self.random.of(&[0, 0, 1, 1, 2]) {
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
            node: PlanNode::Values(Vec::new()),
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
            precision: 38,
        };
        let (function, result) = match (&data_type, self.random.below(4)) {
            (_, 0) => (AggregateFunction::Count, DataType::Int64),
            (_, 1) => (AggregateFunction::Min, data_type.clone()),
            (DataType::Int64 | DataType::Int32, 2) => {
                (AggregateFunction::Sum(SumKind::BigInt), DataType::Int64)
            }
            (DataType::Int64 | DataType::Int32, 3) => (
                AggregateFunction::Average(AverageKind::Integer),
                DataType::Float64,
            ),
            (DataType::Decimal128(..), 2) => (
                AggregateFunction::Sum(SumKind::Decimal { precision: 38 }),
                DataType::Decimal128(38, 2),
            ),
            (DataType::Decimal128(..), 3) => (
                AggregateFunction::Average(average),
                DataType::Decimal128(38, 6),
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
            is_distinct: !counts_rows && self.random.one_in(3),
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
        let keys = (0..input.columns.len()).map(|slot| PlanSortKey {
            expression: column(&input, (slot + first) % input.columns.len()),
            is_descending: self.random.one_in(2),
            nulls_first: self.random.one_in(2),
        });
        let keys = keys.collect();
        let fetch = self.random.one_in(2).then(|| self.random.below(6) as u64);
        Plan::sort(SortNode { input, keys, fetch })
    }

    /// A plan that is read in several places.
    fn shared(&mut self, input: Plan) -> Plan {
        let plan = Arc::new(input);
        let place = || Plan::shared(Arc::as_ptr(&plan).addr(), Arc::clone(&plan));
        let fetch = Expression::Constant(Value::Integer(self.random.below(4) as i64));
        match self.random.below(4) {
            0 => {
                let first = self.sort(place()).limit(None, Some(fetch));
                Plan::union_all(vec![first, place()])
            }
            1 => {
                let first = self.sort(place()).limit(None, Some(fetch));
                self.join(place(), first)
            }
            2 => {
                let condition = self.condition(&plan, 1);
                Plan::union_all(vec![place().filter(condition), place(), place()])
            }
            // One stops early. Which rows it has is open, and only how many there are is asked.
            _ => {
                let one = Expression::Constant(Value::Integer(1));
                let output = (PlanColumn::of("one", DataType::Int64, &one), one);
                let stopped = place().limit(None, Some(fetch)).project(vec![output]);
                self.join(stopped, place())
            }
        }
    }

    pub fn plan(&mut self, depth: usize) -> Plan {
        if depth == 0 {
            return self.scan();
        }
        let input = self.plan(depth - 1);
        match self.random.below(9) {
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
            7 => self.shared(input),
            _ => {
                let condition = self.condition(&input, 1);
                Plan::union_all(vec![input.clone(), input.filter(condition)])
            }
        }
    }
}
