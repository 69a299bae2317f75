//! Pages whose rows have fields of variable length: rows to columns and back, row by row.
//!
//! A row is its fixed columns and then its variable fields, each as long as the length column says that stands
//! for it. On storage the fixed columns come first, transformed as on any other page, except that lengths stay
//! readable; then each variable field of all rows, one field after the other.
//!
//! Where a row starts is known only from the rows before it. Rows are therefore done in blocks, whose starts
//! are noted, and of each block the columns one by one. A block is a whole number of registers of every width.

use super::layout::{ColumnRun, LengthColumn};
use super::scalar::{self, copy_value};
use super::{Transform, TransformError, TransformPageShape, TransformRowLayout};
use crate::kernel::transpose::RegisterStep;

/// Rows of a block: a multiple of 16, 8, 5, 4, 3 and 2 values.
const BLOCK_ROWS: usize = 240;

/// Where each variable field of the next row is written to, or read from, on storage.
type Cursors = [usize; TransformRowLayout::LENGTHS_MAX];

/// The lengths of the variable fields of one row in memory.
fn row_lengths(columns: &[LengthColumn], row: &[u8]) -> impl Iterator<Item = usize> {
    columns
        .iter()
        .map(|column| column.read(&row[column.offset..]))
}

/// Where the variable fields begin on storage, and where the last one ends.
fn section_starts(
    shape: TransformPageShape<'_>,
    sizes: &Cursors,
    start: usize,
) -> (Cursors, usize) {
    let mut end = start;
    let mut starts = [0; TransformRowLayout::LENGTHS_MAX];
    for (start, size) in starts
        .iter_mut()
        .zip(sizes)
        .take(shape.layout.lengths().len())
    {
        *start = end;
        end = end.saturating_add(*size);
    }
    (starts, end)
}

/// Where the fixed columns end on storage. `rows_end` has checked that it is within the page.
fn fixed_end(shape: TransformPageShape<'_>) -> usize {
    shape.lead_bytes + shape.row_count * shape.layout.row_bytes()
}

/// The place of column `index` of a run on storage.
fn section(shape: TransformPageShape<'_>, run: &ColumnRun, index: usize) -> std::ops::Range<usize> {
    let start = shape.lead_bytes + (run.offset + index * run.width) * shape.row_count;
    start..start + shape.row_count * run.width
}

/// Writes to `image` what `transform` makes of the rows of `page`, and the bytes behind them.
pub(super) fn to_storage(
    transform: Transform,
    shape: TransformPageShape<'_>,
    page: &[u8],
    image: &mut [u8],
) -> Result<(), TransformError> {
    let (mut cursors, end) = measure_page(shape, page)?;
    let layout = shape.layout;
    image[..shape.lead_bytes].copy_from_slice(&page[..shape.lead_bytes]);
    image[end..].copy_from_slice(&page[end..]);
    let mut position = shape.lead_bytes;
    let mut starts = [0; BLOCK_ROWS];
    for first in (0..shape.row_count).step_by(BLOCK_ROWS) {
        let starts = &mut starts[..BLOCK_ROWS.min(shape.row_count - first)];
        for start in &mut *starts {
            *start = position;
            let row = &page[position..];
            let mut field = layout.row_bytes();
            for (length, cursor) in row_lengths(layout.lengths(), row).zip(&mut cursors) {
                copy_value(&mut image[*cursor..][..length], &row[field..][..length]);
                *cursor += length;
                field += length;
            }
            position += field;
        }
        for run in layout.runs(transform) {
            for index in 0..run.column_count {
                let column = &mut image[section(shape, run, index)];
                let values = &mut column[first * run.width..][..starts.len() * run.width];
                let offset = run.offset + index * run.width;
                for (value, start) in values.chunks_exact_mut(run.width).zip(&*starts) {
                    copy_value(value, &page[start + offset..][..run.width]);
                }
                if run.step(transform) != RegisterStep::Keep {
                    scalar::apply(run.width, run.step(transform), values);
                }
            }
        }
    }
    Ok(())
}

