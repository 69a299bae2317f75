//! What holds for every codec and every block.

use crate::naive;
use crate::pages::{Page, pages};
use proptest::prelude::*;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, CodecOpenError, open};

pub fn codec(id: BlockCodecId) -> Box<dyn BlockCodec> {
    open(id, &BlockOptions::default()).unwrap()
}

/// Room for a block that grows.
fn generous(raw_bytes: usize) -> usize {
    raw_bytes * 9 / 8 + 1024
}

/// The block, compressed at any price.
pub fn compress(codec: &mut dyn BlockCodec, raw: &[u8]) -> Vec<u8> {
    let mut room = vec![0xAA; generous(raw.len())];
    let limit = room.len();
    let length = codec.compress(raw, &mut room, limit).unwrap();
    room.truncate(length);
    room
}

fn assert_round_trip(codec: &mut dyn BlockCodec, name: &str, raw: &[u8]) -> Vec<u8> {
    let block = compress(codec, raw);
    let mut again = vec![0x55; raw.len()];
    let result = codec.decompress(&block, &mut again);
    let id = codec.id();
    assert_eq!(result, Ok(()), "{id} {name} of {}", raw.len());
    assert!(again == raw, "{id} {name} of {}", raw.len());
    block
}

#[test]
fn every_block_comes_back() {
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        assert_eq!(codec.id(), id);
        for Page { name, bytes } in pages() {
            assert_round_trip(codec.as_mut(), name, &bytes);
        }
    }
}

#[test]
fn every_level_is_undone_by_any() {
    let all = pages();
    let pages: Vec<&Page> = all.iter().filter(|page| page.bytes.len() == 4096).collect();
    for id in BlockCodecId::ALL {
        let mut reader = codec(id);
        for level in id.levels() {
            let level = Some(level);
            let mut writer = open(
                id,
                &BlockOptions {
                    level,
                    ..BlockOptions::default()
                },
            )
            .unwrap();
            for page in &pages {
                let block = compress(writer.as_mut(), &page.bytes);
                let mut again = vec![0; page.bytes.len()];
                reader.decompress(&block, &mut again).unwrap();
                assert!(again == page.bytes, "{id} {level:?} {}", page.name);
            }
        }
    }
}

#[test]
fn lz4hc_is_read_as_lz4() {
    for page in pages() {
        let block = compress(codec(BlockCodecId::Lz4Hc).as_mut(), &page.bytes);
        let mut again = vec![0; page.bytes.len()];
        codec(BlockCodecId::Lz4)
            .decompress(&block, &mut again)
            .unwrap();
        assert!(again == page.bytes);
    }
}

#[test]
fn naive_decoders_read_the_same() {
    type Decoder = fn(&[u8]) -> Vec<u8>;
    let decoders: [(BlockCodecId, Decoder); 4] = [
        (BlockCodecId::Zle, naive::zle),
        (BlockCodecId::Lzjb, naive::lzjb),
        (BlockCodecId::Lz4, naive::lz4),
        (BlockCodecId::Lz4Hc, naive::lz4),
    ];
    for (id, naive) in decoders {
        let mut codec = codec(id);
        for Page { name, bytes } in pages() {
            let block = compress(codec.as_mut(), &bytes);
            assert!(naive(&block) == bytes, "{id} {name} of {}", bytes.len());
        }
    }
}

#[test]
fn a_codec_that_was_used_before_writes_the_same() {
    for id in BlockCodecId::ALL {
        let mut used = codec(id);
        for Page { name, bytes } in pages().iter().filter(|page| page.bytes.len() >= 130) {
            let fresh = compress(codec(id).as_mut(), bytes);
            assert!(compress(used.as_mut(), bytes) == fresh, "{id} {name}");
        }
    }
}

