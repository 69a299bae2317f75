//! Queries that are executed again and again by the tuple engine: planned once, and lowered with each execution's values and statistics.
//!
//! The text is planned with its parameters in place. What is kept is a query of the algebra ([`quire_exec::plan`]), without tables and without a planner's
//! session, so that an execution on the caller's thread begins with choosing access paths and join methods for the snapshot it sees.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::plan_datafusion_err;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::sql::sqlparser::ast::{Query, Statement};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::plan::PlanQuery;
use quire_exec::tuple::{QueryCosts, TupleQuery};
use quire_functions::ExecutorChoice;
use quire_planner::expression::parameter_number;
use quire_planner::plan::translate;
use quire_planner::repeatable::{RepeatableTables, SnapshotTable, may_mean_a_time};
use quire_planner::scalar::is_text;
use quire_sql::parse::{ParsedCommand, parse};
use quire_tables::row_table::Value;
use quire_tables::{RowParts, Snapshot};

use super::tuple_engine::{RowTables, RunningTupleQuery, costs_of, left_or};
use super::tuple_engine::{options_of, program_compiler, rows_of};
use super::{query, row_stream, views};
use crate::outcome::Rows;
use crate::pg_catalog::PgCatalog;
use crate::result_rows::ResultRows;
use crate::session::Session;

/// A query of row tables, planned for any values of its parameters.
pub(crate) struct RepeatedQuery {
    query: PlanQuery,
    schema: SchemaRef,
    /// As long as they have about as many rows, the order of joins is good.
    tables: RepeatableTables,
    /// By name, what the tables were defined as.
    parts: DefinedTables,
    /// Whether the values of parameters decide which executor costs less.
    costs_by_values: bool,
}

/// What became of an execution.
pub(crate) enum RepeatedRows {
    /// All rows.
    All(ResultRows),
    /// Rows that come while they are read.
    Coming(Rows),
    /// Batches are expected to cost less, this time.
    Left,
    /// The tables are no longer those that it was planned for.
    Outdated,
}

impl RepeatedQuery {
    /// Plans the text of a query, whose parameters have these types; parameters that are no texts are cast in it. `None` if the tuple engine does not
    /// run it, or its plan may be another one next time.
    ///
    /// # Errors
    /// What is wrong with the statement, as far as planning it tells.
    pub(crate) async fn plan(
        session: Arc<Session>,
        sql: String,
        types: Vec<DataType>,
        token: CancelToken,
    ) -> Result<Option<Self>, Error> {
        let executor = session.planner_options().executor();
        if executor == ExecutorChoice::Batches || session.has_external_tables() {
            return Ok(None);
        }
        let Some(query) = plain_query(&sql)? else {
            return Ok(None);
        };
        let snapshot = session.snapshot().await?;
        let Some(parts) = row_tables_of(&snapshot, &query)? else {
            return Ok(None);
        };
        let planned = query::plan(&session, snapshot.clone(), query, &token).await?;
        let row_tables = RowTables::of(&snapshot);
        if !row_tables.are_all_of(&planned.plan)? {
            return Ok(None);
        }
        let Some(typed) = with_parameter_types(planned.plan.clone(), &types)? else {
            return Ok(None);
        };
        if has_scale_by_value(&typed)? || has_key_by_value(&typed)? {
            return Ok(None);
        }
        let optimized = planned.context.optimized(&typed)?;
        let Some(tables) = RepeatableTables::of(&typed, &optimized)? else {
            return Ok(None);
        };
        // The planner's own options hold this statement's cancellation token, which expressions that are kept must not poll.
        let options = Arc::clone(session.settings().config().options());
        let Ok(query) = translate(&optimized, &options) else {
            return Ok(None);
        };
        let mut costs_by_values = executor == ExecutorChoice::Cheaper;
        if costs_by_values && types.is_empty() {
            let options = options_of(&session, &token);
            let costs = costs_of(&query, &row_tables, &options).await?;
            if !costs.is_ok_and(QueryCosts::are_less_by_tuples) {
                return Ok(None);
            }
            costs_by_values = false;
        }
        Ok(Some(Self {
            schema: planned.shown_schema_of(&optimized),
            query,
            tables,
            parts,
            costs_by_values,
        }))
    }

