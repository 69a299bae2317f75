//! The bytes between which all keys with certain values lie.

use std::ops::Bound;

use quire_format::key::{KeyColumn, KeyLayout};
use quire_format::tuple::{TupleValue, ValueError};

/// Which values of a column are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnRange<'a> {
    /// All, NULL too.
    All,
    /// Those between two bounds, in the order of the values, whatever that of the key. NULL is never between bounds, even
    /// unbounded ones: so `IS NOT NULL` is said. A bound that is NULL lets nothing through, as comparisons do.
    Between(Bound<TupleValue<'a>>, Bound<TupleValue<'a>>),
}

/// A range of keys as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The least key that may be wanted.
    pub low: Vec<u8>,
    /// The least bytes above all that are wanted; `None` for the end of all keys.
    pub high: Option<Vec<u8>>,
}

impl KeyRange {
    /// No key at all.
    #[must_use]
    pub fn none() -> Self {
        Self {
            low: Vec::new(),
            high: Some(Vec::new()),
        }
    }

    /// Every key.
    #[must_use]
    pub fn all() -> Self {
        Self {
            low: Vec::new(),
            high: None,
        }
    }

    /// Whether no key can be in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.high.as_ref().is_some_and(|high| *high <= self.low)
    }

    /// Whether `key` is in it.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.low <= *key && self.high.as_ref().is_none_or(|high| *key < **high)
    }

    /// The keys of `layout` with the values `equal` in the first columns (NULL means `IS NULL`), and `next` in the one after.
    pub(super) fn of(
        layout: &KeyLayout,
        equal: &[TupleValue<'_>],
        next: ColumnRange<'_>,
    ) -> Result<Self, ValueError> {
        let (low, high) = match next {
            ColumnRange::All => (Some(prefix(layout, equal)?), behind(layout, equal)?),
            ColumnRange::Between(from, to) => {
                let Some(&column) = layout.columns().get(equal.len()) else {
                    return Err(ValueError::ColumnCount {
                        given: equal.len() + 1,
                        expected: layout.columns().len(),
                    });
                };
                if is_null(from) || is_null(to) {
                    return Ok(Self::none());
                }
                let edges = Edges {
                    layout,
                    equal,
                    column,
                };
                let (from, to) = if column.descending {
                    (to, from)
                } else {
                    (from, to)
                };
                (edges.low(from)?, edges.high(to)?)
            }
        };
        Ok(match low {
            Some(low) => Self { low, high },
            None => Self::none(),
        })
    }
}

fn is_null(bound: Bound<TupleValue<'_>>) -> bool {
    matches!(
        bound,
        Bound::Included(TupleValue::Null) | Bound::Excluded(TupleValue::Null)
    )
}

/// The least key with these values in front.
fn prefix(layout: &KeyLayout, values: &[TupleValue<'_>]) -> Result<Vec<u8>, ValueError> {
    let mut key = Vec::new();
    layout.encode_prefix(values, &mut key)?;
    Ok(key)
}

/// The least bytes above all keys with these values in front, if there are any.
fn behind(layout: &KeyLayout, values: &[TupleValue<'_>]) -> Result<Option<Vec<u8>>, ValueError> {
    let mut key = Vec::new();
    let any = layout.encode_successor(values, &mut key)?;
    Ok(any.then_some(key))
}

/// Bounds of one column behind others that are fixed. Bounds are in the order of the key here.
struct Edges<'a> {
    layout: &'a KeyLayout,
    equal: &'a [TupleValue<'a>],
    column: KeyColumn,
}

impl<'a> Edges<'a> {
    fn with(&self, value: TupleValue<'a>) -> Vec<TupleValue<'a>> {
        [self.equal, &[value]].concat()
    }

    /// The least key that is wanted; `None` if there is none.
    fn low(&self, from: Bound<TupleValue<'a>>) -> Result<Option<Vec<u8>>, ValueError> {
        match from {
            Bound::Included(value) => prefix(self.layout, &self.with(value)).map(Some),
            Bound::Excluded(value) => behind(self.layout, &self.with(value)),
            Bound::Unbounded if self.column.nullable && self.column.nulls_first => {
                behind(self.layout, &self.with(TupleValue::Null))
            }
            Bound::Unbounded => prefix(self.layout, self.equal).map(Some),
        }
    }

    /// The least bytes above all that is wanted; `None` for the end of all keys.
    fn high(&self, to: Bound<TupleValue<'a>>) -> Result<Option<Vec<u8>>, ValueError> {
        match to {
            Bound::Included(value) => behind(self.layout, &self.with(value)),
            Bound::Excluded(value) => prefix(self.layout, &self.with(value)).map(Some),
            Bound::Unbounded if self.column.nullable && !self.column.nulls_first => {
                prefix(self.layout, &self.with(TupleValue::Null)).map(Some)
            }
            Bound::Unbounded => behind(self.layout, self.equal),
        }
    }
}
