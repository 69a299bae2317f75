//! Time to decode a vector into cache, to ask it questions, to choose and encode a column, and to read one value.
//!
//! `cargo run --release --example codec_speed [GHz] [rare] [encoding]`: cycles are nanoseconds times the clock, which
//! is measured by a chain of dependent additions unless it is given. Each figure is the best of several rounds. `rare`
//! decodes the columns with few frequent values alone, on the best instruction set; `encoding` chooses and encodes alone.

use bitpacking::{BitPacker, BitPacker8x};
use quire_codec::choose::{ChooseOptions, choose};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::float::{self, FloatDecoder, Floating};
use quire_codec::int::Element;
use quire_codec::{Backend, CodecId, GROUP_VALUES, RowGroupValues, VECTOR_VALUES, limit_backend};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// An output vector as Arrow allocates it. Stores that cross cache lines would cost twice.
#[repr(align(64))]
struct Aligned<T>([T; VECTOR_VALUES]);

const ROWS: usize = 128 * VECTOR_VALUES;

/// Nanoseconds per value of the fastest of several rounds of `work` over `count` values.
fn ns_per_value(count: usize, mut work: impl FnMut()) -> f64 {
    let round = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64 / count as f64
    };
    (0..40)
        .map(|_| round(&mut work))
        .fold(f64::INFINITY, f64::min)
}

/// Clock in GHz: an addition of registers, and an exclusive or, take a cycle each when one waits for the other.
fn measured_ghz() -> f64 {
    let (addend, mask) = (black_box(0x9E37_79B9_7F4A_7C15u64), black_box(12_345));
    let mut value = black_box(1u64);
    let ns = ns_per_value(160_000, || {
        for _ in 0..10_000 {
            for _ in 0..8 {
                value = value.wrapping_add(addend) ^ mask;
            }
        }
        black_box(value);
    });
    1.0 / ns
}

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn column(mut make: impl FnMut(u64, usize) -> i64) -> Vec<i64> {
    let mut seed = 88_172_645_463_325_252;
    (0..ROWS).map(|row| make(random(&mut seed), row)).collect()
}

struct Report {
    ghz: f64,
}

impl Report {
    fn line(&self, name: &str, ns: f64, value_bytes: usize, ratio: f64) {
        println!(
            "{name:<52} {ns:7.3} ns {:7.3} cycles/value {:6.1} GB/s {ratio:7.2}x",
            ns * self.ghz,
            value_bytes as f64 / ns
        );
    }

    fn integers<E: Element>(&self, name: &str, codec: CodecId, values: &[E]) {
        let Ok(payload) = fixed::encode(codec, values) else {
            return;
        };
        let ratio = size_of_val(values) as f64 / payload.len() as f64;
        let image: Arc<[u8]> = payload.into();
        let range = 0..image.len();
        let Ok(mut decoder) = FixedDecoder::<E>::open(codec, image, range, values.len()) else {
            return;
        };
        let Aligned(out) = &mut Aligned([E::default(); VECTOR_VALUES]);
        let ns = ns_per_value(values.len(), || {
            for vector in 0..values.len() / VECTOR_VALUES {
                black_box(decoder.decode_vector(vector, out).is_ok());
                black_box(&mut *out);
            }
        });
        self.line(&format!("decode {codec} {name}"), ns, E::BYTES, ratio);
        let mut seed = 1;
        let rows: Vec<usize> = (0..10_000)
            .map(|_| random(&mut seed) as usize % values.len())
            .collect();
        let one = ns_per_value(rows.len(), || {
            for &row in &rows {
                black_box(decoder.value(row).is_ok());
            }
        });
        let mut group = [E::default(); GROUP_VALUES];
        let groups = ns_per_value(rows.len(), || {
            for &row in &rows {
                black_box(decoder.decode_group(row / GROUP_VALUES, &mut group).is_ok());
                black_box(&mut group);
            }
        });
        println!("{:<52} {one:7.1} ns one value, {groups:7.1} ns 128", "");
    }

