//! `ON CONFLICT`: which constraint it forgives, and what becomes of the row that is there.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryViewArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Expr as SqlExpr, OnConflict, OnConflictAction,
    SelectItem,
};
use quire_error::Error;
use quire_planner::scan::ROW_KEY_COLUMN;
use quire_sql::names::{folded, last_part};
use quire_sql::reject::not_supported;
use quire_tables::row_table::{Value, array_of_values};
use quire_tables::{RowTable, TableDefinition};

use super::change_plan::{ChangeParts, ChangePlan, pick};
use super::default_value::replace_default;
use super::row_expressions::RowExpressions;

/// What a statement says about rows that are there already.
pub(super) struct ConflictRule {
    /// The key that may be there: position of an index, or `None` for the primary key. Without a target, any.
    arbiter: Option<Option<usize>>,
    /// New values, by place of the column; nothing for `DO NOTHING`.
    assignments: Option<Vec<(usize, SqlExpr)>>,
    selection: Option<SqlExpr>,
}

impl ConflictRule {
    pub(super) fn new(clause: &OnConflict, definition: &TableDefinition) -> Result<Self, Error> {
        let arbiter = match &clause.conflict_target {
            None => None,
            Some(target) => Some(arbiter(target, definition)?),
        };
        let (assignments, selection) = match &clause.action {
            OnConflictAction::DoNothing => (None, None),
            OnConflictAction::DoUpdate(update) => {
                if arbiter.is_none() {
                    let text =
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                    return Err(Error::new("42601", text)
                        .with_hint("For example, ON CONFLICT (column_name)."));
                }
                let assignments = update
                    .assignments
                    .iter()
                    .map(|one| assigned(one, definition));
                let assignments = assignments.collect::<Result<Vec<_>, Error>>()?;
                (Some(assignments), update.selection.clone())
            }
        };
        Ok(Self {
            arbiter,
            assignments,
            selection,
        })
    }

    /// Whether a conflict over that key is no error.
    pub(super) fn forgives(&self, index: Option<usize>) -> bool {
        self.arbiter.is_none_or(|arbiter| arbiter == index)
    }

    /// Whether the row that is there is updated.
    pub(super) fn updates(&self) -> bool {
        self.assignments.is_some()
    }
}

fn assigned(
    assignment: &Assignment,
    definition: &TableDefinition,
) -> Result<(usize, SqlExpr), Error> {
    let AssignmentTarget::ColumnName(name) = &assignment.target else {
        return Err(not_supported("a list of columns in ON CONFLICT DO UPDATE"));
    };
    let name = last_part(name).unwrap_or_default();
    let Some(place) = definition.column_index(&name) else {
        let table = &definition.name;
        let text = format!("column \"{name}\" of relation \"{table}\" does not exist");
        return Err(Error::new("42703", text));
    };
    let mut value = assignment.value.clone();
    replace_default(&mut value, definition, &name)?;
    Ok((place, value))
}

/// The key that the target means.
fn arbiter(target: &ConflictTarget, definition: &TableDefinition) -> Result<Option<usize>, Error> {
    let primary = definition.primary_key.as_ref().map(|key| (None, key));
    let indexes = definition.indexes.iter().enumerate();
    let unique = indexes.filter(|(_, index)| index.is_unique);
    let mut keys = primary
        .into_iter()
        .chain(unique.map(|(at, index)| (Some(at), &index.key)));
    match target {
        ConflictTarget::Columns(columns) => {
            let mut wanted = Vec::with_capacity(columns.len());
            for column in columns {
                let name = folded(column);
                let place = definition.column_index(&name).ok_or_else(|| {
                    Error::new("42703", format!("column \"{name}\" does not exist"))
                })?;
                wanted.push(place);
            }
            wanted.sort_unstable();
            let found = keys.find(|(_, key)| {
                let mut places: Vec<usize> = key.columns.iter().map(|part| part.column).collect();
                places.sort_unstable();
                places == wanted
            });
            found.map(|(index, _)| index).ok_or_else(|| {
                Error::new(
                    "42P10",
                    "there is no unique or exclusion constraint matching the ON CONFLICT specification",
                )
            })
        }
        ConflictTarget::OnConstraint(name) => {
            let name = last_part(name).unwrap_or_default();
            let found = keys.find(|(_, key)| key.name == name);
            found.map(|(index, _)| index).ok_or_else(|| {
                let table = &definition.name;
                let text = format!("constraint \"{name}\" for table \"{table}\" does not exist");
                Error::new("42704", text)
            })
        }
    }
}

