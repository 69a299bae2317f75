//! `UPDATE` and `DELETE` of rows that a key leads to.

use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, SelectItem, Update,
};
use quire_planner::expression::Slots;
use quire_sql::names;

use super::Binder;
use crate::statement::access;
use crate::statement::compiled::{CompiledChange, OutputColumn};
use crate::statement::table::RowTableSchema;

impl Binder<'_> {
    pub(super) fn update(&self, update: Update) -> Option<CompiledChange> {
        let Update {
            update_token: _,
            optimizer_hints,
            table: _,
            assignments,
            from: None,
            selection,
            returning,
            output: None,
            or: None,
            order_by,
            limit: None,
        } = update
        else {
            return None;
        };
        if !optimizer_hints.is_empty() || !order_by.is_empty() {
            return None;
        }
        let new_values = self.new_values(assignments)?;
        let checks = self.checks()?;
        let mut change = self.change(selection, returning)?;
        change.new_values = Some(new_values);
        change.checks = checks;
        Some(change)
    }

    /// Columns with their new values, over all columns that expressions may name.
    pub(super) fn new_values(
        &self,
        assignments: Vec<Assignment>,
    ) -> Option<Vec<(usize, OutputColumn)>> {
        let mut new_values = Vec::with_capacity(assignments.len());
        for (column, value) in assignments_of(assignments, self.table)? {
            if self.table.columns.get(column)?.is_generated {
                return None;
            }
            let value = self.value_for(column, value, &mut Slots::All)?;
            new_values.push((column, OutputColumn::of(value)));
        }
        Some(new_values)
    }

    pub(super) fn delete(&self, delete: Delete) -> Option<CompiledChange> {
        let Delete {
            delete_token: _,
            optimizer_hints,
            tables,
            from: _,
            using: None,
            selection,
            returning,
            output: None,
            order_by,
            limit: None,
        } = delete
        else {
            return None;
        };
        if !optimizer_hints.is_empty() || !tables.is_empty() || !order_by.is_empty() {
            return None;
        }
        self.change(selection, returning)
    }

    /// The rows that are meant, and what is shown of them.
    fn change(
        &self,
        selection: Option<Expr>,
        returning: Option<Vec<SelectItem>>,
    ) -> Option<CompiledChange> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let conditions = self.conditions(selection, &mut Slots::All)?;
        let (access, tests) = access::choose(self.table, &all, conditions.clone());
        if access.is_open() {
            return None;
        }
        Some(CompiledChange {
            access,
            tests,
            all_conditions: conditions,
            new_values: None,
            checks: Vec::new(),
            returning: self.returning(returning)?,
        })
    }
}

/// The assignments of an `UPDATE` to single columns, none of them twice. `DEFAULT` is left to the general path.
pub(super) fn assignments_of(
    assignments: Vec<Assignment>,
    table: &RowTableSchema,
) -> Option<Vec<(usize, Expr)>> {
    let mut found: Vec<(usize, Expr)> = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let AssignmentTarget::ColumnName(name) = assignment.target else {
            return None;
        };
        if name.0.len() != 1 {
            return None;
        }
        let column = table.column_index(&names::last_part(&name)?)?;
        if found.iter().any(|(known, _)| *known == column) {
            return None;
        }
        found.push((column, assignment.value));
    }
    Some(found)
}