    /// A comparison with a constant, the sum and the extremes, each against decoding first. The share of the
    /// rows that compare is about one half.
    fn questions(&self, name: &str, codec: CodecId, values: &[i32], range: RangeInclusive<i32>) {
        let Ok(payload) = fixed::encode(codec, values) else {
            return;
        };
        let bytes = 0..payload.len();
        let Ok(mut decoder) = FixedDecoder::open(codec, payload.into(), bytes, values.len()) else {
            return;
        };
        let vectors = values.len() / VECTOR_VALUES;
        let mut mask = [0; 16];
        let Aligned(out) = &mut Aligned([0i32; VECTOR_VALUES]);
        let direct = ns_per_value(values.len(), || {
            for vector in 0..vectors {
                black_box(
                    decoder
                        .select_range(vector, range.clone(), &mut mask)
                        .is_ok(),
                );
                black_box(&mut mask);
            }
        });
        let decoded = ns_per_value(values.len(), || {
            for vector in 0..vectors {
                black_box(decoder.decode_vector(vector, out).is_ok());
                mask = compare(black_box(out), &range);
                black_box(&mut mask);
            }
        });
        let sum = ns_per_value(values.len(), || {
            for vector in 0..vectors {
                black_box(decoder.sum(vector).is_ok());
            }
        });
        let extremes = ns_per_value(values.len(), || {
            for vector in 0..vectors {
                black_box(decoder.extremes(vector).is_ok());
            }
        });
        let cycles = |ns: f64| ns * self.ghz;
        println!(
            "{:<52} compare {:.3}, decode then compare {:.3} ({:.2}x), sum {:.3}, extremes {:.3} cycles/value",
            format!("ask {codec} {name}"),
            cycles(direct),
            cycles(decoded),
            decoded / direct,
            cycles(sum),
            cycles(extremes),
        );
    }

    fn floats<F: Floating>(&self, name: &str, codec: CodecId, values: &[F]) {
        let Ok(payload) = float::encode(codec, values) else {
            return;
        };
        let ratio = size_of_val(values) as f64 / payload.len() as f64;
        let image: Arc<[u8]> = payload.into();
        let range = 0..image.len();
        let Ok(mut decoder) = FloatDecoder::<F>::open(codec, image, range, values.len()) else {
            return;
        };
        let Aligned(out) = &mut Aligned([F::zeroed(); VECTOR_VALUES]);
        let ns = ns_per_value(values.len(), || {
            for vector in 0..values.len() / VECTOR_VALUES {
                black_box(decoder.decode_vector(vector, out).is_ok());
                black_box(&mut *out);
            }
        });
        self.line(&format!("decode {codec} {name}"), ns, size_of::<F>(), ratio);
    }

    /// Times choosing and encoding; `encode` writes the column and returns its size.
    fn encoding(&self, name: &str, values: &RowGroupValues<'_>, encode: &dyn Fn(CodecId) -> usize) {
        let options = ChooseOptions::default();
        let chosen = choose(values, &options);
        let choosing = ns_per_value(ROWS, || {
            black_box(choose(values, &options));
        });
        let encoding = ns_per_value(ROWS, || {
            black_box(encode(chosen.codec));
        });
        let value_bytes = values.raw_bytes() as f64 / ROWS as f64;
        println!(
            "{name:<26} {:<11} choose {choosing:6.2} ns, encode {encoding:6.2} ns a value: \
             {:5.0} MB/s, estimated {} bytes, are {}",
            chosen.codec.name(),
            value_bytes / (choosing + encoding) * 1000.0,
            chosen.estimated_bytes,
            encode(chosen.codec),
        );
    }

    fn encoding_32(&self, name: &str, values: &[i64]) {
        let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        self.encoding(name, &RowGroupValues::Int32(&values), &|codec| {
            fixed::encode(codec, &values).map_or(0, |payload| payload.len())
        });
    }

    fn encoding_64(&self, name: &str, values: &[i64]) {
        self.encoding(name, &RowGroupValues::Int64(values), &|codec| {
            fixed::encode(codec, values).map_or(0, |payload| payload.len())
        });
    }

