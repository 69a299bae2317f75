//! The squares of registers, compiled for AVX2 and once more for AVX-512, where the same 256-bit instructions
//! have twice as many registers, so that a square of 16 fits.

/// For each place of two registers, the place its byte comes from when `lines` lines of `16 / lines` bytes are
/// read down instead of along. With lines of one element each this is the transposition; with as many lines
/// as an element has bytes, its inverse.
const fn transposed(lines: usize) -> [u8; 32] {
    let line_bytes = 16 / lines;
    let mut places = [0; 32];
    let mut place = 0;
    while place < 32 {
        let within = place % 16;
        places[place] = (within % lines * line_bytes + within / lines) as u8;
        place += 1;
    }
    places
}

/// Where the blocks of `square` columns start: the last one overlaps the one before it if they do not fit
/// evenly. Needs at least `square` columns.
fn column_starts(column_count: usize, square: usize) -> impl Iterator<Item = usize> {
    let last = column_count - square;
    (0..last).step_by(square).chain([last])
}

macro_rules! lanes {
    ($module:ident, $features:literal) => {
        pub(super) mod $module {
            use super::super::{RegisterStep, TransposeGrid};
            use super::{column_starts, transposed};
            use std::arch::x86_64::{
                __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_bslli_epi128,
                _mm256_castsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256,
                _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_setzero_si256,
                _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_slli_epi32, _mm256_slli_epi64,
                _mm256_storeu_si256, _mm256_unpackhi_epi8, _mm256_unpackhi_epi16,
                _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi8,
                _mm256_unpacklo_epi16, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
                _mm256_xor_si256, _mm256_zextsi128_si256,
            };

            /// Elements of `W` bytes of `a` and `b` in turns, within each half.
            #[inline]
            #[target_feature(enable = $features)]
            fn interleave<const W: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
                match W {
                    1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                    2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                    4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                    _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                }
            }

            /// Transposes two squares of `N` × `N` elements of `W = 16 / N` bytes, one in each half.
            #[inline]
            #[target_feature(enable = $features)]
            fn transpose<const W: usize, const N: usize>(mut lines: [__m256i; N]) -> [__m256i; N] {
                for _ in 0..N.ilog2() {
                    let before = lines;
                    for i in 0..N / 2 {
                        let (low, high) = interleave::<W>(before[i], before[i + N / 2]);
                        (lines[2 * i], lines[2 * i + 1]) = (low, high);
                    }
                }
                lines
            }

            /// The bytes of both halves in the order of `places`.
            #[inline]
            #[target_feature(enable = $features)]
            fn shuffle(x: __m256i, places: &[u8; 32]) -> __m256i {
                // SAFETY: 32 bytes are readable, and no alignment is required.
                let places = unsafe { _mm256_loadu_si256(places.as_ptr().cast()) };
                _mm256_shuffle_epi8(x, places)
            }

            /// Each byte `BITS / 8` places further, within groups of 2, 4 or 8 bytes; 0 at their beginning.
            #[inline]
            #[target_feature(enable = $features)]
            fn shift_within<const BITS: i32>(bytes: usize, x: __m256i) -> __m256i {
                match bytes {
                    2 => _mm256_slli_epi16::<BITS>(x),
                    4 => _mm256_slli_epi32::<BITS>(x),
                    _ => _mm256_slli_epi64::<BITS>(x),
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn step_register<const W: usize>(step: RegisterStep, x: __m256i) -> __m256i {
                let differences = |x| {
                    let before = match W {
                        1 => _mm256_bslli_epi128::<1>(x),
                        2 => _mm256_bslli_epi128::<2>(x),
                        4 => _mm256_bslli_epi128::<4>(x),
                        _ => _mm256_bslli_epi128::<8>(x),
                    };
                    _mm256_xor_si256(x, before)
                };
                let places = const { &transposed(16 / W) };
                match step {
                    RegisterStep::Keep => x,
                    RegisterStep::Transpose => shuffle(x, places),
                    RegisterStep::Xor => differences(x),
                    RegisterStep::XorTranspose => shuffle(differences(x), places),
                    RegisterStep::XorBytes(values) => {
                        _mm256_xor_si256(x, shift_within::<8>(values, x))
                    }
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn unstep_register<const W: usize>(step: RegisterStep, x: __m256i) -> __m256i {
                // Doubling steps: each element XOR those 1, 2, 4 and 8 before it.
                let sums = |mut x| {
                    if W <= 1 {
                        x = _mm256_xor_si256(x, _mm256_bslli_epi128::<1>(x));
                    }
                    if W <= 2 {
                        x = _mm256_xor_si256(x, _mm256_bslli_epi128::<2>(x));
                    }
                    if W <= 4 {
                        x = _mm256_xor_si256(x, _mm256_bslli_epi128::<4>(x));
                    }
                    _mm256_xor_si256(x, _mm256_bslli_epi128::<8>(x))
                };
                let places = const { &transposed(W) };
                match step {
                    RegisterStep::Keep => x,
                    RegisterStep::Transpose => shuffle(x, places),
                    RegisterStep::Xor => sums(x),
                    RegisterStep::XorTranspose => sums(shuffle(x, places)),
                    RegisterStep::XorBytes(values) => {
                        let mut x = _mm256_xor_si256(x, shift_within::<8>(values, x));
                        if values >= 4 {
                            x = _mm256_xor_si256(x, shift_within::<16>(values, x));
                        }
                        if values >= 8 {
                            x = _mm256_xor_si256(x, shift_within::<32>(values, x));
                        }
                        x
                    }
                }
            }

            /// One square, or with `PAIR` two, `N` rows apart, from rows to columns.
            ///
            /// # Safety
            ///
            /// 16 bytes of `N` (with `PAIR`, `2 N`) rows from `rows` are readable, 16 (32) bytes of `N` columns
            /// from `columns` writable.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn gather_square<const W: usize, const N: usize, const PAIR: bool>(
                step: RegisterStep,
                (rows, row_bytes): (*const u8, usize),
                (columns, column_bytes): (*mut u8, usize),
            ) {
                let mut lines = [_mm256_setzero_si256(); N];
                for (row, line) in lines.iter_mut().enumerate() {
                    // SAFETY: the caller's promise, for this row.
                    let low = unsafe { _mm_loadu_si128(rows.add(row * row_bytes).cast()) };
                    *line = if PAIR {
                        let below = rows.wrapping_add((row + N) * row_bytes);
                        // SAFETY: the caller's promise, for the row `N` below.
                        let high = unsafe { _mm_loadu_si128(below.cast()) };
                        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
                    } else {
                        _mm256_zextsi128_si256(low)
                    };
                }
                for (column, line) in transpose::<W, N>(lines).into_iter().enumerate() {
                    let line = step_register::<W>(step, line);
                    // SAFETY: the caller's promise, for this column.
                    unsafe {
                        let target = columns.add(column * column_bytes);
                        if PAIR {
                            _mm256_storeu_si256(target.cast(), line);
                        } else {
                            _mm_storeu_si128(target.cast(), _mm256_castsi256_si128(line));
                        }
                    }
                }
            }

            /// The inverse of [`gather_square`].
            ///
            /// # Safety
            ///
            /// As there, with the columns readable and the rows writable.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn scatter_square<const W: usize, const N: usize, const PAIR: bool>(
                step: RegisterStep,
                (columns, column_bytes): (*const u8, usize),
                (rows, row_bytes): (*mut u8, usize),
            ) {
                let mut lines = [_mm256_setzero_si256(); N];
                for (column, line) in lines.iter_mut().enumerate() {
                    // SAFETY: the caller's promise, for this column.
                    let stored = unsafe {
                        let source = columns.add(column * column_bytes);
                        if PAIR {
                            _mm256_loadu_si256(source.cast())
                        } else {
                            _mm256_zextsi128_si256(_mm_loadu_si128(source.cast()))
                        }
                    };
                    *line = unstep_register::<W>(step, stored);
                }
                for (row, line) in transpose::<W, N>(lines).into_iter().enumerate() {
                    let low = _mm256_castsi256_si128(line);
                    // SAFETY: the caller's promise, for this row.
                    unsafe { _mm_storeu_si128(rows.add(row * row_bytes).cast(), low) };
                    if PAIR {
                        let high = _mm256_extracti128_si256::<1>(line);
                        // SAFETY: the caller's promise, for the row `N` below.
                        unsafe { _mm_storeu_si128(rows.add((row + N) * row_bytes).cast(), high) };
                    }
                }
            }

            /// # Safety
            ///
            /// The grid fits both slices.
            #[target_feature(enable = $features)]
            unsafe fn gather_squares<const W: usize, const N: usize>(
                grid: TransposeGrid,
                step: RegisterStep,
                rows: &[u8],
                columns: &mut [u8],
            ) -> usize {
                if grid.column_count < N || grid.row_count < N {
                    return 0;
                }
                let (row_bytes, column_bytes) = (grid.row_bytes, grid.row_count * W);
                let (rows, columns) = (rows.as_ptr(), columns.as_mut_ptr());
                let mut row = 0;
                for column in column_starts(grid.column_count, N) {
                    let at = |row: usize| {
                        let of_rows = rows.wrapping_add(row * row_bytes + column * W);
                        let of_columns = columns.wrapping_add(column * column_bytes + row * W);
                        ((of_rows, row_bytes), (of_columns, column_bytes))
                    };
                    row = 0;
                    while row + 2 * N <= grid.row_count {
                        let (from, to) = at(row);
                        // SAFETY: the squares begin at a row and a column of the grid and end within it,
                        // since at least N columns and 2 N rows are left; the grid fits both slices.
                        unsafe { gather_square::<W, N, true>(step, from, to) };
                        row += 2 * N;
                    }
                    if row + N <= grid.row_count {
                        let (from, to) = at(row);
                        // SAFETY: as above, with N rows left.
                        unsafe { gather_square::<W, N, false>(step, from, to) };
                        row += N;
                    }
                    // The last square overlaps the one before it where a register of the transforms begins
                    // so far up.
                    let unit = step.elements(N);
                    let last = (grid.row_count - N) / unit * unit;
                    if row < last + N {
                        let (from, to) = at(last);
                        // SAFETY: as above, with at least N rows left.
                        unsafe { gather_square::<W, N, false>(step, from, to) };
                        row = last + N;
                    }
                }
                row
            }

            /// # Safety
            ///
            /// The grid fits both slices.
            #[target_feature(enable = $features)]
            unsafe fn scatter_squares<const W: usize, const N: usize>(
                grid: TransposeGrid,
                step: RegisterStep,
                columns: &[u8],
                rows: &mut [u8],
            ) -> usize {
                if grid.column_count < N || grid.row_count < N {
                    return 0;
                }
                let (row_bytes, column_bytes) = (grid.row_bytes, grid.row_count * W);
                let (rows, columns) = (rows.as_mut_ptr(), columns.as_ptr());
                let mut row = 0;
                for column in column_starts(grid.column_count, N) {
                    let at = |row: usize| {
                        let of_columns = columns.wrapping_add(column * column_bytes + row * W);
                        let of_rows = rows.wrapping_add(row * row_bytes + column * W);
                        ((of_columns, column_bytes), (of_rows, row_bytes))
                    };
                    row = 0;
                    while row + 2 * N <= grid.row_count {
                        let (from, to) = at(row);
                        // SAFETY: the squares begin at a row and a column of the grid and end within it,
                        // since at least N columns and 2 N rows are left; the grid fits both slices.
                        unsafe { scatter_square::<W, N, true>(step, from, to) };
                        row += 2 * N;
                    }
                    if row + N <= grid.row_count {
                        let (from, to) = at(row);
                        // SAFETY: as above, with N rows left.
                        unsafe { scatter_square::<W, N, false>(step, from, to) };
                        row += N;
                    }
                    // The last square overlaps the one before it where a register of the transforms begins
                    // so far up.
                    let unit = step.elements(N);
                    let last = (grid.row_count - N) / unit * unit;
                    if row < last + N {
                        let (from, to) = at(last);
                        // SAFETY: as above, with at least N rows left.
                        unsafe { scatter_square::<W, N, false>(step, from, to) };
                        row = last + N;
                    }
                }
                row
            }

            /// # Safety
            ///
            /// The grid fits both slices.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn gather(
                grid: TransposeGrid,
                step: RegisterStep,
                rows: &[u8],
                columns: &mut [u8],
            ) -> usize {
                // SAFETY: the caller's promise.
                unsafe {
                    match grid.width {
                        1 => gather_squares::<1, 16>(grid, step, rows, columns),
                        2 => gather_squares::<2, 8>(grid, step, rows, columns),
                        4 => gather_squares::<4, 4>(grid, step, rows, columns),
                        8 => gather_squares::<8, 2>(grid, step, rows, columns),
                        _ => 0,
                    }
                }
            }

            /// # Safety
            ///
            /// The grid fits both slices.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn scatter(
                grid: TransposeGrid,
                step: RegisterStep,
                columns: &[u8],
                rows: &mut [u8],
            ) -> usize {
                // SAFETY: the caller's promise.
                unsafe {
                    match grid.width {
                        1 => scatter_squares::<1, 16>(grid, step, columns, rows),
                        2 => scatter_squares::<2, 8>(grid, step, columns, rows),
                        4 => scatter_squares::<4, 4>(grid, step, columns, rows),
                        8 => scatter_squares::<8, 2>(grid, step, columns, rows),
                        _ => 0,
                    }
                }
            }

            /// Replaces each pair of registers of `column` by what `change` makes of it.
            #[inline]
            #[target_feature(enable = $features)]
            fn each_register(column: &mut [u8], change: impl Fn(__m256i) -> __m256i) -> usize {
                let (pairs, rest) = column.as_chunks_mut::<32>();
                for pair in &mut *pairs {
                    let at = pair.as_mut_ptr().cast::<__m256i>();
                    // SAFETY: `at` points to 32 readable and writable bytes; no alignment is required.
                    unsafe { _mm256_storeu_si256(at, change(_mm256_loadu_si256(at))) };
                }
                let done = pairs.len() * 32;
                let Some(single) = rest.first_chunk_mut::<16>() else {
                    return done;
                };
                let at = single.as_mut_ptr();
                // SAFETY: `at` points to 16 readable and writable bytes; no alignment is required.
                unsafe {
                    let stored = _mm256_zextsi128_si256(_mm_loadu_si128(at.cast()));
                    _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(change(stored)));
                }
                done + 16
            }

            #[target_feature(enable = $features)]
            pub(in super::super) fn apply(
                width: usize,
                step: RegisterStep,
                column: &mut [u8],
            ) -> usize {
                match width {
                    1 => each_register(column, |x| step_register::<1>(step, x)),
                    2 => each_register(column, |x| step_register::<2>(step, x)),
                    4 => each_register(column, |x| step_register::<4>(step, x)),
                    8 => each_register(column, |x| step_register::<8>(step, x)),
                    _ => 0,
                }
            }

            #[target_feature(enable = $features)]
            pub(in super::super) fn undo(
                width: usize,
                step: RegisterStep,
                column: &mut [u8],
            ) -> usize {
                match width {
                    1 => each_register(column, |x| unstep_register::<1>(step, x)),
                    2 => each_register(column, |x| unstep_register::<2>(step, x)),
                    4 => each_register(column, |x| unstep_register::<4>(step, x)),
                    8 => each_register(column, |x| unstep_register::<8>(step, x)),
                    _ => 0,
                }
            }
        }
    };
}
lanes!(avx2, "avx2");
lanes!(avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
