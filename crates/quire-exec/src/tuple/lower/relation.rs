//! Scans, filters, projections, and rows that are given.

use std::sync::Arc;

use quire_tables::RowTable;

use super::base_scan::BaseScan;
use super::builder::{Builder, Built};
use super::demand::Demand;
use crate::access::{AccessChoice, choose};
use crate::avm::{Attribute, ColumnBinding, Register, RegisterSet, Trap, Tuple, TuplePlace};
use crate::plan::{Expression, Plan, PlanScalar, ScanNode, ValueKind};
use crate::tuple::temporary::Temporary;
use crate::tuple::{
    Explanation, LimitIterator, LowerError, RegisterIterator, ScanPath, TableScan, Union,
};

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

    fn explain(&self, explanation: &mut Explanation) {
        let (count, tuple) = (self.rows.len(), self.register);
        explanation.line(format_args!("{count} given rows to t{}", tuple.0));
    }
}

/// The attributes of a tuple.
pub(super) fn attributes(
    tuple: Tuple,
    ordinals: impl IntoIterator<Item = usize>,
) -> Vec<ColumnBinding> {
    let place = |ordinal: usize| ColumnBinding::Attribute {
        attribute: Attribute {
            tuple,
            // A table has fewer columns than this can count.
            ordinal: ordinal as u16,
        },
        is_shared: true,
    };
    ordinals.into_iter().map(place).collect()
}

/// How the rows of a scan are found.
pub(super) struct ChosenScan {
    pub(super) table: Arc<RowTable>,
    /// Of the columns of the scan.
    pub(super) ordinals: Vec<usize>,
    choice: AccessChoice,
}

impl ChosenScan {
    /// Whether rows come in the order of their keys.
    pub(super) fn is_in_order(&self) -> bool {
        self.choice.is_in_order()
    }
}

