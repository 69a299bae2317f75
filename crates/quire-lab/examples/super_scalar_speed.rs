//! The figures of the paper on PFOR, PFOR-DELTA and PDICT, measured again: 6.4, 6.5, 6.6, and access to one
//! value.
//!
//! `cargo run --release --example super_scalar_speed [GHz]`: cycles are nanoseconds times the clock given
//! (default 2.6, the nominal clock). Each figure is the best of many short rounds over 131,072 values, decoded
//! into one vector that stays in cache. There are no performance counters here: mispredicted branches show as
//! time, most around 50 %.

use quire_codec::VECTOR_VALUES;
use quire_lab::super_scalar::{
    Compression, DictionaryEncoder, GROUP_VALUES, Integer, Marking, Reference, Segment,
    SegmentSettings, SuperScalarDictionary, effective_exception_rate, encode,
    expected_exception_rate,
};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 128 * VECTOR_VALUES;
const RATES_PERCENT: [u64; 11] = [0, 1, 2, 5, 10, 20, 30, 50, 70, 90, 100];

/// An output vector as Arrow allocates it.
#[repr(align(64))]
struct Aligned<T>([T; VECTOR_VALUES]);

struct Clock {
    ghz: f64,
}

impl Clock {
    /// Nanoseconds per value of the fastest of several rounds of `work` over `count` values.
    fn ns_per_value(&self, count: usize, mut work: impl FnMut()) -> f64 {
        let round = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_nanos() as f64 / count as f64
        };
        (0..60).map(round).fold(f64::INFINITY, f64::min)
    }

    /// `cycles/value and GB/s` of values of `value_bytes`.
    fn cell(&self, ns: f64, value_bytes: usize) -> String {
        format!("{:6.2} {:6.2}", ns * self.ghz, value_bytes as f64 / ns)
    }
}

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// The value of a code: itself, or something no frame of reference can hold.
fn scattered(code: u64) -> u64 {
    code.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Codes of `width` bits but the largest, which escapes; and in so many of 100 cases an exception.
fn column(percent: u64, width: usize, value: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut seed = 88_172_645_463_325_252;
    let codes = (1u64 << width) - 1;
    let mut next = || {
        if random(&mut seed) % 100 < percent {
            random(&mut seed) | 1 << 63
        } else {
            value(random(&mut seed) % codes)
        }
    };
    (0..ROWS).map(|_| next()).collect()
}

/// A column whose differences are `values`.
fn running_sums(values: &[u64]) -> Vec<u64> {
    let mut sum = 0u64;
    let add = |&value: &u64| {
        sum = sum.wrapping_add(value);
        sum
    };
    values.iter().map(add).collect()
}

fn settings<T: Integer>(reference: Reference<'_, T>, width: usize) -> SegmentSettings<'_, T> {
    SegmentSettings {
        reference,
        width,
        marking: Marking::Linked,
        compression: Compression::DoubleCursor,
    }
}

/// Nanoseconds per value to decode all vectors of a segment.
fn decoding<T: Integer>(clock: &Clock, image: &[u8]) -> Result<f64, Box<dyn Error>> {
    let mut segment = Segment::<T>::open(image, None)?;
    let Aligned(out) = &mut Aligned([T::default(); VECTOR_VALUES]);
    let vector_count = segment.value_count() / VECTOR_VALUES;
    Ok(clock.ns_per_value(segment.value_count(), || {
        for vector in 0..vector_count {
            black_box(segment.decode_vector(vector, out).is_ok());
            black_box(&mut *out);
        }
    }))
}

fn encoding(clock: &Clock, values: &[u64], settings: &SegmentSettings<'_, u64>) -> f64 {
    clock.ns_per_value(values.len(), || {
        black_box(encode(black_box(values), settings).is_ok());
    })
}

/// The 255 most frequent values of the dictionary columns.
fn dictionary() -> Result<DictionaryEncoder<u64>, Box<dyn Error>> {
    let values: Vec<u64> = (0..255).map(scattered).collect();
    Ok(DictionaryEncoder::new(Arc::new(
        SuperScalarDictionary::new(&values)?,
    )))
}

fn figure_6_4(clock: &Clock) -> Result<(), Box<dyn Error>> {
    println!(
        "\nFigure 6.4: decompression of u64 from 8-bit codes; cycles/value and GB/s of output"
    );
    println!(
        "rate %   NAIVE PFOR      PFOR            NAIVE PDICT     PDICT         NAIVE u32       PFOR u32"
    );
    let encoder = dictionary()?;
    for percent in RATES_PERCENT {
        let near = column(percent, 8, |code| code);
        let narrow: Vec<u32> = near
            .iter()
            .map(|&value| (value >> 32) as u32 | value as u32)
            .collect();
        let known = column(percent, 8, scattered);
        let mut line = format!("{percent:6}");
        let pdict = Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        };
        for (values, reference) in [(&near, Reference::Pfor { base: 0 }), (&known, pdict)] {
            for marking in [Marking::Escaped, Marking::Linked] {
                let image = encode(
                    values,
                    &SegmentSettings {
                        marking,
                        ..settings(reference, 8)
                    },
                )?;
                line += &format!("   {}", clock.cell(decoding::<u64>(clock, &image)?, 8));
            }
        }
        for marking in [Marking::Escaped, Marking::Linked] {
            let settings = settings(Reference::Pfor { base: 0u32 }, 8);
            let image = encode(
                &narrow,
                &SegmentSettings {
                    marking,
                    ..settings
                },
            )?;
            line += &format!("   {}", clock.cell(decoding::<u32>(clock, &image)?, 4));
        }
        println!("{line}");
    }
    Ok(())
}

fn figure_6_5(clock: &Clock) -> Result<(), Box<dyn Error>> {
    println!("\nFigure 6.5: compression of u64 to 8-bit codes; cycles/value and GB/s of input");
    println!(
        "rate %   PFOR NAIVE      PFOR PRED       PFOR DC         PDICT NAIVE     PDICT PRED      PDICT DC"
    );
    let encoder = dictionary()?;
    for percent in RATES_PERCENT {
        let near = column(percent, 8, |code| code);
        let known = column(percent, 8, scattered);
        let mut line = format!("{percent:6}");
        let pdict = Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        };
        for (values, reference) in [(&near, Reference::Pfor { base: 0 }), (&known, pdict)] {
            for compression in [
                Compression::Naive,
                Compression::Predicated,
                Compression::DoubleCursor,
            ] {
                let settings = SegmentSettings {
                    compression,
                    ..settings(reference, 8)
                };
                line += &format!("   {}", clock.cell(encoding(clock, values, &settings), 8));
            }
        }
        println!("{line}");
    }
    Ok(())
}

