//! Arbitrary bytes as a segment: reading them may fail, and must do nothing worse.
//!
//! `cargo +nightly fuzz run segment`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_codec::{BytesVector, PhysicalType};
use quire_format::segment::SegmentReader;

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
    let Ok(mut reader) = SegmentReader::open(bytes.into()) else {
        return;
    };
    for vector in 0..reader.vector_count() {
        decode(&mut reader, vector);
        let _ = reader.validity(vector, &mut [0; 16]);
        if let (Some(length), Ok(rows)) = (
            reader.dictionary_len(),
            reader.decode_codes(vector, &mut [0; 1024]),
        ) {
            assert!(rows == 0 || length > 0);
        }
    }
    for row in (0..reader.row_count()).step_by(257) {
        let _ = reader.value(row);
    }
});
