//! Definitions of tables, indexes, views and sequences: what is accepted, kept over a restart, changed, refused.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_codec::{CodecId, CodecScalar};
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::{
    AddedColumn, BlockCodecId, CatalogKeyPart, CheckDefinition, ColumnDefinition, ColumnSequence,
    DefinitionError, Engine, ForeignKeyDefinition, GeneratedKind, IndexDefinition, KeyDefinition,
    PageTarget, ReferentialAction, SequenceDefinition, Snapshot, SqlType, StorageFormat,
    TableDefinition, TableOptions, TableStorage, TransactionError, TreeRole, ViewDefinition,
    WriteTransaction,
};

struct Fixture {
    disk: Arc<MemDisk>,
    engine: Engine,
}

impl Fixture {
    fn new() -> Self {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open(volume).unwrap();
        Fixture { disk, engine }
    }

    fn commit(&self, change: impl FnOnce(&mut WriteTransaction)) {
        let mut transaction = self.engine.begin().unwrap();
        change(&mut transaction);
        transaction.commit().unwrap();
    }

    /// The state, from memory and from the file.
    fn reopened(self) -> (Snapshot, Self) {
        let before = self.engine.snapshot();
        self.engine.volume().clone().close().unwrap();
        drop(self.engine);
        let volume = Volume::open(self.disk.clone(), OpenMode::ReadWrite).unwrap();
        let engine = Engine::open(volume).unwrap();
        let disk = self.disk;
        (before, Fixture { disk, engine })
    }
}

fn column(name: &str, sql_type: SqlType) -> ColumnDefinition {
    ColumnDefinition::new(name, sql_type)
}

fn key(name: &str, columns: &[usize]) -> KeyDefinition {
    let part = |&column: &usize| CatalogKeyPart {
        column,
        is_descending: column == 2,
    };
    KeyDefinition {
        name: name.to_owned(),
        columns: columns.iter().map(part).collect(),
    }
}

fn index(name: &str, columns: &[usize], is_unique: bool) -> IndexDefinition {
    IndexDefinition {
        key: key(name, columns),
        is_unique,
        ..IndexDefinition::default()
    }
}

fn reference(name: &str, column: usize, table: &str, other: usize) -> ForeignKeyDefinition {
    ForeignKeyDefinition {
        name: name.to_owned(),
        columns: vec![column],
        referenced_table: table.to_owned(),
        referenced_columns: vec![other],
        on_delete: ReferentialAction::Cascade,
        on_update: ReferentialAction::NoAction,
    }
}

/// A row table `name (a INTEGER, b TEXT, c BIGINT, PRIMARY KEY (a))`.
fn rows(name: &str) -> TableDefinition {
    let columns = vec![
        column("a", SqlType::Integer),
        column("b", SqlType::Text),
        column("c", SqlType::BigInt),
    ];
    TableDefinition {
        storage: TableStorage::Row,
        primary_key: Some(key(&format!("{name}_pkey"), &[0])),
        ..TableDefinition::new(name, columns)
    }
}

fn view(name: &str, depends_on: &[u64]) -> ViewDefinition {
    ViewDefinition {
        name: name.to_owned(),
        columns: vec!["x".to_owned()],
        query: "SELECT 1".to_owned(),
        depends_on: depends_on.to_vec(),
        ..ViewDefinition::default()
    }
}

fn sequence(name: &str) -> SequenceDefinition {
    SequenceDefinition::ascending(name, SqlType::Integer).unwrap()
}

