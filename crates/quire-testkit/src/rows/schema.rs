//! The tables that transactions use, and rows for them.

use quire_codec::CodecId;
use quire_tables::row_table::Value;
use quire_tables::{
    BlockCodecId, CatalogKeyPart, ColumnDefinition, ForeignKeyDefinition, IndexDefinition,
    KeyDefinition, PageTarget, ReferentialAction, SqlType, TableDefinition, TableOptions,
    TableStorage,
};

use crate::random::TestRandom;

/// A row: the values of all columns.
pub type Row = Vec<Value>;

/// Row tables, those that are referred to first.
pub(super) const TABLES: [&str; 3] = ["parent", "child", "heap"];
/// Indexes: table, name, column, whether it is unique, whether it is descending.
pub(super) const INDEXES: [(&str, &str, usize, bool, bool); 4] = [
    ("parent", "parent_name", 1, true, false),
    ("parent", "parent_amount", 2, false, true),
    ("child", "child_parent", 2, false, false),
    ("heap", "heap_value", 0, false, false),
];
/// Columns with few values.
const FEW_VALUES: [&str; 4] = ["name", "amount", "parent", "value"];
/// Position of the column of `child` that refers to `parent`.
pub(super) const REFERRING: usize = 2;

/// What differs from run to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    options: TableOptions,
    pub(super) on_delete: ReferentialAction,
    pub(super) on_update: ReferentialAction,
    /// Columns with few values have dictionaries, however few rows a table is filled with.
    has_dictionaries: bool,
    /// The texts of `heap` repeat words, so that a dictionary of its pages pays when there are enough of them.
    repeats_words: bool,
}

impl Variant {
    pub(super) fn new(random: &mut TestRandom) -> Self {
        let on_delete = [
            ReferentialAction::Cascade,
            ReferentialAction::SetNull,
            ReferentialAction::NoAction,
        ];
        let on_update = [ReferentialAction::Cascade, ReferentialAction::NoAction];
        let mut variant = Self {
            options: random_options(random),
            on_delete: on_delete[random.below(3) as usize],
            on_update: on_update[random.below(2) as usize],
            has_dictionaries: random.chance(50),
            repeats_words: random.chance(3),
        };
        if variant.repeats_words {
            variant.options.page_codec = BlockCodecId::Zstd;
            variant.options.page_bytes = 4_096;
            variant.options.device_codec = None;
            let target = variant.options.page_target;
            variant.options.page_target = target.filter(|target| target.slot_bytes < 4_096);
        }
        variant
    }

    /// One operation in so many is followed by a crash.
    pub(super) fn crash_one_in(&self) -> u64 {
        if self.repeats_words { 24 } else { 4 }
    }

    /// In how many of 100 cases a table is filled with many rows.
    pub(super) fn share_of_many(&self) -> u64 {
        if self.repeats_words { 70 } else { 15 }
    }

    /// How many rows are many: pages are flushed while their commit changes them, and, of words, there are enough of them for a
    /// dictionary.
    pub(super) fn many_rows(&self, random: &mut TestRandom) -> u64 {
        if self.repeats_words {
            3_200
        } else {
            [1_100, 1_100, 2_300][random.below(3) as usize]
        }
    }

    /// One of many rows of `heap`.
    pub(super) fn one_of_many(&self, added: &[AddedColumnState], random: &mut TestRandom) -> Row {
        if self.repeats_words {
            return self.random_row("heap", added, random);
        }
        let mut row = vec![number(random, 1_000)];
        row.resize(first_columns("heap") + added.len(), Value::Null);
        row
    }

    /// A random row of a table, with values for what was added to it.
    pub(super) fn random_row(
        &self,
        table: &str,
        added: &[AddedColumnState],
        random: &mut TestRandom,
    ) -> Row {
        let mut row = match table {
            "heap" if self.repeats_words => vec![number(random, 1_000), words(random)],
            _ => random_row(table, random),
        };
        row.extend(added.iter().map(|column| match column {
            AddedColumnState::Kept => number(random, 50),
            AddedColumnState::Dropped => Value::Null,
        }));
        row
    }
}

/// What has become of a column that was added to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddedColumnState {
    Kept,
    Dropped,
}

/// How the rows of a table may be kept.
pub(super) fn random_options(random: &mut TestRandom) -> TableOptions {
    let codecs = [
        BlockCodecId::Lz4,
        BlockCodecId::None,
        BlockCodecId::Zstd,
        BlockCodecId::Lz4,
    ];
    let page_codec = codecs[random.below(4) as usize];
    let page_bytes = [4_096, 4_096, 8_192][random.below(3) as usize];
    let has_target = random.chance(25);
    // What is not compressed takes whole pages, for a device that compresses.
    let is_for_device = page_codec == BlockCodecId::None;
    let slot_bytes = match [1_024, 2_048][random.below(2) as usize] {
        _ if is_for_device => page_bytes,
        slot_bytes => slot_bytes,
    };
    TableOptions {
        page_bytes,
        page_codec,
        device_codec: (is_for_device && random.chance(50)).then_some(BlockCodecId::Zlib),
        page_target: has_target.then(|| PageTarget {
            has_adaptive_padding: random.chance(50),
            splits_in_advance: random.chance(50),
            ..PageTarget::new(slot_bytes)
        }),
        compresses_tuples: random.chance(70),
        compresses_keys: random.chance(50),
        ..TableOptions::default()
    }
}

