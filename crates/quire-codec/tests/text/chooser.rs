//! Estimates are near, and the choice is sensible.

use crate::columns::{Column, Random, columns, sentence};
use quire_codec::CodecId;
use quire_codec::choose::Effort;
use quire_codec::text::{Candidate, candidates, encode, pick};

fn picked(column: &Column, effort: Effort) -> CodecId {
    pick(&candidates(&column.slice(), effort)).unwrap().codec
}

#[test]
fn thorough_estimates_are_sizes() {
    for column in columns() {
        for one in candidates(&column.slice(), Effort::Thorough) {
            let size = encode(one.codec, &column.slice()).unwrap().len();
            assert_eq!(
                one.estimated_bytes, size,
                "{} on {}",
                one.codec, column.name
            );
        }
    }
}

#[test]
fn sampled_estimates_are_near() {
    let mut random = Random(61);
    let column = Column::new(
        "remarks",
        (0..40_000)
            .map(|_| sentence(&mut random, 60))
            .collect::<Vec<_>>(),
    );
    for one in candidates(&column.slice(), Effort::Normal) {
        let size = encode(one.codec, &column.slice()).unwrap().len();
        let ratio = one.estimated_bytes as f64 / size as f64;
        assert!(
            (0.8..1.25).contains(&ratio),
            "{}: {} for {size}",
            one.codec,
            one.estimated_bytes
        );
    }
}

#[test]
fn candidates_ascend_and_always_hold_plain() {
    for column in columns() {
        for effort in [Effort::Fast, Effort::Normal, Effort::Thorough] {
            let found = candidates(&column.slice(), effort);
            assert!(
                found.is_sorted_by_key(|one| one.estimated_bytes),
                "{}",
                column.name
            );
            assert!(
                found.iter().any(|one| one.codec == CodecId::Plain),
                "{}",
                column.name
            );
        }
    }
}

#[test]
fn each_kind_of_column_gets_its_codec() {
    let columns = columns();
    let named = |name| columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!(
        picked(named("all equal"), Effort::Normal),
        CodecId::Constant
    );
    assert_eq!(
        picked(named("few distinct"), Effort::Normal),
        CodecId::Dictionary
    );
    assert_eq!(
        picked(named("full vectors"), Effort::Normal),
        CodecId::Words
    );
    assert_eq!(picked(named("binary"), Effort::Normal), CodecId::Plain);
}

#[test]
fn a_codec_that_decodes_faster_wins_when_sizes_are_near() {
    let candidate = |codec, estimated_bytes, decode_cost_ns_per_value| Candidate {
        codec,
        estimated_bytes,
        decode_cost_ns_per_value,
    };
    let zstd = candidate(CodecId::Zstd, 1000, 30.0);
    assert_eq!(
        pick(&[zstd, candidate(CodecId::Fsst, 1170, 15.0)])
            .unwrap()
            .codec,
        CodecId::Fsst
    );
    assert_eq!(
        pick(&[zstd, candidate(CodecId::Fsst, 1180, 15.0)])
            .unwrap()
            .codec,
        CodecId::Zstd
    );
    assert_eq!(
        pick(&[zstd, candidate(CodecId::Dictionary, 1110, 3.0)])
            .unwrap()
            .codec,
        CodecId::Dictionary
    );
    let words = candidate(CodecId::Words, 990, 80.0);
    assert_eq!(pick(&[words, zstd]).unwrap().codec, CodecId::Zstd);
    assert_eq!(pick(&[]), None);
}
