//! Group keys: the codes by which a row group tells them apart, and their values.
//!
//! There is one slot for each combination of codes. The codes of text are those of a segment's dictionary. Row groups that have all their values in one
//! shared dictionary have the same codes; groups of others are put together by their values. What is computed from one text has the codes of its values
//! ([`enumeration_view`](super::enumeration_view)).

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::physical_expr::PhysicalExpr;
use quire_tables::{RowChunk, ScanError, SelectedGroup};
use quire_vector::RowSlots;

use super::enumeration_view::{EnumerationView, ViewedCodes};
use super::input::AggregateInput;
use super::key_value::KeyValue;

/// At most that many slots.
const SLOTS_MAX: usize = 4096;

/// One key of an aggregation.
#[derive(Clone, Debug)]
pub(super) struct GroupKey {
    /// Of the table.
    column: usize,
    has_nulls: bool,
    codes: KeyCodes,
}

/// One integer key with many values.
#[derive(Clone, Debug)]
pub(super) struct WindowKey {
    /// Of the table.
    pub(super) column: usize,
    pub(super) has_nulls: bool,
    /// The smallest value of the table.
    pub(super) first: i64,
}

#[derive(Clone, Debug)]
enum KeyCodes {
    Dictionary,
    View(EnumerationView),
    /// The distance from the smallest value of the table.
    Distance {
        first: i64,
        span: usize,
    },
}

/// How groups are told apart.
#[derive(Clone, Debug)]
pub(super) enum VectorKeys {
    /// By codes of few values.
    Coded(Vec<GroupKey>),
    /// By an integer.
    Window(WindowKey),
}

/// The codes of the keys in one row group.
pub(super) struct RowGroupKeys {
    keys: Vec<CodedKey>,
    pub(super) slot_count: usize,
}

struct CodedKey {
    key: GroupKey,
    /// Codes are below it.
    domain: usize,
    /// The code of NULL, if rows have it.
    null_code: Option<i64>,
    meaning: CodeMeaning,
}

/// What codes stand for.
enum CodeMeaning {
    Texts(StringViewArray),
    Viewed(ViewedCodes),
    /// The distance from it.
    DistanceFrom(i64),
}

impl GroupKey {
    /// The key of an expression; `None` if it is neither a column nor computed from one, or one with too many values.
    pub(super) fn of(input: &AggregateInput<'_>, expr: &Arc<dyn PhysicalExpr>) -> Option<Self> {
        let (index, view) = match input.scan_column(expr) {
            Some(index) => (index, None),
            None => {
                let (index, view) = EnumerationView::of(input, expr)?;
                (index, Some(view))
            }
        };
        let column = input.table_column(index)?;
        let schema = input.schema(0);
        let codes = match schema.field(index).data_type() {
            DataType::Utf8View => {
                let distinct = input.table().statistics(column)?.distinct_estimate;
                if distinct > SLOTS_MAX as u64 {
                    return None;
                }
                view.map_or(KeyCodes::Dictionary, KeyCodes::View)
            }
            _ => {
                let bounds = input.table().integer_bounds(column)?;
                let first = *bounds.start();
                let span = bounds.end().abs_diff(first).checked_add(1)?;
                let span = usize::try_from(span).ok()?;
                KeyCodes::Distance { first, span }
            }
        };
        Some(Self {
            column,
            has_nulls: input.has_nulls(column),
            codes,
        })
    }

    /// The key as an integer of many values.
    fn as_window(&self) -> Option<WindowKey> {
        let KeyCodes::Distance { first, .. } = self.codes else {
            return None;
        };
        Some(WindowKey {
            column: self.column,
            has_nulls: self.has_nulls,
            first,
        })
    }

    /// About how many slots it needs at least.
    fn slots(&self) -> usize {
        match self.codes {
            KeyCodes::Dictionary | KeyCodes::View(_) => 1,
            KeyCodes::Distance { span, .. } => span,
        }
    }

    fn coded(&self, group: &mut SelectedGroup<'_>) -> Result<Option<CodedKey>, ScanError> {
        let (values, meaning) = match &self.codes {
            KeyCodes::Distance { first, span } => (*span, CodeMeaning::DistanceFrom(*first)),
            KeyCodes::Dictionary | KeyCodes::View(_) => {
                let Some(dictionary) = group.dictionary(self.column, SLOTS_MAX)? else {
                    return Ok(None);
                };
                let Some(coded) = self.over_dictionary(&dictionary) else {
                    return Ok(None);
                };
                coded
            }
        };
        // The values of views have NULL among them, if it is one.
        let (domain, null_code) = match &meaning {
            CodeMeaning::Viewed(viewed) => (values, viewed.null_code()),
            _ => (values + usize::from(self.has_nulls), values as i64),
        };
        Ok(Some(CodedKey {
            key: self.clone(),
            domain,
            null_code: self.has_nulls.then_some(null_code),
            meaning,
        }))
    }

