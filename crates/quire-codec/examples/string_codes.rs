//! What strings take that are coded one at a time, and how long decoding one takes: FSST and a Huffman code.
//!
//! `cargo run --release -p quire-codec --example string_codes -- FILE...`: each file is a column of strings, one a line. Tables are trained on
//! every 16th string. A string that codes do not make shorter is stored as it is, as in a row table, but the bit that says so is not counted.
//! Times are nanoseconds a string in codes, the best of several rounds over all of them.

use quire_codec::CodecId;
use quire_codec::text::StringCodes;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 20;
const SAMPLE_STEP: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "column: strings, bytes; codec: percent of the bytes, percent of strings in codes, ns to decode one, bytes of the table"
    );
    for path in std::env::args().skip(1) {
        let content = std::fs::read(&path)?;
        let strings: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
        let bytes: usize = strings.iter().map(|string| string.len()).sum();
        println!("{path}: {}, {bytes}", strings.len());
        for codec in [CodecId::Fsst, CodecId::Huffman] {
            measure(codec, &strings, bytes)?;
        }
    }
    Ok(())
}

/// Prints the line of a codec.
fn measure(codec: CodecId, strings: &[&[u8]], bytes: usize) -> Result<(), Box<dyn Error>> {
    let sample: Vec<&[u8]> = strings.iter().copied().step_by(SAMPLE_STEP).collect();
    let table = StringCodes::train(codec, &sample).ok_or("no tables of this codec")?;
    let (mut stored_bytes, mut coded) = (0, Vec::new());
    for string in strings {
        let mut codes = Vec::new();
        if table.encode_if_shorter(string, &mut codes) {
            stored_bytes += codes.len();
            coded.push(codes);
        } else {
            stored_bytes += string.len();
        }
    }
    let mut least_ns = f64::INFINITY;
    let mut text = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for codes in &coded {
            text.clear();
            table.text(codes).append_to(&mut text)?;
            black_box(&text);
        }
        let ns = start.elapsed().as_nanos() as f64 / coded.len().max(1) as f64;
        least_ns = least_ns.min(ns);
    }
    println!(
        "  {codec}: {:.1}, {:.1}, {least_ns:.1}, {}",
        100.0 * stored_bytes as f64 / bytes.max(1) as f64,
        100.0 * coded.len() as f64 / strings.len().max(1) as f64,
        table.to_bytes().len()
    );
    Ok(())
}
