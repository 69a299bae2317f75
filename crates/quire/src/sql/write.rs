//! Rows of a query into a table.

use datafusion::arrow::datatypes::Schema;
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_tables::Transaction;

use crate::planning::next_of;

/// Turns the rows of `plan` into rows of `table`: column i of the plan goes to the column
/// `targets[i]`, cast to its type; columns without a source are NULL.
pub(super) fn as_table_rows(
    plan: LogicalPlan,
    table: &Schema,
    targets: &[usize],
) -> Result<LogicalPlan, Error> {
    let types = table.fields().iter().map(|field| field.data_type());
    let nulls = types.map(|data_type| Ok(Expr::Literal(ScalarValue::try_from(data_type)?, None)));
    let nulls = nulls.collect::<Result<Vec<_>, Error>>()?;
    with_defaults(plan, table, targets, &nulls)
}

/// The same, with a value for each column that has no source.
pub(super) fn with_defaults(
    plan: LogicalPlan,
    table: &Schema,
    targets: &[usize],
    defaults: &[Expr],
) -> Result<LogicalPlan, Error> {
    let sources = plan.schema().columns();
    let columns = table.fields().iter().zip(defaults).enumerate();
    let columns: Vec<Expr> = columns
        .map(|(index, (field, default))| {
            let source = targets.iter().position(|target| *target == index);
            let value = source.and_then(|position| sources.get(position));
            let value = value.map_or_else(|| default.clone(), |one| Expr::Column(one.clone()));
            cast(value, field.data_type().clone()).alias(field.name())
        })
        .collect();
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// Appends all rows of `stream` to the table; returns their number.
pub(super) async fn append_stream(
    transaction: &mut Transaction,
    table: &str,
    mut stream: SendableRecordBatchStream,
    token: &CancelToken,
) -> Result<u64, Error> {
    let mut appender = transaction.tables()?.appender(table)?;
    while let Some(batch) = next_of(&mut stream, token).await? {
        tokio::task::block_in_place(|| appender.append(&batch))?;
        token.work().note_written(batch.num_rows() as u64, 0);
    }
    drop(stream);
    Ok(tokio::task::block_in_place(|| appender.finish())?)
}
