//! Expressions that definitions keep: conditions of CHECK, defaults of columns. They are planned when they are
//! declared, so that what is wrong with them is said then, and kept as text.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::arrow::compute::can_cast_types;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::empty::EmptyTable;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{
    DataType as Spelled, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    Query, SelectItem, SetExpr, Statement, Value,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::names::{folded, last_part};
use quire_sql::parse::{parse_expression, parse_query};
use quire_sql::reject;
use quire_sql::reject::not_supported;
use quire_sql::rewrite;
use quire_sql::walk::{change_expressions, for_each_expression, has_query};
use quire_tables::{ColumnDefinition, Snapshot, SqlType, TableDefinition};

use super::super::write;
use crate::planning::{StatementContext, next_of};
use crate::session::Session;

/// Functions of sequences.
const SEQUENCE_FUNCTIONS: [&str; 4] = ["nextval", "currval", "lastval", "setval"];

/// Who plans expressions of a statement.
pub(super) struct ExpressionPlanner<'s> {
    pub(super) session: &'s Session,
    pub(super) snapshot: Snapshot,
}

/// Where an expression stands, for error messages.
#[derive(Clone, Copy)]
enum ExpressionContext {
    Check,
    Default,
}

impl ExpressionContext {
    fn name(self) -> &'static str {
        match self {
            ExpressionContext::Check => "check constraint",
            ExpressionContext::Default => "DEFAULT expression",
        }
    }
}

impl ExpressionPlanner<'_> {
    /// Whether `condition` can be a CHECK of the table.
    pub(super) async fn check_condition(
        &self,
        definition: &TableDefinition,
        condition: &Expr,
    ) -> Result<(), Error> {
        let (_, plan) = self
            .plan(ExpressionContext::Check, condition, Some(definition))
            .await?;
        match plan.schema().field(0).data_type() {
            DataType::Boolean | DataType::Null => Ok(()),
            other => {
                let text = format!("argument of CHECK must be type boolean, not type {other}");
                Err(Error::new("42804", text))
            }
        }
    }

    /// Whether `default` can be the default of the column. A constant is computed, to see whether it is a value of the column.
    pub(super) async fn check_default(
        &self,
        column: &ColumnDefinition,
        default: &Expr,
        token: &CancelToken,
    ) -> Result<(), Error> {
        if !named_columns(default).is_empty() {
            return Err(not_supported("a column reference in a DEFAULT expression"));
        }
        let (_, plan) = self.plan(ExpressionContext::Default, default, None).await?;
        let found = plan.schema().field(0).data_type();
        let expected = column.sql_type.arrow_type();
        if !can_cast_types(found, &expected) {
            return Err(Error::new(
                "42804",
                format!(
                    "column \"{}\" is of type {} but default expression is of type {found}",
                    column.name, column.sql_type
                ),
            )
            .with_hint("You will need to rewrite or cast the expression."));
        }
        if !calls_function(default, |_| true) {
            self.value_of(column, default, token).await?;
        }
        Ok(())
    }

    /// Whether a default may have another value for each row.
    pub(super) async fn is_volatile(&self, default: &Expr) -> Result<bool, Error> {
        let (_, plan) = self.plan(ExpressionContext::Default, default, None).await?;
        let is_volatile = |node: &LogicalPlan| {
            let mut expressions = node.expressions().into_iter();
            Ok(expressions.any(|expr| expr.is_volatile()))
        };
        Ok(calls_function(default, is_sequence_call) || plan.exists(is_volatile)?)
    }

    /// The value of a default at this moment, in the type of its column.
    pub(super) async fn value_of(
        &self,
        column: &ColumnDefinition,
        default: &Expr,
        token: &CancelToken,
    ) -> Result<ArrayRef, Error> {
        let (context, plan) = self.plan(ExpressionContext::Default, default, None).await?;
        let table = Schema::new(vec![datafusion::arrow::datatypes::Field::new(
            &column.name,
            column.sql_type.arrow_type(),
            true,
        )]);
        let plan = write::as_table_rows(plan, &table, &[0])?;
        let mut stream = context.start(&plan).await?;
        while let Some(batch) = next_of(&mut stream, token).await? {
            if batch.num_rows() == 1 {
                return Ok(Arc::clone(batch.column(0)));
            }
        }
        Ok(new_null_array(&column.sql_type.arrow_type(), 1))
    }

    async fn plan(
        &self,
        place: ExpressionContext,
        expr: &Expr,
        table: Option<&TableDefinition>,
    ) -> Result<(StatementContext, LogicalPlan), Error> {
        if has_query(expr) {
            return Err(not_supported(format!("a subquery in a {}", place.name())));
        }
        let mut expr = expr.clone();
        self.take_sequences_out(&mut expr)?;
        let mut files: HashMap<String, Arc<dyn TableProvider>> = HashMap::new();
        let mut text = "SELECT 1".to_owned();
        if let Some(table) = table {
            text = format!("SELECT 1 FROM {}", Ident::with_quote('"', &table.name));
            let empty = EmptyTable::new(table.arrow_schema());
            files.insert(table.name.clone(), Arc::new(empty));
        }
        let mut statement = Statement::Query(query_of(&text, expr)?);
        reject::check(&statement)?;
        rewrite::rewrite(&mut statement);
        let context = self.session.statement(self.snapshot.clone(), files)?;
        let plan = context.plan(statement).await?;
        refuse_aggregates(&plan, place)?;
        Ok((context, plan))
    }

    /// Calls of functions of sequences become NULL; the sequences that they name must be there.
    fn take_sequences_out(&self, expr: &mut Expr) -> Result<(), Error> {
        for name in sequences_of(expr) {
            if self.snapshot.sequence(&name).is_none() {
                let text = format!("relation \"{name}\" does not exist");
                return Err(Error::new("42P01", text));
            }
        }
        change_expressions(expr, |part| {
            if matches!(part, Expr::Function(function) if is_sequence_call(function)) {
                *part = null_integer();
            }
        });
        Ok(())
    }
}