/// How many columns a table has when it is made.
pub(super) fn first_columns(table: &str) -> usize {
    match table {
        "heap" => 2,
        _ => 4,
    }
}

fn column(name: &str, sql_type: SqlType, nullable: bool) -> ColumnDefinition {
    ColumnDefinition {
        nullable,
        ..ColumnDefinition::new(name, sql_type)
    }
}

fn key(name: &str, columns: &[(usize, bool)]) -> KeyDefinition {
    let part = |(column, is_descending): &(usize, bool)| CatalogKeyPart {
        column: *column,
        is_descending: *is_descending,
    };
    KeyDefinition {
        name: name.to_owned(),
        columns: columns.iter().map(part).collect(),
    }
}

/// The definition of a table, without indexes.
pub(super) fn definition(table: &str, variant: &Variant) -> TableDefinition {
    let (columns, primary_key) = match table {
        "parent" => (
            vec![
                column("id", SqlType::BigInt, false),
                column("name", SqlType::Text, true),
                column("amount", SqlType::Integer, true),
                column("note", SqlType::Text, true),
            ],
            Some(key("parent_pkey", &[(0, false)])),
        ),
        "child" => (
            vec![
                column("a", SqlType::Integer, false),
                column("b", SqlType::Text, false),
                column("parent", SqlType::BigInt, true),
                column("note", SqlType::Bytea, true),
            ],
            Some(key("child_pkey", &[(0, false), (1, true)])),
        ),
        _ => (
            vec![
                column("value", SqlType::BigInt, true),
                column("note", SqlType::Text, true),
            ],
            None,
        ),
    };
    let mut definition = TableDefinition::new(table, columns);
    definition.storage = TableStorage::Row;
    definition.primary_key = primary_key;
    definition.options = variant.options;
    if variant.has_dictionaries {
        let few_values = |column: &&mut ColumnDefinition| FEW_VALUES.contains(&&*column.name);
        for column in definition.columns.iter_mut().filter(few_values) {
            column.compression = Some(CodecId::Dictionary);
        }
    }
    if table == "child" {
        definition.foreign_keys = vec![ForeignKeyDefinition {
            name: "child_parent_fkey".to_owned(),
            columns: vec![REFERRING],
            referenced_table: "parent".to_owned(),
            referenced_columns: vec![0],
            on_delete: variant.on_delete,
            on_update: variant.on_update,
        }];
    }
    definition
}

/// The definition of an index of [`INDEXES`].
pub(super) fn index_definition(position: usize) -> IndexDefinition {
    let (_, name, column, is_unique, is_descending) = INDEXES[position];
    IndexDefinition {
        id: 0,
        key: key(name, &[(column, is_descending)]),
        is_unique,
        is_constraint: false,
    }
}

fn number(random: &mut TestRandom, limit: u64) -> Value {
    Value::Integer(random.below(limit) as i64)
}

fn text(random: &mut TestRandom, distinct: u64) -> Value {
    match random.below(5) {
        0 => Value::Null,
        _ => {
            let number = random.below(distinct);
            Value::Text(format!("name {number} {}", "x".repeat(number as usize % 40)).into())
        }
    }
}

/// Mostly short, sometimes longer than a page, that is in pieces in a tree of its own.
fn note(random: &mut TestRandom) -> String {
    let limit = match random.below(24) {
        0 => 20_000,
        1 => 4_000,
        2..8 => 300,
        _ => 30,
    };
    let length = random.below(limit) as usize / 2;
    let bytes = random.bytes(length);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Some of the same words.
fn words(random: &mut TestRandom) -> Value {
    let word = |random: &mut TestRandom| {
        let number = random.below(300) + 17;
        format!("{:x}", number.wrapping_mul(0xbf58_476d_1ce4_e5b9)).split_off(6)
    };
    let words: Vec<String> = (0..20).map(|_| word(random)).collect();
    Value::Text(words.join(" ").into())
}

/// A random row of a table as it is made.
fn random_row(table: &str, random: &mut TestRandom) -> Row {
    let long = match random.below(6) {
        0 => None,
        _ => Some(note(random)),
    };
    let as_text = |long: Option<String>| long.map_or(Value::Null, |text| Value::Text(text.into()));
    match table {
        "parent" => vec![
            number(random, 400),
            text(random, 300),
            number(random, 20),
            as_text(long),
        ],
        "child" => {
            let parent = match random.below(5) {
                0 => Value::Null,
                _ => number(random, 400),
            };
            let note = long.map_or(Value::Null, |text| Value::Bytes(text.into_bytes().into()));
            let b = format!("b{}", random.below(30));
            vec![number(random, 30), Value::Text(b.into()), parent, note]
        }
        _ => vec![number(random, 1_000), as_text(long)],
    }
}
