//! One damage for each invariant, and bytes written down by hand.
#![allow(clippy::unwrap_used)]

use super::packed::{ColumnPackingMode, PackedBitReader, PackedBitWriter};
use super::verify::every_invariant;
use super::*;
use crate::wire::{WireItemReader, WireItemWriter};
use quire_codec::block::{BlockCodecId, BlockOptions, ZstdDictionary, open};
use quire_codec::field::{FieldType, TupleField};
use quire_codec::transform::{LayoutColumn, Transform};

const PAGE_BYTES: usize = 4096;

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    bytes[offset..offset + value.len()].copy_from_slice(value);
}

/// Fences `ab` and `ad`; entries `ac123`, inserted first, and `ab`.
fn golden_leaf() -> Vec<u8> {
    let mut bytes = vec![0xEE; PAGE_BYTES];
    let setup = PageSetup {
        level: 0,
        layout: 0x0403_0201,
        lsn: 7,
        lower: b"ab",
        upper: b"ad",
    };
    let mut page = RowPageMut::create(&mut bytes, &setup).unwrap();
    assert_eq!(page.insert(b"ac123", b"xy", false), Ok(0));
    assert_eq!(page.insert(b"ab", b"", true), Ok(0));
    bytes
}

#[test]
fn a_page_has_the_bytes_the_format_says() {
    let mut expected = vec![0; PAGE_BYTES];
    put(&mut expected, 0, &[1, 1, 0, 0]); // version, leaf, level, flags
    put(&mut expected, 4, &[2, 0]); // slots
    put(&mut expected, 6, &[0, 0]); // the latest insertion was in front
    put(&mut expected, 8, &[1, 0, 2, 0, 2, 0, 0, 0]); // prefix, fences, reserved
    put(&mut expected, 16, &4085_u32.to_le_bytes()); // 4096 - 2 - 2 - 6 - 1
    put(&mut expected, 24, &[7]);
    put(&mut expected, 32, &[1, 2, 3, 4]);
    put(&mut expected, 36, &4085_u16.to_le_bytes());
    put(&mut expected, 38, &[1, 0, 0, 0x80, b'b', 0, 0, 0]);
    put(&mut expected, 46, &4086_u16.to_le_bytes());
    put(&mut expected, 48, &[4, 0, 2, 0, b'c', b'1', b'2', b'3']);
    put(&mut expected, 4085, b"bc123xyabad");
    assert_eq!(golden_leaf(), expected);
}

#[test]
fn an_inner_page_has_the_bytes_the_format_says() {
    let mut bytes = vec![0; PAGE_BYTES];
    let setup = PageSetup {
        level: 2,
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut bytes, &setup).unwrap();
    page.insert(b"", &[0x10], false).unwrap();
    page.insert(b"m", &[0, 1], false).unwrap();
    let mut expected = vec![0; PAGE_BYTES];
    put(&mut expected, 0, &[1, 2, 2, 0, 2, 0, 2, 0]);
    put(&mut expected, 16, &4092_u32.to_le_bytes());
    put(&mut expected, 36, &[0xFF, 0x0F, 0, 0, 1, 0, 0, 0, 0, 0]);
    put(&mut expected, 46, &[0xFC, 0x0F, 1, 0, 2, 0, b'm', 0, 0, 0]);
    put(&mut expected, 4092, &[b'm', 0, 1, 0x10]);
    assert_eq!(bytes, expected);
    let page = RowPage::open(&bytes).unwrap();
    assert_eq!(page.child(b"lzzz").unwrap().1.get(), 16);
    assert_eq!(page.child(b"m").unwrap().1.get(), 256);
}