    /// The number of values that a dictionary with a NULL behind it has for this key, and what its codes stand for.
    fn over_dictionary(&self, dictionary: &ArrayRef) -> Option<(usize, CodeMeaning)> {
        if let KeyCodes::View(view) = &self.codes {
            let viewed = view.over(dictionary)?;
            return Some((viewed.values.len(), CodeMeaning::Viewed(viewed)));
        }
        let texts = dictionary.as_string_view_opt()?;
        let count = texts.len().saturating_sub(1);
        Some((count, CodeMeaning::Texts(texts.clone())))
    }
}

/// How groups of these keys are told apart; `None` if there may be too many.
pub(super) fn vector_keys(keys: Vec<GroupKey>) -> Option<VectorKeys> {
    let product = keys
        .iter()
        .try_fold(1_usize, |product, key| product.checked_mul(key.slots()));
    if product.is_some_and(|product| product <= SLOTS_MAX) {
        return Some(VectorKeys::Coded(keys));
    }
    let [key] = keys.as_slice() else {
        return None;
    };
    key.as_window().map(VectorKeys::Window)
}

impl RowGroupKeys {
    /// `None` if a text has no codes here, or there are too many combinations.
    pub(super) fn of(
        keys: &[GroupKey],
        group: &mut SelectedGroup<'_>,
    ) -> Result<Option<Self>, ScanError> {
        let mut coded = Vec::with_capacity(keys.len());
        let mut slot_count = 1_usize;
        for key in keys {
            let Some(key) = key.coded(group)? else {
                return Ok(None);
            };
            slot_count = slot_count.saturating_mul(key.domain);
            coded.push(key);
        }
        let keys = coded;
        Ok((slot_count <= SLOTS_MAX).then_some(Self { keys, slot_count }))
    }

    /// Whether slots stand for the same groups as those of another row group.
    pub(super) fn mean_the_same(&self, other: &Self) -> bool {
        let mut pairs = self.keys.iter().zip(&other.keys);
        self.slot_count == other.slot_count
            && self.keys.len() == other.keys.len()
            && pairs.all(|(one, other)| one.means_the_same(other))
    }

    /// Puts the rows of a chunk into their slots.
    pub(super) fn fill(
        &self,
        group: &mut SelectedGroup<'_>,
        chunk: &RowChunk,
        slots: &mut RowSlots,
    ) -> Result<(), ScanError> {
        slots.clear();
        let mut codes = [0; 1024];
        for key in &self.keys {
            let column = key.key.column;
            match key.meaning {
                CodeMeaning::DistanceFrom(first) => {
                    group.integers(column, chunk, &mut codes)?;
                    for code in &mut codes {
                        *code = code.wrapping_sub(first);
                    }
                }
                CodeMeaning::Texts(_) | CodeMeaning::Viewed(_) => {
                    group.codes(column, chunk, &mut codes)?;
                }
            }
            if let Some(null) = key.null_code {
                let present = group.present(column, chunk)?;
                set_null_codes(&mut codes, &present, null);
            }
            if let CodeMeaning::Viewed(viewed) = &key.meaning {
                viewed.replace(&mut codes);
            }
            slots.divide(&codes, key.domain);
        }
        slots.retain(&chunk.mask());
        Ok(())
    }

    /// The values of the keys in a slot.
    pub(super) fn values(&self, mut slot: usize) -> Vec<KeyValue> {
        let mut values = Vec::with_capacity(self.keys.len());
        for key in self.keys.iter().rev() {
            let domain = key.domain.max(1);
            values.push(key.value(slot % domain));
            slot /= domain;
        }
        values.reverse();
        values
    }
}

/// Gives rows that are not `present` the code of NULL.
pub(super) fn set_null_codes(codes: &mut [i64; 1024], present: &[u64; 16], null: i64) {
    for (codes, word) in codes.chunks_exact_mut(64).zip(present) {
        for (bit, code) in codes.iter_mut().enumerate() {
            if word >> bit & 1 == 0 {
                *code = null;
            }
        }
    }
}

impl CodedKey {
    fn means_the_same(&self, other: &Self) -> bool {
        let is_same = match (&self.meaning, &other.meaning) {
            (CodeMeaning::DistanceFrom(one), CodeMeaning::DistanceFrom(other)) => one == other,
            // Row groups that share a dictionary have one array.
            (CodeMeaning::Texts(one), CodeMeaning::Texts(other)) => {
                one.len() == other.len() && one.views().ptr_eq(other.views())
            }
            _ => false,
        };
        is_same && (self.domain, self.null_code) == (other.domain, other.null_code)
    }

    fn value(&self, code: usize) -> KeyValue {
        match &self.meaning {
            CodeMeaning::Viewed(viewed) => {
                let value = viewed.values.get(code);
                value.cloned().unwrap_or(KeyValue::Null)
            }
            _ if self.null_code == Some(code as i64) => KeyValue::Null,
            CodeMeaning::DistanceFrom(first) => KeyValue::Integer(first.wrapping_add(code as i64)),
            CodeMeaning::Texts(texts) if texts.is_valid(code) => {
                KeyValue::Text(texts.value(code).into())
            }
            CodeMeaning::Texts(_) => KeyValue::Null,
        }
    }
}
