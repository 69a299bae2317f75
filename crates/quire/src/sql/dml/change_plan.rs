//! What a statement writes, as one plan: the rows before and after, what their checks say, and what `RETURNING` shows.
//!
//! The columns of such a plan are, in this order: the key of the row that is changed (not for an insertion), the columns of the
//! table before the change (neither), its columns after it (not for a deletion), one BOOLEAN for each CHECK, and what is returned.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{BinaryViewArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{Column, DFSchema, DFSchemaRef, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::sql::sqlparser::ast::{self, SelectItem, SelectItemQualifiedWildcardKind};
use quire_error::Error;
use quire_exec::explained::ExplainedOperator;
use quire_planner::explained::explained_plan;
use quire_planner::optimize::settle_types;
use quire_planner::scan::ROW_KEY_COLUMN;
use quire_sql::names;
use quire_sql::names::folded;
use quire_sql::parse;
use quire_sql::reject::not_supported;
use quire_sql::walk::has_query;
use quire_tables::TableDefinition;

use super::row_expressions::RowExpressions;
use crate::planning::StatementContext;

/// Which columns of a plan are what.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeColumns {
    pub(super) row_key: Option<usize>,
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
    pub(super) checks: Range<usize>,
    pub(super) returning: Range<usize>,
}

/// A plan, and what its columns are.
pub(super) struct ChangePlan {
    pub(super) plan: LogicalPlan,
    pub(super) columns: ChangeColumns,
    /// Names and types of what is returned; nothing without `RETURNING`.
    pub(super) returned: Option<SchemaRef>,
}

impl ChangePlan {
    /// The plan of batches that find the rows, below the change, for `EXPLAIN`.
    pub(super) async fn explained(
        &self,
        context: &StatementContext,
        change: String,
    ) -> Result<ExplainedOperator, Error> {
        let physical = context.physical(&self.plan).await?;
        let mut explained = ExplainedOperator::new(change);
        explained.inputs = vec![explained_plan(&physical)];
        Ok(explained)
    }
}

/// What a plan is made from.
pub(super) struct ChangeParts<'a> {
    pub(super) expressions: RowExpressions<'a>,
    pub(super) definition: &'a TableDefinition,
    /// What the statement calls the table.
    pub(super) alias: &'a str,
    pub(super) row_key: Option<Expr>,
    /// Values before the change, by column; none for an insertion.
    pub(super) before: Vec<Expr>,
    /// Values after the change, by column, of any type that can be cast; none for a deletion.
    pub(super) after: Vec<Expr>,
    /// Columns of other tables that `RETURNING` may name.
    pub(super) others: Vec<Column>,
    pub(super) returning: Option<&'a [SelectItem]>,
}

