//! Whole pages: from memory to storage and back, run by run.

use super::{Transform, TransformError, TransformPageShape, ragged, scalar};
use crate::kernel::transpose::{self, RegisterStep};

/// Writes to `image` what `transform` makes of `page`. Both have the same length.
///
/// # Errors
///
/// The rows of the shape leave the page, or the buffer has another length.
pub fn to_storage(
    transform: Transform,
    shape: TransformPageShape<'_>,
    page: &[u8],
    image: &mut [u8],
) -> Result<(), TransformError> {
    let end = shape.rows_end(page.len(), image.len())?;
    if transform == Transform::Rows || shape.row_count == 0 {
        image.copy_from_slice(page);
        return Ok(());
    }
    if !shape.layout.lengths().is_empty() {
        return ragged::to_storage(transform, shape, page, image);
    }
    copy_outside(shape, end, page, image);
    let (row_count, row_bytes) = (shape.row_count, shape.layout.row_bytes());
    for run in shape.layout.runs(transform) {
        let (grid, step) = (run.grid(row_count, row_bytes), run.step(transform));
        let rows = &page[shape.lead_bytes + run.offset..end];
        let columns = &mut image[shape.lead_bytes + run.offset * row_count..];
        let columns = &mut columns[..run.line_bytes() * row_count];
        let done = transpose::gather(grid, step, rows, columns);
        if done == row_count {
            continue;
        }
        if let RegisterStep::XorBytes(values) = step {
            scalar::gather_bytes(grid, values, done, rows, columns);
            continue;
        }
        scalar::gather(grid, done, rows, columns);
        if step != RegisterStep::Keep {
            for column in columns.chunks_exact_mut(run.width * row_count) {
                scalar::apply(run.width, step, &mut column[run.width * done..]);
            }
        }
    }
    Ok(())
}

/// Writes to `page` what [`to_storage`] made `image` of. Any image whose lengths fit the shape is
/// that of some page, so bytes that were not written by it give a page of other values, and nothing worse.
///
/// # Errors
///
/// The rows of the shape leave the image, or the buffer has another length.
pub fn to_memory(
    transform: Transform,
    shape: TransformPageShape<'_>,
    image: &[u8],
    page: &mut [u8],
) -> Result<(), TransformError> {
    let end = shape.rows_end(image.len(), page.len())?;
    if transform == Transform::Rows || shape.row_count == 0 {
        page.copy_from_slice(image);
        return Ok(());
    }
    if !shape.layout.lengths().is_empty() {
        return ragged::to_memory(transform, shape, image, page);
    }
    copy_outside(shape, end, image, page);
    let (row_count, row_bytes) = (shape.row_count, shape.layout.row_bytes());
    for run in shape.layout.runs(transform) {
        let (grid, step) = (run.grid(row_count, row_bytes), run.step(transform));
        let columns = &image[shape.lead_bytes + run.offset * row_count..];
        let columns = &columns[..run.line_bytes() * row_count];
        let rows = &mut page[shape.lead_bytes + run.offset..end];
        let done = transpose::scatter(grid, step, columns, rows);
        if done < row_count {
            scalar::scatter(grid, step, done, columns, rows);
        }
    }
    Ok(())
}

/// Copies what is no row.
fn copy_outside(shape: TransformPageShape<'_>, end: usize, from: &[u8], to: &mut [u8]) {
    to[..shape.lead_bytes].copy_from_slice(&from[..shape.lead_bytes]);
    to[end..].copy_from_slice(&from[end..]);
}
