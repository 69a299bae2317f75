//! The value of one key of a page that is stored by rows, without the page.
//!
//! Whoever wants one row of a page that is not in memory, and perhaps never again, needs neither slots nor a heap. The raw base has
//! lengths, keys and values each in a column: a search in the keys, a sum of lengths, and what the log says of that key since.

use std::borrow::Cow;

use quire_codec::Corrupt;

use super::layout::PageSlot;
use super::op::PageOp;
use super::raw_base::{RawHead, cut};
use super::space;

/// The raw base by rows of a page, and its log, to look single keys up. Only what is looked at is checked; what a whole page must
/// hold is when it is decoded.
#[derive(Clone, Copy, Debug)]
pub struct StoredPageRows<'a> {
    level: u8,
    lower: &'a [u8],
    upper: &'a [u8],
    prefix: &'a [u8],
    key_lengths: &'a [[u8; 2]],
    value_lengths: &'a [[u8; 2]],
    keys: &'a [u8],
    values: &'a [u8],
    log: &'a [u8],
}

impl<'a> StoredPageRows<'a> {
    pub(super) fn open(raw: &'a [u8], log: &'a [u8]) -> Result<Self, Corrupt> {
        let (head, mut parts) = RawHead::read(raw)?;
        let shared = space::shared_bytes(head.lower, head.upper);
        let (key_lengths, _) = parts.take(2 * head.entry_count)?.as_chunks();
        let (value_lengths, _) = parts.take(2 * head.entry_count)?.as_chunks();
        let key_bytes = key_lengths.iter().copied().map(key_length).sum();
        Ok(Self {
            level: head.level,
            lower: head.lower,
            upper: head.upper,
            prefix: head.lower.get(..shared).unwrap_or_default(),
            key_lengths,
            value_lengths,
            keys: parts.take(key_bytes)?,
            values: parts.0,
            log,
        })
    }

    /// Distance from the leaves.
    #[must_use]
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// Whether the fences permit this key.
    #[must_use]
    pub fn covers(&self, key: &[u8]) -> bool {
        self.lower <= key && (self.upper.is_empty() || key < self.upper)
    }

    /// The value of `key`; `None` when there is no such entry.
    ///
    /// # Errors
    /// A base that ends too early, or operations that could not have been carried out.
    pub fn value(&self, key: &[u8]) -> Result<Option<Cow<'a, [u8]>>, Corrupt> {
        let mut value = self.base_value(key)?.map(Cow::Borrowed);
        let mut log = self.log;
        while !log.is_empty() {
            let (op, op_bytes) = PageOp::decode(log)?;
            if op.key() == key {
                value = after(value, &op)?;
            }
            log = log.get(op_bytes..).unwrap_or_default();
        }
        Ok(value)
    }

    fn base_value(&self, key: &[u8]) -> Result<Option<&'a [u8]>, Corrupt> {
        let suffix = key.strip_prefix(self.prefix);
        let Some(index) = suffix.and_then(|suffix| self.find(suffix)) else {
            return Ok(None);
        };
        let (before, rest) = self.value_lengths.split_at_checked(index).ok_or_else(cut)?;
        let start: usize = before.iter().copied().map(value_length).sum();
        let length = rest.first().copied().map(value_length).ok_or_else(cut)?;
        let value = self
            .values
            .get(start..)
            .and_then(|values| values.get(..length));
        value.map(Some).ok_or_else(cut)
    }

    /// Index of the entry with that key behind the prefix.
    fn find(&self, suffix: &[u8]) -> Option<usize> {
        let width = self.key_lengths.first()?;
        if self.key_lengths.iter().any(|length| length != width) {
            return self.find_among_lengths(suffix);
        }
        let width = key_length(*width);
        let key = |index: usize| self.keys.get(index * width..(index + 1) * width);
        let (mut low, mut count) = (0, self.key_lengths.len());
        while count > 1 {
            let half = count / 2;
            let is_not_greater = key(low + half).is_some_and(|key| key <= suffix);
            low = if is_not_greater { low + half } else { low };
            count -= half;
        }
        (key(low) == Some(suffix)).then_some(low)
    }

    fn find_among_lengths(&self, suffix: &[u8]) -> Option<usize> {
        let mut keys = self.keys;
        for (index, length) in self.key_lengths.iter().enumerate() {
            let (key, rest) = keys.split_at_checked(key_length(*length))?;
            if key >= suffix {
                return (key == suffix).then_some(index);
            }
            keys = rest;
        }
        None
    }
}

fn key_length(stored: [u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(stored))
}

fn value_length(stored: [u8; 2]) -> usize {
    usize::from(PageSlot::split_value_field(u16::from_le_bytes(stored)).0)
}

/// What an entry has after an operation on it.
fn after<'a>(
    before: Option<Cow<'a, [u8]>>,
    op: &PageOp<'a>,
) -> Result<Option<Cow<'a, [u8]>>, Corrupt> {
    let absent = || Corrupt::new("log of an image changes an entry that is not there", 0);
    match *op {
        PageOp::Put { value, .. } => Ok(Some(Cow::Borrowed(value))),
        PageOp::Remove { .. } => before.map(|_| None).ok_or_else(absent),
        PageOp::Patch {
            keep_prefix_bytes,
            keep_suffix_bytes,
            middle,
            ..
        } => {
            let before = before.ok_or_else(absent)?;
            let parts = before.split_at_checked(keep_prefix_bytes);
            let parts = parts.and_then(|(first, rest)| {
                let last_at = rest.len().checked_sub(keep_suffix_bytes)?;
                Some([first, middle, rest.get(last_at..)?].concat())
            });
            let too_long = || Corrupt::new("log of an image keeps more than the value has", 0);
            parts
                .map(|value| Some(Cow::Owned(value)))
                .ok_or_else(too_long)
        }
    }
}
