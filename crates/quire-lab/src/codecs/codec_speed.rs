//! How small and how fast a codec is on one column.

/// The series of the paper's own schemes.
pub(super) const PAPER_SCHEMES: &str = "PFOR, PFOR-DELTA or PDICT";
pub(super) const QUIRE_CHOICE: &str = "Quire's choice";

/// Ratio and speeds of a codec on one column, in MB of uncompressed data per second.
#[derive(Clone, Debug, PartialEq)]
pub struct CodecSpeed {
    pub name: String,
    pub ratio: f64,
    pub compression_mb_s: f64,
    pub decompression_mb_s: f64,
}

pub(super) fn speed(
    name: &str,
    raw_bytes: usize,
    bytes: usize,
    encode_ns: f64,
    decode_ns: f64,
) -> CodecSpeed {
    let raw = raw_bytes as f64;
    CodecSpeed {
        name: name.to_owned(),
        ratio: raw / bytes.max(1) as f64,
        compression_mb_s: raw / encode_ns * 1e3,
        decompression_mb_s: raw / decode_ns * 1e3,
    }
}
