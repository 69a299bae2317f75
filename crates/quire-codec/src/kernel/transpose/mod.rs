//! Rows to columns and back, and what is done to each 16-byte register of a column on the way.
//!
//! `N = 16 / width` neighbouring columns of `N` rows are a square of registers: `log₂ N` rounds of interleaving
//! transpose it, and each register then holds `N` neighbours of one column. That is exactly the register of
//! the transforms of `crate::transform`, so XOR and the transposition within a register cost no pass of their
//! own. Two squares, `N` rows apart, travel in the halves of one 256-bit register. Wider ones would not
//! help on processors that interleave two of them, or one of 512 bits, in a cycle.
//!
//! These kernels do whole squares of widths 1, 2, 4 and 8 and say how far they came; the scalar loops of
//! `crate::transform` do the rest. On the portable backend they do nothing, and the rest is everything.

#[cfg(target_arch = "x86_64")]
mod lanes;

#[cfg(target_arch = "x86_64")]
use super::{Backend, active_backend};

/// What is done to each register of a column on the way to storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterStep {
    /// Nothing.
    Keep,
    /// The bytes of equal place within their elements come together.
    Transpose,
    /// Each element but the first is replaced by its XOR with the one before it.
    Xor,
    /// XOR, then the transposition.
    XorTranspose,
    /// The same as [`Xor`](Self::Xor) with registers of so many elements of one byte: one byte of each value
    /// of a register, after a column of longer values has been taken apart.
    XorBytes(usize),
}

impl RegisterStep {
    /// Whether elements are replaced by their XOR.
    #[inline(always)]
    pub(crate) const fn combines(self) -> bool {
        matches!(self, Self::Xor | Self::XorTranspose | Self::XorBytes(_))
    }

    /// Elements from the beginning of one register of the transforms to that of the next, where a register of
    /// the processor holds `elements`. Without a step, any element is a beginning.
    #[cfg(target_arch = "x86_64")]
    const fn elements(self, elements: usize) -> usize {
        match self {
            Self::Keep => 1,
            Self::XorBytes(values) => values,
            _ => elements,
        }
    }
}

/// The backend for a step: registers of 3 or 5 elements do not fill those of the processor evenly.
#[cfg(target_arch = "x86_64")]
fn backend_for(step: RegisterStep) -> Backend {
    match step {
        RegisterStep::XorBytes(2 | 4 | 8) => active_backend(),
        RegisterStep::XorBytes(_) => Backend::Portable,
        _ => active_backend(),
    }
}

/// Neighbouring columns of one width in rows of `row_bytes`, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransposeGrid {
    pub(crate) width: usize,
    pub(crate) column_count: usize,
    pub(crate) row_count: usize,
    /// From a value to the one below it.
    pub(crate) row_bytes: usize,
}

impl TransposeGrid {
    /// Whether rows and columns of these lengths hold the grid, and the rows do not overlap.
    fn fits(&self, rows_length: usize, columns_length: usize) -> bool {
        let Some(line) = self.width.checked_mul(self.column_count) else {
            return false;
        };
        let columns_end = line.checked_mul(self.row_count);
        let rows_end = (self.row_count.saturating_sub(1))
            .checked_mul(self.row_bytes)
            .and_then(|start| start.checked_add(line));
        line <= self.row_bytes
            && columns_end.is_some_and(|end| end <= columns_length)
            && rows_end.is_some_and(|end| end <= rows_length)
    }
}

/// Copies the values of `rows`, whose first byte is the first column of the first row, to `columns`, column
/// after column, and does `step` to their registers. Returns the number of rows done, counted from the first.
pub(crate) fn gather(
    grid: TransposeGrid,
    step: RegisterStep,
    rows: &[u8],
    columns: &mut [u8],
) -> usize {
    assert!(grid.fits(rows.len(), columns.len()));
    #[cfg(target_arch = "x86_64")]
    match backend_for(step) {
        // SAFETY: the active backend never exceeds the detected one, so the processor has the features, and
        // the grid fits both slices.
        Backend::Avx512 => return unsafe { lanes::avx512::gather(grid, step, rows, columns) },
        // SAFETY: as above.
        Backend::Avx2 => return unsafe { lanes::avx2::gather(grid, step, rows, columns) },
        Backend::Portable => {}
    }
    0
}

/// The inverse of [`gather`], from `columns` to `rows`; other bytes of the rows are not touched.
pub(crate) fn scatter(
    grid: TransposeGrid,
    step: RegisterStep,
    columns: &[u8],
    rows: &mut [u8],
) -> usize {
    assert!(grid.fits(rows.len(), columns.len()));
    #[cfg(target_arch = "x86_64")]
    match backend_for(step) {
        // SAFETY: as in `gather`.
        Backend::Avx512 => return unsafe { lanes::avx512::scatter(grid, step, columns, rows) },
        // SAFETY: as in `gather`.
        Backend::Avx2 => return unsafe { lanes::avx2::scatter(grid, step, columns, rows) },
        Backend::Portable => {}
    }
    0
}

/// Does `step` to the whole registers of one column of values of `width` bytes. Returns the bytes done.
pub(crate) fn apply(width: usize, step: RegisterStep, column: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    match backend_for(step) {
        // SAFETY: as in `gather`, for the features.
        Backend::Avx512 => return unsafe { lanes::avx512::apply(width, step, column) },
        // SAFETY: as above.
        Backend::Avx2 => return unsafe { lanes::avx2::apply(width, step, column) },
        Backend::Portable => {}
    }
    let _ = (width, step, column);
    0
}

/// The inverse of [`apply`].
pub(crate) fn undo(width: usize, step: RegisterStep, column: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    match backend_for(step) {
        // SAFETY: as in `gather`, for the features.
        Backend::Avx512 => return unsafe { lanes::avx512::undo(width, step, column) },
        // SAFETY: as above.
        Backend::Avx2 => return unsafe { lanes::avx2::undo(width, step, column) },
        Backend::Portable => {}
    }
    let _ = (width, step, column);
    0
}
