//! What a transform must know of a page: where its rows are, and the columns they are made of.

use super::{Transform, TransformError};
use crate::kernel::transpose::{RegisterStep, TransposeGrid};

/// Bytes of a register: the transforms within a register are of the paper's 128 bits on every processor.
pub(super) const REGISTER_BYTES: usize = 16;

/// One field of a row, with its width in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutColumn {
    /// A number, date, code or the like: neighbours are expected to agree in some of their bytes.
    Number(u16),
    /// Text or any other bytes; gathered and nothing else.
    Bytes(u16),
    /// The length in bytes of a variable field, in one byte. The variable fields of a row follow its columns,
    /// in the order of their lengths. Gathered and nothing else, so that rows can be found from them.
    Length1,
    /// The same in two bytes, little endian.
    Length2,
}

impl LayoutColumn {
    fn width(self) -> usize {
        match self {
            Self::Number(width) | Self::Bytes(width) => width.into(),
            Self::Length1 => 1,
            Self::Length2 => 2,
        }
    }
}

/// Where the lengths of a variable field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LengthColumn {
    /// Offset within a row.
    pub(super) offset: usize,
    pub(super) width: usize,
}

impl LengthColumn {
    /// The length that `bytes` begin with.
    pub(super) fn read(self, bytes: &[u8]) -> usize {
        match self.width {
            1 => bytes[0].into(),
            _ => u16::from_le_bytes([bytes[0], bytes[1]]).into(),
        }
    }
}

/// Neighbouring columns of one width and kind: the grids the kernels work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnRun {
    /// Offset of the first column within a row.
    pub(super) offset: usize,
    pub(super) width: usize,
    pub(super) column_count: usize,
    number: bool,
    /// Of single bytes of numbers: how many values of the number are in a register. 1 of everything else.
    register_values: usize,
}

impl ColumnRun {
    /// What `transform` does to the registers of these columns, where it does something.
    pub(super) fn step(&self, transform: Transform) -> RegisterStep {
        let transposes = self.number && 2 * self.width <= REGISTER_BYTES && self.width > 1;
        let combines = self.number && 2 * self.width <= REGISTER_BYTES;
        match transform {
            Transform::Rows | Transform::R2c | Transform::Clt => RegisterStep::Keep,
            Transform::Rlt if transposes => RegisterStep::Transpose,
            Transform::Xor if combines => RegisterStep::Xor,
            Transform::XorRlt if transposes => RegisterStep::XorTranspose,
            Transform::XorRlt if combines => RegisterStep::Xor,
            Transform::Rlt | Transform::Xor | Transform::XorRlt => RegisterStep::Keep,
            // The register of bytes alone is theirs, too.
            Transform::XorClt => match self.register_values {
                1 => RegisterStep::Keep,
                REGISTER_BYTES => RegisterStep::Xor,
                values => RegisterStep::XorBytes(values),
            },
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let kind = |run: &Self| (run.width, run.number, run.register_values);
        kind(self) == kind(other)
    }

    pub(super) fn line_bytes(&self) -> usize {
        self.width * self.column_count
    }

    pub(super) fn grid(&self, row_count: usize, row_bytes: usize) -> TransposeGrid {
        TransposeGrid {
            width: self.width,
            column_count: self.column_count,
            row_count,
            row_bytes,
        }
    }
}

/// The columns of a table's rows, in the order they lie in a row, without gaps. Made once per table. Where some
/// are lengths, a row goes on with as many variable fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformRowLayout {
    row_bytes: usize,
    runs: Vec<ColumnRun>,
    /// The same with each number taken as so many columns of one byte: the transposition of whole columns is
    /// the conversion of these.
    byte_runs: Vec<ColumnRun>,
    /// The same, where no run has bytes of numbers of which a register holds another number of values.
    register_byte_runs: Vec<ColumnRun>,
    lengths: Vec<LengthColumn>,
}

impl TransformRowLayout {
    /// Columns of a row at most; the width of each is at most 65,535 bytes, so lengths do not overflow.
    pub const COLUMNS_MAX: usize = 4096;

    /// Variable fields of a row at most.
    pub const LENGTHS_MAX: usize = 256;