impl ChangeParts<'_> {
    /// Builds the plan above `input`.
    pub(super) async fn build(self, input: LogicalPlan) -> Result<ChangePlan, Error> {
        let (rows, mut columns) = self.rows(input)?;
        let schema = Arc::clone(rows.schema());
        let mut outputs: Vec<Expr> = (0..columns.visible_end())
            .map(|index| Expr::Column(Column::from(schema.qualified_field(index))))
            .collect();
        columns.checks = outputs.len()..outputs.len();
        if !self.after.is_empty() {
            outputs.extend(self.checks(&schema, &columns)?);
            columns.checks.end = outputs.len();
        }
        let returned = self.returned(&schema, &columns).await?;
        columns.returning = outputs.len()..outputs.len() + returned.len();
        let shown_names: Vec<String> = returned.iter().map(|(name, _)| name.clone()).collect();
        let numbered = returned.into_iter().enumerate();
        outputs.extend(numbered.map(|(position, (_, expr))| {
            expr.alias_qualified(None::<&str>, format!("quire returned {position}"))
        }));
        let plan = LogicalPlanBuilder::from(rows).project(outputs)?.build()?;
        let returned = match self.returning {
            Some(items) => {
                let types = self.settled_schema(&plan, items)?;
                let named = types.fields()[columns.returning.clone()].iter();
                let named = named.zip(shown_names);
                let field =
                    |(field, name): (&Arc<Field>, String)| field.as_ref().clone().with_name(name);
                Some(Arc::new(Schema::new(named.map(field).collect::<Vec<_>>())))
            }
            None => None,
        };
        Ok(ChangePlan {
            plan,
            columns,
            returned,
        })
    }

    /// The columns of the plan with the types that planning settles: those of subqueries are known when all is planned.
    fn settled_schema(
        &self,
        plan: &LogicalPlan,
        returning: &[SelectItem],
    ) -> Result<DFSchemaRef, Error> {
        if returning.iter().any(has_query) {
            let optimized = self.expressions.context.optimized(plan)?;
            return Ok(Arc::clone(optimized.schema()));
        }
        Ok(Arc::clone(plan.schema()))
    }

    /// The first projection: values get the types of their columns, and the values that expressions of the statement mean get
    /// the names by which these know them.
    fn rows(&self, input: LogicalPlan) -> Result<(LogicalPlan, ChangeColumns), Error> {
        let mut columns = ChangeColumns::default();
        let mut outputs = Vec::new();
        if let Some(key) = &self.row_key {
            columns.row_key = Some(0);
            outputs.push(key.clone().alias(ROW_KEY_COLUMN));
        }
        let table = TableReference::bare(self.alias.to_owned());
        let is_deletion = self.after.is_empty();
        columns.before = outputs.len()..outputs.len() + self.before.len();
        for (value, (_, column)) in self.before.iter().zip(self.definition.visible_columns()) {
            outputs.push(if is_deletion {
                value
                    .clone()
                    .alias_qualified(Some(table.clone()), &column.name)
            } else {
                value.clone().alias(format!("quire old {}", column.name))
            });
        }
        columns.after = outputs.len()..outputs.len() + self.after.len();
        for (value, (_, column)) in self.after.iter().zip(self.definition.visible_columns()) {
            let value = cast(value.clone(), column.sql_type.arrow_type());
            outputs.push(value.alias_qualified(Some(table.clone()), &column.name));
        }
        outputs.extend(self.others.iter().cloned().map(Expr::Column));
        let plan = LogicalPlanBuilder::from(input).project(outputs)?.build()?;
        Ok((plan, columns))
    }

    /// One expression for each CHECK.
    fn checks(&self, rows: &DFSchema, columns: &ChangeColumns) -> Result<Vec<Expr>, Error> {
        let schema = pick(rows, columns.after.clone())?;
        let check = |(position, check): (usize, &quire_tables::CheckDefinition)| {
            let condition = parse::parse_expression(&check.condition)?;
            let is_met = cast(
                self.expressions.context.expression(&condition, &schema)?,
                DataType::Boolean,
            );
            Ok(is_met.alias(format!("quire check {position}")))
        };
        self.definition
            .checks
            .iter()
            .enumerate()
            .map(check)
            .collect()
    }

    /// Names and expressions of `RETURNING`.
    async fn returned(
        &self,
        rows: &DFSchema,
        columns: &ChangeColumns,
    ) -> Result<Vec<(String, Expr)>, Error> {
        let own = if self.after.is_empty() {
            columns.before.clone()
        } else {
            columns.after.clone()
        };
        let mut named = Vec::new();
        let first_other = columns.visible_end();
        let positions = own.clone().chain(first_other..rows.fields().len());
        let schema = pick(rows, positions)?;
        for item in self.returning.unwrap_or_default() {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let value = self.settled(expr, &schema).await?;
                    named.push((names::of_expression(expr), value));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    named.push((folded(alias), self.settled(expr, &schema).await?));
                }
                SelectItem::Wildcard(_) => named.extend(all_of(&schema, None)),
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let table = names::last_part(name);
                    named.extend(all_of(&schema, table.as_deref()));
                }
                other => return Err(not_supported(format!("RETURNING {other}"))),
            }
        }
        Ok(named)
    }

    /// An expression of `RETURNING`. Its type is told to the client, so it must be the one that planning would settle.
    async fn settled(&self, expr: &ast::Expr, schema: &DFSchema) -> Result<Expr, Error> {
        let value = self.expressions.planned(expr, schema, "RETURNING").await?;
        if has_query(expr) {
            return Ok(value);
        }
        // What has no type says so when the whole is planned.
        Ok(settle_types(value.clone(), schema).unwrap_or(value))
    }
}

impl ChangeColumns {
    /// The keys of the rows that are changed.
    pub(super) fn row_keys<'b>(
        &self,
        batch: &'b RecordBatch,
    ) -> Result<&'b BinaryViewArray, Error> {
        let keys = self
            .row_key
            .and_then(|column| batch.column(column).as_binary_view_opt());
        keys.ok_or_else(|| Error::new("XX000", "internal error: no keys of rows"))
    }

    /// Where the columns end that are passed on.
    fn visible_end(&self) -> usize {
        self.after.end.max(self.before.end)
    }
}

/// The columns of a schema, of one table or of all.
fn all_of(schema: &DFSchema, table: Option<&str>) -> Vec<(String, Expr)> {
    let is_meant = |qualifier: Option<&TableReference>| {
        table.is_none_or(|table| qualifier.is_some_and(|qualifier| qualifier.table() == table))
    };
    let columns = schema.iter().filter(|(qualifier, _)| is_meant(*qualifier));
    let named = |field: (Option<&TableReference>, &Arc<Field>)| {
        let name = names::display(field.1.name()).to_owned();
        (name, Expr::Column(Column::from(field)))
    };
    columns.map(named).collect()
}

/// Some fields of a schema with their qualifiers.
pub(super) fn pick(
    schema: &DFSchema,
    positions: impl Iterator<Item = usize>,
) -> Result<DFSchema, Error> {
    let fields = positions.map(|index| {
        let (qualifier, field) = schema.qualified_field(index);
        (qualifier.cloned(), Arc::clone(field))
    });
    let fields: Vec<_> = fields.collect();
    Ok(DFSchema::new_with_metadata(fields, Default::default())?)
}
