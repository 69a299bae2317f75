//! The transforms, value by value: what they are on every processor, and what is left over by the kernels.

use super::layout::REGISTER_BYTES;
use crate::kernel::transpose::{self, RegisterStep, TransposeGrid};

/// Bytes of a register of values of `width` bytes: as many values as fit; or as many as the step says.
#[inline(always)]
fn register_bytes(width: usize, step: RegisterStep) -> usize {
    match step {
        RegisterStep::XorBytes(values) => values * width,
        _ => (REGISTER_BYTES / width).max(1) * width,
    }
}

/// Copies one value. Calling `memcpy` for so few bytes takes longer than copying some of them twice.
#[inline(always)]
pub(super) fn copy_value(to: &mut [u8], from: &[u8]) {
    #[inline(always)]
    fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> Option<()> {
        *to.first_chunk_mut::<N>()? = *from.first_chunk::<N>()?;
        *to.last_chunk_mut::<N>()? = *from.last_chunk::<N>()?;
        Some(())
    }
    let copied = match from.len() {
        3 => both_ends::<2>(to, from),
        5..=7 => both_ends::<4>(to, from),
        9..=15 => both_ends::<8>(to, from),
        17..=32 => both_ends::<16>(to, from),
        _ => None,
    };
    if copied.is_none() {
        to.copy_from_slice(from);
    }
}

/// Copies the rows from `first` on to their places in `columns`.
pub(super) fn gather(grid: TransposeGrid, first: usize, rows: &[u8], columns: &mut [u8]) {
    #[inline(always)]
    fn of_width(grid: TransposeGrid, first: usize, rows: &[u8], columns: &mut [u8], width: usize) {
        let targets = columns.chunks_exact_mut(grid.row_count * width);
        for (column, target) in targets.take(grid.column_count).enumerate() {
            let values = target.chunks_exact_mut(width).skip(first);
            for (value, row) in values.zip(rows.chunks(grid.row_bytes).skip(first)) {
                copy_value(value, &row[column * width..][..width]);
            }
        }
    }
    // For the usual widths the copy is one instruction.
    match grid.width {
        1 => of_width(grid, first, rows, columns, 1),
        2 => of_width(grid, first, rows, columns, 2),
        4 => of_width(grid, first, rows, columns, 4),
        8 => of_width(grid, first, rows, columns, 8),
        16 => of_width(grid, first, rows, columns, 16),
        width => of_width(grid, first, rows, columns, width),
    }
}

/// Copies the rows from `first` on, of single bytes, to their places in `columns`; each byte but those of the first of
/// `values` rows is replaced by its XOR with the one above it.
pub(super) fn gather_bytes(
    grid: TransposeGrid,
    values: usize,
    first: usize,
    rows: &[u8],
    columns: &mut [u8],
) {
    for row in first..grid.row_count {
        let line = |row: usize| &rows[row * grid.row_bytes..][..grid.column_count];
        let targets = columns.chunks_exact_mut(grid.row_count);
        let targets = targets.map(|column| &mut column[row]).zip(line(row));
        if row % values == 0 {
            targets.for_each(|(target, byte)| *target = *byte);
        } else {
            let targets = targets.zip(line(row - 1));
            targets.for_each(|((target, byte), above)| *target = byte ^ above);
        }
    }
}

/// The inverse of [`gather_bytes`]. The row above `first` is in its place.
fn scatter_bytes(
    grid: TransposeGrid,
    values: usize,
    first: usize,
    columns: &[u8],
    rows: &mut [u8],
) {
    for row in first..grid.row_count {
        let (above, line) = rows.split_at_mut(row * grid.row_bytes);
        let line = &mut line[..grid.column_count];
        for (byte, column) in line.iter_mut().zip(columns.chunks_exact(grid.row_count)) {
            *byte = column[row];
        }
        if row % values != 0 {
            let above = &above[(row - 1) * grid.row_bytes..];
            let pairs = line.iter_mut().zip(above);
            pairs.for_each(|(byte, above)| *byte ^= above);
        }
    }
}

/// Copies `values`, those of column `column` for the rows from `first` on, to their places in `rows`.
fn scatter_column(
    grid: TransposeGrid,
    (first, column): (usize, usize),
    values: &[u8],
    rows: &mut [u8],
) {
    #[inline(always)]
    fn of_width<'a>(
        values: &[u8],
        rows: impl Iterator<Item = &'a mut [u8]>,
        column: usize,
        width: usize,
    ) {
        for (value, row) in values.chunks_exact(width).zip(rows) {
            copy_value(&mut row[column * width..][..width], value);
        }
    }
    let rows = rows.chunks_mut(grid.row_bytes).skip(first);
    match grid.width {
        1 => of_width(values, rows, column, 1),
        2 => of_width(values, rows, column, 2),
        4 => of_width(values, rows, column, 4),
        8 => of_width(values, rows, column, 8),
        16 => of_width(values, rows, column, 16),
        width => of_width(values, rows, column, width),
    }
}