/// The inverse of [`to_storage`].
pub(super) fn to_memory(
    transform: Transform,
    shape: TransformPageShape<'_>,
    image: &[u8],
    page: &mut [u8],
) -> Result<(), TransformError> {
    let (mut cursors, end) = measure_image(shape, image)?;
    let layout = shape.layout;
    page[..shape.lead_bytes].copy_from_slice(&image[..shape.lead_bytes]);
    page[end..].copy_from_slice(&image[end..]);
    let mut position = shape.lead_bytes;
    let mut starts = [0; BLOCK_ROWS];
    for first in (0..shape.row_count).step_by(BLOCK_ROWS) {
        let starts = &mut starts[..BLOCK_ROWS.min(shape.row_count - first)];
        for (row, start) in starts.iter_mut().enumerate() {
            *start = position;
            position += layout.row_bytes();
            for (column, cursor) in layout.lengths().iter().zip(&mut cursors) {
                let lengths = shape.lead_bytes + column.offset * shape.row_count;
                let length = column.read(&image[lengths + (first + row) * column.width..]);
                copy_value(&mut page[position..][..length], &image[*cursor..][..length]);
                *cursor += length;
                position += length;
            }
        }
        for run in layout.runs(transform) {
            for index in 0..run.column_count {
                let column = &image[section(shape, run, index)];
                let values = &column[first * run.width..][..starts.len() * run.width];
                let offset = run.offset + index * run.width;
                scatter_block(run, run.step(transform), values, |row, value| {
                    copy_value(&mut page[starts[row] + offset..][..run.width], value);
                });
            }
        }
    }
    Ok(())
}

/// Hands out the values of one column of a block with `step` undone.
fn scatter_block(
    run: &ColumnRun,
    step: RegisterStep,
    values: &[u8],
    mut put: impl FnMut(usize, &[u8]),
) {
    let mut buffer = [0; BLOCK_ROWS * 8];
    let values = match buffer.get_mut(..values.len()) {
        Some(buffer) if step != RegisterStep::Keep => {
            buffer.copy_from_slice(values);
            scalar::undo(run.width, step, buffer);
            buffer
        }
        // A step is for values of at most 8 bytes.
        _ => values,
    };
    for (row, value) in values.chunks_exact(run.width).enumerate() {
        put(row, value);
    }
}

/// Walks the rows of a page: where its variable fields begin on storage, and where its rows end.
fn measure_page(
    shape: TransformPageShape<'_>,
    page: &[u8],
) -> Result<(Cursors, usize), TransformError> {
    let layout = shape.layout;
    let mut sizes = [0; TransformRowLayout::LENGTHS_MAX];
    let mut position = shape.lead_bytes;
    for row in 0..shape.row_count {
        let rest = page.get(position..).unwrap_or_default();
        if rest.len() < layout.row_bytes() {
            return Err(row_leaves(row, page));
        }
        position += layout.row_bytes();
        for (length, size) in row_lengths(layout.lengths(), rest).zip(&mut sizes) {
            *size += length;
            position += length;
        }
    }
    let (starts, end) = section_starts(shape, &sizes, fixed_end(shape));
    if end > page.len() {
        return Err(row_leaves(shape.row_count - 1, page));
    }
    Ok((starts, end))
}

/// The same from the length columns of an image.
fn measure_image(
    shape: TransformPageShape<'_>,
    image: &[u8],
) -> Result<(Cursors, usize), TransformError> {
    let mut sizes = [0; TransformRowLayout::LENGTHS_MAX];
    for (column, size) in shape.layout.lengths().iter().zip(&mut sizes) {
        let lengths = &image[shape.lead_bytes + column.offset * shape.row_count..];
        let lengths = &lengths[..shape.row_count * column.width];
        *size = (lengths.chunks_exact(column.width))
            .map(|length| column.read(length))
            .fold(0, usize::saturating_add);
    }
    let (starts, end) = section_starts(shape, &sizes, fixed_end(shape));
    if end > image.len() {
        return Err(row_leaves(shape.row_count - 1, image));
    }
    Ok((starts, end))
}

fn row_leaves(row: usize, page: &[u8]) -> TransformError {
    TransformError::RowTooLong {
        row,
        page_bytes: page.len(),
    }
}
