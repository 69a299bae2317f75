//! Texts that are being made, one after the other.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, NullBufferBuilder, StringArray};
use datafusion::arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use quire_exec::plan::VALUE_BYTES_MAX;

use quire_error::Error;
use quire_error::interruption::Interruption;

/// Bytes of the texts of one batch of rows.
const BATCH_BYTES_MAX: usize = i32::MAX as usize;
/// Bytes between two looks at whether the statement is cancelled.
const LOOK_BYTES: usize = 1 << 20;

pub(super) struct TextOutput<'i> {
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
    interruption: &'i Interruption,
    /// How many bytes may still come without a look.
    unlooked: usize,
}

impl<'i> TextOutput<'i> {
    pub(super) fn new(row_count: usize, interruption: &'i Interruption) -> Self {
        let mut ends = Vec::with_capacity(row_count + 1);
        ends.push(0);
        Self {
            bytes: Vec::new(),
            ends,
            nulls: NullBufferBuilder::new(row_count),
            interruption,
            unlooked: LOOK_BYTES,
        }
    }

    pub(super) fn push_null(&mut self) {
        self.ends.push(self.end());
        self.nulls.append_null();
    }

    /// A text of so many bytes begins: there is room for it, or an error.
    pub(super) fn begin(&mut self, bytes: Option<usize>) -> Result<()> {
        let bytes = bytes.filter(|bytes| *bytes <= VALUE_BYTES_MAX);
        let bytes = bytes.ok_or_else(Error::value_too_large)?;
        if !self.interruption.allows(bytes) {
            // The planner keeps the call when it fails.
            let text = "the value is too large for a constant of a plan";
            return Err(Error::new("54000", text).into());
        }
        let has_room = self.bytes.len() + bytes <= BATCH_BYTES_MAX;
        if !has_room || self.bytes.try_reserve(bytes).is_err() {
            let text = "the texts of a batch of rows are too large";
            let hint = "Make batches smaller: SET batch_rows = 100.";
            return Err(Error::new("53200", text).with_hint(hint).into());
        }
        Ok(())
    }

    /// A part of it.
    pub(super) fn push(&mut self, mut part: &str) -> Result<()> {
        while part.len() > LOOK_BYTES {
            let (first, rest) = part.split_at(part.floor_char_boundary(LOOK_BYTES));
            self.push_short(first)?;
            part = rest;
        }
        self.push_short(part)
    }

    fn push_short(&mut self, part: &str) -> Result<()> {
        self.look_after(part.len())?;
        self.bytes.extend_from_slice(part.as_bytes());
        Ok(())
    }

    /// The same part so often.
    pub(super) fn push_repeated(&mut self, part: &str, count: usize) -> Result<()> {
        // Short parts are put together first, so that what is copied at once is not.
        let together = (LOOK_BYTES / part.len().max(1)).clamp(1, count.max(1));
        let many = match together {
            1 => String::new(),
            _ if count > 1 => part.repeat(together),
            _ => String::new(),
        };
        let mut left = count;
        while !many.is_empty() && left >= together {
            self.push_short(&many)?;
            left -= together;
        }
        for _ in 0..left {
            self.push(part)?;
        }
        Ok(())
    }

    /// Looks whether the statement is cancelled, if so much work is worth a look.
    pub(super) fn look_after(&mut self, bytes: usize) -> Result<()> {
        match self.unlooked.checked_sub(bytes) {
            Some(left) => self.unlooked = left,
            None => {
                self.interruption.check()?;
                self.unlooked = LOOK_BYTES;
            }
        }
        Ok(())
    }

    pub(super) fn end_text(&mut self) {
        self.ends.push(self.end());
        self.nulls.append_non_null();
    }

    /// No more than [`BATCH_BYTES_MAX`] bytes have come.
    fn end(&self) -> i32 {
        i32::try_from(self.bytes.len()).unwrap_or(i32::MAX)
    }

    /// The texts as an array of that type.
    pub(super) fn finish(mut self, data_type: &DataType) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let bytes = Buffer::from_vec(self.bytes);
        let texts = StringArray::try_new(offsets, bytes, self.nulls.finish())?;
        match data_type {
            DataType::Utf8 => Ok(Arc::new(texts)),
            other => Ok(cast(&texts, other)?),
        }
    }
}
