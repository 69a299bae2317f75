//! When it pays to read the wanted rows of a vector one by one, rather than to decode it: `FixedDecoder::few_rows`, `FloatDecoder::few_rows`,
//! `BytesDecoder::decode_rows`.
//!
//! `cargo run --release -p quire-codec --example single_values -- [FILE]...`: each file is a column of strings, one a line. Times are nanoseconds a
//! vector of 1,024, the best of several rounds over all vectors of a column, in which some rows of each vector, at random places, are read one
//! by one, or decoded with all others and then picked. `even` is the largest number of rows for which the former takes no longer.

use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::float::{self, FloatDecoder, Floating};
use quire_codec::int::Element;
use quire_codec::text::{self, BytesDecoder};
use quire_codec::{BytesSlice, BytesVector, CodecId, Corrupt, ROWS_MAX, VECTOR_VALUES};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 64 * VECTOR_VALUES;
const ROUNDS: usize = 60;
const COUNTS: [usize; 8] = [1, 2, 3, 4, 6, 8, 16, 32];
const TEXT_COUNTS: [usize; 7] = [1, 4, 16, 64, 256, 512, 1000];

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn column<T>(make: impl Fn(u64, usize) -> T) -> Vec<T> {
    let mut seed = 88_172_645_463_325_252;
    let value = |row| make(random(&mut seed), row);
    (0..ROWS).map(value).collect()
}

/// Nanoseconds a vector.
fn fastest(vectors: usize, mut work: impl FnMut() -> Result<(), Corrupt>) -> Result<f64, Corrupt> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_nanos() as f64 / vectors as f64);
    }
    Ok(least)
}

/// `count` different places of each vector, ascending.
fn places(vectors: usize, count: usize) -> Vec<Vec<u32>> {
    let mut seed = 7;
    let mut of_vector = || {
        let mut all = std::collections::BTreeSet::new();
        while all.len() < count {
            all.insert((random(&mut seed) % VECTOR_VALUES as u64) as u32);
        }
        all.into_iter().collect()
    };
    (0..vectors).map(|_| of_vector()).collect()
}

/// Reads some rows of a vector.
type RowReader<'a> = &'a mut dyn FnMut(usize, &[u32]) -> Result<(), Corrupt>;

