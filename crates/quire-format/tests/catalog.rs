//! The catalog page, byte by byte, in every version; and what it must not say.
#![allow(clippy::unwrap_used)]

use quire_codec::CodecId;
use quire_format::catalog::{
    AddedRecord, CatalogKeyPart, CatalogRecord, CheckRecord, ColumnRecord, ColumnSequence,
    DictionaryRecord, ForeignKeyRecord, GeneratedKind, IndexRecord, KeyRecord, ReferentialAction,
    RoleRecord, SequenceOwner, SequenceRecord, StringCodesRecord, TableRecord, TableStorage,
    TreeRecord, TreeRole, TypeRecord, ViewRecord,
};
use quire_format::volume::PageId;

fn page(number: u64) -> PageId {
    PageId::new(number).unwrap()
}

fn column(name: &str, id: u8, first: u32) -> ColumnRecord {
    ColumnRecord {
        name: name.to_owned(),
        column_type: TypeRecord {
            id,
            first,
            second: 0,
        },
        nullable: false,
        compression: None,
        default: None,
        sequence: None,
        is_dropped: false,
        added: None,
        stores_null: true,
        dictionary: None,
        string_codes: None,
        padded_bytes: None,
        key_code: None,
    }
}

/// Version 1, by hand from its table in the format document.
#[test]
fn catalogs_of_the_first_version_are_read() {
    let dictionary = CodecId::Dictionary as u8;
    let bytes = [
        &[1, 130, 2, 8, 1][..], // version, schema version 258, next id, one table
        &[7, 1, b't', 1, 20],   // id, name, one root page
        &[2],                   // columns:
        &[1, b'a', 3, 0, 0, 0], // INTEGER NOT NULL
        &[1, b'b', 12, 10, 0, 3, dictionary], // VARCHAR(10) with a codec
    ]
    .concat();
    let expected = CatalogRecord {
        schema_version: 258,
        next_id: 8,
        next_tree_id: 1,
        tables: vec![TableRecord {
            id: 7,
            name: "t".to_owned(),
            storage: TableStorage::Column,
            root_pages: vec![page(20)],
            columns: vec![
                column("a", 3, 0),
                ColumnRecord {
                    nullable: true,
                    compression: Some(CodecId::Dictionary),
                    ..column("b", 12, 10)
                },
            ],
            ..TableRecord::default()
        }],
        ..CatalogRecord::default()
    };
    let decoded = CatalogRecord::decode(&bytes).unwrap();
    assert_eq!(decoded, expected);
    // It is written again as version 6, with the same meaning.
    let again = decoded.encode();
    assert_eq!(again[0], 6);
    assert_eq!(CatalogRecord::decode(&again).unwrap(), expected);
    // Version 1 has no bits for what came later.
    for bit in 2..8 {
        let mut bytes = bytes.clone();
        bytes[16] |= 1 << bit;
        assert!(CatalogRecord::decode(&bytes).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(CatalogRecord::decode(&bytes[..length]).is_err(), "{length}");
    }
}

fn small_columns() -> Vec<ColumnRecord> {
    let mut columns = vec![column("a", 3, 0), column("b", 11, 0), column("c", 4, 0)];
    columns[0].sequence = Some(ColumnSequence {
        id: 5,
        kind: GeneratedKind::ByDefault,
    });
    columns[1].nullable = true;
    columns[1].default = Some("'x'".to_owned());
    columns[1].added = Some(AddedRecord {
        missing: Some(b"yz".to_vec()),
    });
    columns[2].is_dropped = true;
    columns[2].stores_null = false;
    columns[2].dictionary = Some(DictionaryRecord {
        code_bits: 2,
        entries: vec![vec![9], Vec::new()],
    });
    columns
}

fn tree(role: TreeRole, id: u64) -> TreeRecord {
    TreeRecord {
        role,
        id,
        root: page(30 + id),
    }
}

fn small_roles() -> Vec<RoleRecord> {
    let with_everything = RoleRecord {
        id: 6,
        name: "t".to_owned(),
        is_superuser: true,
        can_log_in: true,
        verifier: Some("V".to_owned()),
    };
    let with_nothing = RoleRecord {
        id: 7,
        name: "g".to_owned(),
        ..RoleRecord::default()
    };
    vec![with_everything, with_nothing]
}

fn small() -> CatalogRecord {
    let part = |column, is_descending| CatalogKeyPart {
        column,
        is_descending,
    };
    let key = |name: &str, columns| KeyRecord {
        name: name.to_owned(),
        columns,
    };
    CatalogRecord {
        schema_version: 1,
        next_id: 8,
        next_tree_id: 7,
        tables: vec![TableRecord {
            id: 2,
            name: "t".to_owned(),
            storage: TableStorage::Row,
            root_pages: Vec::new(),
            columns: small_columns(),
            primary_key: Some(key("p", vec![part(0, true)])),
            indexes: vec![IndexRecord {
                id: 3,
                key: key("u", vec![part(1, false)]),
                is_unique: true,
                is_constraint: true,
            }],
            checks: vec![CheckRecord {
                name: "k".to_owned(),
                condition: "a>0".to_owned(),
            }],
            foreign_keys: vec![ForeignKeyRecord {
                name: "f".to_owned(),
                columns: vec![1],
                referenced_table: "t".to_owned(),
                referenced_columns: vec![0],
                on_delete: ReferentialAction::Restrict,
                on_update: ReferentialAction::SetNull,
            }],
            options: vec![(1, 4096), (3, -2)],
            trees: vec![tree(TreeRole::Rows, 1), tree(TreeRole::Index(3), 2)],
        }],
        views: vec![ViewRecord {
            id: 4,
            name: "v".to_owned(),
            columns: vec!["n".to_owned()],
            query: "Q".to_owned(),
            depends_on: vec![2],
        }],
        sequences: vec![SequenceRecord {
            id: 5,
            name: "s".to_owned(),
            value_type: column("", 3, 0).column_type,
            start: -1,
            increment: 2,
            min: -1,
            max: 100,
            cache: 1,
            cycles: true,
            owner: Some(SequenceOwner {
                table: 2,
                column: 0,
            }),
        }],
        trees: vec![tree(TreeRole::Sequences, 4)],
        dropped_trees: vec![tree(TreeRole::Overflow, 6)],
        roles: small_roles(),
    }
}

/// Every byte by hand from the table in the format document. Flags are a varint since version 3.
#[test]
fn every_byte_is_where_the_document_says() {
    let roles: &[u8] = &[2, 6, 1, b't', 7, 1, b'V', 7, 1, b'g', 0]; // one with everything, one with nothing
    let expected = [&bytes_of_small(6, &columns_since_version_3()), roles].concat();
    assert_eq!(small().encode(), expected);
    assert_eq!(CatalogRecord::decode(&expected).unwrap(), small());
    // Versions 4 and 5 have the same bytes for columns without string codes.
    for version in [4, 5] {
        let older = [&bytes_of_small(version, &columns_since_version_3()), roles].concat();
        assert_eq!(CatalogRecord::decode(&older).unwrap(), small());
    }
}

/// [`small`] without roles. The second column has a table of codes, flag 512; the third is padded to 25 bytes, 1024, and has a code of keys,
/// 2048.
fn with_string_codes(codec: CodecId, table: &[u8]) -> CatalogRecord {
    let mut catalog = small();
    catalog.roles.clear();
    let columns = &mut catalog.tables[0].columns;
    columns[1].string_codes = Some(StringCodesRecord {
        codec,
        table: table.to_vec(),
    });
    columns[2].padded_bytes = Some(25);
    columns[2].key_code = Some(b"xyz".to_vec());
    catalog
}

/// Its columns, where the table of codes is stored like that.
fn columns_with_string_codes(stored: &[u8]) -> Vec<u8> {
    [
        &[1, b'a', 3, 0, 0, 8 | 128, 1, 2, 5][..],
        &[1, b'b', 11, 0, 0, 1 | 4 | 32 | 64 | 128, 1 | 4],
        b"\x03'x'\x02yz",
        stored,
        &[1, b'c', 4, 0, 0, 16 | 128, 2 | 8 | 16, 2, 2, 1, 9, 0, 25],
        b"\x03xyz",
    ]
    .concat()
}

/// The codec, and the length of the table before it.
#[test]
fn string_codes_have_a_codec_since_version_6() {
    let (fsst, huffman) = (6, 15);
    for (codec, table, stored) in [
        (
            CodecId::Fsst,
            &b"\x02\x02\x01abc"[..],
            [&[fsst, 6], &b"\x02\x02\x01abc"[..]].concat(),
        ),
        (
            CodecId::Huffman,
            &[0x88; 128],
            [&[huffman, 128, 1], &[0x88; 128][..]].concat(),
        ),
    ] {
        let catalog = with_string_codes(codec, table);
        let columns = columns_with_string_codes(&stored);
        let bytes = [&bytes_of_small(6, &columns)[..], &[0]].concat();
        assert_eq!(catalog.encode(), bytes);
        assert_eq!(CatalogRecord::decode(&bytes).unwrap(), catalog);
        for length in 0..bytes.len() {
            assert!(CatalogRecord::decode(&bytes[..length]).is_err(), "{length}");
        }
    }
    let unknown = columns_with_string_codes(&[99, 0]);
    let bytes = [&bytes_of_small(6, &unknown)[..], &[0]].concat();
    let error = CatalogRecord::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("unknown codec id 99"), "{error}");
}