#[test]
fn an_image_has_the_bytes_the_format_says() {
    let page = golden_leaf();
    let mut stored = open(BlockCodecId::None, &BlockOptions::default()).unwrap();
    let mut image = encode_image(&RowPage::open(&page).unwrap(), stored.as_mut()).unwrap();
    append_op(&mut image, &PageOp::Remove { key: b"ab" }, 8).unwrap();
    let patch = PageOp::Patch {
        key: b"ac123",
        keep_prefix_bytes: 1,
        keep_suffix_bytes: 0,
        middle: b"zz",
    };
    append_op(&mut image, &patch, 9).unwrap();
    let header = [
        1, 0, 0, 12, 33, 0, 0, 0, 33, 0, 0, 0, 16, 0, 0, 0, 2, 0, 12, 0, 9,
    ];
    let mut expected = [header.as_slice(), &[0; 7]].concat();
    expected.extend([0, 0, 2, 0, 0, 0, 2, 0, 2, 0, 1, 2, 3, 4]);
    expected.extend(b"abad\x01\0\x04\0\0\x80\x02\0bc123xy");
    expected.extend(b"\x04\x02ab\x03\x05ac123\x01\0\x02zz");
    assert_eq!(image, expected);
    let mut restored = vec![0; PAGE_BYTES];
    PageImage::open(&image)
        .unwrap()
        .decode(stored.as_mut(), &mut restored)
        .unwrap();
    let restored = RowPage::open(&restored).unwrap();
    let entries: Vec<_> = restored.entries().map(|entry| entry.unwrap()).collect();
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].key(), entries[0].value),
        (b"ac123".to_vec(), b"xzz".as_slice())
    );
    assert_eq!((restored.lsn(), restored.layout()), (9, 0x0403_0201));
}

