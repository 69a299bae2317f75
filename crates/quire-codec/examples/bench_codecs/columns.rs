//! The columns that are encoded, and an output vector.

use quire_codec::{CodecId, fixed};
use quire_codec::{VECTOR_VALUES, fixed::FixedDecoder, int::Element};
use std::error::Error;
use std::sync::Arc;

pub const ROWS: usize = 128 * VECTOR_VALUES;

/// An output vector as Arrow allocates it. Stores that cross cache lines would cost twice.
#[repr(align(64))]
pub struct Aligned<T>(pub [T; VECTOR_VALUES]);

pub fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

pub fn column<E>(mut make: impl FnMut(u64) -> E) -> Vec<E> {
    let mut seed = 88_172_645_463_325_252;
    (0..ROWS).map(|_| make(random(&mut seed))).collect()
}

/// Values of `bits` bits, and so many in a hundred of 20 bits more.
pub fn with_exceptions(bits: u32, percent: u64) -> Vec<i32> {
    column(|random| {
        if random % 100 < percent {
            (random >> (44 - bits)) as i32
        } else {
            (random >> (64 - bits)) as i32
        }
    })
}

/// Values of which each is at most 4 above the one before.
pub fn sorted() -> Vec<i64> {
    let mut key = 0;
    column(|random| {
        key += (random % 5) as i64;
        key
    })
}

/// So many distinct values, in no order and of no narrow range.
pub fn few(count: u64) -> Vec<i64> {
    column(|random| (random % count).wrapping_mul(0x1234_5678_9ABC_DEF1) as i64)
}

pub fn narrow(values: &[i64]) -> Vec<i32> {
    values.iter().map(|&value| value as i32).collect()
}

pub fn decoder<E: Element>(
    codec: CodecId,
    values: &[E],
) -> Result<FixedDecoder<E>, Box<dyn Error>> {
    let payload = fixed::encode(codec, values)?;
    let range = 0..payload.len();
    let image: Arc<[u8]> = payload.into();
    Ok(FixedDecoder::open(codec, image, range, values.len())?)
}
