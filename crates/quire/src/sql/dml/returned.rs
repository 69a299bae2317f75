//! The rows of `RETURNING`.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::{CastOptions, cast_with_options, filter_record_batch};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use quire_error::Error;

use crate::outcome::{Completion, Outcome, Rows};

/// What a statement returns, while it runs.
#[derive(Default)]
pub(super) struct Returned {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
}

impl Returned {
    /// Says what is returned; nothing without `RETURNING`.
    pub(super) fn set_schema(&mut self, schema: Option<SchemaRef>) {
        // What a plan promises and what it delivers may differ in nullability, and where constants decide a CASE in type.
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        self.schema = schema.map(|schema| {
            Arc::new(Schema::new(
                schema.fields().iter().map(nullable).collect::<Vec<_>>(),
            ))
        });
    }

    /// Names and types of what is returned.
    pub(super) fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// Adds rows that are returned as they are.
    pub(super) fn add_all(&mut self, batch: RecordBatch) {
        self.batches.push(batch);
    }

    /// Adds the returned columns of the rows that were changed.
    pub(super) fn add(
        &mut self,
        batch: &RecordBatch,
        columns: &Range<usize>,
        changed: &BooleanArray,
    ) -> Result<(), Error> {
        let Some(schema) = &self.schema else {
            return Ok(());
        };
        let found = batch.columns()[columns.clone()].iter();
        // A value that does not fit what was promised is an error, and not NULL.
        let options = CastOptions {
            safe: false,
            ..CastOptions::default()
        };
        let arrays = found
            .zip(schema.fields())
            .map(|(array, field)| cast_with_options(array, field.data_type(), &options));
        let arrays = arrays.collect::<Result<_, _>>()?;
        let returned = RecordBatch::try_new(Arc::clone(schema), arrays)?;
        let returned = filter_record_batch(&returned, changed)?;
        if returned.num_rows() > 0 {
            self.batches.push(returned);
        }
        Ok(())
    }

    /// What the statement gives back.
    pub(super) fn outcome(self, tag: &'static str, count: u64) -> Outcome {
        match self.schema {
            Some(schema) => Outcome::Rows(Rows::of_batches(schema, self.batches).of_command(tag)),
            None => Outcome::Done(Completion::counted(format!("{tag} {count}"), count)),
        }
    }
}