    fn encoding_floats(&self, name: &str, values: &[f64]) {
        self.encoding(name, &RowGroupValues::Float64(values), &|codec| {
            float::encode(codec, values).map_or(0, |payload| payload.len())
        });
    }
}

/// The rows of a decoded vector within a range, by the crate's own comparison.
fn compare(values: &[i32; VECTOR_VALUES], range: &RangeInclusive<i32>) -> [u64; 16] {
    Element::select(values, *range.start(), *range.end())
}

fn decoding(report: &Report) {
    let source = vec![7i32; ROWS];
    let Aligned(out) = &mut Aligned([0i32; VECTOR_VALUES]);
    let ns = ns_per_value(ROWS, || {
        for vector in source.as_chunks::<VECTOR_VALUES>().0 {
            out.copy_from_slice(black_box(vector));
            black_box(&mut *out);
        }
    });
    report.line("memcpy i32 into cache", ns, 4, 1.0);
    fastlanes_crate(report);
    bitpacking_crate(report);
    packed_integers(report);
    sorted_keys(report);
    few_values(report);
    rare_values(report);
    let prices: Vec<f64> = column(|random, _| (random % 1_000_000) as i64)
        .iter()
        .map(|&cents| cents as f64 / 100.0)
        .collect();
    report.floats("f64 prices", CodecId::Alp, &prices);
    report.floats("f64 prices", CodecId::Plain, &prices);
}

fn packed_integers(report: &Report) {
    for bits in [4, 8, 10, 12, 17, 24] {
        let values = column(|random, _| (random >> (64 - bits)) as i64);
        let based: Vec<i32> = values.iter().map(|&value| value as i32 + 8035).collect();
        report.integers(
            &format!("i32 of {bits} bits from 8035"),
            CodecId::Pfor,
            &based,
        );
        let half = 8036 + (1 << bits) / 4..=8036 + (1 << bits) / 4 * 3;
        report.questions(&format!("i32 of {bits} bits"), CodecId::Pfor, &based, half);
        let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        report.integers(&format!("i32 of {bits} bits"), CodecId::Pfor, &narrow);
        report.integers(&format!("i64 of {bits} bits"), CodecId::Pfor, &values);
    }
    for width in [3, 5, 8] {
        let bytes: Vec<u8> = column(|random, _| (random >> (64 - width)) as i64)
            .iter()
            .map(|&v| v as u8)
            .collect();
        report.integers(&format!("u8 of {width} bits"), CodecId::Pfor, &bytes);
    }
    let short: Vec<i16> = column(|random, _| (random >> 55) as i64)
        .iter()
        .map(|&v| v as i16)
        .collect();
    report.integers("i16 of 9 bits", CodecId::Pfor, &short);
    report.integers(
        "i64 of 40 bits",
        CodecId::Pfor,
        &column(|random, _| (random >> 24) as i64),
    );
    for percent in [2, 10] {
        let values: Vec<i32> = column(|random, _| {
            if random % 100 < percent {
                (random >> 34) as i64
            } else {
                (random >> 54) as i64
            }
        })
        .iter()
        .map(|&value| value as i32)
        .collect();
        report.integers(
            &format!("i32 of 10 bits, {percent} % exceptions"),
            CodecId::Pfor,
            &values,
        );
    }
    let cents = column(|random, _| 100 * (1 + random as i64 % 50).abs());
    report.integers("i64 multiples of 100", CodecId::Pfor, &cents);
}

fn sorted_keys(report: &Report) {
    let mut key = 0;
    let keys = column(|random, _| {
        key += (random % 5) as i64;
        key
    });
    let narrow: Vec<i32> = keys.iter().map(|&value| value as i32).collect();
    report.integers("i32 sorted keys", CodecId::PforDelta, &narrow);
    report.integers("i64 sorted keys", CodecId::PforDelta, &keys);
    let wide: Vec<i128> = keys.iter().map(|&value| value.into()).collect();
    report.integers("i128 sorted keys", CodecId::Pfor, &wide);
}