fn figure_6_6() -> Result<(), Box<dyn Error>> {
    println!(
        "\nFigure 6.6: exception rate in % with compulsory exceptions: measured, expected, the paper's formula"
    );
    println!("rate %   1 bit                2 bits               3 bits               4 bits");
    for percent in [1, 2, 3, 5, 8, 10, 15, 20, 25, 30] {
        let mut line = format!("{percent:6}");
        for width in 1..=4 {
            let values = column(percent, width, |code| code);
            let image = encode(&values, &settings(Reference::Pfor { base: 0 }, width))?;
            let measured =
                Segment::<u64>::open(&image, None)?.exception_count() as f64 / ROWS as f64;
            let rate = percent as f64 / 100.0;
            line += &format!(
                "   {:5.1} {:5.1} {:5.1}",
                100.0 * measured,
                100.0 * expected_exception_rate(rate, width),
                100.0 * effective_exception_rate(rate, width)
            );
        }
        println!("{line}");
    }
    Ok(())
}

fn one_value(clock: &Clock) -> Result<(), Box<dyn Error>> {
    println!("\nOne value of u64 in 8 bits, the segment in cache; nanoseconds");
    println!("rate %      PFOR    PDICT   PFOR-DELTA   a group of PFOR");
    let encoder = dictionary()?;
    for percent in [0, 2, 10, 30] {
        let near = column(percent, 8, |code| code);
        let known = column(percent, 8, scattered);
        let pdict = Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        };
        let pfor = encode(&near, &settings(Reference::Pfor { base: 0 }, 8))?;
        let images = [
            pfor.clone(),
            encode(&known, &settings(pdict, 8))?,
            encode(
                &running_sums(&near),
                &settings(Reference::PforDelta { base: 0 }, 8),
            )?,
        ];
        let mut line = format!("{percent:6}");
        for image in &images {
            let segment = Segment::<u64>::open(image, None)?;
            let mut row = 1;
            let ns = clock.ns_per_value(2000, || {
                for _ in 0..2000 {
                    row = (row * 7919 + 1) % ROWS;
                    black_box(segment.value(row).is_ok());
                }
            });
            line += &format!("   {ns:7.1}");
        }
        let segment = Segment::<u64>::open(&pfor, None)?;
        let mut out = [0; GROUP_VALUES];
        let ns = clock.ns_per_value(ROWS / GROUP_VALUES, || {
            for group in 0..ROWS / GROUP_VALUES {
                black_box(segment.decode_group(group, &mut out).is_ok());
                black_box(&mut out);
            }
        });
        println!("{line}   {ns:12.1}");
    }
    Ok(())
}

