//! The metadata pages: what is written is read, and no byte string makes reading them fail otherwise than
//! with an error.
#![allow(clippy::unwrap_used)]

use quire_codec::{CodecId, CodecScalar, PhysicalType};
use quire_format::catalog::{
    AddedRecord, CatalogKeyPart, CatalogRecord, CheckRecord, ColumnRecord, ColumnSequence,
    DictionaryRecord, ForeignKeyRecord, GeneratedKind, IndexRecord, KeyRecord, ReferentialAction,
    RoleRecord, SequenceOwner, SequenceRecord, StringCodesRecord, TableRecord, TableStorage,
    TreeRecord, TreeRole, TypeRecord, ViewRecord,
};
use quire_format::distinct_sketch::{DistinctSketch, hash_u64};
use quire_format::relation::ColumnRelation;
use quire_format::row_group::{ColumnChunk, Decision, RowGroup};
use quire_format::table_root::{
    ColumnSummary, RowGroupPointer, SharedDictionaryPointer, TableRoot,
};
use quire_format::volume::PageId;
use quire_format::zone::ZoneBounds;

fn page(number: u64) -> PageId {
    PageId::new(number).unwrap()
}

fn column(name: &str, id: u8, compression: Option<CodecId>) -> ColumnRecord {
    ColumnRecord {
        name: name.to_owned(),
        column_type: TypeRecord {
            id,
            first: 15,
            second: 2,
        },
        nullable: compression.is_none(),
        compression,
        default: None,
        sequence: None,
        is_dropped: false,
        added: None,
        stores_null: id == 7,
        dictionary: (id == 11).then(|| DictionaryRecord {
            code_bits: 9,
            entries: (0..300_u16)
                .map(|entry| entry.to_le_bytes().to_vec())
                .collect(),
        }),
        string_codes: (id == 11).then(|| StringCodesRecord {
            codec: CodecId::Huffman,
            table: vec![7; 300],
        }),
        padded_bytes: (id == 11).then_some(255),
        key_code: (id == 11).then(|| vec![9; 5_000]),
    }
}

fn tree(role: TreeRole, id: u64) -> TreeRecord {
    TreeRecord {
        role,
        id,
        root: page(900 + id),
    }
}

fn row_table() -> TableRecord {
    let mut columns = [0, 1, 2, 3, 4].map(|number| column(&format!("c{number}"), 3, None));
    columns[0].default = Some("now() + 1".to_owned());
    columns[1].sequence = Some(ColumnSequence {
        id: 14,
        kind: GeneratedKind::Always,
    });
    columns[2].is_dropped = true;
    columns[3].added = Some(AddedRecord { missing: None });
    columns[4].added = Some(AddedRecord {
        missing: Some(vec![1, 2, 3, 4]),
    });
    let part = |column, is_descending| CatalogKeyPart {
        column,
        is_descending,
    };
    let key = |name: &str, columns| KeyRecord {
        name: name.to_owned(),
        columns,
    };
    TableRecord {
        id: 9,
        name: "t".to_owned(),
        storage: TableStorage::Row,
        root_pages: Vec::new(),
        columns: columns.to_vec(),
        primary_key: Some(key("t_pkey", vec![part(1, true), part(0, false)])),
        indexes: vec![
            IndexRecord {
                id: 10,
                key: key("t_key", vec![part(300, false)]),
                is_unique: true,
                is_constraint: true,
            },
            IndexRecord {
                id: 11,
                key: key("i", vec![part(4, true)]),
                is_unique: false,
                is_constraint: false,
            },
        ],
        checks: vec![CheckRecord {
            name: "t_check".to_owned(),
            condition: "c1 > 0".to_owned(),
        }],
        foreign_keys: vec![ForeignKeyRecord {
            name: "t_fkey".to_owned(),
            columns: vec![0, 4],
            referenced_table: "orders".to_owned(),
            referenced_columns: vec![1, 0],
            on_delete: ReferentialAction::Cascade,
            on_update: ReferentialAction::SetDefault,
        }],
        options: vec![(1, 8192), (3, -7)],
        trees: vec![
            tree(TreeRole::Rows, 1),
            tree(TreeRole::Overflow, 2),
            tree(TreeRole::Index(10), 3),
            tree(TreeRole::Index(11), 4),
        ],
    }
}