#[test]
fn everything_declared_is_there_after_a_restart() {
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        let id = transaction.create_sequence(sequence("t_a_seq")).unwrap();
        let mut table = rows("t");
        table.columns[0].sequence = Some(ColumnSequence {
            id,
            kind: GeneratedKind::Always,
        });
        table.columns[0].nullable = false;
        table.columns[1].default = Some("'none'".to_owned());
        table.indexes = vec![
            index("t_b_key", &[1, 2], true),
            index("t_c_idx", &[2], false),
        ];
        table.indexes[0].is_constraint = true;
        table.checks = vec![CheckDefinition {
            name: "t_c_check".to_owned(),
            condition: "c > 0".to_owned(),
        }];
        table.foreign_keys = vec![reference("t_c_fkey", 2, "t", 0)];
        table.options = TableOptions {
            page_bytes: 8192,
            page_codec: BlockCodecId::Zstd,
            page_codec_level: Some(5),
            storage_format: StorageFormat::from_name("xor_rlt").unwrap(),
            page_target: Some(PageTarget::new(1024)),
            compresses_tuples: false,
            compresses_keys: true,
            device_codec: None,
            block_bytes: None,
        };
        transaction.create_table(table).unwrap();
        let id = transaction.snapshot().id_of("t").unwrap();
        transaction.create_view(view("v", &[id])).unwrap();
        transaction
            .create_table(TableDefinition::new("u", vec![column("x", SqlType::Date)]))
            .unwrap();
        transaction
            .create_index("t", index("late", &[1], false))
            .unwrap();
    });
    let (before, fixture) = fixture.reopened();
    let after = fixture.engine.snapshot();
    assert_eq!(before.definitions(), after.definitions());
    assert_eq!(before.row_table_entry("t"), after.row_table_entry("t"));
    assert_eq!(before.view("v"), after.view("v"));
    assert_eq!(before.sequence("t_a_seq"), after.sequence("t_a_seq"));
    assert_eq!(before.trees(), after.trees());
    assert_eq!(before.schema_version(), after.schema_version());

    let table = after.row_table_entry("t").unwrap();
    assert!(!table.definition.columns[0].nullable);
    let owner = after.sequence("t_a_seq").unwrap().owner.unwrap();
    assert_eq!((owner.table, owner.column), (table.id, 0));
    let roles: Vec<_> = table.trees.iter().map(|tree| tree.role).collect();
    let indexes = table.definition.indexes.iter();
    let expected = [TreeRole::Rows, TreeRole::Overflow]
        .into_iter()
        .chain(indexes.map(|index| TreeRole::Index(index.id)));
    assert_eq!(roles, expected.collect::<Vec<_>>());
    assert_eq!(after.trees()[0].role, TreeRole::Sequences);
    assert_eq!(
        after.tables().unwrap().len(),
        1,
        "only one is a column table"
    );
    assert_eq!(after.table_of_index("late").unwrap().name, "t");
    assert!(fixture.engine.volume().check().findings.is_empty());
}

#[test]
fn one_name_is_one_thing() {
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        let mut table = rows("t");
        table.indexes.push(index("i", &[1], false));
        transaction.create_table(table).unwrap();
        transaction.create_view(view("v", &[])).unwrap();
        transaction.create_sequence(sequence("s")).unwrap();
        for name in ["t", "t_pkey", "i", "v", "s"] {
            let is_taken = |result: Result<(), TransactionError>| {
                assert!(
                    matches!(result, Err(TransactionError::TableExists(taken)) if taken == name)
                );
            };
            let other = TableDefinition::new(name, vec![column("a", SqlType::Date)]);
            is_taken(transaction.create_table(other));
            is_taken(transaction.create_view(view(name, &[])));
            is_taken(transaction.create_sequence(sequence(name)).map(drop));
            is_taken(
                transaction
                    .create_index("t", index(name, &[2], false))
                    .map(drop),
            );
            let mut keyed = rows("k");
            keyed.primary_key = Some(key(name, &[0]));
            is_taken(transaction.create_table(keyed));
            if name != "t" && name != "t_pkey" && name != "i" {
                let mut renamed = rows("t");
                renamed.indexes = transaction
                    .snapshot()
                    .definition("t")
                    .unwrap()
                    .indexes
                    .clone();
                renamed.columns[0].nullable = false;
                renamed.columns[0].stores_null = false;
                renamed.name = name.to_owned();
                is_taken(transaction.alter_table("t", renamed));
            }
        }
        let mut twice = rows("w");
        twice.indexes = vec![index("w", &[1], false)];
        assert!(matches!(
            transaction.create_table(twice),
            Err(TransactionError::TableExists(name)) if name == "w"
        ));
    });
}