fn widths(clock: &Clock) -> Result<(), Box<dyn Error>> {
    println!("\nDecompression by width, no exceptions; cycles/value and GB/s of output");
    println!("bits      PFOR u32        PFOR u64        PFOR-DELTA u32  PFOR-DELTA u64");
    for width in [0, 1, 4, 7, 8, 12, 17, 24, 32] {
        let mut seed = 7;
        let codes: Vec<u64> = (0..ROWS)
            .map(|_| random(&mut seed) & ((1 << width) - 1))
            .collect();
        let narrow: Vec<u32> = codes.iter().map(|&code| code as u32).collect();
        let sums = running_sums(&codes);
        let narrow_sums: Vec<u32> = sums.iter().map(|&sum| sum as u32).collect();
        let images = [
            encode(&narrow, &settings(Reference::Pfor { base: 0 }, width))?,
            encode(
                &narrow_sums,
                &settings(Reference::PforDelta { base: 0 }, width),
            )?,
        ];
        let wide_images = [
            encode(&codes, &settings(Reference::Pfor { base: 0 }, width))?,
            encode(&sums, &settings(Reference::PforDelta { base: 0 }, width))?,
        ];
        let mut line = format!("{width:6}");
        for (image, wide_image) in images.iter().zip(&wide_images) {
            line += &format!("   {}", clock.cell(decoding::<u32>(clock, image)?, 4));
            line += &format!("   {}", clock.cell(decoding::<u64>(clock, wide_image)?, 8));
        }
        println!("{line}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let ghz = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let clock = Clock {
        ghz: ghz.unwrap_or(2.6),
    };
    let source = vec![7u64; ROWS];
    let Aligned(out) = &mut Aligned([0u64; VECTOR_VALUES]);
    let ns = clock.ns_per_value(ROWS, || {
        for vector in source.as_chunks::<VECTOR_VALUES>().0 {
            out.copy_from_slice(black_box(vector));
            black_box(&mut *out);
        }
    });
    println!(
        "copying u64 into cache: {} cycles/value and GB/s, at {} GHz",
        clock.cell(ns, 8),
        clock.ghz
    );
    figure_6_4(&clock)?;
    figure_6_5(&clock)?;
    figure_6_6()?;
    widths(&clock)?;
    one_value(&clock)
}