    /// Whether its rows have the same names and types as those of this text, in which values are written. They need not: a number that is written has no
    /// type of its own.
    ///
    /// # Errors
    /// What is wrong with the statement, as far as planning it tells.
    pub(crate) async fn is_shaped_as(
        &self,
        session: &Session,
        sql: &str,
        token: &CancelToken,
    ) -> Result<bool, Error> {
        let Some(query) = plain_query(sql)? else {
            return Ok(false);
        };
        let snapshot = session.snapshot().await?;
        let planned = query::plan(session, snapshot, query, token).await?;
        let optimized = planned.context.optimized(&planned.plan)?;
        let expected = planned.shown_schema_of(&optimized);
        let is_same = |(one, other): (&Arc<Field>, &Arc<Field>)| {
            one.name() == other.name() && one.data_type() == other.data_type()
        };
        let (own, expected) = (self.schema.fields(), expected.fields());
        Ok(own.len() == expected.len() && own.iter().zip(expected.iter()).all(is_same))
    }

    /// Names and types of its rows.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Executes it on this thread; `rows` are memory for its rows.
    ///
    /// # Errors
    /// What the query meets.
    pub(crate) fn run(
        &self,
        session: &Arc<Session>,
        parameters: &[Value],
        token: &CancelToken,
        rows: ResultRows,
    ) -> Result<RepeatedRows, Error> {
        let is_time = |value: &Value| matches!(value, Value::Text(text) if may_mean_a_time(text));
        if parameters.iter().any(is_time) {
            return Ok(RepeatedRows::Left);
        }
        let snapshot = match self.snapshot(session, token)? {
            Ok(snapshot) => snapshot,
            Err(left) => return Ok(left),
        };
        let tables = RowTables::of(&snapshot);
        let find = |name: &str| tables.find(name);
        let options = options_of(session, token);
        if self.costs_by_values {
            let costs = TupleQuery::estimate(&self.query, &find, parameters, &options);
            if !left_or(costs)?.is_ok_and(QueryCosts::are_less_by_tuples) {
                return Ok(RepeatedRows::Left);
            }
        }
        let started = TupleQuery::with_options(&self.query, &find, parameters, &options);
        let started = left_or(started)?;
        session.database.tuple_counts.count(started.is_err());
        let Ok(mut running) = started else {
            return Ok(RepeatedRows::Left);
        };
        if let Some(compiler) = program_compiler(session) {
            running.compile_with(compiler);
        }
        let query = RunningTupleQuery {
            running,
            columns: self.query.plan.columns.clone(),
        };
        query.run_here(session, &self.schema, token, rows)
    }

    /// What an execution sees. Inside, what becomes of it if the tables are others, or have far more or fewer rows than when the query was planned.
    fn snapshot(
        &self,
        session: &Session,
        token: &CancelToken,
    ) -> Result<Result<Snapshot, RepeatedRows>, Error> {
        let mut transaction = quire_error::wait::wait(session.transaction.lock());
        let mut snapshot = transaction.snapshot(session)?;
        if transaction.is_explicit() {
            if !self.is_defined_so(&snapshot)? {
                // Perhaps by this transaction, whose definitions are not those of others.
                return Ok(Err(RepeatedRows::Left));
            }
            let ids: Vec<u64> = self.parts.iter().map(|(_, parts)| parts.id()).collect();
            transaction.lock_for_reading(session, &ids, token)?;
            snapshot = transaction.snapshot_again()?;
        }
        if self.is_for(&snapshot)? {
            Ok(Ok(snapshot))
        } else {
            Ok(Err(RepeatedRows::Outdated))
        }
    }