/// Copies the columns from row `first` on to their places in `rows`, with `step` undone.
pub(super) fn scatter(
    grid: TransposeGrid,
    step: RegisterStep,
    first: usize,
    columns: &[u8],
    rows: &mut [u8],
) {
    if let RegisterStep::XorBytes(values) = step {
        return scatter_bytes(grid, values, first, columns, rows);
    }
    let width = grid.width;
    let sections = columns.chunks_exact(grid.row_count * width);
    for (column, section) in sections.take(grid.column_count).enumerate() {
        let values = &section[first * width..];
        if step == RegisterStep::Keep {
            scatter_column(grid, (first, column), values, rows);
            continue;
        }
        // The image is not written to, so registers are undone in a copy, several at a time.
        let mut buffer = [0; 16 * REGISTER_BYTES];
        let whole = buffer.len() - buffer.len() % register_bytes(width, step);
        let mut row = first;
        for part in values.chunks(whole) {
            let part_of_buffer = &mut buffer[..part.len()];
            part_of_buffer.copy_from_slice(part);
            undo(width, step, part_of_buffer);
            scatter_column(grid, (row, column), part_of_buffer, rows);
            row += part.len() / width;
        }
    }
}

/// Does `step` to the registers of a column whose first value begins a register.
pub(super) fn apply(width: usize, step: RegisterStep, column: &mut [u8]) {
    #[inline(always)]
    fn of_width(step: RegisterStep, registers: &mut [u8], width: usize) {
        for register in registers.chunks_mut(register_bytes(width, step)) {
            if step.combines() {
                combine(register, width);
            }
            if matches!(step, RegisterStep::Transpose | RegisterStep::XorTranspose) {
                let value_count = values_of(register, width);
                transpose_register(register, value_count, width);
            }
        }
    }
    let done = transpose::apply(width, step, column);
    let registers = &mut column[done..];
    match width {
        1 => of_width(step, registers, 1),
        2 => of_width(step, registers, 2),
        4 => of_width(step, registers, 4),
        8 => of_width(step, registers, 8),
        width => of_width(step, registers, width),
    }
}

/// The inverse of [`apply`].
pub(super) fn undo(width: usize, step: RegisterStep, column: &mut [u8]) {
    #[inline(always)]
    fn of_width(step: RegisterStep, registers: &mut [u8], width: usize) {
        for register in registers.chunks_mut(register_bytes(width, step)) {
            if matches!(step, RegisterStep::Transpose | RegisterStep::XorTranspose) {
                let value_count = values_of(register, width);
                transpose_register(register, width, value_count);
            }
            if step.combines() {
                separate(register, width);
            }
        }
    }
    let done = transpose::undo(width, step, column);
    let registers = &mut column[done..];
    match width {
        1 => of_width(step, registers, 1),
        2 => of_width(step, registers, 2),
        4 => of_width(step, registers, 4),
        8 => of_width(step, registers, 8),
        width => of_width(step, registers, width),
    }
}

/// Replaces each value but the first by its XOR with the one before it.
#[inline(always)]
fn combine(register: &mut [u8], width: usize) {
    if let Ok(whole) = <&mut [u8; REGISTER_BYTES]>::try_from(&mut *register) {
        let values = u128::from_le_bytes(*whole);
        *whole = (values ^ (values << (8 * width))).to_le_bytes();
        return;
    }
    for place in (width..register.len()).rev() {
        register[place] ^= register[place - width];
    }
}

/// The inverse of [`combine`].
#[inline(always)]
fn separate(register: &mut [u8], width: usize) {
    if let Ok(whole) = <&mut [u8; REGISTER_BYTES]>::try_from(&mut *register) {
        // Doubling steps: each value XOR those 1, 2, 4 and 8 before it.
        let mut values = u128::from_le_bytes(*whole);
        let mut distance = width;
        while distance < REGISTER_BYTES {
            values ^= values << (8 * distance);
            distance *= 2;
        }
        *whole = values.to_le_bytes();
        return;
    }
    for place in width..register.len() {
        register[place] ^= register[place - width];
    }
}

/// Values of `width` bytes in a register; a constant for a whole one if the width is.
#[inline(always)]
fn values_of(register: &[u8], width: usize) -> usize {
    match register.len() {
        REGISTER_BYTES => REGISTER_BYTES / width,
        length => length / width,
    }
}

/// Takes `lines` lines of `line_bytes` bytes and writes them column by column.
#[inline(always)]
fn transpose_register(register: &mut [u8], lines: usize, line_bytes: usize) {
    let mut before = [0; REGISTER_BYTES];
    if let Ok(register) = <&mut [u8; REGISTER_BYTES]>::try_from(&mut *register) {
        // Of known length, so that the compiler can do without counting.
        before = *register;
        for place in 0..REGISTER_BYTES {
            register[place] = before[place % lines * line_bytes + place / lines];
        }
        return;
    }
    before[..register.len()].copy_from_slice(register);
    for place in 0..register.len() {
        register[place] = before[place % lines * line_bytes + place / lines];
    }
}