/// Prints one line. `read` gets a vector and its rows, `decode` too.
fn line(
    name: &str,
    counts: &[usize],
    vectors: usize,
    read: RowReader<'_>,
    decode: RowReader<'_>,
) -> Result<(), Corrupt> {
    print!("{name:<34}");
    let mut even = 0;
    for &count in counts {
        let places = places(vectors, count);
        let mut both = [0.0; 2];
        let ways: [RowReader<'_>; 2] = [&mut *read, &mut *decode];
        for (way, time) in ways.into_iter().zip(&mut both) {
            *time = fastest(vectors, || {
                let mut places = places.iter().enumerate();
                places.try_for_each(|(vector, rows)| way(vector, rows))
            })?;
        }
        if both[0] <= both[1] {
            even = count;
        }
        print!(" {count}: {:.0}/{:.0}", both[0], both[1]);
    }
    println!("  even {even}");
    Ok(())
}

/// Prints the line of a column of numbers. `value` reads the value of a row, `decode` those of a vector.
fn numbers<T: Copy + Default>(
    name: &str,
    rows: usize,
    mut value: impl FnMut(usize) -> Result<T, Corrupt>,
    mut decode: impl FnMut(usize, &mut [T; VECTOR_VALUES]) -> Result<(), Corrupt>,
) -> Result<(), Corrupt> {
    let mut out = [T::default(); VECTOR_VALUES];
    line(
        name,
        &COUNTS,
        rows / VECTOR_VALUES,
        &mut |vector, rows| {
            for &row in rows {
                black_box(value(vector * VECTOR_VALUES + row as usize)?);
            }
            Ok(())
        },
        &mut |vector, rows| {
            decode(vector, &mut out)?;
            for &row in rows {
                black_box(out[row as usize % VECTOR_VALUES]);
            }
            Ok(())
        },
    )
}

fn integers<E: Element>(name: &str, codec: CodecId, values: &[E]) -> Result<(), Box<dyn Error>> {
    let image: Arc<[u8]> = fixed::encode(codec, values)?.into();
    let open = || {
        let range = 0..image.len();
        FixedDecoder::<E>::open(codec, Arc::clone(&image), range, values.len())
    };
    let (mut one, mut all) = (open()?, open()?);
    let name = format!("{codec} {name}, few {}", one.few_rows());
    let decode = |vector, out: &mut [E; VECTOR_VALUES]| all.decode_vector(vector, out).map(|_| ());
    numbers(&name, values.len(), |row| one.value(row), decode)?;
    Ok(())
}

fn floats<F: Floating + Default>(
    name: &str,
    codec: CodecId,
    values: &[F],
) -> Result<(), Box<dyn Error>> {
    let image: Arc<[u8]> = float::encode(codec, values)?.into();
    let open = || {
        let range = 0..image.len();
        FloatDecoder::<F>::open(codec, Arc::clone(&image), range, values.len())
    };
    let (mut one, mut all) = (open()?, open()?);
    let name = format!("{codec} {name}, few {}", one.few_rows());
    let decode = |vector, out: &mut [F; VECTOR_VALUES]| all.decode_vector(vector, out).map(|_| ());
    numbers(&name, values.len(), |row| one.value(row), decode)?;
    Ok(())
}

fn strings(name: &str, codec: CodecId, values: &BytesSlice) -> Result<(), Box<dyn Error>> {
    let image: Arc<[u8]> = text::encode(codec, values)?.into();
    let open = || BytesDecoder::open(codec, Arc::clone(&image), 0..image.len(), values.len());
    let (mut one, mut all) = (open()?, open()?);
    let (mut read, mut whole, mut picked) =
        (BytesVector::new(), BytesVector::new(), BytesVector::new());
    let name = format!("{codec} {name}");
    line(
        &name,
        &TEXT_COUNTS,
        values.len() / VECTOR_VALUES,
        &mut |vector, rows| {
            read.clear();
            one.decode_rows(vector, rows, &mut read)?;
            black_box(&mut read);
            Ok(())
        },
        &mut |vector, rows| {
            whole.clear();
            picked.clear();
            all.decode_vector(vector, &mut whole)?;
            let values = whole.as_slice();
            for &row in rows {
                picked.push(values.get(row as usize % VECTOR_VALUES))?;
            }
            black_box(&mut picked);
            Ok(())
        },
    )?;
    Ok(())
}

fn file(path: &str) -> Result<(), Box<dyn Error>> {
    let (mut data, mut offsets) = (Vec::new(), vec![0]);
    let text = std::fs::read(path)?;
    for line in text.split(|byte| *byte == b'\n').take(ROWS.min(ROWS_MAX)) {
        data.extend_from_slice(line);
        offsets.push(u32::try_from(data.len())?);
    }
    let values = BytesSlice {
        offsets: &offsets,
        data: &data,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    for codec in [
        CodecId::Plain,
        CodecId::Dictionary,
        CodecId::Fsst,
        CodecId::Zstd,
        CodecId::Words,
        CodecId::Shape,
        CodecId::Phrases,
        CodecId::Pdict,
    ] {
        strings(name, codec, &values)?;
    }
    Ok(())
}

/// Whether a row is one of so many percent.
fn is_far(random: u64, percent: u64) -> bool {
    random >> 32 & 127 < percent * 128 / 100
}

/// Few distinct values that are far from each other.
fn one_of_many(random: u64) -> i64 {
    (random % 200).pow(3) as i64
}

fn packed_integers() -> Result<(), Box<dyn Error>> {
    let outliers = |percent: u64| {
        column(move |random, _| {
            let low = (random % 1000) as i32;
            if is_far(random, percent) {
                low + (1 << 28)
            } else {
                low
            }
        })
    };
    let pfor = CodecId::Pfor;
    let small = column(|random, _| (random % 500) as i16);
    let wide = column(|random, _| (random % 4000) as i64);
    let hundreds = column(|random, _| (random % 4000) as i64 * 100);
    let widest = column(|random, _| i128::from(random % 4000));
    let wide_outliers: Vec<i64> = outliers(3).into_iter().map(i64::from).collect();
    let growing = column(|random, row| row as i32 * 9 + (random % 9) as i32);
    integers("i16", pfor, &small)?;
    integers("i32", pfor, &outliers(0))?;
    integers("i32, 3 %", pfor, &outliers(3))?;
    integers("i32, 10 %", pfor, &outliers(10))?;
    integers("i64", pfor, &wide)?;
    integers("i64, 3 %", pfor, &wide_outliers)?;
    integers("i64 × 100", pfor, &hundreds)?;
    integers("i128", pfor, &widest)?;
    integers("i32", CodecId::PforDelta, &growing)?;
    integers("i64", CodecId::Plain, &wide)
}

fn coded_integers() -> Result<(), Box<dyn Error>> {
    let narrow = column(|random, _| one_of_many(random) as i32);
    let wide = column(|random, _| one_of_many(random));
    let rare = column(|random, _| {
        if is_far(random, 5) {
            (random >> 20) as i64
        } else {
            one_of_many(random)
        }
    });
    let sparse = column(|random, _| {
        if is_far(random, 5) {
            (random >> 40) as i64
        } else {
            3
        }
    });
    let runs = column(|_, row| (row / 20 * 7 % 1000) as i64);
    integers("i32", CodecId::Dictionary, &narrow)?;
    integers("i64", CodecId::Dictionary, &wide)?;
    integers("i64, 5 % rare", CodecId::Pdict, &rare)?;
    integers("i64, 95 % one", CodecId::Sparse, &sparse)?;
    integers("i64", CodecId::Constant, &vec![7_i64; ROWS])?;
    integers("i64, runs of 20", CodecId::Rle, &runs)
}

fn main() -> Result<(), Box<dyn Error>> {
    packed_integers()?;
    coded_integers()?;
    let decimals = column(|random, _| (random % 100_000) as f64 / 100.0);
    let fractions = column(|random, _| (random >> 11) as f64 / (1_u64 << 53) as f64);
    floats("f64", CodecId::Alp, &decimals)?;
    floats("f64", CodecId::AlpRd, &fractions)?;
    for path in std::env::args().skip(1) {
        file(&path)?;
    }
    Ok(())
}
