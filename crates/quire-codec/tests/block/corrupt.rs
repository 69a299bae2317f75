//! Wrong bytes are errors or other values, never a panic.

use crate::laws::{codec, compress};
use crate::pages::pages;
use crate::random::Random;
use quire_codec::block::BlockCodecId;

/// Compressed blocks of a few hundred bytes, and their raw lengths.
fn blocks(id: BlockCodecId) -> Vec<(Vec<u8>, usize)> {
    let pages = pages();
    let some = pages
        .iter()
        .filter(|page| [63, 139, 1000].contains(&page.bytes.len()));
    some.map(|page| (compress(codec(id).as_mut(), &page.bytes), page.bytes.len()))
        .collect()
}

#[test]
fn a_block_cut_short_is_an_error() {
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        for (block, raw_bytes) in blocks(id) {
            let mut raw = vec![0; raw_bytes];
            for length in 0..block.len() {
                let cut = codec.decompress(&block[..length], &mut raw);
                assert!(cut.is_err(), "{id} cut to {length} of {}", block.len());
            }
        }
    }
}

#[test]
fn a_block_that_goes_on_is_an_error() {
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        for (block, raw_bytes) in blocks(id) {
            for extra in [&[0][..], &[1], &[255; 9]] {
                let longer = [&block[..], extra].concat();
                let result = codec.decompress(&longer, &mut vec![0; raw_bytes]);
                assert!(result.is_err(), "{id} with {extra:?} behind");
            }
        }
    }
}

#[test]
fn another_raw_length_is_an_error() {
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        for (block, raw_bytes) in blocks(id) {
            for other in [0, 1, raw_bytes - 1, raw_bytes + 1, 3 * raw_bytes, 100_000] {
                let result = codec.decompress(&block, &mut vec![0; other]);
                assert!(result.is_err(), "{id}: {other} instead of {raw_bytes}");
            }
        }
    }
}

#[test]
fn damage_does_no_harm() {
    let mut random = Random(23);
    for id in BlockCodecId::ALL {
        let mut codec = codec(id);
        for (block, raw_bytes) in blocks(id) {
            let mut raw = vec![0; raw_bytes];
            for _ in 0..100 {
                let mut wrong = block.clone();
                let start = random.below(wrong.len());
                match random.below(3) {
                    0 => wrong[start] ^= 1 << random.below(8),
                    1 => wrong[start] = [0, 255, 64, random.next() as u8][random.below(4)],
                    _ => {
                        let end = wrong.len().min(start + 1 + random.below(9));
                        wrong[start..end].fill(random.next() as u8);
                    }
                }
                if let Err(error) = codec.decompress(&wrong, &mut raw) {
                    assert!(error.offset <= wrong.len(), "{id}: {error}");
                }
            }
            // What was damaged before does not show in what is read next.
            assert_eq!(codec.decompress(&block, &mut raw), Ok(()), "{id}");
            assert!(compress(codec.as_mut(), &raw) == block, "{id}");
        }
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let mut random = Random(29);
    for round in 0..1000 {
        let length = random.below(400);
        let mut bytes = random.bytes(length);
        if round % 2 == 0 {
            bytes.iter_mut().for_each(|byte| *byte &= 31);
        }
        let mut raw = vec![0; [0, 1, 30, 600, 20_000][random.below(5)]];
        for id in BlockCodecId::ALL {
            let _ = codec(id).decompress(&bytes, &mut raw);
        }
    }
}

#[test]
fn a_match_before_the_start_is_an_error() {
    let mut codec = codec(BlockCodecId::Lzjb);
    // One literal, then three bytes from distance 2, or 0.
    for distance in [2, 0] {
        let block = [0b10, b'x', 0, distance];
        assert!(codec.decompress(&block, &mut [0; 4]).is_err());
    }
    // The same far from the ends of the block, where whole words are copied.
    for distance in [2, 0] {
        let block = [&[0b10, b'x', 0, distance][..], &[0; 100]].concat();
        assert!(codec.decompress(&block, &mut [0; 1000]).is_err());
    }
    // A match that passes the end, and a flag without an item.
    assert!(codec.decompress(&[0b10, b'x', 0, 1], &mut [0; 3]).is_err());
    assert!(codec.decompress(&[0b110, b'x', 0, 1], &mut [0; 4]).is_err());
    assert!(codec.decompress(&[0b10, b'x', 0, 1], &mut [0; 4]).is_ok());
}
