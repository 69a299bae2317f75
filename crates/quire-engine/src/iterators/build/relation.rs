//! Scans, filters, projections, and rows that are given.

use std::sync::Arc;

use super::{BuildError, Builder, Built, Demand};
use crate::avm::{Attribute, ColumnPlace, Register, RegisterSet, Trap, Tuple, TuplePlace};
use crate::btree::Direction;
use crate::iterators::temporary::Temporary;
use crate::iterators::{Limit, RegisterIterator, TableScan, Union};
use crate::plan::{Environment, Expression, Plan, Scalar, Scan, ValueKind};
use crate::row_table::KeyRange;

/// Rows that are in memory.
struct GivenRows {
    register: Tuple,
    rows: std::vec::IntoIter<TuplePlace>,
}

impl RegisterIterator for GivenRows {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let Some(place) = self.rows.next() else {
            return Ok(false);
        };
        registers.set_tuple(self.register, place);
        Ok(true)
    }
}

/// The attributes of a tuple.
pub(super) fn attributes(
    tuple: Tuple,
    ordinals: impl IntoIterator<Item = usize>,
) -> Vec<ColumnPlace> {
    let place = |ordinal: usize| ColumnPlace::Attribute {
        attribute: Attribute {
            tuple,
            // A table has fewer columns than this can count.
            ordinal: ordinal as u16,
        },
        is_shared: true,
    };
    ordinals.into_iter().map(place).collect()
}

