//! Bytes worked out by hand from the descriptions of the formats, or written by other implementations.

use crate::laws::{codec, compress};
use quire_codec::block::{BlockCodecId, BlockOptions, ZstdDictionary, open};

/// Both ways: the only form our writer may choose.
fn assert_written(id: BlockCodecId, raw: &[u8], block: &[u8]) {
    assert_eq!(compress(codec(id).as_mut(), raw), block, "{id}");
    assert_read(id, block, raw);
}

fn assert_read(id: BlockCodecId, block: &[u8], raw: &[u8]) {
    let mut again = vec![0; raw.len()];
    codec(id).decompress(block, &mut again).unwrap();
    assert_eq!(again, raw, "{id}");
}

#[test]
fn none_is_the_bytes() {
    assert_written(BlockCodecId::None, b"abc", b"abc");
}

#[test]
fn zle_tokens() {
    let id = BlockCodecId::Zle;
    // One literal; three zeros, 66 - 63; three literals, of which one is a zero.
    assert_written(id, &[5, 0, 0, 0, 7, 0, 9], &[0, 5, 66, 2, 7, 0, 9]);
    // 192 zeros and 8.
    assert_written(id, &[0; 200], &[255, 71]);
    // 64 literals and one.
    let raw: Vec<u8> = (1..=65).collect();
    let block = [&[63][..], &raw[..64], &[0], &raw[64..]].concat();
    assert_written(id, &raw, &block);
    // Zeros need not be in the fewest tokens.
    assert_read(id, &[64, 64, 1, 0, 3], &[0, 0, 0, 3]);
}

#[test]
fn lzjb_groups() {
    let id = BlockCodecId::Lzjb;
    // a b c, nine bytes from three back (6 << 10 | 3), x y z: item 3 of seven is a match.
    let block = [8, b'a', b'b', b'c', 0x18, 0x03, b'x', b'y', b'z'];
    assert_written(id, b"abcabcabcabcxyz", &block);
    // One zero, 66 from one back (63 << 10 | 1), 33 from one back (30 << 10 | 1).
    assert_written(id, &[0; 100], &[0b110, 0, 0xFC, 0x01, 0x78, 0x01]);
    // Nine literals are two groups.
    assert_written(id, b"abcdefghi", b"\0abcdefgh\0i");
}

#[test]
fn lzjb_searched_as_zfs_does_ends_in_literals() {
    let options = BlockOptions {
        level: Some(0),
        ..BlockOptions::default()
    };
    let mut codec = open(BlockCodecId::Lzjb, &options).unwrap();
    // One zero, 66 from one back; the other 33 are in the last 65 bytes.
    let groups = [&[0b10, 0, 0xFC, 0x01][..], &[0; 6], &[0; 27], &[0; 4]].concat();
    let mut room = [0; 200];
    assert_eq!(
        codec.compress(&[0; 100], &mut room, 200),
        Some(groups.len())
    );
    assert_eq!(room[..groups.len()], groups);
    let raw = [&b"abcdefgh"[..], b"abcdxxxx", b"abcdefgh", &[b'.'; 66]].concat();
    let length = codec.compress(&raw, &mut room, 200).unwrap();
    let mut again = vec![0; raw.len()];
    codec.decompress(&room[..length], &mut again).unwrap();
    assert_eq!(again, raw);
    // a to h; four from eight back (1 << 10 | 8), x, three from one back, four from eight back, four from sixteen back.
    let matches = [0b11101, 4, 8, b'x', 0, 1, 4, 8, 4, 16];
    let start = [&[0][..], b"abcdefgh", &matches].concat();
    assert_eq!(room[..start.len()], start);
}

#[test]
fn lz4_sequences() {
    // One literal and eight bytes from one back (token 1, 8 - 4), then five literals.
    let block = [0x14, b'a', 1, 0, 0x50, b'b', b'c', b'd', b'e', b'f'];
    assert_read(BlockCodecId::Lz4, &block, b"aaaaaaaaabcdef");
    assert_read(BlockCodecId::Lz4Hc, &block, b"aaaaaaaaabcdef");
    // Fifteen literals and three more: 15 in the token, then 3.
    let block = [&[0xF0, 3][..], b"no byte repeats ok"].concat();
    assert_read(BlockCodecId::Lz4, &block, b"no byte repeats ok");
}

#[test]
fn zlib_stored_block() {
    // Header, last block stored, length and its complement, bytes, Adler-32: 1 + 97 + 98 + 99 = 0x127, and
    // 98 + 196 + 295 = 0x24D.
    let block = b"\x78\x01\x01\x03\x00\xFC\xFFabc\x02\x4D\x01\x27";
    assert_read(BlockCodecId::Zlib, block, b"abc");
}

const QUESTION: &[u8] = b"to be or not to be, to be or not to be, to be or not to be!";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Written by Python 3.11: `zlib.compress(raw, 9)` of zlib 1.2.13; `lz4.block.compress(raw,
/// store_size=False)` of python-lz4 4.4.5, in both modes; `zstandard` 0.25 at level 3 with the magicless format
/// and without content size.
#[test]
fn blocks_of_other_implementations() {
    let blocks = [
        (
            BlockCodecId::Zlib,
            "78da2bc957484a55c82f52c8cb2f512801717420144131450045ac132c",
        ),
        (
            BlockCodecId::Lz4,
            "d1746f206265206f72206e6f74200d00122c07000f14000a506f20626521",
        ),
        (
            BlockCodecId::Lz4Hc,
            "d1746f206265206f72206e6f74200d002f2c2014000f506f20626521",
        ),
        (
            BlockCodecId::Zstd,
            "0000ed0000a0746f206265206f72206e6f7420746f2062652c210200370728ac8401",
        ),
    ];
    for (id, block) in blocks {
        assert_read(id, &hex(block), QUESTION);
    }
}

/// Written by `zstandard` 0.25 as above, with a dictionary of plain content.
#[test]
fn a_block_with_a_dictionary_of_another_implementation() {
    let dictionary = ZstdDictionary::from_bytes(*b"01234567to be or not to be, ").unwrap();
    let options = BlockOptions {
        level: None,
        dictionary: Some(dictionary),
    };
    let mut codec = open(BlockCodecId::Zstd, &options).unwrap();
    let mut raw = vec![0; QUESTION.len()];
    codec
        .decompress(&hex("000045000008210100bf730201"), &mut raw)
        .unwrap();
    assert_eq!(raw, QUESTION);
}