impl Builder<'_> {
    /// The table of a scan, and the ordinals of its columns.
    pub(super) fn table(&self, scan: &ScanNode) -> Result<(Arc<RowTable>, Vec<usize>), LowerError> {
        let missing = || LowerError::Table(scan.table.clone());
        let table = (self.context.tables)(&scan.table).ok_or_else(missing)?;
        let live = table.layout().live_ordinals();
        let ordinals = scan.columns.iter();
        let ordinals = ordinals.map(|column| match *column {
            ScanNode::ROW_KEY => Some(table.layout().row_key_ordinal()),
            column => live.get(column).copied(),
        });
        let ordinals: Option<Vec<usize>> = ordinals.collect();
        let ordinals = ordinals.ok_or_else(missing)?;
        Ok((table, ordinals))
    }

    /// The rows of a table that all conditions are true of, by the cheapest path.
    pub(super) fn scan(
        &mut self,
        base: &BaseScan<'_>,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let chosen = self.chosen(base)?;
        self.scan_chosen(base, chosen, demand)
    }

    /// The cheapest path to these rows.
    pub(super) fn chosen(&self, base: &BaseScan<'_>) -> Result<ChosenScan, LowerError> {
        let (table, ordinals) = self.table(base.scan)?;
        let choice = choose(
            &table,
            &ordinals,
            &base.conditions,
            &self.environment,
            &self.costs,
        );
        Ok(ChosenScan {
            choice: choice.map_err(Trap::from)?,
            table,
            ordinals,
        })
    }

    /// The same rows by that path.
    pub(super) fn scan_chosen(
        &mut self,
        base: &BaseScan<'_>,
        chosen: ChosenScan,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let ChosenScan {
            table,
            ordinals,
            choice: chosen,
        } = chosen;
        // What the path says of its rows need not be tested.
        let conditions = base.conditions.iter().zip(&chosen.is_said);
        let left = conditions.filter(|(_, is_said)| !**is_said);
        let left: Vec<&Expression> = left.map(|(condition, _)| *condition).collect();
        let tuple = self.tuple(table.layout().row_key_ordinal() + 1)?;
        let mut places = attributes(tuple, ordinals.iter().copied());
        let program = self.program(&mut places, demand, left.iter().copied(), |compiler| {
            left.iter()
                .try_for_each(|condition| compiler.filter(condition))
        })?;
        let asked = demand.clone().with(left.iter().copied());
        let wanted = ordinals.iter().enumerate();
        let wanted = wanted.filter(|(slot, _)| asked.is_asked(*slot));
        let wanted: Vec<usize> = wanted.map(|(_, ordinal)| *ordinal).collect();
        let row_estimate = chosen.rows.round() as u64;
        let known = self.expected_rows.filter(|_| !self.may_end_early);
        self.expected_rows = known.map(|rows| rows.saturating_add(row_estimate));
        let path = ScanPath {
            index: chosen.index,
            ranges: chosen.ranges.to_vec(),
            row_estimate: Some(row_estimate),
            ..ScanPath::all()
        };
        let iterator = TableScan::new(
            table,
            path,
            (tuple, &wanted),
            (!left.is_empty()).then_some(program),
            &mut self.registers,
        )?;
        Ok(Built {
            iterator: Box::new(iterator.counted_by(self.work.clone())),
            places,
        })
    }

    pub(super) fn filter(
        &mut self,
        input: &Plan,
        condition: &Expression,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
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
    ) -> Result<Built, LowerError> {
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
                places.get(*slot).copied().unwrap_or(ColumnBinding::None)
            }
            _ if !is_asked(slot, expression) => ColumnBinding::None,
            _ => registers
                .next()
                .map_or(ColumnBinding::None, ColumnBinding::Register),
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
    ) -> Result<Built, LowerError> {
        let columns = self.targets(plan)?;
        let tuple = self.tuple(columns.len())?;
        let temporary = Temporary::new(&columns, tuple, false, &mut self.registers)?;
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            for (expression, register) in row.iter().zip(&columns) {
                let value = expression.evaluate(&[], &self.environment);
                let value = value.map_err(Trap::from)?;
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
    fn targets(&mut self, plan: &Plan) -> Result<Vec<Register>, LowerError> {
        let mut targets = Vec::with_capacity(plan.columns.len());
        for column in &plan.columns {
            let kind = column
                .kind()
                .ok_or(LowerError::Unsupported("a column of that type"))?;
            targets.push(self.pool.fresh(kind)?);
        }
        Ok(targets)
    }

    pub(super) fn union(&mut self, inputs: &[Plan], plan: &Plan) -> Result<Built, LowerError> {
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
            places: targets.into_iter().map(ColumnBinding::Register).collect(),
        })
    }

    pub(super) fn limit(
        &mut self,
        input: &Plan,
        (skip, fetch): (Option<&Expression>, Option<&Expression>),
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let (skip, fetch) = (self.count(skip)?, self.count(fetch)?);
        let may_end_early = self.may_end_early || fetch.is_some();
        let Built { iterator, places } = self.input(input, demand, may_end_early)?;
        Ok(Built {
            iterator: Box::new(LimitIterator::new(iterator, skip.unwrap_or(0), fetch)),
            places,
        })
    }

    fn count(&self, expression: Option<&Expression>) -> Result<Option<u64>, LowerError> {
        let Some(expression) = expression else {
            return Ok(None);
        };
        let value = expression.evaluate(&[], &self.environment);
        match value.map_err(Trap::from)? {
            PlanScalar::Integer(count) => u64::try_from(count)
                .map(Some)
                .map_err(|_| LowerError::Count),
            _ => Ok(None),
        }
    }
}

/// Each column of a plan as an expression.
pub(in crate::tuple) fn all_columns(plan: &Plan) -> Result<Vec<Expression>, LowerError> {
    let column = |(slot, column): (usize, &crate::plan::PlanColumn)| {
        let kind: Option<ValueKind> = column.kind();
        Ok(Expression::Column {
            slot,
            kind: kind.ok_or(LowerError::Unsupported("a column of that type"))?,
            nullable: column.nullable,
        })
    };
    plan.columns.iter().enumerate().map(column).collect()
}