fn catalog() -> CatalogRecord {
    let table = |id: u64, name: &str| TableRecord {
        id,
        name: name.to_owned(),
        root_pages: vec![page(100 + id), page(1 << 39)],
        columns: vec![
            column("größe", 7, None),
            column("b", 11, Some(CodecId::Zstd)),
        ],
        ..TableRecord::default()
    };
    let sequence = |id, name: &str, owner| SequenceRecord {
        id,
        name: name.to_owned(),
        value_type: column("", 4, None).column_type,
        start: 1,
        increment: -1,
        min: i64::MIN,
        max: i64::MAX,
        cache: 32,
        cycles: id == 14,
        owner,
    };
    let owner = SequenceOwner {
        table: 9,
        column: 1,
    };
    CatalogRecord {
        schema_version: 300,
        next_id: 20,
        next_tree_id: 12,
        tables: vec![table(1, "orders"), table(8, ""), row_table()],
        views: vec![ViewRecord {
            id: 12,
            name: "v".to_owned(),
            columns: vec!["a".to_owned(), "?column?".to_owned()],
            query: "SELECT c1, 2 FROM t".to_owned(),
            depends_on: vec![1, 9],
        }],
        sequences: vec![
            sequence(14, "t_c1_seq", Some(owner)),
            sequence(15, "s", None),
        ],
        trees: vec![tree(TreeRole::Sequences, 5)],
        dropped_trees: vec![tree(TreeRole::Delta, 7), tree(TreeRole::Deletions, 11)],
        roles: vec![RoleRecord {
            id: 16,
            name: "größe".to_owned(),
            is_superuser: false,
            can_log_in: true,
            verifier: Some("SCRAM-SHA-256$1:AA==$AA==:AA==".to_owned()),
        }],
    }
}

fn row_group() -> RowGroup {
    let zone = |min: i64, max: i64, null_count| ZoneBounds {
        min: Some(CodecScalar::Int64(min)),
        max: Some(CodecScalar::Int64(max)),
        min_exact: true,
        max_exact: false,
        null_count,
    };
    let text = |min: &str, max: Option<&str>| ZoneBounds {
        min: Some(CodecScalar::Bytes(min.as_bytes().to_vec())),
        max: max.map(|max| CodecScalar::Bytes(max.as_bytes().to_vec())),
        min_exact: false,
        max_exact: false,
        null_count: 0,
    };
    let chunk = |physical_type, codec, zone: ZoneBounds, group_zones| ColumnChunk {
        physical_type,
        codec,
        pages: vec![page(17), page(18)],
        encoded_bytes: 5_000_000,
        raw_bytes: 80_000,
        estimated_bytes: 4_999_999,
        runner_up: Some((CodecId::Plain, 80_000)),
        decision: Decision::Followed,
        relation: None,
        dictionary: None,
        zone,
        group_zones,
    };
    let nulls = ZoneBounds {
        null_count: 8192,
        ..ZoneBounds::default()
    };
    RowGroup {
        row_count: 10_000,
        block: Vec::new(),
        columns: vec![
            chunk(
                PhysicalType::Int64,
                CodecId::Pfor,
                zone(-5, i64::MAX, 8193),
                vec![nulls, zone(-5, i64::MAX, 1)],
            ),
            ColumnChunk {
                runner_up: None,
                ..chunk(
                    PhysicalType::Bytes,
                    CodecId::Fsst,
                    text("apple", None),
                    vec![text("apple", Some("apricot")), text("apply", None)],
                )
            },
            chunk(
                PhysicalType::Int64,
                CodecId::Pfor,
                zone(1, 9, 0),
                vec![zone(1, 9, 0), zone(2, 3, 0)],
            ),
            ColumnChunk {
                relation: Some(ColumnRelation::Same(2)),
                ..chunk(
                    PhysicalType::Int64,
                    CodecId::Constant,
                    zone(1, 9, 0),
                    vec![zone(1, 9, 0), zone(2, 3, 0)],
                )
            },
        ],
    }
}

#[test]
fn a_column_follows_only_what_leads_no_further() {
    use ColumnRelation::{Difference, Map, Product, Same, Sum};
    let following = |column: usize, relation: ColumnRelation| {
        let mut row_group = row_group();
        row_group.columns[column].relation = Some(relation);
        let decoded = RowGroup::decode(&row_group.encode());
        decoded.map(|decoded| assert_eq!(decoded, row_group))
    };
    let product = |first, second, divisor_digits| Product {
        columns: (first, second),
        divisor_digits,
    };
    for (column, relation) in [
        (0, Same(2)),
        (0, Sum(2, 2)),
        (3, Same(0)),
        (3, Difference(2, 0)),
        (3, product(0, 2, 18)),
        (1, Map(2)),
        (3, Map(0)),
    ] {
        following(column, relation).unwrap();
    }
    // Itself, another type, one that is not there, one that follows, a divisor beyond 64 bits: none can be followed.
    for (column, relation) in [
        (2, Same(2)),
        (1, Same(2)),
        (0, Same(4)),
        (0, Same(usize::MAX)),
        (0, Same(3)),
        (2, Same(3)),
        (0, Same(1)),
        (0, Sum(2, 3)),
        (0, Sum(2, 0)),
        (0, Difference(2, 1)),
        (0, Difference(2, 4)),
        (0, product(2, 2, 19)),
        (0, Map(0)),
        // Text without a dictionary.
        (0, Map(1)),
        (0, Map(3)),
        (0, Map(4)),
    ] {
        let error = following(column, relation).unwrap_err();
        assert!(error.to_string().contains("cannot follow"), "{error}");
    }
}

