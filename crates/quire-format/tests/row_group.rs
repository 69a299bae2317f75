//! The three versions of the row-group page: bytes worked out by hand from `FORMAT.md`, and what refers to a block.
#![allow(clippy::unwrap_used)]

use quire_codec::{CodecId, CodecScalar, PhysicalType};
use quire_format::relation::ColumnRelation;
use quire_format::row_group::{ColumnChunk, Decision, RowGroup};
use quire_format::volume::{MAX_PAYLOAD_BYTES, PageId};
use quire_format::zone::ZoneBounds;

fn page(number: u64) -> PageId {
    PageId::new(number).unwrap()
}

fn zone(min: i64, max: i64, null_count: u64) -> ZoneBounds {
    ZoneBounds {
        min: Some(CodecScalar::Int64(min)),
        max: Some(CodecScalar::Int64(max)),
        min_exact: true,
        max_exact: true,
        null_count,
    }
}

fn numbers(pages: Vec<PageId>) -> ColumnChunk {
    ColumnChunk {
        physical_type: PhysicalType::Int64,
        codec: CodecId::Pfor,
        pages,
        encoded_bytes: 40,
        raw_bytes: 24,
        estimated_bytes: 41,
        runner_up: None,
        decision: Decision::Followed,
        relation: None,
        dictionary: None,
        zone: zone(-5, 9, 1),
        group_zones: vec![zone(-5, 9, 1)],
    }
}

fn texts(pages: Vec<PageId>) -> ColumnChunk {
    let zone = ZoneBounds {
        min: Some(CodecScalar::Bytes(b"ab".to_vec())),
        ..ZoneBounds::default()
    };
    ColumnChunk {
        physical_type: PhysicalType::Bytes,
        codec: CodecId::Fsst,
        pages,
        encoded_bytes: 300,
        raw_bytes: 5,
        estimated_bytes: 6,
        runner_up: Some((CodecId::Zstd, 7)),
        decision: Decision::Analysed,
        relation: None,
        dictionary: None,
        zone: zone.clone(),
        group_zones: vec![zone],
    }
}

/// A row group of version 2, and its bytes.
fn second_version() -> (RowGroup, Vec<u8>) {
    let row_group = RowGroup {
        row_count: 3,
        block: Vec::new(),
        columns: vec![numbers(vec![page(17)]), texts(vec![page(18), page(1000)])],
    };
    let bytes = [
        // Version, rows, columns.
        &[2, 3, 2][..],
        // Type, codec, flags (decision 2), one page, 40, 24 and 41 bytes.
        &[4, 3, 2 << 2, 1, 17, 40, 24, 41],
        // Zone: both bounds, both exact; one NULL; -5 in zigzag; the distance to 9.
        &[15, 1, 9, 14],
        // The zone of the vector group: its least value is that of the zone, so the distance is 0.
        &[15, 1, 0, 14],
        // Type, codec, flags (a runner-up), two pages (1000 in two bytes), 300 bytes in two, 5, 6, the runner-up.
        &[8, 6, 1, 2, 18, 0xe8, 7, 0xac, 2, 5, 6, 8, 7],
        // Zone: a lower bound, which shares no bytes with anything and has two.
        &[1, 0, 0, 2, b'a', b'b'],
        // That of the vector group shares both.
        &[1, 0, 2, 0],
    ];
    (row_group, bytes.concat())
}

/// A row group of version 3, and its bytes.
fn third_version() -> (RowGroup, Vec<u8>) {
    let row_group = RowGroup {
        row_count: 3,
        block: vec![page(17), page(1000)],
        columns: vec![numbers(Vec::new()), texts(Vec::new())],
    };
    let bytes = [
        // Version, rows, the two pages of the block, columns.
        &[3, 3, 2, 17, 0xe8, 7, 2][..],
        // As in version 2 without pages; bit 5: the zone is that of the only vector group.
        &[4, 3, 2 << 2 | 1 << 5, 40, 24, 41],
        &[15, 1, 9, 14],
        &[8, 6, 1 | 1 << 5, 0xac, 2, 5, 6, 8, 7],
        &[1, 0, 0, 2, b'a', b'b'],
    ];
    (row_group, bytes.concat())
}

