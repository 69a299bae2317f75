//! What an append accepts, refuses and leaves behind.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, Decimal128Array, Int32Array, Int64Array, RecordBatch,
    StringViewArray,
};
use arrow::compute::concat_batches;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnDefinition, ColumnTable, DefinitionError, Engine, EngineError,
    ROW_GROUP_ROWS, ScanOptions, SqlType, TableAppendError, TableDefinition, TransactionError,
};

fn engine() -> Engine {
    Engine::open(Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap())
        .unwrap()
}

fn table_of(sql_type: SqlType, nullable: bool) -> TableDefinition {
    let column = ColumnDefinition {
        nullable,
        ..ColumnDefinition::new("c", sql_type)
    };
    TableDefinition::new("t", vec![column])
}

fn batch(definition: &TableDefinition, array: impl Into<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(definition.arrow_schema(), vec![array.into()]).unwrap()
}

fn array(array: impl arrow::array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn rows(table: &Arc<ColumnTable>) -> RecordBatch {
    let projection = (0..table.definition().columns.len()).collect();
    let scan = table
        .scan(ScanOptions {
            projection,
            ..ScanOptions::default()
        })
        .unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

/// Appends ten good rows, then the batch; returns its error and checks that nothing can be kept.
fn refused(sql_type: SqlType, good: ArrayRef, bad: ArrayRef) -> String {
    let engine = engine();
    // NULL is checked by the table, not by the schema of the batch.
    let definition = table_of(sql_type, false);
    let open = table_of(sql_type, true);
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    for _ in 0..10 {
        appender.append(&batch(&open, good.clone())).unwrap();
    }
    let error = appender.append(&batch(&open, bad)).unwrap_err().to_string();
    assert!(matches!(
        appender.append(&batch(&open, good)),
        Err(TableAppendError::Failed)
    ));
    assert!(matches!(appender.finish(), Err(TableAppendError::Failed)));
    assert!(matches!(
        transaction.commit(),
        Err(TransactionError::AppendUnfinished(_))
    ));
    assert!(engine.snapshot().table("t").unwrap().is_none());
    assert!(Engine::check(engine.volume()).is_empty());
    error
}

#[test]
fn values_that_do_not_fit_are_named() {
    let error = refused(
        SqlType::Integer,
        array(Int32Array::from(vec![1])),
        array(Int32Array::from(vec![Some(1), Some(2), None])),
    );
    assert_eq!(
        error,
        "null value in column \"c\" violates not-null constraint (row 12)"
    );
    let error = refused(
        SqlType::VarChar(3),
        array(StringViewArray::from(vec!["日本語"])),
        array(StringViewArray::from(vec!["abc  ", "abcd"])),
    );
    assert_eq!(
        error,
        "value of 4 characters too long for VARCHAR(3) in column \"c\" (row 11)"
    );
    let decimal = SqlType::Decimal {
        precision: 4,
        scale: 1,
    };
    let decimals = |values: Vec<i128>| {
        array(Decimal128Array::from(values).with_data_type(decimal.arrow_type()))
    };
    let error = refused(
        decimal,
        decimals(vec![9_999]),
        decimals(vec![-9_999, -10_000]),
    );
    assert_eq!(
        error,
        "numeric field overflow: value in column \"c\" does not fit DECIMAL(4,1) (row 11)"
    );
    let large = vec![b'x'; (64 << 20) + 1];
    let error = refused(
        SqlType::Bytea,
        array(BinaryViewArray::from(vec![&b"x"[..]])),
        array(BinaryViewArray::from(vec![&large[..]])),
    );
    assert!(
        error.contains("67108865 bytes") && error.contains("(row 10)"),
        "{error}"
    );
}

#[test]
fn batches_of_other_types_are_refused() {
    let error = refused(
        SqlType::Integer,
        array(Int32Array::from(vec![1])),
        array(Int32Array::from(vec![None])),
    );
    assert!(error.contains("(row 10)"), "{error}");
    let engine = engine();
    let mut transaction = engine.begin().unwrap();
    transaction
        .create_table(table_of(SqlType::Integer, true))
        .unwrap();
    let mut appender = transaction.appender("t").unwrap();
    let other = batch(
        &table_of(SqlType::BigInt, true),
        array(Int64Array::from(vec![1])),
    );
    let error = appender.append(&other).unwrap_err().to_string();
    assert_eq!(
        error,
        "batch does not fit the table: column \"c\" is Int64, expected Int32 for INTEGER"
    );
}

#[test]
fn padding_is_dropped() {
    for (sql_type, given, stored) in [
        (SqlType::Char(3), "ab    ", "ab"),
        (SqlType::Char(3), "   ", ""),
        (SqlType::Char(3), "a  ", "a"),
        (SqlType::VarChar(3), "ab    ", "ab "),
        (SqlType::VarChar(3), "é  ", "é  "),
        (SqlType::Text, "ab    ", "ab    "),
    ] {
        let engine = engine();
        let definition = table_of(sql_type, false);
        let mut transaction = engine.begin().unwrap();
        transaction.create_table(definition.clone()).unwrap();
        let mut appender = transaction.appender("t").unwrap();
        let given = array(StringViewArray::from(vec![given]));
        appender.append(&batch(&definition, given)).unwrap();
        appender.finish().unwrap();
        transaction.commit().unwrap();
        let table = engine.snapshot().table("t").unwrap().unwrap();
        let stored = array(StringViewArray::from(vec![stored]));
        assert_eq!(rows(&table), batch(&definition, stored), "{sql_type}");
    }
}

#[test]
fn definitions_that_cannot_be_are_refused() {
    let engine = engine();
    let mut transaction = engine.begin().unwrap();
    let mut refuse = |definition| match transaction.create_table(definition) {
        Err(TransactionError::Definition(error)) => error,
        _ => panic!("accepted"),
    };
    let decimal = |precision, scale| table_of(SqlType::Decimal { precision, scale }, true);
    assert!(matches!(
        refuse(decimal(39, 0)),
        DefinitionError::Type { .. }
    ));
    assert!(matches!(
        refuse(decimal(0, 0)),
        DefinitionError::Type { .. }
    ));
    assert!(matches!(
        refuse(decimal(3, 4)),
        DefinitionError::Type { .. }
    ));
    let empty = TableDefinition::new("t", Vec::new());
    assert!(matches!(refuse(empty), DefinitionError::ColumnCount { .. }));
    let mut twice = table_of(SqlType::Text, true);
    twice.columns.push(twice.columns[0].clone());
    assert!(matches!(
        refuse(twice),
        DefinitionError::DuplicateColumn { .. }
    ));
    let mut codec = table_of(SqlType::Text, true);
    codec.columns[0].compression = Some(quire_codec::CodecId::Pfor);
    assert!(matches!(refuse(codec), DefinitionError::Codec { .. }));
    transaction
        .create_table(table_of(SqlType::Text, true))
        .unwrap();
    let again = transaction.create_table(table_of(SqlType::Text, true));
    assert!(matches!(again, Err(TransactionError::TableExists(_))));
    let none = transaction.drop_table("none");
    assert!(matches!(none, Err(TransactionError::TableNotFound(_))));
    transaction.commit().unwrap();
}

/// One row at a time, each in its own transaction: few row groups, and no page is left behind.
#[test]
fn small_appends_are_absorbed_geometrically() {
    let engine = engine();
    let definition = table_of(SqlType::BigInt, false);
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    transaction.commit().unwrap();
    let mut row_groups_most = 0;
    for row in 0..300_i64 {
        let mut transaction = engine.begin().unwrap();
        let mut appender = transaction.appender("t").unwrap();
        appender
            .append(&batch(&definition, array(Int64Array::from(vec![row]))))
            .unwrap();
        appender.finish().unwrap();
        transaction.commit().unwrap();
        let table = engine.snapshot().table("t").unwrap().unwrap();
        row_groups_most = row_groups_most.max(table.row_group_count());
    }
    assert!(
        row_groups_most <= 9,
        "{row_groups_most} row groups for 300 rows"
    );
    let table = engine.snapshot().table("t").unwrap().unwrap();
    assert_eq!(
        rows(&table),
        batch(&definition, array(Int64Array::from_iter_values(0..300)))
    );
    assert_eq!(table.statistics(0).unwrap().distinct_estimate, 300);
    assert_eq!(Engine::check(engine.volume()), []);
}

#[test]
fn row_groups_are_cut_by_rows_and_by_bytes() {
    let engine = engine();
    let definition = table_of(SqlType::Text, false);
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    let options = AppendOptions {
        row_group_bytes: 1 << 20,
        ..AppendOptions::default()
    };
    let mut appender = transaction.appender_with("t", options).unwrap();
    let text = "x".repeat(300 << 10);
    let many = array(StringViewArray::from(vec![text.as_str(); 10]));
    appender.append(&batch(&definition, many)).unwrap();
    let short = array(StringViewArray::from(vec!["y"; ROW_GROUP_ROWS + 7]));
    appender.append(&batch(&definition, short)).unwrap();
    assert_eq!(appender.finish().unwrap(), ROW_GROUP_ROWS as u64 + 17);
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    for index in 0..table.row_group_count() {
        let row_group = table.row_group(index).unwrap();
        assert!(
            row_group.columns[0].raw_bytes <= 1 << 20,
            "row group {index}"
        );
        assert!(row_group.row_count <= ROW_GROUP_ROWS as u64);
    }
    assert_eq!(rows(&table).num_rows(), ROW_GROUP_ROWS + 17);
}

/// A segment longer than a page is cut and joined.
#[test]
fn long_segments_span_pages() {
    let engine = engine();
    let definition = table_of(SqlType::Bytea, false);
    let mut random = 88_172_645_463_325_252_u64;
    let mut noise = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as u8
    };
    let values: Vec<Vec<u8>> = (0..4)
        .map(|_| (0..3 << 20).map(|_| noise()).collect())
        .collect();
    let column = array(BinaryViewArray::from_iter_values(&values));
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender
        .append(&batch(&definition, column.clone()))
        .unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    assert!(table.row_group(0).unwrap().columns[0].pages.len() >= 3);
    assert_eq!(rows(&table), batch(&definition, column));
    assert_eq!(Engine::check(engine.volume()), []);
}

#[test]
fn a_dropped_appender_or_transaction_leaves_nothing() {
    let engine = engine();
    let definition = table_of(SqlType::BigInt, false);
    let values = batch(&definition, array(Int64Array::from_iter_values(0..300_000)));
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(&values).unwrap();
    drop(appender);
    assert!(matches!(
        transaction.commit(),
        Err(TransactionError::AppendUnfinished(_))
    ));
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(&values).unwrap();
    appender.finish().unwrap();
    drop(transaction);
    assert!(engine.snapshot().tables().unwrap().is_empty());
    assert_eq!(engine.volume().pin().pages(), []);
}

#[test]
fn snapshots_keep_what_they_saw() {
    let engine = engine();
    let definition = table_of(SqlType::BigInt, false);
    let values = |count| batch(&definition, array(Int64Array::from_iter_values(0..count)));
    let append = |count| {
        let mut transaction = engine.begin().unwrap();
        if engine.snapshot().table("t").unwrap().is_none() {
            transaction.create_table(definition.clone()).unwrap();
        }
        let mut appender = transaction.appender("t").unwrap();
        appender.append(&values(count)).unwrap();
        appender.finish().unwrap();
        // A reader of this state outlives the transaction that made it, but not its right to read.
        let view = transaction.snapshot().table("t").unwrap().unwrap();
        assert!(rows(&view).num_rows() as i64 >= count);
        transaction.commit().unwrap();
        let all = ScanOptions {
            projection: vec![0],
            ..ScanOptions::default()
        };
        let late = view.scan(all).unwrap().reader().next().unwrap_err();
        assert!(late.to_string().contains("has ended"), "{late}");
        assert!(matches!(
            view.row_group(99),
            Err(EngineError::NoRowGroup { .. })
        ));
    };
    append(1_000);
    let first = engine.snapshot();
    append(1_000);
    let second = engine.snapshot();
    assert_eq!(first.schema_version(), second.schema_version());
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("t").unwrap();
    transaction.commit().unwrap();
    assert!(engine.snapshot().schema_version() > second.schema_version());
    engine.clean().unwrap();
    append(10);
    assert_eq!(rows(&first.table("t").unwrap().unwrap()).num_rows(), 1_000);
    assert_eq!(rows(&second.table("t").unwrap().unwrap()).num_rows(), 2_000);
    assert_eq!(
        rows(&engine.snapshot().table("t").unwrap().unwrap()).num_rows(),
        10
    );
}

/// The rows of one table, under its name and id, where those of another were.
#[test]
fn a_table_takes_the_place_of_another() {
    let engine = engine();
    let old = table_of(SqlType::Integer, true);
    let new = TableDefinition::new("n", vec![ColumnDefinition::new("x", SqlType::Text)]);
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(old.clone()).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    let numbers = array(Int32Array::from_iter_values(0..1000));
    appender.append(&batch(&old, numbers)).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let before = engine.snapshot();

    let mut transaction = engine.begin().unwrap();
    transaction.create_table(new.clone()).unwrap();
    let mut appender = transaction.appender("n").unwrap();
    let words = array(StringViewArray::from_iter_values(["one", "two"]));
    appender.append(&batch(&new, words.clone())).unwrap();
    appender.finish().unwrap();
    assert!(transaction.replace_table("t", "absent").is_err());
    transaction.replace_table("t", "n").unwrap();
    let seen = transaction.snapshot().table("t").unwrap().unwrap();
    assert_eq!(rows(&seen).column(0), &words);
    transaction.commit().unwrap();

    let after = engine.snapshot();
    assert_eq!(after.id_of("t"), before.id_of("t"));
    assert!(after.table("n").unwrap().is_none());
    let table = after.table("t").unwrap().unwrap();
    assert_eq!(table.definition().columns, new.columns);
    assert_eq!(rows(&table).column(0), &words);
    // Who reads the old table goes on reading it.
    assert_eq!(rows(&before.table("t").unwrap().unwrap()).num_rows(), 1000);
    drop((before, table, seen));
    assert_eq!(Engine::check(engine.volume()), []);
    let volume = engine.volume().clone();
    drop(engine);
    let again = Engine::open(volume).unwrap();
    let table = again.snapshot().table("t").unwrap().unwrap();
    assert_eq!(rows(&table).column(0), &words);
}

#[test]
fn writers_take_turns() {
    let engine = engine();
    let definition = table_of(SqlType::BigInt, false);
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition.clone()).unwrap();
    transaction.commit().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let (engine, definition) = (&engine, &definition);
            scope.spawn(move || {
                for _ in 0..20 {
                    let mut transaction = engine.begin().unwrap();
                    let mut appender = transaction.appender("t").unwrap();
                    let values = array(Int64Array::from(vec![thread; 10]));
                    appender.append(&batch(definition, values)).unwrap();
                    appender.finish().unwrap();
                    transaction.commit().unwrap();
                }
            });
        }
    });
    let table = engine.snapshot().table("t").unwrap().unwrap();
    assert_eq!(table.row_count().unwrap(), 800);
    assert_eq!(table.statistics(0).unwrap().distinct_estimate, 4);
    assert_eq!(Engine::check(engine.volume()), []);
}
