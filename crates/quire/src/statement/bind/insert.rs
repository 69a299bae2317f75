//! `INSERT … VALUES`.

use datafusion::sql::sqlparser::ast::{
    ConflictTarget, DoUpdate, Expr, Insert as Sql, OnConflictAction, OnInsert, Query, SetExpr,
    UnaryOperator, Value,
};
use quire_planner::expression::Slots;
use quire_sql::{names, parse, rewrite};

use super::Binder;
use crate::statement::compiled::{CompiledInsert, ConflictAction, NewValue, OutputColumn, Upsert};
use crate::statement::table::{DefaultValue, KeyKind, RowTableSchema};

impl Binder<'_> {
    pub(super) fn insert(&self, insert: Sql) -> Option<CompiledInsert> {
        if !is_plain(&insert) {
            return None;
        }
        let values = values_of(&insert, self.table)?;
        let width = self.table.columns.len();
        let given = column_count(&insert, self.table)?;
        let mut rows = Vec::new();
        let mut values = values.into_iter().peekable();
        while values.peek().is_some() {
            let mut row: Vec<Option<NewValue>> = (0..width).map(|_| None).collect();
            for (column, value) in values.by_ref().take(given) {
                if !is_default(&value) {
                    if self.table.columns.get(column)?.is_generated {
                        return None;
                    }
                    let value = self.value_for(column, value, &mut Slots::Wanted(Vec::new()))?;
                    *row.get_mut(column)? = Some(NewValue::Given(OutputColumn::of(value)));
                }
            }
            rows.push(self.with_defaults(row)?);
        }
        if rows.len() > 1 && !self.are_alike(&insert)? {
            return None;
        }
        let conflict = match insert.on {
            None => ConflictAction::Fail,
            Some(OnInsert::OnConflict(conflict)) => {
                let arbiter = self.arbiter(conflict.conflict_target)?;
                match conflict.action {
                    OnConflictAction::DoNothing => ConflictAction::DoNothing(arbiter),
                    // Of several rows none may be met again; the general path sees to that.
                    OnConflictAction::DoUpdate(update) if rows.len() == 1 => {
                        ConflictAction::Update(arbiter?, self.upsert(update)?)
                    }
                    OnConflictAction::DoUpdate(_) => return None,
                }
            }
            Some(_) => return None,
        };
        Some(CompiledInsert {
            rows,
            conflict,
            checks: self.checks()?,
            returning: self.returning(insert.returning)?,
        })
    }

    fn with_defaults(&self, row: Vec<Option<NewValue>>) -> Option<Vec<NewValue>> {
        let filled = row
            .into_iter()
            .enumerate()
            .map(|(column, value)| match value {
                Some(value) => Some(value),
                None => self.default_of(column),
            });
        filled.collect()
    }

    fn default_of(&self, column: usize) -> Option<NewValue> {
        let sql = match &self.table.columns.get(column)?.default {
            DefaultValue::Null => Expr::Value(Value::Null.into()),
            DefaultValue::Expression(text) => {
                let mut sql = parse::parse_expression(text).ok()?;
                rewrite::rewrite_expression(&mut sql);
                sql
            }
            DefaultValue::Sequence(id) => return Some(NewValue::Next(*id)),
        };
        let value = self.value_for(column, sql, &mut Slots::Wanted(Vec::new()))?;
        let is_fixed = value.node.is_fixed();
        is_fixed.then(|| NewValue::Given(OutputColumn::of(value)))
    }

    /// Whether the values of each column have one type in all rows: else the general path finds a common one for them first,
    /// which may change them.
    fn are_alike(&self, insert: &Sql) -> Option<bool> {
        let rows = rows_of(insert)?;
        let columns = columns_of(insert, self.table)?;
        let width = rows.first()?.len();
        for (place, column) in columns.into_iter().enumerate().take(width) {
            let is_numeric = self
                .table
                .columns
                .get(column)?
                .sql_type
                .arrow_type()
                .is_numeric();
            let mut known = None;
            for row in &rows {
                let value = row.get(place)?;
                let is_null = matches!(value, Expr::Value(value) if value.value == Value::Null);
                if is_null || is_default(value) || (is_numeric && is_short_number(value)) {
                    continue;
                }
                let data_type = self.type_of(value.clone())?;
                if known.as_ref().is_some_and(|known| *known != data_type) {
                    return Some(false);
                }
                known = Some(data_type);
            }
        }
        Some(true)
    }

    /// What becomes of the row that is there.
    fn upsert(&self, update: DoUpdate) -> Option<Upsert> {
        let both = self.with_excluded()?;
        Some(Upsert {
            conditions: both.conditions(update.selection, &mut Slots::All)?,
            new_values: both.new_values(update.assignments)?,
        })
    }

    /// Which key a row may repeat: any, or a certain one.
    fn arbiter(&self, target: Option<ConflictTarget>) -> Option<Option<KeyKind>> {
        match target {
            None => Some(None),
            Some(ConflictTarget::Columns(columns)) => {
                let mut columns: Vec<usize> = columns
                    .iter()
                    .map(|column| self.table.column_index(&names::folded(column)))
                    .collect::<Option<_>>()?;
                columns.sort_unstable();
                let key = self.table.keys.iter().find(|key| {
                    let mut of_key: Vec<usize> =
                        key.columns.iter().map(|part| part.column).collect();
                    of_key.sort_unstable();
                    key.is_unique && of_key == columns
                });
                Some(Some(key?.kind))
            }
            Some(ConflictTarget::OnConstraint(_)) => None,
        }
    }
}