#[test]
fn relations_are_told_as_formulas() {
    let name = |column: usize| ["price", "tax"][column];
    let product = |divisor_digits| ColumnRelation::Product {
        columns: (0, 1),
        divisor_digits,
    };
    for (relation, formula) in [
        (ColumnRelation::Same(1), "tax"),
        (ColumnRelation::Sum(0, 1), "price + tax"),
        (ColumnRelation::Difference(1, 0), "tax - price"),
        (product(0), "price * tax"),
        (product(2), "price * tax / 100"),
        (ColumnRelation::Map(0), "map of price"),
    ] {
        assert_eq!(relation.formula(name), formula);
    }
}

fn table_root() -> TableRoot {
    let mut sketch = DistinctSketch::default();
    (0..1000).for_each(|value| sketch.insert(hash_u64(value)));
    let mut root = TableRoot::empty(4, [PhysicalType::Float32, PhysicalType::Bool]);
    root.columns[0] = ColumnSummary {
        physical_type: PhysicalType::Float32,
        raw_bytes: 4_000,
        encoded_bytes: 1_234,
        zone: ZoneBounds {
            min: Some(CodecScalar::Float32(-1.5)),
            null_count: 7,
            ..ZoneBounds::default()
        },
        sketch,
        dictionaries: Vec::new(),
    };
    root.next_row_group = 12;
    root.row_groups = vec![
        RowGroupPointer {
            number: 11,
            row_count: 131_072,
            pages: vec![page(20)],
        },
        RowGroupPointer {
            number: 2,
            row_count: 1,
            pages: vec![page(21), page(22)],
        },
    ];
    root
}

#[test]
fn metadata_pages_round_trip() {
    assert_eq!(
        CatalogRecord::decode(&catalog().encode()).unwrap(),
        catalog()
    );
    assert_eq!(
        RowGroup::decode(&row_group().encode()).unwrap(),
        row_group()
    );
    assert_eq!(
        TableRoot::decode(&table_root().encode()).unwrap(),
        table_root()
    );
    let empty = TableRoot::empty(1, []);
    assert_eq!(TableRoot::decode(&empty.encode()).unwrap(), empty);
    let none = CatalogRecord::default();
    assert_eq!(CatalogRecord::decode(&none.encode()).unwrap(), none);
}

/// A root of version 3: one column of strings with a dictionary, in one row group.
fn shared_root() -> TableRoot {
    let mut root = TableRoot::empty(4, [PhysicalType::Bytes]);
    root.next_row_group = 1;
    root.row_groups = vec![RowGroupPointer {
        number: 0,
        row_count: 5,
        pages: vec![page(20)],
    }];
    root.columns[0].dictionaries = vec![SharedDictionaryPointer {
        fingerprint: 0x0102_0304_0506_0708,
        row_group_count: 1,
        stored_bytes: 300,
        pages: vec![page(30)],
    }];
    root
}

#[test]
fn roots_with_shared_dictionaries_have_version_3() {
    let root = shared_root();
    let bytes = [
        // Version, table, next row group, columns; type, no raw and no encoded bytes; a zone without bounds.
        &[3, 4, 1, 1, 8, 0, 0, 0, 0][..],
        // A sketch of no hashes.
        &[0, 0],
        // One dictionary: fingerprint, one row group, 300 bytes, one page.
        &[1, 8, 7, 6, 5, 4, 3, 2, 1, 1, 0xac, 2, 1, 30],
        // The row group.
        &[1, 0, 5, 1, 20],
    ];
    assert_eq!(root.encode(), bytes.concat());
    assert_eq!(TableRoot::decode(&root.encode()).unwrap(), root);
    let mut without = root.clone();
    without.columns[0].dictionaries.clear();
    assert_eq!(without.encode()[0], 2);
    for length in 0..root.encode().len() {
        assert!(TableRoot::decode(&root.encode()[..length]).is_err());
    }
}

