#![allow(clippy::unwrap_used)]

use super::*;
use crate::volume::PageId;
use quire_codec::block::BlockCodecId;

fn page(number: u64) -> PageId {
    PageId::new(number).unwrap()
}

/// What is cut off anywhere, or followed by something, is no such structure.
fn assert_exact<T: std::fmt::Debug>(bytes: &[u8], decode: impl Fn(&[u8]) -> Result<T, Corrupt>) {
    assert!(decode(bytes).is_ok());
    for cut in 0..bytes.len() {
        assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let longer = [bytes, &[0]].concat();
    assert!(decode(&longer).is_err(), "a byte more");
}

/// Flipped bits are an error or another value, and never a panic.
fn flip_bits<T>(bytes: &[u8], decode: impl Fn(&[u8]) -> Result<T, Corrupt>) {
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode(&flipped);
    }
}

#[test]
fn a_record_comes_back() {
    let pointer = RecordPointer {
        page: page(300),
        codec: BlockCodecId::Zstd,
        raw_bytes: 4096,
        stored_bytes: 200,
        dictionary: None,
    };
    // 300, zstd, 4,096 = 32 << 7, 200 = 1 << 7 | 72.
    let bytes = [0b1010_1100, 0b10, 6, 0x80, 32, 0x80 | 72, 1];
    assert_eq!(pointer.encode(), bytes);
    let with_dictionary = RecordPointer {
        dictionary: Some(page(17)),
        ..pointer
    };
    let longer = [0b1010_1100, 0b10, 0x80 | 6, 0x80, 32, 0x80 | 72, 1, 17];
    assert_eq!(with_dictionary.encode(), longer);
    for (bytes, pointer) in [(&bytes[..], pointer), (&longer[..], with_dictionary)] {
        assert_eq!(RecordPointer::decode(bytes), Ok(pointer));
        assert_exact(bytes, RecordPointer::decode);
        flip_bits(bytes, RecordPointer::decode);
    }
    let of_lz4 = RecordPointer {
        codec: BlockCodecId::Lz4,
        ..with_dictionary
    };
    assert!(RecordPointer::decode(&of_lz4.encode()).is_err());
    let plain = |raw_bytes, stored_bytes| {
        let codec = BlockCodecId::None;
        RecordPointer {
            codec,
            raw_bytes,
            stored_bytes,
            ..pointer
        }
    };
    assert!(RecordPointer::decode(&plain(4096, 4096).encode()).is_ok());
    for (raw_bytes, stored_bytes) in [(4096, 4095), (0, 0), (1 << 21, 1 << 21)] {
        let wrong = plain(raw_bytes, stored_bytes).encode();
        assert!(RecordPointer::decode(&wrong).is_err(), "{raw_bytes}");
    }
}

#[test]
fn the_space_of_a_file_comes_back() {
    let mut space = FileSpace {
        record_count: 3,
        raw_bytes: 300,
        stored_bytes: 200,
        written: 9,
        ..FileSpace::default()
    };
    let measured = MeasuredCodec {
        codec: BlockCodecId::Zstd,
        level: -5,
        sampled_at: 8,
        dictionary: None,
    };
    let one = FileDictionaries {
        count: 1,
        trained_at: 4,
    };
    let with_dictionary = MeasuredCodec {
        dictionary: Some(page(300)),
        ..measured
    };
    for (measured, dictionaries) in [
        (None, FileDictionaries::default()),
        (Some(measured), FileDictionaries::default()),
        (Some(measured), one),
        (Some(with_dictionary), one),
    ] {
        space.measured = measured;
        space.dictionaries = dictionaries;
        let bytes = space.encode();
        assert_eq!(FileSpace::decode(&bytes), Ok(space));
        assert_exact(&bytes, FileSpace::decode);
        flip_bits(&bytes, FileSpace::decode);
    }
}