#[test]
fn every_version_has_the_bytes_of_the_format() {
    for (row_group, bytes) in [second_version(), third_version(), fourth_version()] {
        assert_eq!(row_group.encode(), bytes);
        assert_eq!(RowGroup::decode(&bytes).unwrap(), row_group);
    }
}

/// A row group of version 4, and its bytes.
fn fourth_version() -> (RowGroup, Vec<u8>) {
    let shared = ColumnChunk {
        codec: CodecId::Dictionary,
        dictionary: Some(0x0102_0304_0506_0708),
        ..texts(vec![page(18), page(1000)])
    };
    let row_group = RowGroup {
        row_count: 3,
        block: Vec::new(),
        columns: vec![numbers(vec![page(17)]), shared],
    };
    let bytes = [
        // As in version 2.
        &[4, 3, 2][..],
        &[4, 3, 2 << 2, 1, 17, 40, 24, 41],
        &[15, 1, 9, 14],
        &[15, 1, 0, 14],
        // Bit 6 of the flags: a fingerprint follows the runner-up.
        &[8, 5, 1 | 1 << 6, 2, 18, 0xe8, 7, 0xac, 2, 5, 6, 8, 7],
        &[8, 7, 6, 5, 4, 3, 2, 1],
        &[1, 0, 0, 2, b'a', b'b'],
        &[1, 0, 2, 0],
    ];
    (row_group, bytes.concat())
}

#[test]
fn only_strings_with_a_dictionary_share_it() {
    let fails = |change: fn(&mut ColumnChunk)| {
        let (mut row_group, _) = fourth_version();
        change(&mut row_group.columns[1]);
        assert!(RowGroup::decode(&row_group.encode()).is_err());
    };
    fails(|chunk| chunk.codec = CodecId::Fsst);
    fails(|chunk| chunk.relation = Some(ColumnRelation::Map(0)));
    // No map is from the codes of another row group.
    let (mut row_group, _) = fourth_version();
    row_group.columns[0].relation = Some(ColumnRelation::Map(1));
    assert!(RowGroup::decode(&row_group.encode()).is_err());
    row_group.columns[1].dictionary = None;
    assert!(RowGroup::decode(&row_group.encode()).is_ok());
    // Version 4 without a shared dictionary, and version 2 with one.
    let (_, mut second) = second_version();
    second[0] = 4;
    assert!(RowGroup::decode(&second).is_err());
    let (_, mut fourth) = fourth_version();
    fourth[0] = 2;
    assert!(RowGroup::decode(&fourth).is_err());
}

#[test]
fn a_zone_that_says_more_than_its_vector_group_is_written_beside_it() {
    let (mut row_group, bytes) = third_version();
    row_group.columns[0].zone = zone(-6, 9, 1);
    let written = row_group.encode();
    assert_eq!(RowGroup::decode(&written).unwrap(), row_group);
    // -6 in zigzag, the distance to 9, and then the zone of the vector group with its distances.
    let expected = [
        &bytes[..9],
        &[2 << 2, 40, 24, 41, 15, 1, 11, 15, 15, 1, 1, 14],
        &bytes[17..],
    ];
    assert_eq!(written, expected.concat());
}