impl Builder<'_> {
    pub(super) fn scan(&mut self, scan: &Scan, demand: &Demand) -> Result<Built, BuildError> {
        let table = (self.tables)(&scan.table);
        let table = table.ok_or_else(|| BuildError::Table(scan.table.clone()))?;
        let tuple = self.tuple(table.layout().column_count())?;
        let live = table.layout().live_ordinals();
        let ordinal = |column: &usize| live.get(*column).copied();
        let ordinals: Option<Vec<usize>> = scan.columns.iter().map(ordinal).collect();
        let ordinals = ordinals.ok_or_else(|| BuildError::Table(scan.table.clone()))?;
        let mut places = attributes(tuple, ordinals.iter().copied());
        let program = self.program(&mut places, demand, &scan.conditions, |compiler| {
            for condition in &scan.conditions {
                compiler.filter(condition)?;
            }
            Ok(())
        })?;
        let wanted = (0..ordinals.len()).zip(&ordinals);
        program.load(&mut self.registers)?;
        let asked = demand.clone().with(&scan.conditions);
        let wanted: Vec<usize> = wanted
            .filter(|(slot, _)| asked.is_asked(*slot))
            .map(|(_, ordinal)| *ordinal)
            .collect();
        let iterator = TableScan::new(
            Arc::clone(&table),
            vec![KeyRange::all()],
            Direction::Forward,
            (tuple, &wanted),
            (!scan.conditions.is_empty()).then_some(program),
            &mut self.registers,
        )?;
        Ok(Built {
            iterator: Box::new(iterator),
            places,
        })
    }

    pub(super) fn filter(
        &mut self,
        input: &Plan,
        condition: &Expression,
        demand: &Demand,
    ) -> Result<Built, BuildError> {
        let asked = demand.clone().with([condition]);
        let Built {
            iterator,
            mut places,
        } = self.plan(input, &asked)?;
        let program = self.program(&mut places, demand, [condition], |compiler| {
            compiler.filter(condition)
        })?;
        let iterator = self.step(iterator, program)?;
        Ok(Built { iterator, places })
    }

    pub(super) fn project(
        &mut self,
        input: &Plan,
        expressions: &[Expression],
        demand: &Demand,
    ) -> Result<Built, BuildError> {
        // What nobody asks for is not computed, unless it may fail.
        let is_asked =
            |slot: usize, expression: &Expression| demand.is_asked(slot) || expression.can_fail();
        let asked = expressions.iter().enumerate();
        let asked = asked.filter(|(slot, expression)| is_asked(*slot, expression));
        let asked: Vec<&Expression> = asked.map(|(_, expression)| expression).collect();
        let below = Demand::none(input.columns.len()).with(asked.iter().copied());
        let Built {
            iterator,
            mut places,
        } = self.plan(input, &below)?;
        // Columns that are only passed on stay where they are.
        let passed = asked
            .iter()
            .filter(|expression| matches!(expression, Expression::Column { .. }));
        let later = Demand::none(input.columns.len()).with(passed.copied());
        let computed = asked
            .iter()
            .filter(|expression| !matches!(expression, Expression::Column { .. }));
        let computed: Vec<&Expression> = computed.copied().collect();
        let mut registers = Vec::new();
        let program = self.program(&mut places, &later, computed.iter().copied(), |compiler| {
            for expression in &computed {
                registers.push(compiler.output(expression)?);
            }
            Ok(())
        })?;
        let mut registers = registers.into_iter();
        let place = |(slot, expression): (usize, &Expression)| match expression {
            Expression::Column { slot, .. } => {
                places.get(*slot).copied().unwrap_or(ColumnPlace::None)
            }
            _ if !is_asked(slot, expression) => ColumnPlace::None,
            _ => registers
                .next()
                .map_or(ColumnPlace::None, ColumnPlace::Register),
        };
        let projected = expressions.iter().enumerate().map(place).collect();
        let iterator = self.step(iterator, program)?;
        Ok(Built {
            iterator,
            places: projected,
        })
    }

    pub(super) fn values(
        &mut self,
        rows: &[Vec<Expression>],
        plan: &Plan,
    ) -> Result<Built, BuildError> {
        let environment = Environment::new(self.parameters);
        let columns = self.targets(plan)?;
        let tuple = self.tuple(columns.len())?;
        let temporary = Temporary::new(&columns, tuple, false, &mut self.registers)?;
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            for (expression, register) in row.iter().zip(&columns) {
                let value = expression.evaluate(&[], &environment).map_err(Trap::from)?;
                self.registers.set_value(*register, &value)?;
            }
            places.push(temporary.push(&mut self.registers)?);
        }
        let iterator = GivenRows {
            register: tuple,
            rows: places.into_iter(),
        };
        Ok(Built {
            iterator: Box::new(iterator),
            places: attributes(tuple, 0..columns.len()),
        })
    }

    /// A register for each column of a plan.
    fn targets(&mut self, plan: &Plan) -> Result<Vec<Register>, BuildError> {
        let mut targets = Vec::with_capacity(plan.columns.len());
        for column in &plan.columns {
            let kind = column
                .kind()
                .ok_or(BuildError::Unsupported("a column of that type"))?;
            targets.push(self.pool.fresh(kind)?);
        }
        Ok(targets)
    }

    pub(super) fn union(&mut self, inputs: &[Plan], plan: &Plan) -> Result<Built, BuildError> {
        let targets = self.targets(plan)?;
        let mut iterators = Vec::with_capacity(inputs.len());
        for input in inputs {
            let columns = all_columns(input)?;
            let Built {
                iterator,
                mut places,
            } = self.plan(input, &Demand::all(columns.len()))?;
            let none = Demand::none(columns.len());
            let program = self.program(&mut places, &none, &columns, |compiler| {
                for (column, target) in columns.iter().zip(&targets) {
                    compiler.output_to(column, *target)?;
                }
                Ok(())
            })?;
            iterators.push(self.step(iterator, program)?);
        }
        Ok(Built {
            iterator: Box::new(Union::new(iterators)),
            places: targets.into_iter().map(ColumnPlace::Register).collect(),
        })
    }

    pub(super) fn limit(
        &mut self,
        input: &Plan,
        (skip, fetch): (Option<&Expression>, Option<&Expression>),
        demand: &Demand,
    ) -> Result<Built, BuildError> {
        let (skip, fetch) = (self.count(skip)?, self.count(fetch)?);
        let Built { iterator, places } = self.plan(input, demand)?;
        Ok(Built {
            iterator: Box::new(Limit::new(iterator, skip.unwrap_or(0), fetch)),
            places,
        })
    }

    fn count(&self, expression: Option<&Expression>) -> Result<Option<u64>, BuildError> {
        let Some(expression) = expression else {
            return Ok(None);
        };
        let environment = Environment::new(self.parameters);
        match expression.evaluate(&[], &environment).map_err(Trap::from)? {
            Scalar::Integer(count) => u64::try_from(count)
                .map(Some)
                .map_err(|_| BuildError::Count),
            _ => Ok(None),
        }
    }
}

/// Each column of a plan as an expression.
pub(in crate::iterators) fn all_columns(plan: &Plan) -> Result<Vec<Expression>, BuildError> {
    let column = |(slot, column): (usize, &crate::plan::PlanColumn)| {
        let kind: Option<ValueKind> = column.kind();
        Ok(Expression::Column {
            slot,
            kind: kind.ok_or(BuildError::Unsupported("a column of that type"))?,
            nullable: column.nullable,
        })
    };
    plan.columns.iter().enumerate().map(column).collect()
}