#[test]
fn an_image_names_the_dictionary_it_needs() {
    let noise = |row: u64| (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let mut bytes = vec![0; PAGE_BYTES];
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    let mut words = Vec::new();
    for row in 0..100 {
        page.insert(&[row as u8], &noise(row), false).unwrap();
        words.extend_from_slice(&noise(row));
    }
    let page = RowPage::open(&bytes).unwrap();
    let with = |dictionary: Option<ZstdDictionary>| {
        let options = BlockOptions {
            level: None,
            dictionary,
        };
        open(BlockCodecId::Zstd, &options).unwrap()
    };
    let dictionary = ZstdDictionary::from_bytes(words).unwrap().with_id(300);
    let mut codec = with(Some(dictionary.clone()));
    let image = encode_image(&page, codec.as_mut()).unwrap();
    assert_eq!(image[1], 128 + 6);
    assert_eq!(image[28..36], [44, 1, 0, 0, 0, 0, 0, 0]);
    let opened = PageImage::open(&image).unwrap();
    assert_eq!(
        (opened.dictionary(), opened.codec()),
        (300, BlockCodecId::Zstd)
    );
    assert_eq!(opened.base_bytes(), image.len() - 36);
    let mut again = vec![0; PAGE_BYTES];
    opened.decode(codec.as_mut(), &mut again).unwrap();
    let entries = |bytes: &[u8]| {
        let page = RowPage::open(bytes).unwrap();
        let entry = |index| {
            page.entry(index)
                .map(|entry| (entry.key(), entry.value.to_vec()))
        };
        (0..page.len())
            .map(entry)
            .collect::<Result<Vec<_>, _>>()
            .unwrap()
    };
    assert_eq!(entries(&again), entries(&bytes));
    for other in [None, Some(dictionary.with_id(301))] {
        assert!(opened.decode(with(other).as_mut(), &mut again).is_err());
    }
    for cut in 28..36 {
        assert!(PageImage::open(&image[..cut]).is_err());
    }
    let mut nameless = image.clone();
    nameless[28..36].fill(0);
    assert!(PageImage::open(&nameless).is_err());

    // What does not become smaller is stored as it is, and needs none.
    let mut stranger = with(Some(
        ZstdDictionary::from_bytes([7; 64]).unwrap().with_id(9),
    ));
    let mut bytes = vec![0; PAGE_BYTES];
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    page.insert(b"k", &noise(1), false).unwrap();
    let image = encode_image(&page.page().unwrap(), stranger.as_mut()).unwrap();
    assert_eq!(
        (image[1], PageImage::open(&image).unwrap().dictionary()),
        (0, 0)
    );
}

#[test]
fn an_image_by_columns_has_the_bytes_the_format_says() {
    // A length code, a number of two bytes, a field with the length of a string, the string.
    let field = TupleField {
        field_type: FieldType::UInt32,
        nullable: false,
    };
    let columns = [LayoutColumn::Number(1), LayoutColumn::Number(2)];
    let shape = RowPageShape::new(&columns, 0, &[field], &[2]).unwrap();
    let mut bytes = vec![0; PAGE_BYTES];
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    page.insert(b"b", b"\0\x05\x01\x03abc!", false).unwrap();
    page.insert(b"a", b"\0\x02\x01\x02hi", false).unwrap();
    let mut stored = open(BlockCodecId::None, &BlockOptions::default()).unwrap();
    let mut image_as = |transform| {
        let page = RowPage::open(&bytes).unwrap();
        encode_image_as(&page, transform, &shape, stored.as_mut()).unwrap()
    };
    let mut raw = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // The shape, lengths of keys in planes, of values less what is known, keys in planes.
    raw.extend([1, 2, 0, 1, 1, 0, 2, 1, 0, 1, 3, 1, 1, 2]);
    raw.extend([1, 1, 0, 0, 0, 1, 0, 0, b'a', b'b']);
    let head = raw.len();
    raw.extend([0, 0, 2, 1, 5, 1, 2, 0, 0, 0, 3, 0, 0, 0]);
    raw.extend(b"hiabc!");
    let length = raw.len() as u8;
    let mut expected = vec![1, 0, 1, 12, length, 0, 0, 0, length, 0, 0, 0];
    expected.extend([0; 16]);
    expected.extend_from_slice(&raw);
    assert_eq!(image_as(PageTransform::Columns(Transform::R2c)), expected);

    raw.truncate(head);
    raw.extend([0, 0, 2, 5, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0]);
    raw.extend(b"hiabc!");
    expected.truncate(28);
    expected[2] = 3;
    expected.extend_from_slice(&raw);
    assert_eq!(image_as(PageTransform::Columns(Transform::Clt)), expected);

    // 2 ⊕ 5 = 7 and 2 ⊕ 3 = 1, the bytes above are the same.
    raw.truncate(head);
    raw.extend([0, 0, 2, 7, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    raw.extend(b"hiabc!");
    expected.truncate(28);
    expected[2] = 8;
    expected.extend_from_slice(&raw);
    let xor_clt = PageTransform::Columns(Transform::XorClt);
    assert_eq!(image_as(xor_clt), expected);
    // A number of a later program is an error, not a page.
    for number in [9, 255] {
        expected[2] = number;
        assert!(PageImage::open(&expected).is_err());
    }

    // Only the lengths are worth packing: a bit each above 2, whose zigzag is 4. Keys and the others are planes.
    raw.truncate(head - 2);
    raw.extend([0xFF, 0xFF, 0xFF, 1, 4, b'a', b'b', 0, 0, 2, 5, 1, 1]);
    raw.extend(b"hiabc!");
    expected.truncate(28);
    let length = raw.len() as u8;
    expected[2..12].copy_from_slice(&[6, 12, length, 0, 0, 0, length + 5, 0, 0, 0]);
    expected.extend([1, 0, 0, 0, 0b10]);
    expected.extend_from_slice(&raw);
    assert_eq!(image_as(PageTransform::Packed), expected);
}

/// Mode and numbers as they are stored, after they were read back.
fn packed(mode: ColumnPackingMode, numbers: &[i64]) -> (Vec<u8>, Vec<u8>) {
    let (mut bits, mut writer) = (PackedBitWriter::default(), WireItemWriter::default());
    mode.pack(numbers, &mut bits);
    mode.write(&mut writer);
    let (bytes, written) = (bits.finish(), writer.finish());
    let mut found = vec![0; numbers.len()];
    mode.unpack(&mut found, &mut PackedBitReader::new(&bytes));
    assert_eq!(found, numbers);
    assert_eq!(bytes.len(), mode.packed_bits(numbers.len()).div_ceil(8));
    assert_eq!(
        ColumnPackingMode::read(&mut WireItemReader::unversioned(&written)).unwrap(),
        mode
    );
    (written, bytes)
}

#[test]
fn digits_share_words_of_64_bits() {
    // 0 + 1 × 3 + 2 × 9, one of 27 words.
    let digits = ColumnPackingMode::Digits { base: -1, radix: 3 };
    assert_eq!(
        packed(digits, &[-1, 0, 1]),
        (vec![0xFE, 1, 3], vec![0b10101])
    );
    for radix in [3, 4, 5, 10, 4_999, 65_536, 65_537, 6_074_001_000, u64::MAX] {
        for count in [0, 1, 2, 63, 200] {
            let digit = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % radix;
            let mut numbers: Vec<i64> = (0..count).map(|at| digit(at) as i64).collect();
            numbers.extend([0, (radix - 1) as i64, (radix - 1) as i64]);
            packed(ColumnPackingMode::Digits { base: 0, radix }, &numbers);
        }
    }
    // Five numbers of twelve bits and a bit in 62 bits instead of 65.
    let noise: Vec<i64> = (0..100_i64).map(|at| at * at * 7_919 % 5_000).collect();
    let chosen = ColumnPackingMode::choose(&noise, 4, true);
    assert!(
        matches!(chosen, ColumnPackingMode::Digits { .. }),
        "{chosen:?}"
    );
    assert_eq!(chosen.packed_bits(100), 20 * 62);
}

#[test]
fn packed_numbers_have_the_bits_the_format_says() {
    // 0, 5 and 2 in three bits each, the first lowest.
    let frame = ColumnPackingMode::Frame { base: -3, bits: 3 };
    assert_eq!(
        packed(frame, &[-3, 2, -1]),
        (vec![3, 5], vec![0b1010_1000, 0])
    );
    // Differences of 10, 11 and 10.
    let differences = ColumnPackingMode::Differences {
        first: 1,
        base: 10,
        bits: 1,
    };
    assert_eq!(
        packed(differences, &[1, 11, 22, 32]),
        (vec![0x81, 2, 20], vec![0b010])
    );
    let steps: Vec<i64> = (0..100).map(|number| 7 * number).collect();
    let chosen = ColumnPackingMode::choose(&steps, 4, true);
    assert_eq!(
        chosen,
        ColumnPackingMode::Differences {
            first: 0,
            base: 7,
            bits: 0
        }
    );
    let extremes = [i64::MIN, i64::MAX, 0, -1];
    for bits in [64, 63, 57, 1] {
        let numbers: Vec<i64> = (0..500)
            .map(|at| extremes[at % 4] & (-1 >> (64 - bits)))
            .collect();
        let chosen = ColumnPackingMode::choose(&numbers, 8, false);
        packed(chosen, &numbers);
    }
    packed(
        ColumnPackingMode::Frame {
            base: i64::MIN,
            bits: 64,
        },
        &extremes,
    );
}

/// Writes `value` at `offset` of the golden leaf and asks for what is wrong.
#[track_caller]
fn refused(offset: usize, value: &[u8], expected: &str) {
    let mut bytes = golden_leaf();
    put(&mut bytes, offset, value);
    assert_refused(&bytes, expected);
}

#[track_caller]
fn assert_refused(bytes: &[u8], expected: &str) {
    let error = RowPage::open(bytes).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn the_header_is_known() {
    refused(0, &[2], "layout version 2");
    refused(1, &[2], "kind 2 on level 0");
    refused(2, &[1], "kind 1 on level 1");
    refused(3, &[1], "unknown flags");
    refused(14, &[1], "unknown flags");
}

#[test]
fn slots_heap_and_fences_follow_each_other() {
    refused(4, &[0xFF, 0xFF], "do not fit the page");
    refused(16, &[55, 0], "do not fit the page");
    refused(16, &[0, 0, 1], "do not fit the page");
    refused(20, &[8], "do not fit the page");
    refused(10, &[0xFF, 0x0F], "do not fit the page");
    refused(8, &[3], "prefix is longer");
}

#[test]
fn fences_are_short_and_ascend() {
    refused(4092, b"ae", "do not ascend");
    refused(4092, b"ad", "do not ascend");
    let mut bytes = vec![0; PAGE_BYTES];
    RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    put(&mut bytes, 10, &513_u16.to_le_bytes());
    put(&mut bytes, 16, &(4096_u32 - 513).to_le_bytes());
    assert_refused(&bytes, "fences are too long");
}

#[test]
fn the_prefix_is_what_the_fences_share() {
    refused(8, &[0], "prefix of 0 bytes, fences share 1");
    refused(4094, b"b", "prefix of 1 bytes, fences share 0");
}

#[test]
fn lengths_are_within_limits() {
    refused(38, &512_u16.to_le_bytes(), "entry 0 is longer");
    refused(50, &746_u16.to_le_bytes(), "entry 1 is longer");
}

#[test]
fn records_lie_in_the_heap_and_apart() {
    refused(
        46,
        &4085_u16.to_le_bytes(),
        "record of entry 1 is outside of the heap or in another",
    );
    refused(
        46,
        &4087_u16.to_le_bytes(),
        "record of entry 1 is outside of the heap or in another",
    );
    refused(
        36,
        &4084_u16.to_le_bytes(),
        "record of entry 0 is outside of the heap or in another",
    );
    refused(20, &[1], "7 in records and 1 dead");
    refused(50, &[1, 0], "6 in records and 0 dead");
}

#[test]
fn a_record_without_bytes_has_no_place() {
    let mut bytes = vec![0; PAGE_BYTES];
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    page.insert(b"", b"", false).unwrap();
    RowPage::open(&bytes).unwrap();
    put(&mut bytes, 36, &[9]);
    assert_refused(&bytes, "record of entry 0");
}

#[test]
fn heads_are_those_of_the_keys() {
    refused(42, b"c", "head of entry 0");
    refused(45, &[1], "head of entry 0");
    refused(4089, b"4", "head of entry 1");
}

#[test]
fn keys_ascend() {
    let mut bytes = golden_leaf();
    put(&mut bytes, 4085, b"c");
    put(&mut bytes, 42, b"c");
    put(&mut bytes, 4086, b"b");
    put(&mut bytes, 52, b"b");
    assert_refused(&bytes, "entry 1 is not greater");
}

#[test]
fn keys_lie_between_the_fences() {
    let mut bytes = golden_leaf();
    put(&mut bytes, 4085, b"a");
    put(&mut bytes, 42, b"a");
    assert_refused(&bytes, "entry 0 is outside of the fences");
    let mut bytes = golden_leaf();
    put(&mut bytes, 4086, b"d");
    put(&mut bytes, 52, b"d");
    assert_refused(&bytes, "entry 1 is outside of the fences");
}

#[test]
fn children_are_pages_and_the_first_is_under_the_lower_fence() {
    let mut healthy = vec![0; PAGE_BYTES];
    let setup = PageSetup {
        level: 1,
        lower: b"b",
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut healthy, &setup).unwrap();
    page.insert(b"b", &[16], false).unwrap();
    page.insert(b"c", &[17], false).unwrap();
    every_invariant(&RowPage::open(&healthy).unwrap()).unwrap();
    let mut bytes = healthy.clone();
    put(&mut bytes, 4092, &[0]);
    assert_refused(&bytes, "value of entry 1 is no number");
    let mut bytes = healthy.clone();
    put(&mut bytes, 41, &[0x80]);
    assert_refused(&bytes, "value of entry 0 is no number");
    let mut bytes = healthy;
    put(&mut bytes, 4093, b"bb");
    put(&mut bytes, 38, &[2, 0, 0, 0, b'b', b'b']);
    assert_refused(&bytes, "value of entry 0 is no number");
    let mut bytes = golden_leaf();
    put(&mut bytes, 1, &[2, 1]);
    put(&mut bytes, 40, &[0, 0]);
    put(&mut bytes, 38, &[1, 0, 0, 0]);
    assert_refused(&bytes, "value of entry 0 is no number");
}

#[test]
fn the_first_key_of_an_inner_page_is_the_lower_fence() {
    let mut bytes = vec![0; PAGE_BYTES];
    let setup = PageSetup {
        level: 1,
        lower: b"b",
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut bytes, &setup).unwrap();
    page.insert(b"b", &[16], false).unwrap();
    put(&mut bytes, 42, b"c");
    put(&mut bytes, 4093, b"c");
    assert_refused(&bytes, "first key of an inner page");
}