/// In version 5 they are those of FSST: the symbols "ab" and "c".
#[test]
fn tables_of_fsst_widths_and_codes_of_keys_are_there_since_version_5() {
    let expected = with_string_codes(CodecId::Fsst, b"\x02\x02\x01abc");
    let with_table = columns_with_string_codes(b"\x06\x02\x02\x01abc");
    let bytes = [&bytes_of_small(5, &with_table)[..], &[0]].concat();
    assert_eq!(CatalogRecord::decode(&bytes).unwrap(), expected);
    let older = [&bytes_of_small(4, &with_table)[..], &[0]].concat();
    let error = CatalogRecord::decode(&older).unwrap_err().to_string();
    assert!(error.contains("unknown column flags"), "{error}");
}

fn columns_since_version_3() -> Vec<u8> {
    [
        &[1, b'a', 3, 0, 0, 8 | 128, 1, 2, 5][..], // a sequence: BY DEFAULT, id 5
        &[1, b'b', 11, 0, 0, 1 | 4 | 32 | 64 | 128, 1], // a default, and what older rows have
        b"\x03'x'\x02yz",
        &[1, b'c', 4, 0, 0, 16 | 128, 2, 2, 2, 1, 9, 0], // dropped; codes of 2 bits, two values
    ]
    .concat()
}

