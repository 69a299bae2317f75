//! `nextval`, `currval`, `setval` and `lastval`.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use quire_tables::{SequenceDefinition, Snapshot};

use quire_error::Error;

/// `nextval` by the id of the sequence, for column defaults: they stay valid when the sequence is renamed.
pub const NEXT_BY_ID: &str = "quire_nextval";

/// The sequence values of one session: the state behind `currval` and `lastval`.
#[derive(Debug, Default)]
pub struct SequenceValues {
    values: Mutex<SessionSequenceValues>,
}

#[derive(Debug, Default)]
struct SessionSequenceValues {
    /// Result of `currval` by sequence id.
    by_sequence: HashMap<u64, i64>,
    /// The sequence of the last `nextval`, whose current value is the result of `lastval`.
    last_id: Option<u64>,
}

/// Registers the functions for one statement, which looks up sequences in `snapshot`.
pub(super) fn register(
    state: &mut SessionState,
    snapshot: &Snapshot,
    values: &Arc<SequenceValues>,
) -> Result<()> {
    for which in [
        SequenceCall::Next,
        SequenceCall::NextById,
        SequenceCall::Current,
        SequenceCall::Set,
        SequenceCall::Last,
    ] {
        let function = SequenceFunction {
            which,
            signature: which.signature(),
            snapshot: snapshot.clone(),
            values: Arc::clone(values),
        };
        state.register_udf(ScalarUDF::from(function).into())?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SequenceCall {
    Next,
    NextById,
    Current,
    Set,
    Last,
}

impl SequenceCall {
    fn signature(self) -> Signature {
        let signature = match self {
            SequenceCall::Next | SequenceCall::Current => TypeSignature::String(1),
            SequenceCall::NextById => TypeSignature::Exact(vec![DataType::Int64]),
            SequenceCall::Set => TypeSignature::OneOf(vec![
                TypeSignature::Exact(vec![DataType::Utf8, DataType::Int64]),
                TypeSignature::Exact(vec![DataType::Utf8, DataType::Int64, DataType::Boolean]),
            ]),
            SequenceCall::Last => TypeSignature::Nullary,
        };
        // Volatile: the optimizer must neither fold calls nor merge equal ones, not even of `currval`, which `nextval` changes.
        Signature::new(signature, Volatility::Volatile)
    }
}

struct SequenceFunction {
    which: SequenceCall,
    signature: Signature,
    snapshot: Snapshot,
    values: Arc<SequenceValues>,
}

impl std::fmt::Debug for SequenceFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for SequenceFunction {
    fn eq(&self, other: &Self) -> bool {
        self.which == other.which && Arc::ptr_eq(&self.values, &other.values)
    }
}

impl Eq for SequenceFunction {}

impl Hash for SequenceFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.which.hash(state);
    }
}

impl ScalarUDFImpl for SequenceFunction {
    fn name(&self) -> &str {
        match self.which {
            SequenceCall::Next => "nextval",
            SequenceCall::NextById => NEXT_BY_ID,
            SequenceCall::Current => "currval",
            SequenceCall::Set => "setval",
            SequenceCall::Last => "lastval",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let row_count = args.number_rows;
        let arrays = args
            .args
            .iter()
            .map(|arg| arg.clone().into_array(row_count));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let rows = (0..row_count).map(|row| self.value(&arrays, row));
        let values: Int64Array = rows.collect::<Result<Vec<Option<i64>>>>()?.into();
        // The client may keep what it gets outside of this database. A column's default is stored by a commit that comes later in the log.
        if matches!(self.which, SequenceCall::Next | SequenceCall::Set) {
            self.snapshot.sync_sequences().map_err(Error::from)?;
        }
        Ok(ColumnarValue::Array(Arc::new(values)))
    }
}

impl SequenceFunction {
    fn value(&self, arrays: &[ArrayRef], row: usize) -> Result<Option<i64>> {
        // All of the functions are strict.
        if arrays.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let value = match self.which {
            SequenceCall::Last => self
                .values
                .last()
                .ok_or_else(|| Error::new("55000", "lastval is not yet defined in this session"))?,
            SequenceCall::NextById => {
                let id = arrays[0].as_primitive::<Int64Type>().value(row);
                self.values.next_by_id(&self.snapshot, id.cast_unsigned())?
            }
            SequenceCall::Next => self.next(&*self.sequence(arrays, row)?)?,
            SequenceCall::Current => {
                let sequence = self.sequence(arrays, row)?;
                let current = self.values.locked().by_sequence.get(&sequence.id).copied();
                current.ok_or_else(|| {
                    let name = &sequence.name;
                    let text = format!(
                        "currval of sequence \"{name}\" is not yet defined in this session"
                    );
                    Error::new("55000", text)
                })?
            }
            SequenceCall::Set => {
                let sequence = self.sequence(arrays, row)?;
                let value = arrays[1].as_primitive::<Int64Type>().value(row);
                let is_called = arrays
                    .get(2)
                    .is_none_or(|array| array.as_boolean().value(row));
                let set = self.snapshot.set_value(&sequence, value, is_called);
                set.map_err(Error::from)?;
                // As in PostgreSQL, `setval` with `is_called = false` leaves `currval` alone.
                if is_called {
                    let mut values = self.values.locked();
                    values.by_sequence.insert(sequence.id, value);
                }
                value
            }
        };
        Ok(Some(value))
    }

    /// The sequence that the first argument names. Identifiers are case-folded unless they are quoted.
    fn sequence(&self, arrays: &[ArrayRef], row: usize) -> Result<Arc<SequenceDefinition>> {
        let names = cast(&arrays[0], &DataType::Utf8View)?;
        let written = names.as_string_view().value(row);
        let name = written.strip_prefix("public.").unwrap_or(written);
        let name = match name
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => name.to_lowercase(),
        };
        self.snapshot.sequence(&name).ok_or_else(|| {
            let text = format!("relation \"{written}\" does not exist");
            Error::new("42P01", text).into()
        })
    }

    fn next(&self, sequence: &SequenceDefinition) -> Result<i64> {
        Ok(self.values.next(&self.snapshot, sequence)?)
    }
}

impl SequenceValues {
    /// Advances a sequence, and records its value for `currval` and `lastval`.
    fn next(
        &self,
        snapshot: &Snapshot,
        sequence: &SequenceDefinition,
    ) -> std::result::Result<i64, Error> {
        let value = snapshot.next_value(sequence)?;
        let mut values = self.locked();
        values.by_sequence.insert(sequence.id, value);
        values.last_id = Some(sequence.id);
        Ok(value)
    }

    /// Advances the sequence with this id, as `nextval` does.
    ///
    /// # Errors
    /// 42P01 if the snapshot has no such sequence, and those of [`Snapshot::next_value`].
    pub fn next_by_id(&self, snapshot: &Snapshot, id: u64) -> std::result::Result<i64, Error> {
        let missing = || Error::new("42P01", "the sequence of a column is gone");
        let sequence = snapshot.sequence_by_id(id).ok_or_else(missing)?;
        self.next(snapshot, &sequence)
    }

    fn last(&self) -> Option<i64> {
        let values = self.locked();
        values.by_sequence.get(&values.last_id?).copied()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, SessionSequenceValues> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