#[test]
fn impossible_dictionaries_are_errors() {
    let fails = |change: fn(&mut TableRoot)| {
        let mut root = shared_root();
        change(&mut root);
        assert!(TableRoot::decode(&root.encode()).is_err());
    };
    fails(|root| root.columns[0].physical_type = PhysicalType::Int32);
    fails(|root| root.columns[0].dictionaries[0].row_group_count = 0);
    fails(|root| root.columns[0].dictionaries[0].row_group_count = 2);
    fails(|root| {
        let twice = root.columns[0].dictionaries[0].clone();
        root.columns[0].dictionaries.push(twice);
    });
    let mut bytes = shared_root().encode();
    // Version 3 without a dictionary.
    bytes.drain(12..25);
    bytes[11] = 0;
    let error = TableRoot::decode(&bytes).unwrap_err();
    assert!(error.to_string().contains("no column"), "{error}");
}

#[test]
fn the_last_row_group_that_uses_a_dictionary_takes_it_along() {
    let mut root = shared_root();
    let mut row_group = row_group();
    row_group.columns = vec![ColumnChunk {
        codec: CodecId::Dictionary,
        dictionary: Some(0x0102_0304_0506_0708),
        ..row_group.columns[1].clone()
    }];
    root.note_references(&row_group);
    assert_eq!(root.columns[0].dictionaries[0].row_group_count, 2);
    root.forget_references(&row_group);
    assert_eq!(root.remove_unused_dictionaries(), []);
    assert!(root.dictionary_pages().eq([&page(30)]));
    root.forget_references(&row_group);
    assert_eq!(root.remove_unused_dictionaries(), [page(30)]);
    assert_eq!(root.columns[0].dictionary(0x0102_0304_0506_0708), None);
}

/// Without numbers of row groups, as the first version wrote it.
fn first_version(root: &TableRoot) -> Vec<u8> {
    let mut without = root.clone();
    without.row_groups.clear();
    without.next_row_group = 0;
    let columns = without.encode();
    // Version, table id (one byte), `next_row_group`, the columns; the count of row groups is last.
    let mut bytes = vec![1, columns[1]];
    bytes.extend(&columns[3..columns.len() - 1]);
    bytes.push(root.row_groups.len() as u8);
    for row_group in &root.row_groups {
        let rows = row_group.row_count;
        assert!(rows < 1 << 14, "two bytes are enough");
        bytes.extend([rows as u8 | 0x80, (rows >> 7) as u8]);
        bytes.push(row_group.pages.len() as u8);
        bytes.extend(row_group.pages.iter().map(|page| page.get() as u8));
    }
    bytes
}

#[test]
fn roots_of_the_first_version_number_row_groups_by_place() {
    let mut root = table_root();
    root.row_groups[0].row_count = 9_000;
    root.row_groups[1].row_count = 200;
    let read = TableRoot::decode(&first_version(&root)).unwrap();
    root.next_row_group = 2;
    root.row_groups[0].number = 0;
    root.row_groups[1].number = 1;
    assert_eq!(read, root);
}

#[test]
fn impossible_numbers_of_row_groups_are_errors() {
    let mut root = table_root();
    root.row_groups[1].number = 11;
    assert!(TableRoot::decode(&root.encode()).is_err(), "twice");
    root.row_groups[1].number = 12;
    assert!(TableRoot::decode(&root.encode()).is_err(), "too large");
    root.next_row_group = u64::MAX;
    assert!(
        TableRoot::decode(&root.encode()).is_err(),
        "no room in a position"
    );
}

#[test]
fn every_prefix_and_every_extension_is_an_error() {
    let pages = [
        catalog().encode(),
        row_group().encode(),
        table_root().encode(),
    ];
    for (index, page) in pages.iter().enumerate() {
        let fails = |bytes: &[u8]| match index {
            0 => CatalogRecord::decode(bytes).is_err(),
            1 => RowGroup::decode(bytes).is_err(),
            _ => TableRoot::decode(bytes).is_err(),
        };
        for length in 0..page.len() {
            assert!(
                fails(&page[..length]),
                "prefix of {length} bytes of page {index}"
            );
        }
        assert!(fails(&[page.as_slice(), &[0]].concat()));
    }
}

/// Flips bits and writes noise; decoding must return, and what it accepts must encode again.
#[test]
fn damaged_pages_never_panic() {
    let pages = [
        catalog().encode(),
        row_group().encode(),
        table_root().encode(),
        shared_root().encode(),
    ];
    let mut random = 0x1234_5678_9abc_def0_u64;
    for round in 0..30_000 {
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize
        };
        let index = round % 4;
        let mut page = pages[index].clone();
        for _ in 0..1 + next() % 3 {
            let position = next() % page.len();
            page[position] = if next() % 2 == 0 {
                next() as u8
            } else {
                page[position] ^ 1 << (next() % 8)
            };
        }
        match index {
            0 => drop(CatalogRecord::decode(&page).map(|decoded| decoded.encode())),
            1 => drop(RowGroup::decode(&page).map(|decoded| decoded.encode())),
            _ => drop(TableRoot::decode(&page).map(|decoded| decoded.encode())),
        }
    }
}