/// A query of ours, with `expr` as its only column.
fn query_of(text: &str, expr: Expr) -> Result<Box<Query>, Error> {
    let mut query = parse_query(text)?;
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection = vec![SelectItem::ExprWithAlias {
            expr,
            alias: Ident::with_quote('"', "value"),
        }];
    }
    Ok(query)
}

fn refuse_aggregates(plan: &LogicalPlan, place: ExpressionContext) -> Result<(), Error> {
    let place = place.name();
    if plan.exists(|node| Ok(matches!(node, LogicalPlan::Aggregate(_))))? {
        let text = format!("aggregate functions are not allowed in {place}s");
        return Err(Error::new("42803", text));
    }
    if plan.exists(|node| Ok(matches!(node, LogicalPlan::Window(_))))? {
        let text = format!("window functions are not allowed in {place}s");
        return Err(Error::new("42P20", text));
    }
    Ok(())
}

/// Columns that an expression names.
fn named_columns(expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    for_each_expression(expr, |part| match part {
        Expr::Identifier(ident) => found.push(folded(ident)),
        Expr::CompoundIdentifier(parts) => found.extend(parts.last().map(folded)),
        _ => {}
    });
    found
}

/// Places of the columns of a table that an expression names, ascending.
pub(super) fn columns_of(expr: &Expr, definition: &TableDefinition) -> Vec<usize> {
    let names = named_columns(expr).into_iter();
    let mut places: Vec<_> = names
        .filter_map(|name| definition.column_index(&name))
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The expression with another name for a column of its table.
pub(super) fn with_column_renamed(expr: &mut Expr, name: &str, new_name: &str) {
    change_expressions(expr, |part| {
        let ident = match part {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last_mut(),
            _ => None,
        };
        if let Some(ident) = ident
            && folded(ident) == name
        {
            *ident = Ident::with_quote('"', new_name);
        }
    });
}

/// Whether an expression calls such a function.
fn calls_function(expr: &Expr, is_wanted: impl Fn(&Function) -> bool) -> bool {
    let mut found = false;
    for_each_expression(expr, |part| {
        found |= matches!(part, Expr::Function(function) if is_wanted(function));
    });
    found
}

fn is_sequence_call(function: &Function) -> bool {
    let name = last_part(&function.name);
    name.is_some_and(|name| SEQUENCE_FUNCTIONS.contains(&name.as_str()))
}

/// Names of the sequences that an expression calls for.
pub(super) fn sequences_of(expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    for_each_expression(expr, |part| {
        if let Expr::Function(function) = part
            && is_sequence_call(function)
            && let FunctionArguments::List(list) = &function.args
            && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = list.args.first()
        {
            found.extend(named_sequence(first));
        }
    });
    found
}

/// The same of a default as it is kept.
pub(in crate::sql) fn sequences_of_default(default: &str) -> Vec<String> {
    parse_expression(default).map_or_else(|_| Vec::new(), |expr| sequences_of(&expr))
}

/// The name in `'s'`, `'public.s'`, `'"S"'` or `'s'::regclass`.
fn named_sequence(argument: &Expr) -> Option<String> {
    match argument {
        Expr::Cast { expr, .. } => named_sequence(expr),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => {
                let name = text.strip_prefix("public.").unwrap_or(text);
                let quoted = name
                    .strip_prefix('"')
                    .and_then(|name| name.strip_suffix('"'));
                Some(quoted.map_or_else(|| name.to_lowercase(), str::to_owned))
            }
            _ => None,
        },
        _ => None,
    }
}

/// NULL of the type that functions of sequences have.
fn null_integer() -> Expr {
    Expr::Cast {
        kind: datafusion::sql::sqlparser::ast::CastKind::Cast,
        expr: Box::new(Expr::Value(Value::Null.into())),
        data_type: Spelled::BigInt(None),
        array: false,
        format: None,
    }
}

/// A value that a column can hold must not be longer than declared; CHAR loses its blanks.
pub(super) fn fitted(sql_type: SqlType, text: &str) -> Result<&str, Error> {
    let cut = match sql_type {
        SqlType::Char(_) => text.trim_end_matches(' '),
        _ => text,
    };
    match sql_type {
        SqlType::VarChar(length) | SqlType::Char(length)
            if cut.chars().count() > length as usize =>
        {
            let text = format!("value too long for type {sql_type}");
            Err(Error::new("22001", text))
        }
        _ => Ok(cut),
    }
}