/// The rows of a batch that are there already.
pub(super) struct Conflicts {
    batch: RecordBatch,
    after: Range<usize>,
    rows: Vec<u32>,
    keys: Vec<Box<[u8]>>,
    existing: Vec<Vec<Value>>,
}

impl Conflicts {
    pub(super) fn new(batch: &RecordBatch, after: Range<usize>) -> Self {
        Self {
            batch: batch.clone(),
            after,
            rows: Vec::new(),
            keys: Vec::new(),
            existing: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, row: usize, key: Box<[u8]>, existing: Vec<Value>) {
        self.rows.push(row as u32);
        self.keys.push(key);
        self.existing.push(existing);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The plan that makes of the rows that are there, and of those that were to be inserted (`excluded`), the new ones.
    pub(super) async fn plan(
        &self,
        expressions: RowExpressions<'_>,
        table: &RowTable,
        alias: &str,
        rule: &ConflictRule,
        returning: Option<&[SelectItem]>,
    ) -> Result<ChangePlan, Error> {
        let definition = table.definition();
        let rows = self.rows(definition)?;
        let width = definition.visible_columns().count();
        let memory = Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]])?);
        let scan =
            LogicalPlanBuilder::scan("conflicts", provider_as_source(memory), None)?.build()?;
        let sources = scan.schema().columns();
        let (own, excluded) = (
            TableReference::bare(alias),
            TableReference::bare("excluded"),
        );
        let column = |index: usize| Expr::Column(sources[index].clone());
        let mut outputs = vec![column(0)];
        let names: Vec<&str> = definition
            .visible_columns()
            .map(|(_, column)| column.name.as_str())
            .collect();
        for (qualifier, first) in [(own, 1), (excluded, 1 + width)] {
            for (position, name) in names.iter().enumerate() {
                let value = column(first + position);
                outputs.push(value.alias_qualified(Some(qualifier.clone()), *name));
            }
        }
        let mut input = LogicalPlanBuilder::from(scan).project(outputs)?.build()?;
        // Both rows, without the key: a bare name of a column means neither, as in PostgreSQL.
        let schema = pick(input.schema(), 1..=2 * width)?;
        if let Some(selection) = &rule.selection {
            let condition = expressions.planned(selection, &schema, "WHERE").await?;
            input = LogicalPlanBuilder::from(input).filter(condition)?.build()?;
        }
        let columns = input.schema().columns();
        let mut after: Vec<Expr> = columns[1..=width]
            .iter()
            .cloned()
            .map(Expr::Column)
            .collect();
        for (place, value) in rule.assignments.iter().flatten() {
            let mut visible = definition.visible_columns();
            if let Some(position) = visible.position(|(known, _)| known == *place) {
                after[position] = expressions.planned(value, &schema, "UPDATE").await?;
            }
        }
        let parts = ChangeParts {
            expressions,
            definition,
            alias,
            row_key: Some(Expr::Column(columns[0].clone())),
            before: Vec::new(),
            after,
            others: Vec::<Column>::new(),
            returning,
        };
        parts.build(input).await
    }

    /// Keys, values that are there, values that were to be inserted.
    fn rows(&self, definition: &TableDefinition) -> Result<RecordBatch, Error> {
        let keys = BinaryViewArray::from_iter_values(&self.keys);
        let mut fields = vec![Field::new(ROW_KEY_COLUMN, DataType::BinaryView, false)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(keys)];
        for (place, column) in definition.visible_columns() {
            let values = self.existing.iter().map(|row| {
                row.get(place)
                    .map(Value::as_tuple_value)
                    .unwrap_or_default()
            });
            let array = array_of_values(column.sql_type, values)
                .map_err(|error| Error::new("XX001", error.to_string()))?;
            fields.push(Field::new(
                format!("own {place}"),
                array.data_type().clone(),
                true,
            ));
            arrays.push(array);
        }
        let chosen = UInt32Array::from(self.rows.clone());
        for (position, array) in self.batch.columns()[self.after.clone()].iter().enumerate() {
            let array = take(array, &chosen, None)?;
            fields.push(Field::new(
                format!("new {position}"),
                array.data_type().clone(),
                true,
            ));
            arrays.push(array);
        }
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
    }
}