#[test]
fn keys_come_back_and_are_neighbours() {
    let name = [7; NAME_BYTES_MAX];
    let items = [
        DataSetItem::Orphan(7),
        DataSetItem::Attributes(1),
        DataSetItem::Space(1),
        DataSetItem::Extended(1, b"user.a"),
        DataSetItem::Entry(1, b"a"),
        DataSetItem::Entry(1, b"b"),
        DataSetItem::Attributes(2),
        DataSetItem::Entry(2, &name),
        DataSetItem::Record(2, 0),
        DataSetItem::Record(2, 255),
        DataSetItem::Record(2, 256),
        DataSetItem::Dictionary(2, page(17)),
        DataSetItem::Dictionary(2, page(300)),
        DataSetItem::Attributes(300),
    ];
    let keys: Vec<Vec<u8>> = items.iter().map(DataSetItem::key).collect();
    assert!(keys.is_sorted());
    for (item, key) in items.iter().zip(&keys) {
        assert_eq!(DataSetItem::decode(key), Ok(*item));
        assert!(key.len() <= ITEM_KEY_BYTES_MAX);
    }
    assert!(keys[11].starts_with(&DataSetItem::dictionaries_of(2)));
    let long = [&keys[7][..], &[1]].concat();
    let no_page = [&DataSetItem::dictionaries_of(2)[..], &[0; 8]].concat();
    for wrong in [
        &b""[..],
        &[0; 8],
        &[0; 9],
        &long[..],
        &no_page[..],
        &[0, 0, 0, 0, 0, 0, 0, 1, 8],
    ] {
        assert!(DataSetItem::decode(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn attributes_come_back() {
    let time = |seconds| FileTime {
        seconds,
        nanoseconds: 999_999_999,
    };
    let attributes = InodeAttributes {
        kind: InodeKind::Directory,
        record_bytes: 1 << 17,
        mode: 0o7755,
        uid: u32::MAX,
        gid: 5,
        links: 2,
        size: i64::MAX as u64,
        device: 77,
        parent: 1,
        accessed: time(-1),
        modified: time(i64::MAX),
        changed: time(0),
    };
    let bytes = attributes.encode();
    assert_eq!(InodeAttributes::decode(&bytes), Ok(attributes));
    assert_exact(&bytes, InodeAttributes::decode);
    flip_bits(&bytes, InodeAttributes::decode);
    let item = DirectoryItem {
        inode: 300,
        kind: InodeKind::Link,
    };
    assert_eq!(item.encode(), [0b1010_1100, 0b10, 3]);
    assert_eq!(DirectoryItem::decode(&item.encode()), Ok(item));
    assert_exact(&item.encode(), DirectoryItem::decode);
}

#[test]
fn names_of_codecs_come_back() {
    let mut names = vec![
        "auto", "off", "zle", "lzjb", "lzjb-zfs", "lz4", "lz4hc", "gzip", "zstd",
    ];
    names.extend([
        "gzip-1",
        "gzip-9",
        "lz4hc-3",
        "zstd-1",
        "zstd-22",
        "zstd-fast-7",
    ]);
    for name in names {
        let codec = DataSetCodec::from_name(name).unwrap();
        assert_eq!(codec.to_string(), name);
    }
    let default = DataSetCodec::from_name("gzip-6");
    assert_eq!(default, DataSetCodec::from_name("gzip"));
    for wrong in [
        "",
        "lz",
        "gzip-0",
        "gzip-10",
        "gzip--1",
        "lz4-1",
        "zstd-23",
        "zstd-fast",
        "zstd-",
    ] {
        assert_eq!(DataSetCodec::from_name(wrong), None, "{wrong}");
    }
}

fn table() -> DataSetTable {
    let mut totals = DataSetTotals::default();
    totals.codecs[6] = CodecTotals {
        records: 3,
        raw_bytes: 1 << 40,
        stored_bytes: 1 << 30,
    };
    let snapshot = |name: &str, boundary| SnapshotDefinition {
        name: name.to_owned(),
        boundary,
        is_dying: boundary == 30,
        root: PageId::new(boundary - 1),
        taken: FileTime::default(),
        totals,
        dead: vec![page(18)],
    };
    let set = |name: &str, id, head| DataSetDefinition {
        name: name.to_owned(),
        id,
        is_dying: false,
        head: page(head),
        properties: DataSetProperties::default(),
        origin: None,
        snapshots: Vec::new(),
    };
    let mut first = set("a", 2, 16);
    first.snapshots = vec![snapshot("monday", 20), snapshot("friday", 30)];
    first.properties = DataSetProperties {
        compression: DataSetCodec::from_name("zstd-fast-3"),
        record_bytes: Some(RECORD_BYTES_MAX),
        sectors: Some(SectorRounding::Bytes4096),
        gain_per_mille: Some(125),
        synchronous: Some(SynchronousWrites::Logged),
        quota_bytes: Some(1 << 33),
    };
    let mut second = set("a/b", 1, 17);
    second.origin = Some(SnapshotOrigin {
        set: 2,
        boundary: 20,
    });
    DataSetTable {
        next_id: 3,
        sets: vec![first, second],
    }
}

#[test]
fn a_table_of_data_sets_comes_back() {
    let bytes = table().encode();
    assert_eq!(DataSetTable::decode(&bytes), Ok(table()));
    assert_exact(&bytes, DataSetTable::decode);
    flip_bits(&bytes, DataSetTable::decode);
}

/// What is done to a table.
type TableDamage = fn(&mut DataSetTable);

#[test]
fn a_table_that_contradicts_itself_is_refused() {
    let damages: [(&str, TableDamage); 7] = [
        ("order", |table| table.sets.swap(0, 1)),
        ("name", |table| table.sets[1].name = "a".to_owned()),
        ("id", |table| table.sets[1].id = 2),
        ("next id", |table| table.next_id = 2),
        ("head", |table| table.sets[1].head = table.sets[0].head),
        ("origin", |table| table.sets[0].snapshots[0].boundary = 19),
        ("boundaries", |table| {
            table.sets[0].snapshots[1].boundary = 20
        }),
    ];
    for (name, damage) in damages {
        let mut table = table();
        damage(&mut table);
        assert!(DataSetTable::decode(&table.encode()).is_err(), "{name}");
    }
}

#[test]
fn a_head_and_its_dead_pages_come_back() {
    let head = DataSetHead {
        id: 4,
        has_dictionaries: false,
        root: None,
        next_inode: 2,
        used_bytes: 1 << 50,
        totals: DataSetTotals::default(),
        dead: vec![page(20), page(19)],
        log: vec![page(21)],
    };
    let with_dictionaries = DataSetHead {
        has_dictionaries: true,
        ..head.clone()
    };
    for (version, head) in [(1, head), (2, with_dictionaries)] {
        let bytes = head.encode();
        assert_eq!(bytes[0], version);
        assert_eq!(DataSetHead::decode(&bytes), Ok(head));
        assert_exact(&bytes, DataSetHead::decode);
        flip_bits(&bytes, DataSetHead::decode);
    }
    let dead = DeadPages {
        pages: vec![page(16), page(300), page(301)],
    };
    // 300 - 16 is 0b10_0011100.
    let bytes = [1, 3, 16, 0b1001_1100, 0b10, 1];
    assert_eq!(dead.encode(), bytes);
    assert_eq!(DeadPages::decode(&bytes), Ok(dead));
    assert_exact(&bytes, DeadPages::decode);
    assert!(DeadPages::decode(&[1, 2, 16, 0]).is_err(), "twice");
    assert!(DeadPages::decode(&[1, 0]).is_err(), "none");
}

fn entries(count: u64) -> Vec<NodeEntry> {
    let record = |index: u64| NodeEntry {
        key: DataSetItem::Record(5, index * 7).key(),
        value: vec![index as u8; index as usize % 13],
    };
    (0..count).map(record).collect()
}

#[test]
fn a_node_finds_what_it_has() {
    for count in [1, 2, 3, 100, 500] {
        let entries = entries(count);
        let bytes = encode_node(0, &entries);
        let mut size = NodeSize::default();
        for entry in &entries {
            size = size.with(&entries[0].key, entry);
        }
        assert_eq!(size.bytes(), bytes.len(), "{count}");
        let node = DataSetNode::open(&bytes).unwrap();
        assert_eq!((node.level(), node.count()), (0, entries.len()));
        node.verify().unwrap();
        for number in 0..count * 7 + 2 {
            let key = DataSetItem::Record(5, number).key();
            let expected = entries.iter().position(|entry| entry.key >= key);
            let (at, is_equal) = node.search(&key).unwrap();
            assert_eq!(at, expected.unwrap_or(entries.len()));
            assert_eq!(is_equal, expected.is_some_and(|at| entries[at].key == key));
        }
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(node.entry(at).unwrap(), *entry);
        }
        assert!(node.entry(entries.len()).is_err());
        for (key, expected) in [(&b""[..], 0), (&[0; 8][..], 0), (&[255][..], entries.len())] {
            assert_eq!(node.search(key).unwrap(), (expected, false));
        }
    }
}

#[test]
fn an_inner_node_leads_to_its_children() {
    let children: Vec<NodeEntry> = (1..9)
        .map(|number| NodeEntry::of_child(DataSetItem::Attributes(number * 10).key(), page(number)))
        .collect();
    let bytes = encode_node(1, &children);
    let node = DataSetNode::open(&bytes).unwrap();
    node.verify().unwrap();
    for number in 1..100 {
        let at = node.child_for(&DataSetItem::Attributes(number).key());
        let expected = (number / 10).clamp(1, 8);
        assert_eq!(node.child(at.unwrap()), Ok(page(expected)), "{number}");
    }
    assert!(
        DataSetNode::open(&encode_node(1, &entries(3)))
            .unwrap()
            .verify()
            .is_err()
    );
}

#[test]
fn damaged_nodes_are_errors() {
    let bytes = encode_node(0, &entries(40));
    let read = |bytes: &[u8]| {
        let node = DataSetNode::open(bytes)?;
        node.verify()?;
        node.search(&DataSetItem::Record(5, 70).key())?;
        (0..node.count())
            .map(|at| node.entry(at))
            .collect::<Result<Vec<_>, _>>()
    };
    assert!(read(&bytes).is_ok());
    flip_bits(&bytes, read);
    for cut in 0..6 + 80 {
        assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for cut in 0..bytes.len() {
        let _ = read(&bytes[..cut]);
    }
    assert!(read(&encode_node(0, &[])).is_err(), "no entry");
    let mut unsorted = entries(3);
    unsorted.swap(1, 2);
    assert!(read(&encode_node(0, &unsorted)).is_err(), "order");
}

#[test]
fn a_log_of_writes_comes_back() {
    let log = LoggedWrites {
        writes: vec![
            LoggedWrite {
                inode: 300,
                offset: 0,
                modified: FileTime {
                    seconds: 1,
                    nanoseconds: 2,
                },
                bytes: b"abc".to_vec(),
            },
            LoggedWrite {
                inode: 5,
                offset: 128,
                modified: FileTime::default(),
                bytes: vec![7],
            },
        ],
    };
    // 300 and 128 in two bytes each, times zigzag and plain.
    let bytes = [
        1,
        2,
        0b1010_1100,
        0b10,
        0,
        2,
        2,
        3,
        b'a',
        b'b',
        b'c',
        5,
        0x80,
        1,
        0,
        0,
        1,
        7,
    ];
    assert_eq!(log.encode(), bytes);
    assert_eq!(LoggedWrites::decode(&bytes), Ok(log));
    assert_exact(&bytes, LoggedWrites::decode);
    flip_bits(&bytes, LoggedWrites::decode);
    let far = [
        1, 1, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 1, 7,
    ];
    assert!(
        LoggedWrites::decode(&far).is_err(),
        "beyond the longest file"
    );
}
