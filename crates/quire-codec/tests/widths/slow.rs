//! The format, bit by bit and as slowly as its text reads. Knows nothing of the crate but `Element`.

use quire_codec::int::Element;

/// Numbers of `width` bits in no order; the smallest twice in front, then the largest.
pub fn codes(width: usize, count: usize) -> Vec<u64> {
    let mask = u64::MAX.checked_shr(64 - width as u32).unwrap_or(0);
    let mut state = 0x2545_F491_4F6C_DD1D_u64 ^ width as u64;
    let mut next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29) & mask
    };
    let mut codes: Vec<u64> = (0..count).map(&mut next).collect();
    (codes[0], codes[1], codes[2]) = (0, 0, mask);
    codes
}

/// Lane `l` of `lane_bits`-bit words is a bit stream that runs down the rows of the matrix, and its `r`-th number is
/// value `order[r / 8] · 16 + (r % 8) · 128 + l`.
fn matrix(codes: &[u64], width: usize, lane_bits: usize) -> Vec<u8> {
    let order = [0, 4, 2, 6, 1, 5, 3, 7];
    let lanes = 1024 / lane_bits;
    let mut packed = vec![0u8; 128 * width];
    for lane in 0..lanes {
        for row in 0..lane_bits {
            let code = codes[order[row / 8] * 16 + row % 8 * 128 + lane];
            for bit in 0..width {
                let place = row * width + bit;
                let (word, bit_of_word) = (place / lane_bits, place % lane_bits);
                let bit_of_matrix = (word * lanes + lane) * lane_bits + bit_of_word;
                packed[bit_of_matrix / 8] |= ((code >> bit & 1) as u8) << (bit_of_matrix % 8);
            }
        }
    }
    packed
}

/// Numbers one after the other, least significant bit first.
pub fn stream(numbers: &[u64], width: usize) -> Vec<u8> {
    let mut stream = vec![0u8; (numbers.len() * width).div_ceil(8)];
    for (index, number) in numbers.iter().enumerate() {
        for bit in 0..width {
            let place = index * width + bit;
            stream[place / 8] |= ((number >> bit & 1) as u8) << (place % 8);
        }
    }
    stream
}

fn lane_bits<E: Element>(width: usize) -> usize {
    match 8 * E::BYTES {
        64 if width <= 32 => 32,
        bits => bits,
    }
}

/// A packed vector, full or not.
pub fn packed<E: Element>(codes: &[u64], width: usize) -> Vec<u8> {
    match codes.len() {
        1024 => matrix(codes, width, lane_bits::<E>(width)),
        _ => stream(codes, width),
    }
}

fn bytes_of<E: Element>(value: E) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.append(&mut bytes);
    bytes
}

/// PFOR of one vector, `base` plus each code.
pub fn pfor<E: Element>(base: E, width: usize, codes: &[u64]) -> Vec<u8> {
    [
        vec![0, 0], // no unit; bases have no bytes beyond the smallest
        bytes_of(base),
        vec![width as u8, 0], // no exceptions
        packed::<E>(codes, width),
    ]
    .concat()
}

/// PFOR of one vector, of whose codes those at `rows` have `width + high_width` bits.
pub fn pfor_with_exceptions<E: Element>(
    base: E,
    (width, high_width): (usize, usize),
    codes: &[u64],
    rows: &[usize],
) -> Vec<u8> {
    let positions: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
    let highs: Vec<u64> = rows.iter().map(|&row| codes[row] >> width).collect();
    [
        vec![0, 0],
        bytes_of(base),
        vec![width as u8, 1, high_width as u8, rows.len() as u8, 0],
        packed::<E>(codes, width),
        stream(&positions, 10),
        stream(&highs, high_width),
    ]
    .concat()
}

/// PFOR-DELTA of one vector: `start`, and differences of `base` plus each code.
pub fn pfor_delta<E: Element>(start: E, base: E, width: usize, codes: &[u64]) -> Vec<u8> {
    [
        vec![0, 0],
        bytes_of(base),
        vec![0], // starts have no bytes beyond the smallest either
        bytes_of(start),
        vec![width as u8, 0],
        packed::<E>(codes, width),
    ]
    .concat()
}

fn width_of(number: i128) -> usize {
    (128 - number.leading_zeros()) as usize
}

/// A sequence of at most one vector, of numbers without outliers and a common unit: plain, unless differences take
/// less than 19 parts in 20.
pub fn sequence<E: Element>(values: &[E]) -> Vec<u8> {
    let from = |numbers: &[i128]| {
        let (low, high) = (numbers.iter().min().unwrap(), numbers.iter().max().unwrap());
        let codes: Vec<u64> = numbers.iter().map(|one| (one - low) as u64).collect();
        (*low, width_of(high - low), codes)
    };
    let values: Vec<i128> = values.iter().map(|value| value.wide()).collect();
    let (low, width, codes) = from(&values);
    let plain = pfor(E::from_wide(low), width, &codes);
    let mut differences: Vec<i128> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    differences.insert(0, differences.first().copied().unwrap_or(0));
    let start = E::from_wide(values[0] - differences[0]);
    let (low, width, codes) = from(&differences);
    if width > 8 * E::BYTES {
        // Differences wrap then, and take as many bits as the values.
        return [vec![0], plain].concat();
    }
    let delta = pfor_delta(start, E::from_wide(low), width, &codes);
    if delta.len() * 20 < plain.len() * 19 {
        [vec![1], delta].concat()
    } else {
        [vec![0], plain].concat()
    }
}
