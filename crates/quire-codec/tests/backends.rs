//! Every instruction set writes the same bytes and reads the same values. One test, because the choice of
//! instruction set is that of the whole process.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use quire_codec::choose::{ChooseOptions, SearchEffort, choose};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::float::{self, FloatDecoder};
use quire_codec::text::{self, BytesDecoder};
use quire_codec::{
    Backend, BytesSlice, BytesVector, CodecId, RowGroupValues, VECTOR_VALUES, active_backend,
    limit_backend,
};

const CODECS: [CodecId; 6] = [
    CodecId::Pfor,
    CodecId::PforDelta,
    CodecId::Dictionary,
    CodecId::Rle,
    CodecId::Pdict,
    CodecId::Sparse,
];

/// Columns of every width up to 64 bits, some rows far off.
fn columns() -> Vec<Vec<i64>> {
    let mut state = 1u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state ^ state >> 31
    };
    (0..=64u32)
        .map(|width| {
            let value = |row: usize| match row % 97 {
                13 => random() as i64,
                _ => random().checked_shr(64 - width).unwrap_or(0) as i64 - 77,
            };
            (0..2500).map(value).collect()
        })
        .collect()
}

fn digest(columns: &[Vec<i64>]) -> Vec<(Vec<u8>, Vec<u64>)> {
    let mut results = Vec::new();
    for column in columns {
        for codec in CODECS {
            results.push(integers(codec, column));
            results.push(integers(
                codec,
                &column.iter().map(|&v| v as i32).collect::<Vec<_>>(),
            ));
            results.push(integers(
                codec,
                &column.iter().map(|&v| v as i16).collect::<Vec<_>>(),
            ));
        }
        let floats: Vec<f64> = column.iter().map(|&value| value as f64 / 100.0).collect();
        results.extend([CodecId::Alp, CodecId::AlpRd].map(|codec| decimals(codec, &floats)));
        let options = ChooseOptions {
            effort: SearchEffort::Thorough,
            ..ChooseOptions::default()
        };
        let choice = choose(&RowGroupValues::Int64(column), &options);
        results.push((
            vec![choice.codec as u8],
            vec![choice.estimated_bytes as u64],
        ));
    }
    let some = columns.iter().step_by(8);
    for column in some {
        results.extend([shapes(column), sentences(column)].map(|bytes| (bytes, Vec::new())));
    }
    results
}

fn integers<E: quire_codec::int::Element>(codec: CodecId, column: &[E]) -> (Vec<u8>, Vec<u64>) {
    let payload = fixed::encode(codec, column).unwrap();
    let image = payload.as_slice().into();
    let mut decoder =
        FixedDecoder::<E>::open(codec, image, 0..payload.len(), column.len()).unwrap();
    let mut out = [E::default(); VECTOR_VALUES];
    for (vector, expected) in column.chunks(VECTOR_VALUES).enumerate() {
        let rows = decoder.decode_vector(vector, &mut out).unwrap();
        assert!(
            out[..rows] == *expected,
            "{codec}, vector {vector}, {:?}",
            active_backend()
        );
    }
    (payload, Vec::new())
}

fn decimals(codec: CodecId, column: &[f64]) -> (Vec<u8>, Vec<u64>) {
    let payload = float::encode(codec, column).unwrap();
    let image = payload.as_slice().into();
    let mut decoder =
        FloatDecoder::<f64>::open(codec, image, 0..payload.len(), column.len()).unwrap();
    let mut out = [0.0; VECTOR_VALUES];
    let mut bits = Vec::new();
    for (vector, expected) in column.chunks(VECTOR_VALUES).enumerate() {
        let rows = decoder.decode_vector(vector, &mut out).unwrap();
        assert_eq!(out[..rows], *expected, "{codec}, {:?}", active_backend());
        bits.extend(out[..rows].iter().map(|value| value.to_bits()));
    }
    (payload, bits)
}

/// Numbers as text of each kind that has a kernel.
fn shapes(column: &[i64]) -> Vec<u8> {
    let (mut data, mut offsets) = (Vec::new(), vec![0]);
    for value in column {
        let bits = *value as u64;
        let (eight, sixteen) = (bits % 100_000_000, bits % 10_000_000_000_000_000);
        let low = bits as u32;
        data.extend(
            format!("{bits:016x}.{low:08X}/{eight:08} {eight}-{sixteen:016}#{sixteen}").bytes(),
        );
        offsets.push(data.len() as u32);
    }
    texts(CodecId::Shape, &data, &offsets)
}

/// Sentences of some words, numbers among them, and of no words in every fifth row.
fn sentences(column: &[i64]) -> Vec<u8> {
    const WORDS: [&str; 7] = [
        "final",
        "deposits",
        "are",
        "Über",
        "q",
        "",
        "sleeping-furiously",
    ];
    let (mut data, mut offsets) = (Vec::new(), vec![0]);
    for (row, value) in column.iter().enumerate() {
        let mut bits = *value as u64 >> 3;
        for _ in 0..(row % 5) * 2 {
            data.extend(format!(" {}{}", WORDS[bits as usize % 7], bits % 3).bytes());
            bits = bits.rotate_right(5);
        }
        offsets.push(data.len() as u32);
    }
    texts(CodecId::Words, &data, &offsets)
}

/// The payload of texts, which has to give them again.
fn texts(codec: CodecId, data: &[u8], offsets: &[u32]) -> Vec<u8> {
    let values = BytesSlice { offsets, data };
    let payload = text::encode(codec, &values).unwrap();
    let image = payload.as_slice().into();
    let rows = values.len();
    let mut decoder = BytesDecoder::open(codec, image, 0..payload.len(), rows).unwrap();
    let mut out = BytesVector::new();
    for vector in 0..rows.div_ceil(VECTOR_VALUES) {
        decoder.decode_vector(vector, &mut out).unwrap();
    }
    assert!(
        out.data == data && out.offsets == offsets,
        "{codec}, {:?}",
        active_backend()
    );
    let mut value = Vec::new();
    for row in (0..rows).step_by(61) {
        value.clear();
        decoder.value(row, &mut value).unwrap();
        assert_eq!(value, values.get(row), "{codec}, row {row}");
    }
    payload
}

#[test]
fn all_instruction_sets_agree() {
    let columns = columns();
    limit_backend(Backend::Portable);
    assert_eq!(active_backend(), Backend::Portable);
    let expected = digest(&columns);
    for backend in [Backend::Avx2, Backend::Avx512] {
        limit_backend(backend);
        if active_backend() != backend {
            println!("not tested: this processor has no {backend:?}");
            continue;
        }
        assert!(
            digest(&columns) == expected,
            "{backend:?} differs from portable code"
        );
    }
}
