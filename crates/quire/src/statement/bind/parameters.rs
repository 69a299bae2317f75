//! Which table a statement is about, and of which types its parameters are.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr as Planned;
use datafusion::sql::sqlparser::ast::{
    Assignment, Expr, OnConflictAction, OnInsert, SelectItem, Statement, Value,
};
use quire_planner::expression::parameter_number;

use super::table_name::TableName;
use super::{Binder, change, clauses, insert, is_constant};
use crate::statement::table::RowTableSchema;

/// What a statement calls its table; nothing if it has none.
pub(super) fn alias_of(statement: &Statement) -> Option<String> {
    if is_constant(statement) {
        Some(String::new())
    } else {
        TableName::of(statement).map(|table| table.alias)
    }
}

/// The types of the parameters as far as the statement tells them; a parameter is of the type of what it stands beside or is
/// assigned to.
pub(in crate::statement) fn parameter_types(
    statement: &Statement,
    table: &RowTableSchema,
    options: &Arc<ConfigOptions>,
) -> Option<Vec<Option<FieldRef>>> {
    let alias = alias_of(statement)?;
    let mut inference = Inference {
        binder: Binder::new(table, &alias, options, Vec::new())?,
        types: Vec::new(),
    };
    match statement.clone() {
        Statement::Query(query) => {
            let clauses = clauses::SelectClauses::of(*query)?;
            for item in clauses.projection {
                inference.item(item)?;
            }
            inference.all(clauses.selection)?;
            inference.all(clauses.order_by.into_iter().map(|key| key.expr))?;
            for count in [clauses.limit, clauses.offset].into_iter().flatten() {
                inference.assigned(count, &DataType::Int64)?;
            }
        }
        Statement::Insert(insert) => {
            for (column, value) in insert::values_of(&insert, table)? {
                let data_type = table.columns.get(column)?.sql_type.arrow_type();
                inference.assigned(value, &data_type)?;
            }
            for item in insert.returning.into_iter().flatten() {
                inference.item(item)?;
            }
            if let Some(OnInsert::OnConflict(conflict)) = insert.on
                && let OnConflictAction::DoUpdate(update) = conflict.action
            {
                inference.binder = inference.binder.with_excluded()?;
                inference.assignments(update.assignments)?;
                inference.all(update.selection)?;
            }
        }
        Statement::Update(update) => {
            inference.assignments(update.assignments)?;
            inference.all(update.selection)?;
            for item in update.returning.into_iter().flatten() {
                inference.item(item)?;
            }
        }
        Statement::Delete(delete) => {
            inference.all(delete.selection)?;
            for item in delete.returning.into_iter().flatten() {
                inference.item(item)?;
            }
        }
        _ => return None,
    }
    Some(inference.types)
}

struct Inference<'a> {
    binder: Binder<'a>,
    types: Vec<Option<FieldRef>>,
}

impl Inference<'_> {
    fn item(&mut self, item: SelectItem) -> Option<()> {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                self.expression(expr)
            }
            _ => Some(()),
        }
    }

    fn assignments(&mut self, assignments: Vec<Assignment>) -> Option<()> {
        let table = self.binder.table;
        for (column, value) in change::assignments_of(assignments, table)? {
            let data_type = table.columns.get(column)?.sql_type.arrow_type();
            self.assigned(value, &data_type)?;
        }
        Some(())
    }

    fn all(&mut self, expressions: impl IntoIterator<Item = Expr>) -> Option<()> {
        expressions
            .into_iter()
            .try_for_each(|expr| self.expression(expr))
    }

    /// A parameter that is assigned is of the type of its target.
    fn assigned(&mut self, expr: Expr, data_type: &DataType) -> Option<()> {
        match &expr {
            Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => {
                let planned = self.binder.planned(expr)?;
                let Planned::Placeholder(placeholder) = planned else {
                    return None;
                };
                let field = Arc::new(Field::new("", data_type.clone(), true));
                self.found(parameter_number(&placeholder)?, Some(field))
            }
            _ => self.expression(expr),
        }
    }

    fn expression(&mut self, expr: Expr) -> Option<()> {
        let planned = self.binder.planned(expr)?;
        let mut found = Vec::new();
        let visit = |part: &Planned| {
            if let Planned::Placeholder(placeholder) = part {
                found.push((parameter_number(placeholder), placeholder.field.clone()));
            }
            Ok(TreeNodeRecursion::Continue)
        };
        planned.apply(visit).ok()?;
        found
            .into_iter()
            .try_for_each(|(number, field)| self.found(number?, field))
    }

    fn found(&mut self, number: usize, field: Option<FieldRef>) -> Option<()> {
        // As many as the protocol of PostgreSQL can count.
        if number >= usize::from(u16::MAX) {
            return None;
        }
        if self.types.len() <= number {
            self.types.resize(number + 1, None);
        }
        let known = self.types.get_mut(number)?;
        // An unnamed, nullable field of that type.
        let plain = field.map(|field| Arc::new(Field::new("", field.data_type().clone(), true)));
        if known.is_none() {
            *known = plain;
        }
        Some(())
    }
}
