//! Queries by the tuple engine.

use std::sync::Arc;

use super::RegisterIterator;
use super::build::{BuildError, Builder, Demand, all_columns};
use crate::avm::{Register, RegisterSet, Target, Trap};
use crate::plan::{Plan, Query, Scalar, ValueKind};
use crate::row_table::Value;
use crate::rows::RowTable;

/// A query under way: its rows one after the other.
pub struct TupleQuery {
    registers: RegisterSet,
    iterator: Box<dyn RegisterIterator>,
    columns: Vec<Register>,
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TupleQueryError {
    /// These iterators do not run it.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It fails for some row.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// A subquery for a single value has more rows.
    #[error("more than one row returned by a subquery used as an expression")]
    Rows,
}

impl TupleQuery {
    /// Starts a query over the tables that `tables` knows by name, with these values of its parameters; `now` is the time in
    /// nanoseconds since 1970.
    ///
    /// # Errors
    /// What the iterators do not do; what the subqueries for single values meet.
    pub fn new(
        query: &Query,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &[Value],
        now: i64,
    ) -> Result<Self, TupleQueryError> {
        let mut parameters = parameters.to_vec();
        parameters.resize(query.parameter_count, Value::Null);
        for plan in &query.values {
            let value = single_value(plan, tables, &parameters, now)?;
            parameters.push(value);
        }
        Self::of_plan(&query.plan, tables, &parameters, now)
    }

    fn of_plan(
        plan: &Plan,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &[Value],
        now: i64,
    ) -> Result<Self, TupleQueryError> {
        let mut builder = Builder::new(tables, parameters);
        let columns = all_columns(plan)?;
        let built = builder.plan(plan, &Demand::all(columns.len()))?;
        let (built, columns) = builder.computed(built, &columns, &Demand::none(columns.len()))?;
        let Builder {
            pool,
            mut registers,
            ..
        } = builder;
        for (number, register) in pool.parameters().iter().enumerate() {
            if let (Some(register), Some(value)) = (register, parameters.get(number)) {
                registers.set_value(*register, &Scalar::from(value.as_tuple_value()))?;
            }
        }
        if let Some(register) = pool.now_register() {
            registers.set_word(Target(register), now);
        }
        Ok(Self {
            registers,
            iterator: built.iterator,
            columns,
        })
    }

    /// Makes the next row; false when there is none.
    ///
    /// # Errors
    /// What its expressions meet; pages that cannot be read or are damaged. The query cannot go on then.
    pub fn next_row(&mut self) -> Result<bool, Trap> {
        self.iterator.next(&mut self.registers)
    }

    /// The value of a column of the row; NULL for one that there is not.
    #[must_use]
    pub fn value(&self, column: usize) -> Scalar<'_> {
        let register = self.columns.get(column);
        register.map_or(Scalar::Null, |register| self.registers.value(*register))
    }
}

/// The value of a subquery: NULL of no rows.
fn single_value(
    plan: &Plan,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    parameters: &[Value],
    now: i64,
) -> Result<Value, TupleQueryError> {
    let mut query = TupleQuery::of_plan(plan, tables, parameters, now)?;
    if !query.next_row()? {
        return Ok(Value::Null);
    }
    let is_bytes = plan.columns.first().and_then(|column| column.kind()) == Some(ValueKind::Bytes);
    let is_text = is_bytes && plan.columns.first().is_some_and(|column| column.is_text());
    let value = query.value(0).into_value(is_text).map_err(Trap::from)?;
    match query.next_row()? {
        true => Err(TupleQueryError::Rows),
        false => Ok(value),
    }
}
