//! Arbitrary bytes as the map from one column to another: reading may fail, and must do nothing worse. The first byte
//! says which reference the map has: one with a dictionary, or one of integers.
//!
//! `cargo +nightly fuzz run map`
#![no_main]
#![forbid(unsafe_code)]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use quire_codec::{BytesVector, CodecId, PhysicalType, RowGroupValues};
use quire_format::segment::{SegmentInput, SegmentReader, encode_segment};

/// The references that `segment_seeds` makes its maps for.
static REFERENCES: LazyLock<[Arc<[u8]>; 2]> = LazyLock::new(|| {
    let numbers: Vec<i32> = (0..300).map(|row| row * row % 31).collect();
    [CodecId::Dictionary, CodecId::Pfor].map(|codec| {
        let values = RowGroupValues::Int32(&numbers);
        let input = SegmentInput {
            values,
            validity: None,
        };
        encode_segment(&input, codec).unwrap_or_default().into()
    })
});

fn decode(reader: &mut SegmentReader, vector: usize) {
    let _ = match reader.physical_type() {
        PhysicalType::Bool => reader.decode_bool(vector, &mut [false; 1024]),
        PhysicalType::Int16 => reader.decode_i16(vector, &mut [0; 1024]),
        PhysicalType::Int32 => reader.decode_i32(vector, &mut [0; 1024]),
        PhysicalType::Int64 => reader.decode_i64(vector, &mut [0; 1024]),
        PhysicalType::Int128 => reader.decode_i128(vector, &mut [0; 1024]),
        PhysicalType::Float32 => reader.decode_f32(vector, &mut [0.0; 1024]),
        PhysicalType::Float64 => reader.decode_f64(vector, &mut [0.0; 1024]),
        PhysicalType::Bytes => reader.decode_bytes(vector, &mut BytesVector::new()),
    };
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, image)) = bytes.split_first() else {
        return;
    };
    let reference = Arc::clone(&REFERENCES[usize::from(*which) % 2]);
    let Ok(reference) = SegmentReader::open(reference) else {
        unreachable!("the references are sound");
    };
    let Ok(mut reader) = SegmentReader::open_map(&image.into(), &reference) else {
        return;
    };
    for vector in 0..reader.vector_count() {
        decode(&mut reader, vector);
        let _ = reader.validity(vector, &mut [0; 16]);
        let mut codes = [0; 1024];
        if let (Some(length), Ok(rows)) = (
            reader.dictionary_len(),
            reader.decode_codes(vector, &mut codes),
        ) {
            assert!(codes[..rows].iter().all(|code| (*code as usize) < length));
        }
    }
    for row in (0..reader.row_count()).step_by(7) {
        let _ = reader.value(row);
    }
});