/// Version 3 ends before the roles.
#[test]
fn catalogs_of_the_third_version_are_read() {
    let mut expected = small();
    expected.roles.clear();
    let bytes = bytes_of_small(3, &columns_since_version_3());
    assert_eq!(CatalogRecord::decode(&bytes).unwrap(), expected);
}

/// Version 2 has flags of one byte, and no dictionaries.
#[test]
fn catalogs_of_the_second_version_are_read() {
    let columns = [
        &[1, b'a', 3, 0, 0, 8 | 128, 2, 5][..],
        &[1, b'b', 11, 0, 0, 1 | 4 | 32 | 64 | 128],
        b"\x03'x'\x02yz",
        &[1, b'c', 4, 0, 0, 16],
    ]
    .concat();
    let mut expected = small();
    expected.tables[0].columns[2].dictionary = None;
    expected.roles.clear();
    let decoded = CatalogRecord::decode(&bytes_of_small(2, &columns)).unwrap();
    assert_eq!(decoded, expected);
}

fn bytes_of_small(version: u8, columns: &[u8]) -> Vec<u8> {
    [
        &[version, 1, 8, 7, 1][..], // version, schema version, next id, next tree id, one table:
        &[2, 1, b't', 0],           // id, name, no root pages
        &[3],                       // columns:
        columns,
        &[2],                         // row storage
        &[1, 1, b'p', 1, 0, 1],       // a primary key of column 0, descending
        &[1, 3, 1, b'u', 1, 1, 0, 3], // an index with id 3 on column 1, unique, of a constraint
        &[1, 1, b'k', 3, b'a', b'>', b'0'],
        &[1, 1, b'f', 1, 1, 1, b't', 1, 0, 2, 4], // a foreign key: RESTRICT, SET NULL
        &[2, 1, 0x80, 0x40, 3, 3],                // options: 1 is 4096, 3 is -2, in zigzag
        &[2, 1, 1, 31, 3, 3, 2, 32],              // trees: rows; index 3
        &[1, 4, 1, b'v', 1, 1, b'n', 1, b'Q', 1, 2], // a view that depends on 2
        &[1, 5, 1, b's', 3, 0, 0, 1, 4, 1, 200, 1, 1, 3, 2, 0], // a sequence that cycles, owned
        &[1, 6, 4, 34],                           // the tree of sequences
        &[1, 2, 6, 36],                           // a dropped overflow tree
    ]
    .concat()
}

#[test]
fn a_later_version_is_named() {
    let mut bytes = small().encode();
    bytes[0] = 7;
    let error = CatalogRecord::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("version 7"), "{error}");
}

#[test]
fn nothing_is_there_twice_and_ids_are_below_the_next() {
    type Break = (&'static str, fn(&mut CatalogRecord));
    let breaks: [Break; 14] = [
        ("table id", |catalog| catalog.next_id = 2),
        ("tree id", |catalog| catalog.next_tree_id = 6),
        ("view called like the table", |catalog| {
            catalog.views[0].name = "t".to_owned()
        }),
        ("sequence called like an index", |catalog| {
            catalog.sequences[0].name = "u".to_owned()
        }),
        ("primary key called like the table", |catalog| {
            catalog.tables[0].primary_key.as_mut().unwrap().name = "t".to_owned();
        }),
        ("view with the id of an index", |catalog| {
            catalog.views[0].id = 3
        }),
        ("two roles of one name", |catalog| {
            catalog.roles[1].name = "t".to_owned()
        }),
        ("role with the id of a sequence", |catalog| {
            catalog.roles[0].id = 5
        }),
        ("two trees of one id", |catalog| catalog.trees[0].id = 6),
        ("two trees with one root", |catalog| {
            catalog.trees[0].root = page(36)
        }),
        ("two tables", |catalog| {
            catalog.tables.push(catalog.tables[0].clone())
        }),
        ("options out of order", |catalog| {
            catalog.tables[0].options.reverse()
        }),
        ("a sequence that stays", |catalog| {
            catalog.sequences[0].increment = 0
        }),
        ("dependencies out of order", |catalog| {
            catalog.views[0].depends_on = vec![2, 1]
        }),
    ];
    for (what, make) in breaks {
        let mut catalog = small();
        make(&mut catalog);
        assert!(CatalogRecord::decode(&catalog.encode()).is_err(), "{what}");
    }
}
