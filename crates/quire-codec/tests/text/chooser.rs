//! Estimates are near, and the choice is sensible.

use crate::columns::{Column, Random, columns, sentence};
use quire_codec::CodecId;
use quire_codec::choose::SearchEffort;
use quire_codec::text::{TextCodecCandidate, candidates, encode, pick};

fn picked(column: &Column, effort: SearchEffort) -> CodecId {
    pick(&candidates(&column.slice(), effort)).unwrap().codec
}

#[test]
fn thorough_estimates_are_sizes() {
    for column in columns() {
        for one in candidates(&column.slice(), SearchEffort::Thorough) {
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
    for one in candidates(&column.slice(), SearchEffort::Normal) {
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

/// Three-letter words of a large alphabet, as in languages without spaces: far from zstd's blocks, and with no
/// words to model.
fn unspaced(random: &mut Random) -> Vec<u8> {
    let letter = |number: usize| char::from_u32(0x4e00 + number as u32).unwrap();
    let mut text = String::new();
    for _ in 0..8 + random.below(20) {
        let word = random.below(40) * random.below(40);
        text.extend([
            letter(word),
            letter(word * 7 % 1009),
            letter(word * 31 % 811),
        ]);
    }
    text.into_bytes()
}

#[test]
fn text_without_spaces_gets_phrases() {
    let mut random = Random(67);
    let rows: Vec<_> = (0..20_000).map(|_| unspaced(&mut random)).collect();
    let column = Column::new("unspaced", rows);
    let found = candidates(&column.slice(), SearchEffort::Normal);
    assert_eq!(pick(&found).unwrap().codec, CodecId::Phrases, "{found:?}");
    let of_phrases = found
        .iter()
        .find(|one| one.codec == CodecId::Phrases)
        .unwrap();
    let size = encode(CodecId::Phrases, &column.slice()).unwrap().len();
    let ratio = of_phrases.estimated_bytes as f64 / size as f64;
    assert!((0.9..1.1).contains(&ratio), "{of_phrases:?} for {size}");
}

#[test]
fn sampled_estimates_of_shapes_are_near() {
    let mut random = Random(71);
    let numbers: Vec<usize> = (0..60_000).map(|_| random.below(1 << 30)).collect();
    let columns = [
        Column::new(
            "random",
            numbers
                .iter()
                .map(|one| format!("no. {one:010}").into_bytes()),
        ),
        Column::new(
            "two shapes",
            numbers.iter().map(|one| match one % 5 {
                0 => format!("{one}").into_bytes(),
                _ => format!("{:x}-{:02}", one % 16, one % 97).into_bytes(),
            }),
        ),
    ];
    for column in columns {
        let found = candidates(&column.slice(), SearchEffort::Normal);
        let of_shapes = found
            .iter()
            .find(|one| one.codec == CodecId::Shape)
            .unwrap();
        let size = encode(CodecId::Shape, &column.slice()).unwrap().len();
        let ratio = of_shapes.estimated_bytes as f64 / size as f64;
        assert!((0.95..1.05).contains(&ratio), "{of_shapes:?} for {size}");
    }
}

#[test]
fn candidates_ascend_and_always_hold_plain() {
    for column in columns() {
        for effort in [
            SearchEffort::Fast,
            SearchEffort::Normal,
            SearchEffort::Thorough,
        ] {
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
        picked(named("all equal"), SearchEffort::Normal),
        CodecId::Constant
    );
    assert_eq!(
        picked(named("few distinct"), SearchEffort::Normal),
        CodecId::Dictionary
    );
    assert_eq!(
        picked(named("full vectors"), SearchEffort::Normal),
        CodecId::Words
    );
    assert_eq!(
        picked(named("binary"), SearchEffort::Normal),
        CodecId::Plain
    );
    for shaped in ["keys", "uuids", "long fixed text"] {
        let picked = picked(named(shaped), SearchEffort::Normal);
        assert_eq!(picked, CodecId::Shape, "{shaped}");
    }
}

#[test]
fn a_mostly_empty_column_takes_little_more_than_what_is_there() {
    let columns = columns();
    let column = columns.iter().find(|one| one.name == "sparse").unwrap();
    let codec = picked(column, SearchEffort::Normal);
    let size = encode(codec, &column.slice()).unwrap().len();
    let there: usize = column.slice().iter().map(<[u8]>::len).sum();
    assert!(
        size < there + column.slice().len() / 8,
        "{codec}: {size} for {there}"
    );
    let plain = encode(CodecId::Plain, &column.slice()).unwrap().len();
    assert!(size * 2 < plain, "{codec}: {size} beside {plain}");
}

#[test]
fn a_codec_that_decodes_faster_wins_when_sizes_are_near() {
    let candidate = |codec, estimated_bytes, decode_cost_ns_per_value| TextCodecCandidate {
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
    let phrases = candidate(CodecId::Phrases, 1090, 20.0);
    assert_eq!(pick(&[words, phrases]).unwrap().codec, CodecId::Phrases);
    let larger = candidate(CodecId::Phrases, 1110, 20.0);
    assert_eq!(pick(&[words, larger]).unwrap().codec, CodecId::Words);
    assert_eq!(pick(&[]), None);
}

/// So many rows, of which some have strings of their own and the others one of 64.
fn mostly_frequent(rows: usize, rare_percent: usize) -> Column {
    let mut random = Random(83);
    let value = |_| match random.below(100) < rare_percent {
        true => format!("{:016x}", random.below(usize::MAX)),
        // In the order of values between the rare ones, so that codes have no narrow frames.
        false => format!("{:04x}, a department", random.below(64) * 1021),
    };
    let values: Vec<_> = (0..rows).map(value).map(String::into_bytes).collect();
    Column::new("mostly frequent", values)
}

#[test]
fn frequent_strings_beside_rare_ones_get_a_patched_dictionary() {
    for rare_percent in [1, 2] {
        let column = mostly_frequent(60_000, rare_percent);
        let found = candidates(&column.slice(), SearchEffort::Normal);
        assert_eq!(pick(&found).unwrap().codec, CodecId::Pdict, "{found:?}");
        let size = |codec| encode(codec, &column.slice()).unwrap().len();
        // Codes of 6 bits; those of all strings, of 10 or 11 bits, are compressed in blocks.
        assert!(size(CodecId::Pdict) * 10 < size(CodecId::Dictionary) * 9);
        // Bits of codes, and of 16 hexadecimal digits.
        let rare = 60_000 * rare_percent / 100;
        let least = (60_000 * 6 + rare * 64) / 8;
        assert!(size(CodecId::Pdict) > least, "{least}");
    }
}

#[test]
fn strings_that_are_all_frequent_get_no_patched_dictionary() {
    let column = mostly_frequent(60_000, 0);
    let found = candidates(&column.slice(), SearchEffort::Normal);
    assert!(
        found.iter().all(|one| one.codec != CodecId::Pdict),
        "{found:?}"
    );
    assert_eq!(pick(&found).unwrap().codec, CodecId::Dictionary);
}
