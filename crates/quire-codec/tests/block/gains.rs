//! Codecs give up where the minimum gain is out of reach, and only there.

use crate::laws::codec;
use crate::pages::full_pages;
use crate::random::Random;
use quire_codec::block::{BlockCodecId, MinimumGain, estimated_bytes};

#[test]
fn a_limit_leaves_the_gain() {
    for raw_bytes in [1usize, 7, 8, 9, 999, 1000, 1001, 4096, 16_384, 1 << 30] {
        for per_mille in [1, 62, 125, 500, 999, 1000] {
            let limit = MinimumGain::per_mille(per_mille).limit(raw_bytes);
            let gain = (raw_bytes - limit) as u128 * 1000;
            let wanted = raw_bytes as u128 * u128::from(per_mille);
            assert!(
                gain >= wanted,
                "{raw_bytes} at {per_mille} gains too little"
            );
            assert!(
                limit == raw_bytes - 1 || gain < wanted + 1000,
                "{raw_bytes} at {per_mille}"
            );
        }
        assert_eq!(MinimumGain::ANY.limit(raw_bytes), raw_bytes - 1);
    }
    assert_eq!(MinimumGain::per_mille(5000), MinimumGain::per_mille(1000));
    assert_eq!(MinimumGain::default(), MinimumGain::per_mille(125));
}

#[test]
fn random_pages_are_given_up() {
    let mut random = Random(31);
    for gain in [MinimumGain::ANY, MinimumGain::EIGHTH] {
        for id in BlockCodecId::ALL {
            let page = random.bytes(16_384);
            let limit = gain.limit(page.len());
            let length = codec(id).compress(&page, &mut vec![0; page.len()], limit);
            assert_eq!(length, None, "{id} {gain:?}");
        }
    }
}

#[test]
fn pages_that_gain_are_compressed() {
    for page in full_pages() {
        let limit = MinimumGain::EIGHTH.limit(page.bytes.len());
        let mut room = vec![0; page.bytes.len()];
        for id in BlockCodecId::ALL {
            let expected = match (page.name, id) {
                (_, BlockCodecId::None) | ("random", _) => false,
                ("text" | "ones" | "repeats", BlockCodecId::Zle) => false,
                // Zeros now and then are hardly runs, nor strings that repeat.
                ("half zeros", id) if id < BlockCodecId::Zlib => continue,
                _ => true,
            };
            let length = codec(id).compress(&page.bytes, &mut room, limit);
            assert_eq!(length.is_some(), expected, "{id} {} {length:?}", page.name);
        }
    }
}

#[test]
fn bytes_that_only_entropy_coding_can_shorten_are_tried() {
    // Six bits of every byte are random: nothing repeats, a quarter is gained.
    let mut page = Random(37).bytes(16_384);
    page.iter_mut().for_each(|byte| *byte &= 63);
    let limit = MinimumGain::EIGHTH.limit(page.len());
    let mut room = vec![0; page.len()];
    for id in [BlockCodecId::Zlib, BlockCodecId::Zstd] {
        let length = codec(id).compress(&page, &mut room, limit).unwrap();
        assert!(
            length > page.len() * 3 / 4 && length < page.len() * 4 / 5,
            "{id} {length}"
        );
    }
}

#[test]
fn strings_that_repeat_among_random_bytes_are_tried() {
    // Every byte is equally frequent, and the second half is the first.
    let half = Random(41).bytes(8_192);
    let page = [&half[..], &half].concat();
    let limit = MinimumGain::EIGHTH.limit(page.len());
    let mut room = vec![0; page.len()];
    for id in [
        BlockCodecId::Lz4,
        BlockCodecId::Lz4Hc,
        BlockCodecId::Zlib,
        BlockCodecId::Zstd,
    ] {
        let length = codec(id).compress(&page, &mut room, limit);
        assert!(
            length.is_some_and(|length| length < 9_000),
            "{id} {length:?}"
        );
    }
}

#[test]
fn an_estimate_from_all_blocks_is_exact_and_one_from_some_is_near() {
    let pages = full_pages();
    let text = pages.iter().find(|page| page.name == "text").unwrap();
    let random = pages.iter().find(|page| page.name == "random").unwrap();
    let mut blocks: Vec<&[u8]> = text.bytes.chunks(1024).collect();
    blocks.extend(random.bytes.chunks(1000));
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        let mut room = vec![0; 1024];
        let sizes = blocks.iter().map(|block| {
            let limit = MinimumGain::EIGHTH.limit(block.len());
            codec
                .compress(block, &mut room, limit)
                .unwrap_or(block.len())
        });
        let stored: usize = sizes.sum();
        for sampled in [blocks.len(), 1000] {
            let estimate = estimated_bytes(codec.as_mut(), &blocks, MinimumGain::EIGHTH, sampled);
            assert_eq!(estimate, stored, "{id}");
        }
        let estimate = estimated_bytes(codec.as_mut(), &blocks, MinimumGain::EIGHTH, 11);
        assert!(
            estimate.abs_diff(stored) < stored / 10,
            "{id}: {estimate} for {stored}"
        );
        assert_eq!(estimated_bytes(codec.as_mut(), &[], MinimumGain::ANY, 0), 0);
    }
}
