//! The keys of rows, in a form in which they are compared fast.

use std::cmp::Ordering;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::common::Result;
use quire_vector::{SortDirection, SortWords, sorted_rows};

use super::job::SortJob;
use super::keys::{SortKeyBounds, pack};

/// Words that hold the keys up to a text that they do not hold whole, that text, the words behind it, and so on.
pub(super) struct SortKeys {
    row_count: usize,
    words: SortWords,
    rest: Vec<(KeyTexts, SortWords)>,
}

/// Texts that the words before them tell apart by their first bytes alone. Where these are the same, either both texts are NULL or none.
struct KeyTexts {
    texts: StringViewArray,
    is_descending: bool,
}

impl SortKeys {
    /// `bounds` are at least those of `keys`. Rows of which they are the same can be compared.
    pub(super) fn new(
        job: &SortJob,
        keys: &[ArrayRef],
        bounds: &[SortKeyBounds],
        row_count: usize,
    ) -> Result<Self> {
        let mut words = SortWords::new(row_count);
        // The words that end with the first bytes of a text, and that text.
        let mut ended: Vec<(SortWords, KeyTexts)> = Vec::new();
        for ((values, order), bounds) in keys.iter().zip(&job.order).zip(bounds) {
            let direction = SortDirection {
                is_descending: order.options.descending,
                nulls_first: order.options.nulls_first,
            };
            if !pack(values, bounds, direction, &mut words)? {
                let texts = KeyTexts {
                    texts: values.as_string_view().clone(),
                    is_descending: direction.is_descending,
                };
                let behind = SortWords::new(row_count);
                ended.push((std::mem::replace(&mut words, behind), texts));
            }
        }
        let mut rest = Vec::with_capacity(ended.len());
        while let Some((before, texts)) = ended.pop() {
            rest.push((texts, std::mem::replace(&mut words, before)));
        }
        rest.reverse();
        Ok(Self {
            row_count,
            words,
            rest,
        })
    }

    /// The rows in their order, equal ones in ascending order.
    pub(super) fn order(&self) -> Vec<u32> {
        let compare = |one: u32, other: u32| self.compare_rest(one as usize, self, other as usize);
        let rest: Option<&dyn Fn(u32, u32) -> Ordering> = match self.rest.is_empty() {
            true => None,
            false => Some(&compare),
        };
        sorted_rows(self.row_count, self.words.words(), rest)
    }

    /// Those of these rows, in this order.
    pub(super) fn of_rows(&self, rows: &UInt32Array) -> Result<Self> {
        let rest = self.rest.iter().map(|(texts, words)| {
            let taken = take(&texts.texts, rows, None)?;
            let texts = KeyTexts {
                texts: taken.as_string_view().clone(),
                is_descending: texts.is_descending,
            };
            Ok((texts, words.of_rows(rows.values())))
        });
        Ok(Self {
            row_count: rows.len(),
            words: self.words.of_rows(rows.values()),
            rest: rest.collect::<Result<_>>()?,
        })
    }

    pub(super) fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let order = self.words.compare(row, &other.words, other_row);
        order.then_with(|| self.compare_rest(row, other, other_row))
    }

    fn compare_rest(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        for ((texts, words), (other_texts, other_words)) in self.rest.iter().zip(&other.rest) {
            let order = texts.compare(row, other_texts, other_row);
            let order = order.then_with(|| words.compare(row, other_words, other_row));
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl KeyTexts {
    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        if self.texts.is_null(row) || other.texts.is_null(other_row) {
            return Ordering::Equal;
        }
        let order = self.texts.value(row).cmp(other.texts.value(other_row));
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }
}
