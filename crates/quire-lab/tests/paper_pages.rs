//! The pages of paper 3's evaluation are what its text says, and so is what the transforms are worth on them.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use quire_codec::transform::{CodecFamily, Transform, TransformChoice, choose, to_storage};
use quire_lab::transforms::scenario::{
    IntegerTable, Magnitude, PAGE_BYTES, SECTOR_BYTES, ScenarioStrings, StringTable,
    constant_byte_block, repeated_vector_block,
};
use std::io::Write;

/// The layout, the fill and the values of §IV-A2.
#[test]
fn integer_pages() {
    let table = IntegerTable::new(4, Magnitude::Small, 3).unwrap();
    let shape = table.shape();
    // Record headers of 5 bytes and 32 numbers; 15/16 of the page less its head of 120 bytes.
    assert_eq!(shape.layout.row_bytes(), 133);
    assert_eq!(shape.row_count, (15 * 1024 - 120) / 133);
    let pages = [table.page(0), table.page(1)];
    assert_ne!(pages[0], pages[1]);
    assert_eq!(pages[0], table.page(0));
    for page in &pages {
        assert_eq!(page.len(), PAGE_BYTES);
        let rows_end = shape.lead_bytes + shape.row_count * 133;
        assert!(page[rows_end..PAGE_BYTES - 8].iter().all(|&byte| byte == 0));
        for column in 0..32 {
            let values: Vec<u32> = page[shape.lead_bytes..rows_end]
                .chunks_exact(133)
                .map(|row| {
                    let field = row[5 + 4 * column..][..4].try_into().unwrap();
                    u32::from_le_bytes(field)
                })
                .collect();
            let (low, high) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            // Within ±10 % of one number, which is between 2⁸ and 2¹⁶.
            assert!(u64::from(*high) * 9 <= u64::from(*low + 1) * 11 + 9);
            assert!(*low >= 230 && *high < 72_100);
            assert!(low < high);
        }
    }
}

/// 32 strings of 16 bytes, or of 8 to 24; each column a piece of a text.
#[test]
fn string_pages() {
    // No piece of 24 bytes occurs twice.
    let text: Vec<u8> = (0..5000u32)
        .flat_map(|n| (n * n * 7).to_be_bytes())
        .collect();
    let texts = [text.as_slice()];
    for (strings, fixed_count) in [
        (ScenarioStrings::Fixed, 32),
        (ScenarioStrings::Variable, 0),
        (ScenarioStrings::Mixed, 16),
    ] {
        let table = StringTable::new(strings, &texts, 5).unwrap();
        let (shape, page) = table.page(7);
        assert_eq!(page.len(), PAGE_BYTES);
        assert_eq!(
            shape.layout.row_bytes(),
            5 + 16 * fixed_count + (32 - fixed_count)
        );
        let mut image = vec![0; PAGE_BYTES];
        to_storage(Transform::R2c, shape, &page, &mut image).unwrap();
        let rows = shape.row_count;
        let (columns, rest) = image[shape.lead_bytes..].split_at(rows * shape.layout.row_bytes());
        let (lengths, fixed) = columns[5 * rows..].split_at((32 - fixed_count) * rows);
        assert!(lengths.iter().all(|length| (8..=24).contains(length)));
        let variable: usize = lengths.iter().map(|&length| usize::from(length)).sum();
        // Filled to 15/16, but for less than the longest row.
        let filled = shape.lead_bytes + columns.len() + variable;
        assert!((PAGE_BYTES / 16 * 15 - 5 - 32 * 25..=PAGE_BYTES / 16 * 15).contains(&filled));
        let mut pieces: Vec<&[u8]> = fixed.chunks_exact(16 * rows).collect();
        let mut left = rest;
        for of_column in lengths.chunks_exact(rows) {
            let bytes = of_column.iter().map(|&length| usize::from(length)).sum();
            let (piece, after) = left.split_at(bytes);
            pieces.push(piece);
            left = after;
        }
        assert_eq!(pieces.len(), 32);
        let twice = [text.as_slice(), &text].concat();
        for piece in pieces {
            assert!(twice.windows(piece.len()).any(|window| window == piece));
        }
    }
}