/// A definition of `t` that is refused, and why.
fn refused(change: impl FnOnce(&mut TableDefinition)) -> DefinitionError {
    let fixture = Fixture::new();
    let mut transaction = fixture.engine.begin().unwrap();
    let mut table = rows("t");
    change(&mut table);
    let error = transaction.create_table(table).unwrap_err();
    assert!(transaction.snapshot().definitions().is_empty());
    transaction.create_table(rows("t")).unwrap();
    match error {
        TransactionError::Definition(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn impossible_tables_are_refused() {
    use DefinitionError as E;
    let column_table = refused(|table| table.storage = TableStorage::Column);
    assert!(matches!(column_table, E::NeedsRowTable { .. }));
    let error = refused(|table| table.primary_key = Some(key("p", &[])));
    assert!(matches!(error, E::KeyColumnCount { columns: 0, .. }));
    let error = refused(|table| table.primary_key = Some(key("p", &[3])));
    assert!(matches!(error, E::KeyColumn { index: 3, .. }));
    let error = refused(|table| table.indexes.push(index("i", &[1, 0, 1], false)));
    assert!(matches!(error, E::DuplicateKeyColumn { column, .. } if column == "b"));
    let error = refused(|table| {
        table.columns[1].is_dropped = true;
        table.indexes.push(index("i", &[1], false));
    });
    assert!(matches!(error, E::KeyColumn { index: 1, .. }));
    let error = refused(|table| table.options.page_bytes = 1000);
    assert!(matches!(error, E::Option { .. }));
    let error = refused(|table| {
        table.columns[1].sequence = Some(ColumnSequence {
            id: 1,
            kind: GeneratedKind::Serial,
        });
    });
    assert!(matches!(error, E::Type { column, .. } if column == "b"));
    let error = refused(|table| {
        table.columns[1].added = Some(AddedColumn {
            missing: Some(CodecScalar::Int32(1)),
        });
    });
    assert!(matches!(error, E::Missing { column } if column == "b"));
    let error = refused(|table| {
        table.columns[1].nullable = false;
        table.columns[1].added = Some(AddedColumn { missing: None });
    });
    assert!(matches!(error, E::Missing { column } if column == "b"));
    let error = refused(|table| {
        let condition = "a > 0".to_owned();
        let name = "t_pkey".to_owned();
        table.checks = vec![CheckDefinition { name, condition }];
    });
    assert!(matches!(error, E::DuplicateConstraint { constraint, .. } if constraint == "t_pkey"));
    let error = refused(|table| {
        table
            .columns
            .iter_mut()
            .for_each(|column| column.is_dropped = true)
    });
    assert!(matches!(error, E::ColumnCount { columns: 0, .. }));
}

/// Codes for single strings are for text in rows; a Huffman code is in no column table.
#[test]
fn codecs_are_refused_where_nothing_has_them() {
    use DefinitionError as E;
    let with = |storage, sql_type, codec| {
        let fixture = Fixture::new();
        let mut transaction = fixture.engine.begin().unwrap();
        let mut column = column("s", sql_type);
        column.compression = Some(codec);
        let mut table = TableDefinition::new("t", vec![column]);
        table.storage = storage;
        match transaction.create_table(table) {
            Ok(_) => None,
            Err(TransactionError::Definition(error)) => Some(error),
            Err(other) => panic!("{other}"),
        }
    };
    let (row, column) = (TableStorage::Row, TableStorage::Column);
    for text in [SqlType::Text, SqlType::VarChar(9), SqlType::Char(9)] {
        for codec in [CodecId::Fsst, CodecId::Huffman] {
            assert!(with(row, text, codec).is_none());
        }
        assert!(with(column, text, CodecId::Fsst).is_none());
        let refused = with(column, text, CodecId::Huffman);
        assert!(
            matches!(&refused, Some(E::NeedsRowTable { what }) if what.contains("huffman")),
            "{refused:?}"
        );
        let refused = with(row, text, CodecId::Words);
        assert!(matches!(refused, Some(E::NeedsColumnTable { .. })));
    }
    for other in [SqlType::Bytea, SqlType::Integer] {
        for codec in [CodecId::Fsst, CodecId::Huffman] {
            let refused = with(row, other, codec);
            assert!(matches!(refused, Some(E::Codec { .. })), "{refused:?}");
        }
        let refused = with(column, other, CodecId::Huffman);
        assert!(matches!(refused, Some(E::NeedsRowTable { .. })));
    }
}

#[test]
fn foreign_keys_refer_to_something_unique_of_their_type() {
    let invalid = |key: ForeignKeyDefinition| {
        let error = refused(|table| table.foreign_keys.push(key));
        match error {
            DefinitionError::ForeignKey { what, .. } => what,
            other => panic!("{other}"),
        }
    };
    assert!(invalid(reference("f", 0, "absent", 0)).contains("no table"));
    assert!(invalid(reference("f", 0, "t", 2)).contains("no unique constraint"));
    assert!(invalid(reference("f", 1, "t", 0)).contains("incompatible types"));
    let mut unequal = reference("f", 1, "t", 0);
    unequal.columns.push(0);
    assert!(invalid(unequal).contains("disagree"));
    // BIGINT may refer to INTEGER, and a unique index is as good as the primary key.
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        let mut table = rows("t");
        table.indexes.push(index("i", &[2], true));
        table.foreign_keys = vec![reference("f", 2, "t", 0), reference("g", 0, "t", 2)];
        transaction.create_table(table).unwrap();
        let error = transaction.drop_index("i").unwrap_err();
        assert!(
            matches!(error, TransactionError::Dependents { dependents, .. }
            if dependents == ["constraint g on table t"])
        );
    });
}

#[test]
fn what_others_need_stays() {
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        transaction.create_table(rows("parent")).unwrap();
        let mut child = rows("child");
        child.foreign_keys.push(reference("f", 2, "parent", 0));
        transaction.create_table(child).unwrap();
        let id = |transaction: &WriteTransaction, name| transaction.snapshot().id_of(name).unwrap();
        let child = id(transaction, "child");
        transaction.create_view(view("v", &[child])).unwrap();
        let v = id(transaction, "v");
        transaction.create_view(view("w", &[v, child])).unwrap();
        let needed = |result: Result<(), TransactionError>| match result.unwrap_err() {
            TransactionError::Dependents { dependents, .. } => dependents,
            other => panic!("{other}"),
        };
        assert_eq!(
            needed(transaction.drop_table("parent")),
            ["constraint f on table child"]
        );
        assert_eq!(
            needed(transaction.drop_table("child")),
            ["view v", "view w"]
        );
        assert_eq!(needed(transaction.drop_view("v")), ["view w"]);
        // A new name takes the references along.
        let mut renamed = rows("ancestor");
        renamed.columns[0].nullable = false;
        renamed.columns[0].stores_null = false;
        transaction.alter_table("parent", renamed).unwrap();
        assert_eq!(
            needed(transaction.drop_table("ancestor")),
            ["constraint f on table child"]
        );
        transaction.drop_view("w").unwrap();
        transaction.drop_view("v").unwrap();
        transaction.drop_table("child").unwrap();
        transaction.drop_table("ancestor").unwrap();
        assert!(matches!(
            transaction.drop_view("v"),
            Err(TransactionError::NotFound { kind: "view", .. })
        ));
    });
    let snapshot = fixture.engine.snapshot();
    assert_eq!(snapshot.definitions().len(), 0);
    assert_eq!(snapshot.dropped_trees().len(), 4);
    // They never had pages: the next change of definitions forgets them.
    fixture.commit(|transaction| transaction.create_table(rows("other")).unwrap());
    let (_, fixture) = fixture.reopened();
    assert_eq!(fixture.engine.snapshot().dropped_trees(), []);
}

