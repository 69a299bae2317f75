//! Time to decode a vector into cache, to choose and encode a column, and to read one value.
//!
//! `cargo run --release --example codec_speed [GHz]`: cycles are nanoseconds times the clock given (default 2.6,
//! the nominal clock; under turbo the true count is higher). Each figure is the best of several rounds.

use quire_codec::choose::{ChooseOptions, choose};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::float::{self, FloatDecoder};
use quire_codec::int::Element;
use quire_codec::{Backend, CodecId, VECTOR_VALUES, Values, limit_backend};
use std::hint::black_box;
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
        let mut row = 1;
        let one = ns_per_value(10_000, || {
            for _ in 0..10_000 {
                row = (row * 7919) % values.len();
                black_box(decoder.value(row).is_ok());
            }
        });
        println!("{:<52} {one:7.1} ns", format!("  one value {codec} {name}"));
    }

    fn floats(&self, name: &str, codec: CodecId, values: &[f64]) {
        let Ok(payload) = float::encode(codec, values) else {
            return;
        };
        let ratio = size_of_val(values) as f64 / payload.len() as f64;
        let image: Arc<[u8]> = payload.into();
        let range = 0..image.len();
        let Ok(mut decoder) = FloatDecoder::<f64>::open(codec, image, range, values.len()) else {
            return;
        };
        let Aligned(out) = &mut Aligned([0f64; VECTOR_VALUES]);
        let ns = ns_per_value(values.len(), || {
            for vector in 0..values.len() / VECTOR_VALUES {
                black_box(decoder.decode_vector(vector, out).is_ok());
                black_box(&mut *out);
            }
        });
        self.line(&format!("decode {codec} {name}"), ns, 8, ratio);
    }

    /// Times choosing and encoding; `encode` writes the column and returns its size.
    fn encoding(&self, name: &str, values: &Values<'_>, encode: &dyn Fn(CodecId) -> usize) {
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
        self.encoding(name, &Values::Int32(&values), &|codec| {
            fixed::encode(codec, &values).map_or(0, |payload| payload.len())
        });
    }

    fn encoding_64(&self, name: &str, values: &[i64]) {
        self.encoding(name, &Values::Int64(values), &|codec| {
            fixed::encode(codec, values).map_or(0, |payload| payload.len())
        });
    }

    fn encoding_floats(&self, name: &str, values: &[f64]) {
        self.encoding(name, &Values::Float64(values), &|codec| {
            float::encode(codec, values).map_or(0, |payload| payload.len())
        });
    }
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
    for bits in [4, 8, 12, 17, 24] {
        let values = column(|random, _| (random >> (64 - bits)) as i64);
        let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        report.integers(&format!("i32 of {bits} bits"), CodecId::Pfor, &narrow);
        report.integers(&format!("i64 of {bits} bits"), CodecId::Pfor, &values);
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
        let values: Vec<i32> = column(|random, _| match random % 100 < percent {
            true => (random >> 34) as i64,
            false => (random >> 54) as i64,
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
    let mut key = 0;
    let keys = column(|random, _| {
        key += (random % 5) as i64;
        key
    });
    let narrow: Vec<i32> = keys.iter().map(|&value| value as i32).collect();
    report.integers("i32 sorted keys", CodecId::PforDelta, &narrow);
    report.integers("i64 sorted keys", CodecId::PforDelta, &keys);
    let cents = column(|random, _| 100 * (1 + random as i64 % 50).abs());
    report.integers("i64 multiples of 100", CodecId::Pfor, &cents);
    let distinct = column(|random, _| ((random % 200).wrapping_mul(0x1234_5678_9ABC_DEF1)) as i64);
    let narrow: Vec<i32> = distinct.iter().map(|&value| value as i32).collect();
    report.integers("i32 of 200 values", CodecId::Dictionary, &narrow);
    report.integers("i64 of 200 values", CodecId::Dictionary, &distinct);
    report.integers(
        "i32 runs of 20",
        CodecId::Rle,
        &column(|_, row| row as i64 / 20 * 7),
    );
    let wide: Vec<i128> = keys.iter().map(|&value| value.into()).collect();
    report.integers("i128 sorted keys", CodecId::Pfor, &wide);
    let prices: Vec<f64> = column(|random, _| (random % 1_000_000) as i64)
        .iter()
        .map(|&cents| cents as f64 / 100.0)
        .collect();
    report.floats("f64 prices", CodecId::Alp, &prices);
    report.floats("f64 prices", CodecId::Plain, &prices);
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
}

fn main() {
    let ghz = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(2.6);
    let report = Report { ghz };
    for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
        if backend <= Backend::detected() {
            limit_backend(backend);
            println!("\n{backend:?}, {ghz} GHz");
            decoding(&report);
        }
    }
    println!();
    encoding(&report);
}