#[test]
fn a_limit_is_kept_and_reached() {
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        for Page { name, bytes } in pages().iter().filter(|page| page.bytes.len() < 5000) {
            let block = compress(codec.as_mut(), bytes);
            let mut room = vec![0; generous(bytes.len())];
            for less in [1, 2, 9, block.len() / 2, block.len()] {
                let limit = block.len().saturating_sub(less);
                room.fill(0xC3);
                let length = codec.compress(bytes, &mut room, limit);
                // Deflate chooses other blocks when room is short, all others have one form.
                let fits = length.is_some_and(|length| length <= limit);
                assert!(length.is_none() || fits, "{id} {name} {length:?} > {limit}");
                if id != BlockCodecId::Zlib && limit < block.len() {
                    assert_eq!(
                        length,
                        None,
                        "{id} {name} of {}, limit {limit}",
                        bytes.len()
                    );
                }
                assert!(
                    room[limit..].iter().all(|&byte| byte == 0xC3),
                    "{id} writes on"
                );
                let mut short = vec![0; limit];
                let length = codec.compress(bytes, &mut short, usize::MAX);
                assert!(length.is_none_or(|length| length <= limit));
            }
            if matches!(
                id,
                BlockCodecId::None | BlockCodecId::Zle | BlockCodecId::Lzjb
            ) {
                let exact = codec.compress(bytes, &mut room, block.len());
                assert_eq!(exact, Some(block.len()), "{id} {name} of {}", bytes.len());
            }
        }
    }
}

/// The fewest bytes ZLE can take: the cheapest tokens for every rest of the block.
fn shortest_zle(raw: &[u8]) -> usize {
    let mut cost = vec![0; raw.len() + 1];
    for start in (0..raw.len()).rev() {
        let literals = (1..=64.min(raw.len() - start)).map(|count| 1 + count + cost[start + count]);
        let zeros = raw[start..].iter().take_while(|&&byte| byte == 0).count();
        let runs = (1..=192.min(zeros)).map(|count| 1 + cost[start + count]);
        cost[start] = literals.chain(runs).min().unwrap();
    }
    cost[0]
}

#[test]
fn zle_has_no_shorter_form() {
    for Page { name, bytes } in pages().iter().filter(|page| page.bytes.len() < 5000) {
        let block = compress(codec(BlockCodecId::Zle).as_mut(), bytes);
        assert_eq!(
            block.len(),
            shortest_zle(bytes),
            "{name} of {}",
            bytes.len()
        );
    }
}

#[test]
fn numbers_and_names_are_their_own() {
    let stored = ["none", "zle", "lzjb", "lz4", "lz4hc", "zlib", "zstd"];
    for (number, name) in (0..).zip(stored) {
        let id = BlockCodecId::from_u8(number).unwrap();
        assert_eq!((id as u8, id.name()), (number, name));
        assert_eq!(BlockCodecId::from_name(&name.to_uppercase()), Some(id));
        assert!(id.levels().contains(&id.default_level()));
    }
    assert_eq!(BlockCodecId::from_u8(7), None);
    assert_eq!(BlockCodecId::from_name("lz5"), None);
}

#[test]
fn levels_that_are_not_there_are_refused() {
    for id in BlockCodecId::ALL {
        for level in [id.levels().start() - 1, id.levels().end() + 1] {
            let options = BlockOptions {
                level: Some(level),
                dictionary: None,
            };
            let refused = open(id, &options).map(|codec| codec.id());
            assert_eq!(refused, Err(CodecOpenError::Level { codec: id, level }));
        }
    }
}

/// Blocks of zeros, repeats and others in any order.
fn any_block() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (0usize..300).prop_map(|count| vec![0; count]),
        proptest::collection::vec(any::<u8>(), 0..90),
        (any::<u8>(), 0usize..80).prop_map(|(byte, count)| vec![byte; count]),
        (proptest::collection::vec(0u8..3, 1..12), 1usize..30)
            .prop_map(|(some, times)| some.repeat(times)),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_block_comes_back(raw in any_block()) {
        for id in BlockCodecId::ALL {
            let block = assert_round_trip(codec(id).as_mut(), "any", &raw);
            match id {
                BlockCodecId::Zle => assert!(naive::zle(&block) == raw && block.len() == shortest_zle(&raw)),
                BlockCodecId::Lzjb => assert!(naive::lzjb(&block) == raw),
                BlockCodecId::Lz4 | BlockCodecId::Lz4Hc => assert!(naive::lz4(&block) == raw),
                _ => {}
            }
        }
    }
}