fn few_values(report: &Report) {
    for count in [16, 50, 200] {
        let few = column(|random, _| ((random % count).wrapping_mul(0x1234_5678_9ABC_DEF1)) as i64);
        let narrow: Vec<i32> = few.iter().map(|&value| value as i32).collect();
        report.integers(
            &format!("i32 of {count} values"),
            CodecId::Dictionary,
            &narrow,
        );
        report.integers(&format!("i64 of {count} values"), CodecId::Dictionary, &few);
    }
    for length in [4, 20, 100] {
        let runs = column(|_, row| row as i64 / length * 7919 % 1_000_003);
        report.integers(&format!("i64 runs of {length}"), CodecId::Rle, &runs);
    }
    other_widths(report);
}

/// What the chooser's table of costs has beside the columns above.
fn other_widths(report: &Report) {
    let few = column(|random, _| (random % 200) as i64 * 123);
    let short: Vec<i16> = few.iter().map(|&value| value as i16).collect();
    let long: Vec<i128> = few.iter().map(|&value| i128::from(value) << 40).collect();
    for codec in [
        CodecId::Constant,
        CodecId::Plain,
        CodecId::PforDelta,
        CodecId::Dictionary,
    ] {
        let is_constant = codec == CodecId::Constant;
        let name = |bytes| format!("i{bytes} of 200 values");
        let (short, long) = if is_constant {
            (&vec![7; ROWS], &vec![7; ROWS])
        } else {
            (&short, &long)
        };
        report.integers(&name(16), codec, short);
        report.integers(&name(128), codec, long);
    }
    let prices: Vec<f32> = few.iter().map(|&cents| cents as f32 / 100.0).collect();
    report.floats("f32 prices", CodecId::Alp, &prices);
}

/// Columns with a few frequent values, under the codecs that compete for them.
fn rare_values(report: &Report) {
    let skewed = skewed();
    let narrow: Vec<i32> = skewed.iter().map(|&value| value as i32).collect();
    for codec in [CodecId::Pdict, CodecId::Dictionary, CodecId::Pfor] {
        report.integers("i32 of 200 values, 5 % rare", codec, &narrow);
        report.integers("i64 of 200 values, 5 % rare", codec, &skewed);
    }
    let mostly = mostly_one();
    let narrow: Vec<i32> = mostly.iter().map(|&value| value as i32).collect();
    for codec in [CodecId::Sparse, CodecId::Pfor, CodecId::Dictionary] {
        report.integers("i32, 95 % one value", codec, &narrow);
        report.integers("i64, 95 % one value", codec, &mostly);
    }
    let random = no_decimals();
    for codec in [CodecId::AlpRd, CodecId::Alp, CodecId::Plain] {
        report.floats("f64 no decimals", codec, &random);
    }
}

/// One row in twenty has any value, the others one of 200 that lie far apart.
fn skewed() -> Vec<i64> {
    column(|random, _| match random % 20 {
        0 => random.wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64,
        _ => ((random >> 32) % 200).wrapping_mul(0x1234_5678_9ABC_DEF1) as i64,
    })
}

/// One row in twenty has another value, above or below.
fn mostly_one() -> Vec<i64> {
    column(|random, _| match random % 20 {
        0 => (random >> 52) as i64,
        _ => 2048,
    })
}

fn no_decimals() -> Vec<f64> {
    column(|random, _| random as i64)
        .iter()
        .map(|&random| 1.0 + random as u64 as f64 / u64::MAX as f64)
        .collect()
}

/// The kernel of the `fastlanes` crate, compiled for the baseline of the target, whatever the backend.
fn fastlanes_crate(report: &Report) {
    let packed: Vec<[u32; 384]> = vec![[0x1234_5678; 384]; ROWS / VECTOR_VALUES];
    let Aligned(out) = &mut Aligned([0u32; VECTOR_VALUES]);
    let ns = ns_per_value(ROWS, || {
        for vector in &packed {
            fastlanes::FoR::unfor_pack::<12, 384>(black_box(vector), 7, out);
            black_box(&mut *out);
        }
    });
    report.line("peer: fastlanes crate, u32 of 12 bits", ns, 4, 32.0 / 12.0);
    let packed: Vec<[u32; 256]> = vec![[0x1234_5678; 256]; ROWS / VECTOR_VALUES];
    let ns = ns_per_value(ROWS, || {
        for vector in &packed {
            fastlanes::FoR::unfor_pack::<8, 256>(black_box(vector), 7, out);
            black_box(&mut *out);
        }
    });
    report.line("peer: fastlanes crate, u32 of 8 bits", ns, 4, 32.0 / 8.0);
}

