//! The choice against encoding with every codec.

use crate::columns::{Owned, columns};
use quire_codec::choose::{ChooseOptions, SearchEffort, choose, encode};
use quire_codec::{CodecId, RowGroupValues};

/// Sizes of all codecs that can hold the values.
fn sizes(values: &RowGroupValues<'_>) -> Vec<(CodecId, usize)> {
    let size = |codec| Some((codec, encode(values, codec).ok()?.len()));
    CodecId::ALL.into_iter().filter_map(size).collect()
}

fn bytes_of(codec: CodecId, sizes: &[(CodecId, usize)]) -> usize {
    sizes.iter().find(|(one, _)| *one == codec).unwrap().1
}

/// What a choice may be larger than the smallest, in per cent. Numbers: the 10 % that a dictionary has to gain, and
/// 3 % for a faster codec. Text: the 15 % of the larger within which a codec that reads single values is preferred. A sample
/// may be wrong by some per cent more.
fn allowed_percent(values: &RowGroupValues<'_>, effort: SearchEffort) -> usize {
    let by_rule = match values {
        RowGroupValues::Bytes(_) => 18,
        _ => 15,
    };
    by_rule
        + if effort == SearchEffort::Thorough {
            0
        } else {
            5
        }
}

fn check(name: &str, column: &Owned, effort: SearchEffort) {
    let values = column.values();
    let options = ChooseOptions {
        effort,
        ..ChooseOptions::default()
    };
    let choice = choose(&values, &options);
    assert_eq!(choice, choose(&values, &options), "{name}: chosen twice");
    let sizes = sizes(&values);
    let smallest = sizes.iter().min_by_key(|(_, bytes)| *bytes).unwrap();
    let bytes = bytes_of(choice.codec, &sizes);
    // A vector's worth of metadata does not count.
    let limit = smallest.1 * (100 + allowed_percent(&values, effort)) / 100 + 64;
    assert!(
        bytes <= limit,
        "{name}, {effort:?}: {choice:?}, {bytes} bytes of {sizes:?}"
    );
    assert_eq!(choice.remaining_bytes, choice.estimated_bytes, "{name}");
    if effort == SearchEffort::Thorough {
        assert_eq!(choice.estimated_bytes, bytes, "{name}: {choice:?}");
        if let Some((codec, estimated)) = choice.runner_up {
            assert_eq!(estimated, bytes_of(codec, &sizes), "{name}: {choice:?}");
        }
    }
}

#[test]
fn no_choice_is_much_larger_than_the_smallest_codec() {
    for rows in [1, 700, 5000] {
        for (name, column) in columns(rows, rows as u64) {
            check(&name, &column, SearchEffort::Thorough);
        }
    }
    for (name, column) in columns(40_000, 5) {
        check(&name, &column, SearchEffort::Normal);
    }
}

#[test]
fn a_codec_that_is_asked_for_is_taken() {
    for (name, column) in columns(3000, 9) {
        for codec in CodecId::ALL {
            let options = ChooseOptions {
                forced: Some(codec),
                ..ChooseOptions::default()
            };
            let choice = choose(&column.values(), &options);
            assert_eq!((choice.codec, choice.runner_up), (codec, None), "{name}");
        }
    }
}

/// Of 20,000 titles that occur six times each, a sample has mostly one of each; the dictionary is found all the same.
#[test]
fn a_dictionary_is_found_where_most_sampled_values_differ() {
    let columns = columns(120_000, 3);
    let titles = columns
        .iter()
        .find(|(name, _)| name.starts_with("titles"))
        .unwrap();
    let choice = choose(&titles.1.values(), &ChooseOptions::default());
    assert_eq!(choice.codec, CodecId::Dictionary, "{choice:?}");
}
