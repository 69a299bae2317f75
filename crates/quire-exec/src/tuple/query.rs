//! Queries by the tuple engine.

use std::sync::Arc;

use quire_tables::RowTable;
use quire_tables::row_table::Value;

use super::build_error::LowerError;
use super::lower::{BuildContext, Builder, SharedPlans, WholePlan};
use super::options::QueryOptions;
use super::shared_temporary::SharedTemporary;
use super::{Explanation, RegisterIterator};
use crate::avm::{ProgramCompiler, Register, RegisterSet, Trap};
use crate::costs::Cost;
use crate::explained::ExplainedOperator;
use crate::plan::{Plan, PlanQuery, PlanScalar, ValueKind};

/// What a query is expected to cost, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryCosts {
    /// By the tuple engine.
    pub tuple_ns: f64,
    /// By batches.
    pub batch_ns: f64,
    /// Rows that are expected.
    pub row_count: f64,
}

impl QueryCosts {
    #[must_use]
    pub fn are_less_by_tuples(self) -> bool {
        self.tuple_ns <= self.batch_ns
    }
}

/// A query under way: its rows one after the other.
pub struct TupleQuery {
    registers: RegisterSet,
    iterator: Box<dyn RegisterIterator>,
    columns: Vec<Register>,
    /// Of the subqueries for single values, their numbers and iterators.
    values: Vec<(usize, Box<dyn RegisterIterator>)>,
    /// What several of its places read.
    shared: Vec<Arc<SharedTemporary>>,
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TupleQueryError {
    /// These iterators do not run it.
    #[error(transparent)]
    Build(#[from] LowerError),
    /// It fails for some row.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// A subquery for a single value has more rows.
    #[error("more than one row returned by a subquery used as an expression")]
    Rows,
}

impl TupleQuery {
    /// Starts a query over the tables that `tables` knows by name, with these values of its parameters; `now` is the time in
    /// microseconds since 1970.
    ///
    /// # Errors
    /// What the iterators do not do; what the subqueries for single values meet.
    pub fn new(
        query: &PlanQuery,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &[Value],
        now: i64,
    ) -> Result<Self, TupleQueryError> {
        let options = QueryOptions {
            now,
            ..QueryOptions::default()
        };
        Self::with_options(query, tables, parameters, &options)
    }

    /// The same, with these options.
    ///
    /// # Errors
    /// As [`TupleQuery::new`].
    pub fn with_options(
        query: &PlanQuery,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &[Value],
        options: &QueryOptions,
    ) -> Result<Self, TupleQueryError> {
        let mut parameters = parameters.to_vec();
        parameters.resize(query.parameter_count, Value::Null);
        let mut values = Vec::with_capacity(query.values.len());
        let shared = SharedPlans::of(query);
        let context = BuildContext {
            tables,
            options,
            shared: &shared,
        };
        for plan in &query.values {
            let mut running = Self::of_plan(plan, context, &parameters)?;
            parameters.push(running.single_value(plan)?);
            // Only an explanation looks at it again; what it has kept is memory of the plans that follow.
            if options.is_counted {
                values.push((parameters.len(), running.iterator));
            }
        }
        let mut running = Self::of_plan(&query.plan, context, &parameters)?;
        running.values = values;
        running.shared = shared.temporaries();
        Ok(running)
    }

    fn of_plan(
        plan: &Plan,
        context: BuildContext<'_>,
        parameters: &[Value],
    ) -> Result<Self, TupleQueryError> {
        let WholePlan {
            registers,
            iterator,
            columns,
            ..
        } = Builder::whole(plan, context, parameters)?;
        Ok(Self {
            registers,
            iterator,
            columns,
            values: Vec::new(),
            shared: Vec::new(),
        })
    }

    /// A query that is not to be run, only to be explained: the values of its subqueries are taken for NULL.
    ///
    /// # Errors
    /// What the iterators do not do.
    pub fn unstarted(
        query: &PlanQuery,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        options: &QueryOptions,
    ) -> Result<Self, TupleQueryError> {
        let parameters = vec![Value::Null; query.parameter_count + query.values.len()];
        let shared = SharedPlans::of(query);
        let context = BuildContext {
            tables,
            options,
            shared: &shared,
        };
        let mut values = Vec::with_capacity(query.values.len());
        for (position, plan) in query.values.iter().enumerate() {
            let value = Self::of_plan(plan, context, &parameters)?;
            let number = query.parameter_count + position + 1;
            values.push((number, value.iterator));
        }
        let mut unstarted = Self::of_plan(&query.plan, context, &parameters)?;
        unstarted.values = values;
        Ok(unstarted)
    }

    /// What a query would cost with these values of its parameters. Subqueries for single values are taken for NULL, and so are parameters without a value.
    ///
    /// # Errors
    /// Tables that are no row tables; pages that cannot be read.
    pub fn estimate(
        query: &PlanQuery,
        tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &[Value],
        options: &QueryOptions,
    ) -> Result<QueryCosts, TupleQueryError> {
        let mut parameters = parameters.to_vec();
        parameters.truncate(query.parameter_count);
        parameters.resize(query.parameter_count + query.values.len(), Value::Null);
        let mut costs = QueryCosts {
            tuple_ns: options.costs.of(Cost::TupleStart),
            batch_ns: options.costs.of(Cost::BatchStart),
            row_count: 0.0,
        };
        let shared = SharedPlans::of(query);
        let context = BuildContext {
            tables,
            options,
            shared: &shared,
        };
        for plan in query.values.iter().chain([&query.plan]) {
            let of_plan = Builder::new(plan, context, &parameters).estimate(plan)?;
            costs.tuple_ns += of_plan.cost_ns;
            costs.batch_ns += of_plan.batch_ns;
            costs.row_count = of_plan.rows;
        }
        Ok(costs)
    }

    /// Its iterators, and perhaps their programs; what was expected of each, and what each has done up to now, if that was
    /// to be counted.
    #[must_use]
    pub fn explanation(&self, with_programs: bool) -> ExplainedOperator {
        let mut root = Explanation::of(&*self.iterator, with_programs);
        for (number, value) in &self.values {
            let mut subquery = ExplainedOperator::new(format!("value ${number}"));
            subquery.inputs = vec![Explanation::of(&**value, with_programs)];
            root.inputs.push(subquery);
        }
        root
    }

    /// Programs that run often become machine code. Before the first row.
    pub fn compile_with(&mut self, compiler: Arc<dyn ProgramCompiler>) {
        for shared in &self.shared {
            shared.compile_with(&compiler);
        }
        self.registers.compile_with(compiler);
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
    pub fn value(&self, column: usize) -> PlanScalar<'_> {
        let register = self.columns.get(column);
        register.map_or(PlanScalar::Null, |register| self.registers.value(*register))
    }

    /// The value of a subquery: NULL of no rows.
    fn single_value(&mut self, plan: &Plan) -> Result<Value, TupleQueryError> {
        if !self.next_row()? {
            return Ok(Value::Null);
        }
        let column = plan.columns.first();
        let is_bytes = column.and_then(|column| column.kind()) == Some(ValueKind::Bytes);
        let is_text = is_bytes && column.is_some_and(|column| column.is_text());
        let value = self.value(0).into_value(is_text).map_err(Trap::from)?;
        if self.next_row()? {
            Err(TupleQueryError::Rows)
        } else {
            Ok(value)
        }
    }
}
