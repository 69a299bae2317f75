//! Small valid segments of every codec and type, maps, and segments with their shared dictionaries, to begin fuzz campaigns with.
//!
//! `cargo run -p quire-format --example segment_seeds -- SEGMENTS MAPS SHARED`

use quire_codec::{BytesVector, CodecId, PhysicalType, RowGroupValues};
use quire_format::segment::{
    DictionarySegment, SegmentInput, SegmentReader, encode_map, encode_segment,
};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Numbers of one shape: evenly spread, in runs, sorted, or mostly one with a few far away.
fn numbers(shape: usize, rows: usize) -> Vec<i64> {
    let scattered =
        |row: usize| (row as i64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> 50;
    let number = |row: usize| match shape {
        0 => scattered(row),
        1 => row as i64 / 50,
        2 => 3 * row as i64 + scattered(row) % 3,
        _ if row % 40 == 7 => scattered(row) * 1_000,
        _ => 5,
    };
    (0..rows).map(number).collect()
}

fn texts(shape: usize, numbers: &[i64]) -> Result<BytesVector, Box<dyn Error>> {
    let words = [
        "carefully",
        "final",
        "requests",
        "sleep",
        "furiously",
        "ironic",
    ];
    let mut texts = BytesVector::new();
    for number in numbers {
        let word = |at: u64| words[(number.unsigned_abs() / at) as usize % words.len()];
        let text = match shape {
            0 => format!("Customer#{:09}", number.unsigned_abs()),
            1 => word(1).to_owned(),
            2 => format!("{} {} the {}", word(1), word(7), word(49)),
            _ => format!("{number:x}-{}-{}", word(3), number % 7),
        };
        texts.push(text.as_bytes())?;
    }
    Ok(texts)
}

fn write(
    folder: &Path,
    name: &str,
    values: RowGroupValues<'_>,
    physical_type: PhysicalType,
) -> Result<usize, Box<dyn Error>> {
    let mut written = 0;
    for codec in CodecId::ALL
        .into_iter()
        .filter(|codec| codec.supports(physical_type))
    {
        let input = SegmentInput {
            values,
            validity: None,
        };
        // Some codecs hold some columns only: a constant, for one.
        if let Ok(segment) = encode_segment(&input, codec) {
            std::fs::write(folder.join(format!("{name}_{codec}")), segment)?;
            written += 1;
        }
    }
    Ok(written)
}

fn without_nulls(values: RowGroupValues<'_>) -> SegmentInput<'_> {
    SegmentInput {
        values,
        validity: None,
    }
}

/// Maps from a dictionary and from integers to a text and a number, with and without exceptions; the first byte tells
/// the fuzz target which reference it is.
fn write_maps(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let numbers: Vec<i32> = (0..300).map(|row| row * row % 31).collect();
    for (which, codec) in [(0, CodecId::Dictionary), (1, CodecId::Pfor)] {
        let reference = encode_segment(&without_nulls(RowGroupValues::Int32(&numbers)), codec)?;
        for exceptions in [0, 90] {
            let told = |row: usize| match row {
                _ if exceptions > 0 && row % exceptions == 7 => 1_000 + row as i64,
                _ => i64::from(numbers[row] / 2),
            };
            let told: Vec<i64> = (0..numbers.len()).map(told).collect();
            let mut texts = BytesVector::new();
            for number in &told {
                texts.push(format!("value {number}").as_bytes())?;
            }
            for (name, values) in [
                ("i64", RowGroupValues::Int64(&told)),
                ("text", RowGroupValues::Bytes(texts.as_slice())),
            ] {
                let mut reader = SegmentReader::open(reference.as_slice().into())?;
                let map =
                    encode_map(&without_nulls(values), &mut reader)?.ok_or("there is a map")?;
                let seed = [&[which][..], &map.image].concat();
                std::fs::write(folder.join(format!("{name}_{codec}_{exceptions}")), seed)?;
            }
        }
    }
    Ok(())
}

/// A shared dictionary behind its length, and a segment of it: with all of its strings, and with some that it lacks.
fn write_shared(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let segment_of = |first: i64| -> Result<DictionarySegment, Box<dyn Error>> {
        let numbers: Vec<i64> = (0..300).map(|row| first + row * row % 31).collect();
        let texts = texts(0, &numbers)?;
        let values = RowGroupValues::Bytes(texts.as_slice());
        let image = encode_segment(&without_nulls(values), CodecId::Dictionary)?;
        let image: Arc<[u8]> = image.into();
        Ok(DictionarySegment::open(&image)?.ok_or("a dictionary of strings")?)
    };
    let base = segment_of(0)?;
    let (dictionary, stored) = base.to_shared().ok_or("a short dictionary")?;
    let length = u16::try_from(stored.len())?.to_le_bytes();
    for (name, segment) in [("all", base), ("own", segment_of(5)?)] {
        let seed = [&length[..], &stored, &segment.refer_to(&dictionary)?].concat();
        std::fs::write(folder.join(name), seed)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let [folder, maps, shared] = folders.as_slice() else {
        return Err("name three folders: for segments, maps, and shared dictionaries".into());
    };
    write_maps(Path::new(maps))?;
    write_shared(Path::new(shared))?;
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let mut written = 0;
    for (shape, rows) in [(0, 300), (1, 1_200), (2, 1_100), (3, 2_100)] {
        let wide = numbers(shape, rows);
        let texts = texts(shape, &wide)?;
        let flags: Vec<bool> = wide.iter().map(|number| number % 3 == 0).collect();
        let i16s: Vec<i16> = wide.iter().map(|&number| number as i16).collect();
        let i32s: Vec<i32> = wide.iter().map(|&number| number as i32).collect();
        let i128s: Vec<i128> = wide
            .iter()
            .map(|&number| i128::from(number) << 40)
            .collect();
        let f32s: Vec<f32> = wide.iter().map(|&number| number as f32 / 10.0).collect();
        let f64s: Vec<f64> = wide.iter().map(|&number| (number as f64).sqrt()).collect();
        let columns = [
            ("bool", RowGroupValues::Bool(&flags), PhysicalType::Bool),
            ("i16", RowGroupValues::Int16(&i16s), PhysicalType::Int16),
            ("i32", RowGroupValues::Int32(&i32s), PhysicalType::Int32),
            ("i64", RowGroupValues::Int64(&wide), PhysicalType::Int64),
            ("i128", RowGroupValues::Int128(&i128s), PhysicalType::Int128),
            ("f32", RowGroupValues::Float32(&f32s), PhysicalType::Float32),
            ("f64", RowGroupValues::Float64(&f64s), PhysicalType::Float64),
            (
                "text",
                RowGroupValues::Bytes(texts.as_slice()),
                PhysicalType::Bytes,
            ),
        ];
        for (name, values, physical_type) in columns {
            written += write(folder, &format!("{name}_{shape}"), values, physical_type)?;
        }
    }
    println!("{written} segments");
    Ok(())
}
