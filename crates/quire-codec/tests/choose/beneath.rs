//! What a block codec beneath changes.

use crate::columns::{Owned, Random, columns};
use quire_codec::block::{self, BlockCodecId, BlockOptions, MinimumGain};
use quire_codec::choose::{Beneath, ChooseOptions, SearchEffort, choose, encode};
use quire_codec::{CodecId, RowGroupValues};

const BLOCK_BYTES: usize = 128 << 10;

fn on_blocks(codec: BlockCodecId, effort: SearchEffort) -> ChooseOptions {
    ChooseOptions {
        effort,
        beneath: Beneath::Blocks {
            codec,
            block_bytes: BLOCK_BYTES,
        },
        ..ChooseOptions::default()
    }
}

/// What storage makes of a column in that codec.
fn stored_bytes(
    values: &RowGroupValues<'_>,
    codec: CodecId,
    beneath: BlockCodecId,
) -> Option<usize> {
    let payload = encode(values, codec).ok()?;
    let mut compressor = block::open(beneath, &BlockOptions::default()).unwrap();
    let mut room = vec![0; BLOCK_BYTES];
    let stored = payload.chunks(BLOCK_BYTES).map(|block| {
        let limit = MinimumGain::EIGHTH.limit(block.len());
        let compressed = compressor.compress(block, &mut room, limit);
        compressed.unwrap_or(block.len())
    });
    Some(stored.sum())
}

/// A sentence of 3,000 numbers of 13 bits, again and again.
fn repeating() -> Owned {
    let mut random = Random(21);
    let sentence: Vec<i32> = (0..3000).map(|_| random.below(8000) as i32).collect();
    Owned::Int32(sentence.iter().copied().cycle().take(100_000).collect())
}

#[test]
fn repetitions_are_left_to_the_codec_that_sees_them() {
    let column = repeating();
    let values = column.values();
    let alone = choose(&values, &ChooseOptions::default());
    let plain_bytes = encode(&values, CodecId::Plain).unwrap().len();
    assert!(alone.estimated_bytes * 2 < plain_bytes, "{alone:?}");
    assert_ne!(alone.codec, CodecId::Plain);
    let on_zstd = choose(
        &values,
        &on_blocks(BlockCodecId::Zstd, SearchEffort::Normal),
    );
    assert_eq!(on_zstd.codec, CodecId::Plain, "{on_zstd:?}");
    let of = |codec| stored_bytes(&values, codec, BlockCodecId::Zstd).unwrap();
    assert_eq!(on_zstd.estimated_bytes, plain_bytes);
    assert!(of(CodecId::Plain) < of(alone.codec));
    assert!(of(CodecId::Plain) < of(CodecId::Pfor) / 2);
}

#[test]
fn a_codec_of_nothing_changes_nothing() {
    for (name, column) in columns(20_000, 11) {
        let alone = choose(&column.values(), &ChooseOptions::default());
        let beneath = Beneath::Blocks {
            codec: BlockCodecId::None,
            block_bytes: 0,
        };
        let options = ChooseOptions {
            beneath,
            ..ChooseOptions::default()
        };
        let on_none = choose(&column.values(), &options);
        assert_eq!(on_none.codec, alone.codec, "{name}: {on_none:?}, {alone:?}");
        assert_eq!(on_none.remaining_bytes, on_none.estimated_bytes, "{name}");
    }
}

#[test]
fn what_remains_is_near_the_least_of_all_codecs() {
    for beneath in [BlockCodecId::Lz4, BlockCodecId::Zstd] {
        for (name, column) in columns(8000, 13) {
            let values = column.values();
            let options = on_blocks(beneath, SearchEffort::Thorough);
            let choice = choose(&values, &options);
            assert_eq!(choice, choose(&values, &options), "{name}: chosen twice");
            let actual = stored_bytes(&values, choice.codec, beneath).unwrap();
            let difference = choice.remaining_bytes.abs_diff(actual);
            assert!(
                difference <= 1 + actual / 1000,
                "{name}: {choice:?}, {actual} bytes"
            );
            let all = CodecId::ALL
                .into_iter()
                .filter_map(|codec| stored_bytes(&values, codec, beneath));
            let least = all.min().unwrap();
            assert!(
                actual <= least * 119 / 100 + 64,
                "{name} on {beneath}: {choice:?}, {actual} bytes, {least} are possible"
            );
        }
    }
}