/// The `bitpacking` crate with AVX2, 256 values a block.
fn bitpacking_crate(report: &Report) {
    let packer = BitPacker8x::new();
    let Aligned(out) = &mut Aligned([0u32; VECTOR_VALUES]);
    for bits in [8u8, 12] {
        let block_bytes = 32 * usize::from(bits);
        let packed = vec![0x5Au8; ROWS / BitPacker8x::BLOCK_LEN * block_bytes];
        let ns = ns_per_value(ROWS, || {
            for vector in packed.chunks_exact(4 * block_bytes) {
                let blocks = vector.chunks_exact(block_bytes);
                for (block, out) in blocks.zip(out.chunks_exact_mut(BitPacker8x::BLOCK_LEN)) {
                    packer.decompress(black_box(block), out, bits);
                }
                black_box(&mut *out);
            }
        });
        let name = format!("peer: bitpacking crate, u32 of {bits} bits");
        report.line(&name, ns, 4, 32.0 / f64::from(bits));
    }
}

fn encoding(report: &Report) {
    let uniform = column(|random, _| (random >> 40) as i64);
    report.encoding_32("i32 uniform 24 bits", &uniform);
    report.encoding_64("i64 uniform 24 bits", &uniform);
    let mut key = 0;
    let keys = column(|random, row| {
        key += i64::from(row % 4 == 0) * (1 + (random % 8) as i64);
        key
    });
    report.encoding_32("i32 sorted keys", &keys);
    report.encoding_64("i64 sorted keys", &keys);
    report.encoding_32(
        "i32 dates",
        &column(|random, _| 8036 + (random % 2526) as i64),
    );
    report.encoding_64(
        "i64 prices",
        &column(|random, _| 90_000 + (random % 10_000_000) as i64),
    );
    report.encoding_64(
        "i64 quantities",
        &column(|random, _| 100 * (1 + (random % 50) as i64)),
    );
    let timestamps = column(|random, row| {
        1_600_000_000_000_000 + 1_000_000 * (row as i64 * 7 + (random % 5) as i64)
    });
    report.encoding_64("i64 timestamps", &timestamps);
    let scattered = column(|random, _| (random % 1000).wrapping_mul(0x1234_5678_9ABC_DEF1) as i64);
    report.encoding_64("i64 of 1000 values", &scattered);
    report.encoding_64("i64 of 200 values, 5 % rare", &skewed());
    report.encoding_64("i64, 95 % one value", &mostly_one());
    report.encoding_64("i64 any", &column(|random, _| random as i64));
    let outliers = column(|random, _| match random % 50 {
        0 => (random >> 34) as i64,
        _ => (random >> 54) as i64,
    });
    report.encoding_32("i32 with outliers", &outliers);
    let cents = column(|random, _| (random % 1_000_000) as i64);
    let prices: Vec<f64> = cents.iter().map(|&cents| cents as f64 / 100.0).collect();
    report.encoding_floats("f64 prices", &prices);
    let thirds: Vec<f64> = cents.iter().map(|&cents| cents as f64 / 3.0).collect();
    report.encoding_floats("f64 thirds", &thirds);
    report.encoding_floats("f64 no decimals", &no_decimals());
}

fn main() {
    let ghz = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(measured_ghz);
    let report = Report { ghz };
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    if asked("rare") {
        rare_values(&report);
    }
    if asked("encoding") {
        encoding(&report);
    }
    if asked("rare") || asked("encoding") {
        return;
    }
    for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
        if backend <= Backend::detected() {
            limit_backend(backend);
            println!("\n{backend:?}, {ghz:.2} GHz");
            decoding(&report);
        }
    }
    println!();
    encoding(&report);
}
