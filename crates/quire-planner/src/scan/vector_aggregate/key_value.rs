//! The values of group keys.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringViewArray};

/// The value of a key in one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyValue {
    Null,
    Integer(i64),
    Text(Arc<str>),
}

/// The values of text keys as an array.
pub(super) fn text_array<'a>(values: impl Iterator<Item = &'a KeyValue>) -> ArrayRef {
    let text = |value: &'a KeyValue| match value {
        KeyValue::Text(text) => Some(&**text),
        KeyValue::Integer(_) | KeyValue::Null => None,
    };
    Arc::new(values.map(text).collect::<StringViewArray>())
}