/// Every value with the column it is for, row by row.
pub(super) fn values_of(insert: &Sql, table: &RowTableSchema) -> Option<Vec<(usize, Expr)>> {
    let columns = columns_of(insert, table)?;
    let rows = rows_of(insert)?;
    let given = column_count(insert, table)?;
    let mut values = Vec::with_capacity(rows.len() * given);
    for row in rows {
        if row.is_empty() || row.len() != given {
            return None;
        }
        values.extend(columns.iter().copied().zip(row.iter().cloned()));
    }
    Some(values)
}

/// Number of values in a row. All rows have as many as the first.
fn column_count(insert: &Sql, table: &RowTableSchema) -> Option<usize> {
    if insert.columns.is_empty() {
        rows_of(insert)?
            .first()
            .map(|row| row.len())
            .filter(|len| *len <= table.columns.len())
    } else {
        Some(insert.columns.len())
    }
}

fn columns_of(insert: &Sql, table: &RowTableSchema) -> Option<Vec<usize>> {
    if insert.columns.is_empty() {
        return Some((0..table.columns.len()).collect());
    }
    let mut columns = Vec::with_capacity(insert.columns.len());
    for name in &insert.columns {
        let column = table.column_index(&names::last_part(name)?)?;
        if columns.contains(&column) {
            return None;
        }
        columns.push(column);
    }
    Some(columns)
}

fn rows_of(insert: &Sql) -> Option<Vec<&Vec<Expr>>> {
    let Query {
        with: None,
        body,
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = insert.source.as_deref()?
    else {
        return None;
    };
    match body.as_ref() {
        SetExpr::Values(values) if locks.is_empty() && pipe_operators.is_empty() => {
            Some(values.rows.iter().map(|row| &row.content).collect())
        }
        _ => None,
    }
}

fn is_default(value: &Expr) -> bool {
    matches!(value, Expr::Identifier(ident)
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

/// A number as it is written, so short that no common type changes it.
fn is_short_number(value: &Expr) -> bool {
    match value {
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => is_short_number(expr),
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _)
            if digits.len() <= 15 && !digits.contains(['e', 'E'])),
        _ => false,
    }
}

/// Whether an `INSERT` has no clause but those that are looked at.
fn is_plain(insert: &Sql) -> bool {
    let Sql {
        insert_token: _,
        optimizer_hints,
        or,
        ignore,
        into: _,
        table: _,
        table_alias: _,
        columns: _,
        overwrite,
        source: _,
        assignments,
        partitioned,
        after_columns,
        has_table_keyword,
        on: _,
        returning: _,
        output,
        replace_into,
        priority,
        insert_alias,
        settings,
        format_clause,
        multi_table_insert_type,
        multi_table_into_clauses: _,
        multi_table_when_clauses: _,
        multi_table_else_clause: _,
    } = insert;
    optimizer_hints.is_empty()
        && or.is_none()
        && !ignore
        && !overwrite
        && assignments.is_empty()
        && partitioned.is_none()
        && after_columns.is_empty()
        && !has_table_keyword
        && output.is_none()
        && !replace_into
        && priority.is_none()
        && insert_alias.is_none()
        && settings.is_none()
        && format_clause.is_none()
        && multi_table_insert_type.is_none()
}
