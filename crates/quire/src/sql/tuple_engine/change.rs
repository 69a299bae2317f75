//! Changes whose rows the tuple engine finds: the query for them is the input of a write.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::logical_expr::LogicalPlan;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::explained::ExplainedOperator;
use quire_exec::plan::{Expression, Plan, PlanColumn, PlanQuery, WriteNode};
use quire_exec::tuple::{NotWritten, QueryOptions, RowSink, SharedSink, TupleQuery, WrittenRow};
use quire_functions::ExecutorChoice;
use tokio::task::block_in_place;

use super::{BATCH_ROWS, RowTables, costs_of, left_or, options_of, program_compiler, translated};
use crate::planning::StatementContext;
use crate::result_rows::ResultRows;
use crate::session::Session;

/// The rows of a change, which somebody is to find.
pub(in crate::sql) struct WantedRows<'a> {
    pub(in crate::sql) context: &'a StatementContext,
    pub(in crate::sql) plan: &'a LogicalPlan,
    pub(in crate::sql) tables: RowTables,
    /// So many expected rows are left to batches.
    pub(in crate::sql) rows_max: f64,
}

/// The rows of a change, which the tuple engine is to find.
pub(in crate::sql) struct FoundRows {
    query: PlanQuery,
    tables: RowTables,
}

/// A change that the tuple engine is to run.
pub(in crate::sql) struct TupleChange {
    query: PlanQuery,
    tables: RowTables,
}

impl WantedRows<'_> {
    /// The rows, if the tuple engine can find them and, where that is asked, does so for less than batches.
    pub(in crate::sql) async fn found(
        self,
        session: &Session,
        token: &CancelToken,
    ) -> Result<Option<FoundRows>, Error> {
        let executor = session.planner_options().executor();
        let may_be = match executor {
            ExecutorChoice::Batches => false,
            ExecutorChoice::Tuples => true,
            ExecutorChoice::Cheaper => self.tables.are_all_of(self.plan)?,
        };
        if !may_be {
            return Ok(None);
        }
        let found = self.translated(session, executor, token).await?;
        if executor == ExecutorChoice::Tuples || found.is_some() {
            session.database.tuple_counts.count(found.is_none());
        }
        Ok(found)
    }

    async fn translated(
        self,
        session: &Session,
        executor: ExecutorChoice,
        token: &CancelToken,
    ) -> Result<Option<FoundRows>, Error> {
        let Ok(translated) = translated(self.context, self.plan)? else {
            return Ok(None);
        };
        let (query, tables) = (translated.query, self.tables);
        let costs = costs_of(&query, &tables, &options_of(session, token)).await?;
        let is_wanted = costs.is_ok_and(|costs| {
            let is_cheaper = costs.are_less_by_tuples();
            (is_cheaper || executor == ExecutorChoice::Tuples) && costs.row_count < self.rows_max
        });
        Ok(is_wanted.then_some(FoundRows { query, tables }))
    }
}

impl FoundRows {
    /// The change that does with the rows what `write` says, and shows some of their columns. Nothing, if they do not fit it.
    pub(in crate::sql) fn written(
        self,
        write: impl FnOnce(Plan) -> WriteNode,
        returned: Range<usize>,
    ) -> Option<TupleChange> {
        let Self { mut query, tables } = self;
        let shown = columns_of(&query.plan, returned);
        query.plan = Plan::writing(write(query.plan)).project(shown);
        query.check().ok()?;
        Some(TupleChange { query, tables })
    }
}

/// Some columns as they are.
fn columns_of(plan: &Plan, slots: Range<usize>) -> Vec<(PlanColumn, Expression)> {
    let columns = plan.columns.iter().enumerate();
    let columns = columns.filter(|(slot, _)| slots.contains(slot));
    let shown = columns.filter_map(|(slot, column)| {
        let expression = Expression::Column {
            slot,
            kind: column.kind()?,
            nullable: column.nullable,
        };
        Some((column.clone(), expression))
    });
    shown.collect()
}

impl TupleChange {
    /// Writes all rows to `sink`. Their columns that are returned go to `take`, in batches of this schema, if there is any; inside, whether the tuple
    /// engine runs the change at all.
    pub(in crate::sql) fn run(
        &self,
        session: &Session,
        sink: SharedSink,
        (schema, mut take): (Option<&SchemaRef>, impl FnMut(RecordBatch)),
        token: &CancelToken,
    ) -> Result<bool, Error> {
        let options = QueryOptions {
            sink: Some(sink),
            ..options_of(session, token)
        };
        let find = |name: &str| self.tables.find(name);
        block_in_place(|| {
            let started = TupleQuery::with_options(&self.query, &find, &[], &options);
            let Ok(mut running) = left_or(started)? else {
                return Ok(false);
            };
            if let Some(compiler) = program_compiler(session) {
                running.compile_with(compiler);
            }
            let mut rows = ResultRows::default();
            while running.next_row()? {
                let Some(schema) = schema else { continue };
                for (slot, column) in self.query.plan.columns.iter().enumerate() {
                    rows.push(running.value(slot), column.is_text())?;
                }
                rows.row_count += 1;
                if rows.row_count == BATCH_ROWS {
                    take(rows.to_batch(schema, 0)?);
                    rows.clear();
                }
            }
            if let Some(schema) = schema.filter(|_| rows.row_count > 0) {
                take(rows.to_batch(schema, 0)?);
            }
            Ok(true)
        })
    }

    /// What the tuple engine would do, with what is expected of it. Nothing, if it turns out that it does not run the change.
    pub(in crate::sql) fn explanation(
        &self,
        session: &Session,
        with_programs: bool,
        token: &CancelToken,
    ) -> Result<Option<ExplainedOperator>, Error> {
        let options = QueryOptions {
            sink: Some(SharedSink(Arc::new(Mutex::new(NoSink)))),
            is_counted: true,
            ..options_of(session, token)
        };
        let find = |name: &str| self.tables.find(name);
        let built = block_in_place(|| TupleQuery::unstarted(&self.query, &find, &options));
        let built = left_or(built)?.ok();
        Ok(built.map(|query| query.explanation(with_programs)))
    }
}

/// For a change that is not run.
struct NoSink;

impl RowSink for NoSink {
    fn write(&mut self, _row: &WrittenRow<'_>) -> Result<bool, NotWritten> {
        Err(NotWritten)
    }
}