#[test]
fn trees_get_new_ids_and_roots() {
    let fixture = Fixture::new();
    let trees = |name: &str| {
        fixture
            .engine
            .snapshot()
            .row_table_entry(name)
            .unwrap()
            .trees
            .clone()
    };
    fixture.commit(|transaction| transaction.create_table(rows("t")).unwrap());
    let first = trees("t");
    let id = fixture.engine.snapshot().id_of("t");
    fixture.commit(|transaction| transaction.truncate_table("t").unwrap());
    let second = trees("t");
    assert_eq!(fixture.engine.snapshot().id_of("t"), id);
    assert_eq!(fixture.engine.snapshot().dropped_trees(), first);
    fixture.commit(|transaction| {
        let tree = transaction
            .create_index("t", index("i", &[1], true))
            .unwrap();
        assert_eq!(
            transaction
                .snapshot()
                .row_table_entry("t")
                .unwrap()
                .trees
                .last(),
            Some(&tree)
        );
        transaction.drop_index("i").unwrap();
        assert_eq!(transaction.snapshot().dropped_trees().last(), Some(&tree));
    });
    let all: Vec<_> = first.iter().chain(&second).collect();
    let distinct = |number: fn(&quire_tables::TreeRecord) -> u64| {
        let mut numbers: Vec<_> = all.iter().map(|tree| number(tree)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() == all.len()
    };
    assert!(distinct(|tree| tree.id) && distinct(|tree| tree.root.get()));
}

#[test]
fn a_table_can_be_defined_differently_with_its_rows_as_they_are() {
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        let id = transaction.create_sequence(sequence("s")).unwrap();
        let mut table = rows("t");
        table.columns[2].nullable = false;
        table.columns[2].sequence = Some(ColumnSequence {
            id,
            kind: GeneratedKind::Serial,
        });
        transaction.create_table(table).unwrap();
    });
    let old = fixture
        .engine
        .snapshot()
        .definition("t")
        .unwrap()
        .as_ref()
        .clone();
    let mut new = old.clone();
    new.columns[1].name = "text".to_owned();
    new.columns[1].default = Some("'x'".to_owned());
    new.columns[2].is_dropped = true;
    new.columns.push(ColumnDefinition {
        nullable: false,
        added: Some(AddedColumn {
            missing: Some(CodecScalar::Bool(true)),
        }),
        stores_null: false,
        ..column("c", SqlType::Boolean)
    });
    new.name = "u".to_owned();
    fixture.commit(|transaction| {
        transaction.alter_table("t", new.clone()).unwrap();
    });
    let (_, fixture) = fixture.reopened();
    let snapshot = fixture.engine.snapshot();
    assert!(snapshot.definition("t").is_none());
    let found = snapshot.definition("u").unwrap();
    assert_eq!(found.as_ref(), &new);
    assert_eq!(
        found.column_index("c"),
        Some(3),
        "the dropped column of that name is invisible"
    );
    let schema = found.arrow_schema();
    let names: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(names, ["a", "text", "c"]);
    assert!(snapshot.sequence("s").is_none(), "it went with its column");
}

