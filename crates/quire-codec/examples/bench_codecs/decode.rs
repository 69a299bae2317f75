//! Decoding vectors, groups and values, and comparing without decoding.

use super::columns::{
    Aligned, ROWS, column, decoder, few, narrow, random, sorted, with_exceptions,
};
use super::measure::{Measured, measure};
use super::{Bar, line};
use bitpacking::{BitPacker, BitPacker8x};
use quire_codec::fixed::FixedDecoder;
use quire_codec::int::Element;
use quire_codec::{CodecId, GROUP_VALUES, VECTOR_VALUES};
use std::error::Error;
use std::hint::black_box;

type Done = Result<(), Box<dyn Error>>;

const VECTORS: usize = ROWS / VECTOR_VALUES;

/// Decodes all vectors into one.
fn decode_all<E: Element>(decoder: &mut FixedDecoder<E>, out: &mut [E; VECTOR_VALUES]) {
    for vector in 0..VECTORS {
        black_box(decoder.decode_vector(vector, out).is_ok());
        black_box(&mut *out);
    }
}

/// Copies a column vector by vector into one.
fn copy_all<E: Element>(values: &[E], out: &mut [E; VECTOR_VALUES]) {
    for vector in values.as_chunks::<VECTOR_VALUES>().0 {
        out.copy_from_slice(black_box(vector));
        black_box(&mut *out);
    }
}

/// Decoding against copying.
fn against_copy<E: Element>(codec: CodecId, values: &[E]) -> Result<Measured, Box<dyn Error>> {
    let mut decoder = decoder(codec, values)?;
    let (mut out, mut copied) = (
        Aligned([E::default(); VECTOR_VALUES]),
        Aligned([E::default(); VECTOR_VALUES]),
    );
    Ok(measure(
        ROWS,
        || decode_all(&mut decoder, &mut out.0),
        || copy_all(values, &mut copied.0),
    ))
}

/// Decodes with the `fastlanes` crate, which is compiled for the baseline of the target.
macro_rules! fastlanes {
    ($packed:ident, $out:ident, $bits:ident: $($width:literal)*) => {
        match $bits {
            $($width => {
                for vector in $packed.as_chunks::<{ 32 * $width }>().0 {
                    fastlanes::FoR::unfor_pack::<$width, { 32 * $width }>(black_box(vector), 7, $out);
                    black_box(&mut *$out);
                }
            })*
            _ => {}
        }
    };
}

fn fastlanes(bits: u32, packed: &[u32], out: &mut [u32; VECTOR_VALUES]) {
    fastlanes!(packed, out, bits: 8 9 10 11 12);
}

/// Decodes with the `bitpacking` crate: AVX2, blocks of 256.
fn bitpacking(bits: u32, packed: &[u8], out: &mut [u32; VECTOR_VALUES]) {
    let (packer, block_bytes) = (BitPacker8x::new(), 32 * bits as usize);
    for vector in packed.chunks_exact(4 * block_bytes) {
        let blocks = vector.chunks_exact(block_bytes);
        for (block, out) in blocks.zip(out.chunks_exact_mut(BitPacker8x::BLOCK_LEN)) {
            packer.decompress(black_box(block), out, bits as u8);
        }
        black_box(&mut *out);
    }
}

/// PFOR without exceptions. Any packed bytes will do for a peer.
pub fn packed() -> Done {
    let Aligned(ours) = &mut Aligned([0; VECTOR_VALUES]);
    let Aligned(theirs) = &mut Aligned([0; VECTOR_VALUES]);
    for bits in 8..=12 {
        let values = column(|random| (random >> (64 - bits)) as i32 + 8035);
        let mut decoder = decoder(CodecId::Pfor, &values)?;
        let words = vec![0x1234_5678; ROWS / 32 * bits as usize];
        let measured = measure(
            ROWS,
            || decode_all(&mut decoder, ours),
            || fastlanes(bits, &words, theirs),
        );
        let name = format!("PFOR, i32 of {bits} bits");
        let bars = [Bar::Cycles(0.10), Bar::Ratio(1.0)];
        line(&name, &measured, 4.0, "fastlanes crate", &bars);
        let bytes = vec![0x5A; ROWS / 8 * bits as usize];
        let measured = measure(
            ROWS,
            || decode_all(&mut decoder, ours),
            || bitpacking(bits, &bytes, theirs),
        );
        line(
            "",
            &measured,
            4.0,
            "bitpacking crate, AVX2",
            &[Bar::Ratio(3.0)],
        );
    }
    Ok(())
}

pub fn with_some_exceptions() -> Done {
    for (percent, most) in [(2, 0.15), (10, 0.35)] {
        let measured = against_copy(CodecId::Pfor, &with_exceptions(10, percent))?;
        let name = format!("PFOR, i32 of 10 bits, {percent} % exceptions");
        line(&name, &measured, 4.0, "memcpy", &[Bar::Cycles(most)]);
    }
    Ok(())
}

/// Blocks of the `bitpacking` crate that hold sorted values, each with the value before it and its width.
fn packed_sorted(values: &[i32]) -> Vec<(u32, u8, Vec<u8>)> {
    let packer = BitPacker8x::new();
    let mut before = 0;
    let pack = |block: &[i32]| {
        let block: Vec<u32> = block.iter().map(|&value| value as u32).collect();
        let bits = packer.num_bits_sorted(before, &block);
        let mut packed = vec![0; 32 * usize::from(bits)];
        packer.compress_sorted(before, &block, &mut packed, bits);
        let initial = before;
        before = block.last().copied().unwrap_or(before);
        (initial, bits, packed)
    };
    values
        .chunks_exact(BitPacker8x::BLOCK_LEN)
        .map(pack)
        .collect()
}

