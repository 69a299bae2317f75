//! A query that is planned, and the columns that its user sees.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::logical_expr::LogicalPlan;
use quire_error::Error;
use quire_sql::names;

use crate::planning::StatementContext;

/// A query, planned.
pub(crate) struct PlannedQuery {
    pub(crate) context: StatementContext,
    pub(crate) plan: LogicalPlan,
    /// Names to show, by position; see [`names::of_query`].
    pub(super) names: Vec<Option<String>>,
    /// Positions of columns that are JSON.
    pub(super) json: Vec<usize>,
}

impl PlannedQuery {
    /// Names and types of the columns as the user sees them.
    pub(super) fn shown_schema(&self) -> SchemaRef {
        self.shown_schema_of(&self.plan)
    }

    /// The same of a plan that was made of this one, as which planning settles types.
    pub(super) fn shown_schema_of(&self, plan: &LogicalPlan) -> SchemaRef {
        self.shown(plan.schema().inner())
    }

    /// The columns of the plan, or of what runs it, as the user sees them.
    pub(super) fn shown(&self, planned: &Schema) -> SchemaRef {
        let schema = shown_schema(planned, &self.names);
        if self.json.is_empty() {
            return schema;
        }
        let fields = schema.fields().iter().enumerate();
        let fields = fields.map(|(at, field)| {
            if self.json.contains(&at) {
                marked_as_json(field)
            } else {
                field.as_ref().clone()
            }
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The types of the parameters, as far as what they stand beside tells.
    pub(super) fn parameter_types(&self) -> Result<Vec<Option<DataType>>, Error> {
        let mut types = Vec::new();
        for (name, data_type) in self.plan.get_parameter_types()? {
            let number = name
                .strip_prefix('$')
                .and_then(|digits| digits.parse().ok());
            let Some(index) = number.and_then(|number: u16| usize::from(number).checked_sub(1))
            else {
                continue;
            };
            if types.len() <= index {
                types.resize(index + 1, None);
            }
            types[index] = data_type;
        }
        Ok(types)
    }
}

/// Text that is JSON says so in its metadata, under Arrow's name for such columns.
fn marked_as_json(field: &Field) -> Field {
    let mark = [("ARROW:extension:name", "arrow.json")];
    let mark = mark.map(|(key, value)| (key.to_owned(), value.to_owned()));
    field.clone().with_metadata(mark.into())
}

/// The columns of a plan under the names to show.
fn shown_schema(planned: &Schema, names: &[Option<String>]) -> SchemaRef {
    let is_known = names.len() == planned.fields().len();
    let field = |(position, field): (usize, &Arc<Field>)| {
        let chosen = if is_known {
            names[position].as_deref()
        } else {
            None
        };
        let name = chosen.unwrap_or_else(|| names::display(field.name()));
        field.as_ref().clone().with_name(name)
    };
    let fields: Vec<Field> = planned.fields().iter().enumerate().map(field).collect();
    Arc::new(Schema::new(fields))
}