#[test]
fn a_definition_that_needs_other_rows_is_refused() {
    let fixture = Fixture::new();
    fixture.commit(|transaction| transaction.create_table(rows("t")).unwrap());
    let old = fixture
        .engine
        .snapshot()
        .definition("t")
        .unwrap()
        .as_ref()
        .clone();
    fixture.commit(|transaction| {
        let mut refused = |change: fn(&mut TableDefinition)| {
            let mut new = old.clone();
            change(&mut new);
            let error = transaction.alter_table("t", new).unwrap_err();
            assert!(
                matches!(error, TransactionError::Alteration { .. }),
                "{error}"
            );
        };
        refused(|new| new.columns[1].sql_type = SqlType::Date);
        refused(|new| new.columns.push(column("d", SqlType::Date)));
        refused(|new| drop(new.columns.pop()));
        refused(|new| new.primary_key = None);
        refused(|new| new.indexes.push(index("i", &[1], false)));
        refused(|new| new.options.page_bytes = 4096);
        refused(|new| {
            new.storage = TableStorage::Column;
            new.primary_key = None;
        });
        // Rows of a column that was NOT NULL have no place for NULL.
        let mut nullable = old.clone();
        nullable.columns[0].nullable = true;
        nullable.primary_key = None;
        assert!(transaction.alter_table("t", nullable.clone()).is_err());
        nullable.columns[0].stores_null = true;
        nullable.primary_key = old.primary_key.clone();
        assert!(transaction.alter_table("t", nullable).is_err());
        assert_eq!(
            transaction.snapshot().definition("t").unwrap().as_ref(),
            &old
        );
    });
}

#[test]
fn sequences_keep_their_bounds() {
    let what = |change: fn(&mut SequenceDefinition)| {
        let mut sequence = sequence("s");
        change(&mut sequence);
        sequence.validate().unwrap_err().to_string()
    };
    assert!(what(|s| s.increment = 0).contains("INCREMENT"));
    assert!(what(|s| s.max = i64::MAX).contains("MAXVALUE"));
    assert!(what(|s| s.start = 0).contains("START"));
    assert!(what(|s| s.min = s.max).contains("MINVALUE"));
    assert!(what(|s| s.cache = 0).contains("CACHE"));
    assert!(what(|s| s.sql_type = SqlType::Text).contains("type"));
    assert!(SequenceDefinition::ascending("s", SqlType::Real).is_none());
    let fixture = Fixture::new();
    fixture.commit(|transaction| {
        transaction.create_sequence(sequence("s")).unwrap();
        let mut other = sequence("r");
        other.increment = -3;
        other.min = -10;
        transaction.alter_sequence("s", other).unwrap();
        assert!(transaction.drop_sequence("s").is_err());
        assert_eq!(transaction.snapshot().sequence("r").unwrap().increment, -3);
        transaction.drop_sequence("r").unwrap();
    });
}