/// Running sums in the order of the rows.
pub fn differences() -> Done {
    let bars = [Bar::PerCycle(2.5)];
    let keys = sorted();
    let values = narrow(&keys);
    let mut decoder = decoder(CodecId::PforDelta, &values)?;
    let (blocks, packer) = (packed_sorted(&values), BitPacker8x::new());
    let Aligned(ours) = &mut Aligned([0; VECTOR_VALUES]);
    let Aligned(theirs) = &mut Aligned([0; VECTOR_VALUES]);
    let measured = measure(
        ROWS,
        || decode_all(&mut decoder, ours),
        || {
            for vector in blocks.chunks_exact(4) {
                let places = theirs.chunks_exact_mut(BitPacker8x::BLOCK_LEN);
                for ((initial, bits, packed), out) in vector.iter().zip(places) {
                    packer.decompress_sorted(*initial, black_box(packed), out, *bits);
                }
                black_box(&mut *theirs);
            }
        },
    );
    line(
        "PFOR-DELTA, sorted i32",
        &measured,
        4.0,
        "bitpacking crate, sorted",
        &bars,
    );
    let measured = against_copy(CodecId::PforDelta, &keys)?;
    line("PFOR-DELTA, sorted i64", &measured, 8.0, "memcpy", &[]);
    Ok(())
}

pub fn dictionaries() -> Done {
    for count in [16, 64, 200] {
        let values = few(count);
        let bars = [Bar::Gigabytes(20.0)];
        let measured = against_copy(CodecId::Dictionary, &narrow(&values))?;
        let name = format!("dictionary, i32, {count} values");
        line(&name, &measured, 4.0, "memcpy", &bars);
        let measured = against_copy(CodecId::Dictionary, &values)?;
        let name = format!("dictionary, i64, {count} values");
        line(&name, &measured, 8.0, "memcpy", &bars);
    }
    Ok(())
}

/// One value, and 128, of rows in no order; the peer reads them from an array.
pub fn single_values() -> Done {
    let mut seed = 1;
    let rows: Vec<usize> = (0..5000)
        .map(|_| random(&mut seed) as usize % ROWS)
        .collect();
    for bits in [8, 12] {
        let values = column(|random| (random >> (64 - bits)) as i32 + 8035);
        let mut decoder = decoder(CodecId::Pfor, &values)?;
        let one = |row: usize| {
            black_box(values[row]);
        };
        let measured = measure(
            rows.len(),
            || {
                rows.iter()
                    .for_each(|&row| drop(black_box(decoder.value(row))))
            },
            || rows.iter().for_each(|&row| one(row)),
        );
        let name = format!("one value, i32 of {bits} bits");
        line(&name, &measured, 4.0, "array", &[Bar::Nanoseconds(10.0)]);
        let (mut out, mut copied) = ([0; GROUP_VALUES], [0; GROUP_VALUES]);
        let groups = values.as_chunks::<GROUP_VALUES>().0;
        let measured = measure(
            rows.len(),
            || {
                for &row in &rows {
                    black_box(decoder.decode_group(row / GROUP_VALUES, &mut out).is_ok());
                    black_box(&mut out);
                }
            },
            || {
                for &row in &rows {
                    copied.copy_from_slice(black_box(&groups[row / GROUP_VALUES]));
                    black_box(&mut copied);
                }
            },
        );
        let name = format!("128 values, i32 of {bits} bits");
        line(&name, &measured, 512.0, "memcpy", &[Bar::Nanoseconds(20.0)]);
    }
    Ok(())
}

/// A range that about half of the rows lie in: on packed codes, and on decoded values.
fn comparison<E: Element>(name: &str, values: &[E], low: E, high: E) -> Done {
    let mut packed = decoder(CodecId::Pfor, values)?;
    let mut decoded = packed.clone();
    let Aligned(out) = &mut Aligned([E::default(); VECTOR_VALUES]);
    let mut mask = [0; 16];
    let measured = measure(
        ROWS,
        || {
            for vector in 0..VECTORS {
                black_box(packed.select_range(vector, low..=high, &mut mask).is_ok());
                black_box(&mut mask);
            }
        },
        || {
            for vector in 0..VECTORS {
                black_box(decoded.decode_vector(vector, out).is_ok());
                black_box(E::select(black_box(out), low, high));
            }
        },
    );
    let bytes = size_of::<E>() as f64;
    line(
        name,
        &measured,
        bytes,
        "decode, then compare",
        &[Bar::Ratio(1.3)],
    );
    Ok(())
}

pub fn comparisons() -> Done {
    for bits in [4u32, 8, 10, 12, 24] {
        let values = column(|random| (random >> (64 - bits)) as i32 + 8035);
        let (low, high) = (8036 + (1 << bits) / 4, 8036 + (1 << bits) / 4 * 3);
        comparison(&format!("range, i32 of {bits} bits"), &values, low, high)?;
    }
    let values = column(|random| (random >> 55) as i16);
    comparison("range, i16 of 9 bits", &values, 128, 384)?;
    let values = column(|random| (random >> 24) as i64);
    comparison("range, i64 of 40 bits", &values, 1 << 38, 3 << 38)
}