    /// The layout of rows of these columns.
    ///
    /// # Errors
    ///
    /// No columns, more than [`Self::COLUMNS_MAX`] or more than [`Self::LENGTHS_MAX`] lengths among them, or one
    /// of no width.
    pub fn new(columns: &[LayoutColumn]) -> Result<Self, TransformError> {
        if columns.is_empty() {
            return Err(TransformError::NoColumns);
        }
        if columns.len() > Self::COLUMNS_MAX {
            return Err(TransformError::TooManyColumns {
                column_count: columns.len(),
                limit: Self::COLUMNS_MAX,
            });
        }
        if let Some(column) = columns.iter().position(|column| column.width() == 0) {
            return Err(TransformError::EmptyColumn { column });
        }
        let mut layout = Self {
            row_bytes: 0,
            runs: Vec::new(),
            byte_runs: Vec::new(),
            register_byte_runs: Vec::new(),
            lengths: Vec::new(),
        };
        for &column in columns {
            let (offset, width) = (layout.row_bytes, column.width());
            let number = matches!(column, LayoutColumn::Number(_));
            let run = |width, column_count| ColumnRun {
                offset,
                width,
                column_count,
                number,
                register_values: 1,
            };
            append(&mut layout.runs, run(width, 1));
            let bytes = if number { run(1, width) } else { run(width, 1) };
            append(&mut layout.byte_runs, bytes);
            let register_values = match number {
                true => (REGISTER_BYTES / width).max(1),
                false => 1,
            };
            let register_bytes = ColumnRun {
                register_values,
                ..bytes
            };
            append(&mut layout.register_byte_runs, register_bytes);
            if matches!(column, LayoutColumn::Length1 | LayoutColumn::Length2) {
                layout.lengths.push(LengthColumn { offset, width });
            }
            layout.row_bytes += width;
        }
        if layout.lengths.len() > Self::LENGTHS_MAX {
            return Err(TransformError::TooManyColumns {
                column_count: layout.lengths.len(),
                limit: Self::LENGTHS_MAX,
            });
        }
        Ok(layout)
    }

    /// Bytes of one row, without its variable fields.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    pub(super) fn lengths(&self) -> &[LengthColumn] {
        &self.lengths
    }

    pub(super) fn runs(&self, transform: Transform) -> &[ColumnRun] {
        match transform {
            Transform::Clt => &self.byte_runs,
            Transform::XorClt => &self.register_byte_runs,
            _ => &self.runs,
        }
    }

    /// Whether the transform does to some of these columns what its name says, and so is not a simpler one
    /// by another name.
    pub fn distinguishes(&self, transform: Transform) -> bool {
        let any = |holds: &dyn Fn(&ColumnRun) -> bool| self.runs.iter().any(holds);
        let any_step = |step| any(&|run: &ColumnRun| run.step(transform) == step);
        match transform {
            Transform::Rows => true,
            Transform::R2c => self.runs.len() > 1 || any(&|run| run.column_count > 1),
            Transform::Clt => any(&|run| run.number && run.width > 1),
            Transform::Rlt => any_step(RegisterStep::Transpose),
            Transform::Xor => any_step(RegisterStep::Xor),
            Transform::XorRlt => any_step(RegisterStep::XorTranspose),
            Transform::XorClt => {
                self.distinguishes(Transform::Xor) && self.distinguishes(Transform::Clt)
            }
        }
    }
}

/// Adds a run, as more columns of the last one if it goes on.
fn append(runs: &mut Vec<ColumnRun>, next: ColumnRun) {
    match runs.last_mut() {
        Some(last) if last.is_like(&next) => {
            last.column_count += next.column_count;
        }
        _ => runs.push(next),
    }
}

/// One page: `row_count` rows of `layout`, one after the other, from byte `lead_bytes` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformPageShape<'a> {
    /// The columns of each row.
    pub layout: &'a TransformRowLayout,
    /// Bytes before the first row, kept as they are; so are those behind the last row.
    pub lead_bytes: usize,
    /// Rows in the page.
    pub row_count: usize,
}

impl TransformPageShape<'_> {
    /// Where the rows, without variable fields, end in a page of `page_bytes` that goes to or comes from a buffer of `buffer_bytes`.
    pub(super) fn rows_end(
        &self,
        page_bytes: usize,
        buffer_bytes: usize,
    ) -> Result<usize, TransformError> {
        if page_bytes != buffer_bytes {
            return Err(TransformError::BufferLength {
                page_bytes,
                buffer_bytes,
            });
        }
        (self.row_count.checked_mul(self.layout.row_bytes))
            .and_then(|rows| rows.checked_add(self.lead_bytes))
            .filter(|&end| end <= page_bytes)
            .ok_or(TransformError::PageTooShort {
                lead_bytes: self.lead_bytes,
                row_count: self.row_count,
                row_bytes: self.layout.row_bytes,
                page_bytes,
            })
    }
}
