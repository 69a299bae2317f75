//! From the syntax of a statement to its compiled form.
//!
//! Expressions are given their meaning and their types by the planner's own code ([`SqlToRel`] and the rules of
//! [`quire_planner::optimize`]), over a schema of one table: so both paths compute the same. What surrounds them, the clauses of a
//! statement, is read here. Whatever is not known here is left to the general path, and so is every error.

mod change;
mod clauses;
mod constant;
mod functions;
mod insert;
mod parameters;
mod select;
mod table_name;

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue, TableReference};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, Statement, Value};
use quire_exec::plan::Expression;

pub(super) use constant::{compile_constant, is_constant};
pub(super) use parameters::parameter_types;
pub(super) use table_name::TableName;

use self::functions::FunctionsOnly;
use super::compiled::{Compiled, CompiledCheck, TypedExpression};
use super::table::RowTableSchema;
use quire_error::Error;
use quire_planner::aggregate::StatementAggregate;
use quire_planner::expression::{ExpressionTranslator, Slots};
use quire_planner::optimize;
use quire_sql::{reject, rewrite};

/// Gives expressions over one table their meaning.
pub(super) struct Binder<'a> {
    table: &'a RowTableSchema,
    schema: DFSchema,
    options: &'a Arc<ConfigOptions>,
    parameter_types: Vec<Option<FieldRef>>,
}

impl<'a> Binder<'a> {
    /// For a table under the name that the statement gives it.
    pub(super) fn new(
        table: &'a RowTableSchema,
        alias: &str,
        options: &'a Arc<ConfigOptions>,
        parameter_types: Vec<Option<FieldRef>>,
    ) -> Option<Self> {
        let reference = TableReference::bare(alias.to_owned());
        Some(Self {
            table,
            schema: DFSchema::try_from_qualified_schema(reference, &table.schema()).ok()?,
            options,
            parameter_types,
        })
    }

    /// For expressions over a row of the table and, behind it, the row that was to be inserted, which is called `excluded`.
    fn with_excluded(&self) -> Option<Self> {
        let reference = TableReference::bare("excluded");
        let excluded = DFSchema::try_from_qualified_schema(reference, &self.table.schema()).ok()?;
        Some(Self {
            table: self.table,
            schema: self.schema.join(&excluded).ok()?,
            options: self.options,
            parameter_types: self.parameter_types.clone(),
        })
    }

    /// An expression as the planner reads it; the types of its parts are not settled.
    fn planned(&self, sql: SqlExpr) -> Option<Expr> {
        let functions = FunctionsOnly::new(self.options);
        let options = ParserOptions::from(&self.options.sql_parser);
        let planner = SqlToRel::new_with_options(&functions, options);
        let mut context =
            PlannerContext::new().with_prepare_param_data_types(self.parameter_types.clone());
        planner.sql_to_expr(sql, &self.schema, &mut context).ok()
    }

    /// An expression with settled types.
    fn settled(&self, sql: SqlExpr) -> Option<Expr> {
        optimize::settle_types(self.planned(sql)?, &self.schema).ok()
    }

    /// The type of an expression.
    fn type_of(&self, sql: SqlExpr) -> Option<DataType> {
        self.planned(sql)?.get_type(&self.schema).ok()
    }

    /// The same with values of a certain type.
    fn settled_as(&self, sql: SqlExpr, data_type: &DataType) -> Option<Expr> {
        let expr = match literal(&sql) {
            Some(literal) => literal,
            None => self.planned(sql)?,
        };
        let found = expr.get_type(&self.schema).ok()?;
        if !optimize::is_assignable(&expr, &self.schema, data_type) {
            return None;
        }
        let expr = if found == *data_type {
            expr
        } else {
            expr.cast_to(data_type, &self.schema).ok()?
        };
        optimize::settle_types(expr, &self.schema).ok()
    }

    fn translate(
        &self,
        expr: &Expr,
        slots: &mut Slots,
        aggregates: Option<&mut Vec<StatementAggregate>>,
    ) -> Option<TypedExpression> {
        let mut translator = ExpressionTranslator {
            schema: &self.schema,
            slots,
            options: self.options,
            columns: None,
            aggregates,
            beyond: None,
        };
        Some(TypedExpression {
            data_type: translator.type_of(expr)?,
            node: translator.node(expr)?,
        })
    }