    /// Whether the query is planned for the tables of a snapshot.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn is_for(&self, snapshot: &Snapshot) -> Result<bool, Error> {
        if !self.is_defined_so(snapshot)? {
            return Ok(false);
        }
        let find = |name: &str| {
            let table = snapshot.row_table(name).map_err(Error::from)?;
            Ok(table.map(SnapshotTable::Rows))
        };
        Ok(self.tables.find(find)?.is_some())
    }

    fn is_defined_so(&self, snapshot: &Snapshot) -> Result<bool, Error> {
        for (name, parts) in &self.parts {
            let table = snapshot.row_table(name)?;
            let is_same = table.is_some_and(|table| Arc::ptr_eq(table.parts(), parts));
            if !is_same || snapshot.view(name).is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl RunningTupleQuery {
    /// Takes the rows of a batch here. A query with more rows goes on in the background, while they are read.
    fn run_here(
        mut self,
        session: &Arc<Session>,
        schema: &SchemaRef,
        token: &CancelToken,
        mut rows: ResultRows,
    ) -> Result<RepeatedRows, Error> {
        if self.fill(&mut rows, token)? {
            let first = rows.to_batch(&row_stream::nullable(schema), 0)?;
            let coming = rows_of(session, self, Some(first), Arc::clone(schema), token)?;
            return Ok(RepeatedRows::Coming(coming));
        }
        token.work().note_written(rows.row_count as u64, 0);
        Ok(RepeatedRows::All(rows))
    }
}

/// The query of a text that changes and locks nothing.
fn plain_query(sql: &str) -> Result<Option<Box<Query>>, Error> {
    let command = parse(sql)?;
    if !command.is_query() {
        return Ok(None);
    }
    let ParsedCommand::Statement(statement, _) = command else {
        return Ok(None);
    };
    Ok(match *statement {
        Statement::Query(query) => Some(query),
        _ => None,
    })
}

/// Tables by name, and what they are defined as.
type DefinedTables = Vec<(String, Arc<RowParts>)>;

/// The row tables that a query names, those among them that planning may leave out; `None` if it names other relations. Others are not planned a second time.
/// Nor are those of views: what a transaction has made of a view has no version, and the text of a view may be nested more deeply than the caller's stack
/// allows.
fn row_tables_of(snapshot: &Snapshot, query: &Query) -> Result<Option<DefinedTables>, Error> {
    let mut tables = Vec::new();
    for name in views::relations_of(query) {
        let is_other = PgCatalog::has_table(&name)
            || snapshot.view(&name).is_some()
            || snapshot.table(&name)?.is_some();
        if is_other {
            return Ok(None);
        }
        // Another name is that of a `WITH` query, or of nothing.
        if let Some(table) = snapshot.row_table(&name)? {
            tables.push((name, Arc::clone(table.parts())));
        }
    }
    Ok((!tables.is_empty()).then_some(tables))
}

/// Whether rows are ordered or grouped by nothing but a parameter. A number that is written there is the place of a column.
fn has_key_by_value(plan: &LogicalPlan) -> Result<bool, Error> {
    let mut has_such = false;
    plan.apply_with_subqueries(|node| {
        has_such |= match node {
            LogicalPlan::Sort(sort) => sort.expr.iter().any(|key| is_parameter(&key.expr)),
            LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.iter().any(is_parameter),
            _ => false,
        };
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(has_such)
}

fn is_parameter(expression: &Expr) -> bool {
    match expression {
        Expr::Cast(cast) => is_parameter(&cast.expr),
        Expr::Alias(alias) => is_parameter(&alias.expr),
        other => matches!(other, Expr::Placeholder(_)),
    }
}

/// Whether the scale of a decimal may follow from the value of a parameter, as that of `round(price, $1)` does.
fn has_scale_by_value(plan: &LogicalPlan) -> Result<bool, Error> {
    let has_parameter =
        |argument: &Expr| argument.exists(|part| Ok(matches!(part, Expr::Placeholder(_))));
    let mut has_such = false;
    plan.apply_with_subqueries(|node| {
        let schema = node.inputs().first().map(|input| input.schema());
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if matches!(part, Expr::ScalarFunction(_)) && has_parameter(part)? {
                    let data_type = schema.map(|schema| part.get_type(schema)).transpose();
                    has_such |= !matches!(data_type, Ok(Some(known)) if !known.is_decimal());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(has_such)
}

/// The plan with the types of its parameters. A parameter that is cast has the type that its values have, which the plan then casts; of the others, which
/// are texts, the planner has to have found that they are. `None` where it has not.
fn with_parameter_types(
    plan: LogicalPlan,
    types: &[DataType],
) -> Result<Option<LogicalPlan>, Error> {
    let mut is_known = true;
    let typed = plan.transform_down_with_subqueries(|node| {
        node.map_expressions(|expression| {
            expression.transform_down(|part| match part {
                Expr::Cast(mut cast) => {
                    let Expr::Placeholder(placeholder) = cast.expr.as_mut() else {
                        return Ok(Transformed::no(Expr::Cast(cast)));
                    };
                    let data_type = parameter_number(placeholder).and_then(|at| types.get(at));
                    let data_type =
                        data_type.ok_or_else(|| plan_datafusion_err!("a parameter has no type"))?;
                    placeholder.field = Some(Arc::new(Field::new("", data_type.clone(), true)));
                    let typed = Expr::Cast(cast);
                    Ok(Transformed::new(typed, true, TreeNodeRecursion::Jump))
                }
                Expr::Placeholder(placeholder) => {
                    let field = placeholder.field.as_ref();
                    is_known &= field.is_some_and(|field| is_text(field.data_type()));
                    Ok(Transformed::no(Expr::Placeholder(placeholder)))
                }
                other => Ok(Transformed::no(other)),
            })
        })
    })?;
    Ok(is_known.then_some(typed.data))
}