#[test]
fn segments_in_a_block_follow_each_other() {
    let (second, _) = second_version();
    let (third, _) = third_version();
    assert!(!second.has_block() && third.has_block());
    assert_eq!(second.column_pages(0), [page(17)]);
    assert_eq!(second.column_pages(1), [page(18), page(1000)]);
    assert_eq!(second.column_range(1), Some(0..300));
    assert_eq!(second.column_image_bytes(1), 300);
    for column in 0..2 {
        assert_eq!(third.column_pages(column), [page(17), page(1000)]);
        assert_eq!(third.column_image_bytes(column), 340);
    }
    assert_eq!(third.column_range(0), Some(0..40));
    assert_eq!(third.column_range(1), Some(40..340));
    for row_group in [&second, &third] {
        assert_eq!(row_group.encoded_bytes(), 340);
        assert_eq!(row_group.column_pages(2), []);
        assert_eq!(row_group.column_range(2), None);
        assert_eq!(row_group.column_image_bytes(2), 0);
    }
    let pages = |row_group: &RowGroup| row_group.segment_pages().copied().collect::<Vec<_>>();
    assert_eq!(pages(&second), [page(17), page(18), page(1000)]);
    assert_eq!(pages(&third), [page(17), page(1000)], "each once");
}

#[test]
fn relations_are_kept_in_a_block() {
    let (mut row_group, _) = third_version();
    row_group.columns.push(ColumnChunk {
        relation: Some(ColumnRelation::Same(0)),
        ..numbers(Vec::new())
    });
    assert_eq!(RowGroup::decode(&row_group.encode()).unwrap(), row_group);
    row_group.columns[2].relation = Some(ColumnRelation::Same(2));
    assert!(RowGroup::decode(&row_group.encode()).is_err());
}

#[test]
fn a_block_that_cannot_hold_its_segments_is_refused() {
    let fails = |change: fn(&mut RowGroup)| {
        let (mut row_group, _) = third_version();
        change(&mut row_group);
        let error = RowGroup::decode(&row_group.encode()).unwrap_err();
        assert!(error.to_string().contains("in 2 pages"), "{error}");
    };
    fails(|row_group| row_group.columns[1].encoded_bytes = 2 * MAX_PAYLOAD_BYTES as u64 - 39);
    fails(|row_group| row_group.columns[1].encoded_bytes = u64::MAX);
    let (mut row_group, bytes) = third_version();
    row_group.columns[1].encoded_bytes = 2 * MAX_PAYLOAD_BYTES as u64 - 40;
    assert!(RowGroup::decode(&row_group.encode()).is_ok());
    // A block of no pages.
    let empty = [&[3, 3, 0][..], &bytes[6..]].concat();
    let error = RowGroup::decode(&empty).unwrap_err();
    assert!(error.to_string().contains("without pages"), "{error}");
    for version in [0, 1, 4, 5, 255] {
        let mut unknown = bytes.clone();
        unknown[0] = version;
        assert!(RowGroup::decode(&unknown).is_err(), "version {version}");
    }
}

#[test]
fn only_a_row_group_of_one_vector_group_has_the_zone_of_that() {
    let (_, mut bytes) = third_version();
    // 8,193 rows: two vector groups.
    bytes.splice(1..2, [0x81, 0x40]);
    let error = RowGroup::decode(&bytes).unwrap_err();
    assert!(error.to_string().contains("flags"), "{error}");
    let (_, mut bytes) = second_version();
    bytes[5] |= 1 << 5;
    assert!(RowGroup::decode(&bytes).is_err(), "not in version 2");
}

#[test]
fn prefixes_extensions_and_damage_are_errors_or_other_row_groups() {
    for (_, bytes) in [second_version(), third_version(), fourth_version()] {
        for length in 0..bytes.len() {
            assert!(
                RowGroup::decode(&bytes[..length]).is_err(),
                "{length} bytes"
            );
        }
        assert!(RowGroup::decode(&[bytes.as_slice(), &[0]].concat()).is_err());
        for position in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[position] = value;
                let Ok(decoded) = RowGroup::decode(&damaged) else {
                    continue;
                };
                assert_eq!(RowGroup::decode(&decoded.encode()).unwrap(), decoded);
                for column in 0..decoded.columns.len() {
                    let range = decoded.column_range(column);
                    let end = range.map_or(0, |range| range.end as u64);
                    assert!(end <= decoded.column_image_bytes(column));
                }
            }
        }
    }
}