    /// A compiled expression.
    fn expression(&self, sql: SqlExpr, slots: &mut Slots) -> Option<TypedExpression> {
        self.translate(&self.settled(sql)?, slots, None)
    }

    /// A compiled expression with values of the type of a column.
    fn value_for(&self, column: usize, sql: SqlExpr, slots: &mut Slots) -> Option<TypedExpression> {
        let data_type = self.table.columns.get(column)?.sql_type.arrow_type();
        self.translate(&self.settled_as(sql, &data_type)?, slots, None)
    }

    /// The conditions of a `WHERE`, all of which must be true.
    fn conditions(&self, sql: Option<SqlExpr>, slots: &mut Slots) -> Option<Vec<Expression>> {
        let Some(sql) = sql else {
            return Some(Vec::new());
        };
        let condition = self.expression(sql, slots)?;
        // What a NULL decides the planner finds out without computing the rest, which may fail.
        if condition.data_type != DataType::Boolean || has_null(&condition.node) {
            return None;
        }
        let mut conditions = Vec::new();
        split(condition.node, &mut conditions);
        Some(conditions)
    }

    /// The CHECK constraints of the table, over all of its columns.
    fn checks(&self) -> Option<Vec<CompiledCheck>> {
        let check = |(name, text): &(String, String)| {
            let mut sql = quire_sql::parse::parse_expression(text).ok()?;
            rewrite::rewrite_expression(&mut sql);
            let condition = self.expression(sql, &mut Slots::All)?;
            (condition.data_type == DataType::Boolean).then(|| CompiledCheck {
                condition: condition.node,
                violation: Error::check_violation(&self.table.name, name, text),
            })
        };
        self.table.checks.iter().map(check).collect()
    }
}

/// What the planner makes of the literals that rows are made of, without asking it.
fn literal(sql: &SqlExpr) -> Option<Expr> {
    let SqlExpr::Value(value) = sql else {
        return None;
    };
    let value = match &value.value {
        Value::Number(digits, false) => ScalarValue::Int64(Some(digits.parse().ok()?)),
        Value::SingleQuotedString(text) => ScalarValue::Utf8(Some(text.clone())),
        _ => return None,
    };
    Some(Expr::Literal(value, None))
}

/// Whether a part of an expression is an aggregate.
fn has_aggregate(expr: &Expr) -> bool {
    let is_aggregate = |part: &Expr| Ok(matches!(part, Expr::AggregateFunction(_)));
    expr.exists(is_aggregate).unwrap_or(true)
}

/// Whether NULL is written somewhere in an expression.
fn has_null(expression: &Expression) -> bool {
    matches!(expression, Expression::Null(_)) || expression.children().any(has_null)
}

fn split(condition: Expression, into: &mut Vec<Expression>) {
    match condition {
        Expression::And(sides) => {
            let [left, right] = *sides;
            split(left, into);
            split(right, into);
        }
        other => into.push(other),
    }
}

/// Compiles a statement on `table`; `None` leaves it to the general path.
pub(super) fn compile(
    statement: Cow<'_, Statement>,
    table: &RowTableSchema,
    options: &Arc<ConfigOptions>,
    parameter_types: Vec<Option<FieldRef>>,
) -> Option<Compiled> {
    if let Statement::Query(query) = statement.as_ref() {
        reject::check_fetch(query).ok()?;
    }
    if reject::check_expressions(&statement).is_err() {
        return None;
    }
    parameters::alias_of(&statement)?;
    let mut statement = statement.into_owned();
    if !rewrite::rewrite(&mut statement).is_empty() {
        return None;
    }
    let alias = parameters::alias_of(&statement)?;
    let binder = Binder::new(table, &alias, options, parameter_types)?;
    match statement {
        Statement::Query(query) => binder.select(*query).map(Compiled::Select),
        Statement::Insert(insert) => binder.insert(insert).map(Compiled::Insert),
        Statement::Update(update) => binder.update(update).map(Compiled::Change),
        Statement::Delete(delete) => binder.delete(delete).map(Compiled::Change),
        _ => None,
    }
}