#[test]
fn blocks_of_figures_4_and_5() {
    let block = constant_byte_block(30, 100_000, 1);
    let constant = block.iter().filter(|&&byte| byte == 0xFF).count();
    // 30 %, and of the other 70 % one in 256; five standard deviations are 730.
    assert!(constant.abs_diff(30_273) < 730, "{constant}");
    let block = repeated_vector_block(6, 40_000, 1);
    for pair in block.chunks_exact(12) {
        assert_eq!(pair[..6], [0xFF; 6]);
    }
    let random: Vec<u8> = block
        .chunks_exact(12)
        .flat_map(|pair| &pair[6..])
        .copied()
        .collect();
    let mut counts = [0; 256];
    random
        .iter()
        .for_each(|&byte| counts[usize::from(byte)] += 1);
    // About 78 of each.
    assert!(counts.iter().all(|count| (30..150).contains(count)));
}

fn lz4(block: &[u8]) -> usize {
    lz4_flex::block::compress(block).len()
}

fn zlib(block: &[u8]) -> usize {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(block).unwrap();
    encoder.finish().unwrap().len()
}

/// What is chosen for the paper's pages of that magnitude, each sector compressed by itself.
fn measured(
    magnitude: Magnitude,
    family: CodecFamily,
    codec: fn(&[u8]) -> usize,
) -> TransformChoice {
    measured_table(magnitude, 11, family, |image| {
        image.chunks(SECTOR_BYTES).map(codec).sum()
    })
}

/// What is chosen for the pages of a table.
fn measured_table(
    magnitude: Magnitude,
    seed: u64,
    family: CodecFamily,
    image_bytes: impl FnMut(&[u8]) -> usize,
) -> TransformChoice {
    let table = IntegerTable::new(4, magnitude, seed).unwrap();
    let pages: Vec<_> = (0..24).map(|number| table.page(number)).collect();
    let sample: Vec<_> = pages
        .iter()
        .map(|page| (table.shape(), page.as_slice()))
        .collect();
    choose(&sample, family, image_bytes).unwrap()
}

/// The findings of §IV-A2 that hold for the definitions of the paper and today's codecs: of its transforms CLT is best, XOR+RLT
/// second, conversion to columns alone is worth little; under LZ4, RLT beats XOR. (Under zlib the paper has
/// XOR before RLT, which we do not find; the README of the module says more.)
#[test]
fn the_papers_findings_on_integer_pages() {
    for magnitude in [Magnitude::Small, Magnitude::Large] {
        for (family, codec) in [
            (CodecFamily::LzOnly, lz4 as fn(&[u8]) -> usize),
            (CodecFamily::LzEntropy, zlib),
        ] {
            let choice = measured(magnitude, family, codec);
            let [rows, r2c, rlt, clt, xor, xor_rlt, xor_clt] = choice.compressed_bytes;
            let what = format!("{magnitude:?} {family:?} {:?}", choice.compressed_bytes);
            // Of XOR+CLT the paper has no measurement; sector by sector it is like CLT, which comes first then.
            assert_eq!(choice.transform, Transform::Clt, "{what}");
            assert!(xor_clt.abs_diff(clt) < clt / 64, "{what}");
            assert!(clt < xor_rlt && xor_rlt < rlt.min(xor), "{what}");
            assert!(rlt.max(xor) < r2c && r2c <= rows, "{what}");
            // Little: less than a third of what CLT saves.
            assert!(3 * (rows - r2c) < rows - clt, "{what}");
            if family == CodecFamily::LzOnly {
                assert!(rlt < xor, "{what}");
            }
        }
    }
}

/// XOR+CLT, of §III-2, where a page is compressed as a whole: bytes that are the same in a column and others in the next are
/// zeros in both, which entropy coding makes something of and LZ4 does not. That is why samples try it.
#[test]
fn zeros_in_whole_columns_gain_where_bytes_are_coded_by_their_frequency() {
    for seed in 11..15 {
        let chosen = |family, codec: fn(&[u8]) -> usize| {
            let choice = measured_table(Magnitude::Small, seed, family, codec);
            let [_, _, _, clt, .., xor_clt] = choice.compressed_bytes;
            (choice.transform, clt as f64 / xor_clt as f64)
        };
        let (transform, gain) = chosen(CodecFamily::LzEntropy, zlib);
        assert!((1.008..1.04).contains(&gain), "{seed}: {gain}");
        assert_eq!(transform, Transform::XorClt, "{seed}");
        let (transform, gain) = chosen(CodecFamily::LzOnly, lz4);
        assert!((0.98..1.008).contains(&gain), "{seed}: {gain}");
        assert_eq!(transform, Transform::Clt, "{seed}");
    }
}
