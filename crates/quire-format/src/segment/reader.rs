//! Reading a segment.
use quire_codec::{BytesVector, CodecId, Corrupt, PhysicalType, Scalar};
use std::sync::Arc;

/// Where the bytes of a segment went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSizes {
    pub header_bytes: usize,
    pub validity_bytes: usize,
    pub payload_bytes: usize,
}

/// A segment.
pub struct SegmentReader {}

macro_rules! later {
    ($($name:ident($type:ty)),*) => {$(
        pub fn $name(&mut self, vector: usize, out: &mut [$type; 1024]) -> Result<usize, Corrupt> {
            let _ = (vector, out);
            Err(Corrupt::new("not built", 0))
        }
    )*};
}

impl SegmentReader {
    pub fn open(image: Arc<[u8]>) -> Result<Self, Corrupt> {
        let _ = image;
        Err(Corrupt::new("not built", 0))
    }
    pub fn physical_type(&self) -> PhysicalType {
        PhysicalType::Bool
    }
    pub fn codec(&self) -> CodecId {
        CodecId::Plain
    }
    pub fn row_count(&self) -> usize {
        0
    }
    pub fn null_count(&self) -> usize {
        0
    }
    pub fn vector_count(&self) -> usize {
        0
    }
    pub fn vector_rows(&self, vector: usize) -> usize {
        vector
    }
    pub fn validity(&self, vector: usize, out: &mut [u64; 16]) -> Result<usize, Corrupt> {
        let _ = (vector, out);
        Err(Corrupt::new("not built", 0))
    }
    later!(
        decode_bool(bool),
        decode_i16(i16),
        decode_i32(i32),
        decode_i64(i64),
        decode_i128(i128),
        decode_f32(f32),
        decode_f64(f64),
        decode_codes(u32)
    );
    pub fn decode_bytes(&mut self, vector: usize, out: &mut BytesVector) -> Result<usize, Corrupt> {
        let _ = (vector, out);
        Err(Corrupt::new("not built", 0))
    }
    pub fn dictionary_len(&self) -> Option<usize> {
        None
    }
    pub fn dictionary_bytes(&self, code: u32) -> Option<&[u8]> {
        let _ = code;
        None
    }
    /// The dictionary value of any physical type.
    pub fn dictionary_value(&self, code: u32) -> Option<Scalar> {
        let _ = code;
        None
    }
    pub fn value(&mut self, row: usize) -> Result<Option<Scalar>, Corrupt> {
        let _ = row;
        Err(Corrupt::new("not built", 0))
    }
    pub fn payload_breakdown(&self) -> SegmentSizes {
        SegmentSizes { header_bytes: 0, validity_bytes: 0, payload_bytes: 0 }
    }
}
