//! Columns that follow other columns of their rows are stored as what is left of them, or as maps, and read as
//! themselves.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringViewArray,
};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_format::relation::ColumnRelation;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, ColumnTable, Decompression, Engine, Predicate, ScanOptions, SqlType,
    TableDefinition, ZoneTable,
};

const ROWS: i64 = 150_000;

/// A cheap scrambler: the same on every run, without a pattern of its own.
fn scrambled(row: i64, salt: u64) -> i64 {
    let mixed = (row as u64 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 33) as i64
}

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    TableDefinition::new(
        "t",
        vec![
            column("id", SqlType::BigInt),
            column("shipped", SqlType::Date),
            column("same_id", SqlType::BigInt),
            column("received", SqlType::Date),
            column("unrelated", SqlType::BigInt),
        ],
    )
}

/// 2,500 days; received 1 to 30 days after being shipped, every seventh not yet.
fn rows() -> RecordBatch {
    let ids: Vec<i64> = (0..ROWS).map(|row| scrambled(row, 1)).collect();
    let shipped: Vec<i32> = (0..ROWS)
        .map(|row| 9_000 + (scrambled(row, 2) % 2_500) as i32)
        .collect();
    let received = (0..ROWS).zip(&shipped).map(|(row, day)| {
        let days = 1 + (scrambled(row, 3) % 30) as i32;
        (row % 7 != 0).then_some(day + days)
    });
    let received: Date32Array = received.collect();
    let unrelated: Vec<i64> = (0..ROWS).map(|row| scrambled(row, 4)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(ids.clone())),
        Arc::new(Date32Array::from(shipped)),
        Arc::new(Int64Array::from(ids)),
        Arc::new(received),
        Arc::new(Int64Array::from(unrelated)),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

fn table_of(definition: TableDefinition, rows: &RecordBatch) -> (Engine, Arc<ColumnTable>) {
    table_in(VolumeOptions::default(), definition, rows)
}

fn table_in(
    options: VolumeOptions,
    definition: TableDefinition,
    rows: &RecordBatch,
) -> (Engine, Arc<ColumnTable>) {
    let volume = Volume::create(Arc::new(MemDisk::new()), options).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(rows).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    (engine, table)
}

/// The rows of a scan, which are the same whether it decodes vectors or whole segments, and whether these are in the pool.
fn read(table: &Arc<ColumnTable>, options: ScanOptions) -> RecordBatch {
    let rows = read_once(table, options.clone());
    for decompression in [
        Decompression::IntoMemory,
        Decompression::IntoPool,
        Decompression::IntoPool,
    ] {
        let options = ScanOptions {
            decompression,
            ..options.clone()
        };
        assert_eq!(read_once(table, options), rows);
    }
    rows
}

fn read_once(table: &Arc<ColumnTable>, options: ScanOptions) -> RecordBatch {
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

fn reading(projection: Vec<usize>) -> ScanOptions {
    ScanOptions {
        projection,
        ..ScanOptions::default()
    }
}

#[test]
fn what_follows_is_small_and_unchanged() {
    let rows = rows();
    let (engine, table) = table_of(definition(), &rows);
    for index in 0..table.row_group_count() {
        let row_group = table.row_group(index).unwrap();
        let references: Vec<_> = row_group
            .columns
            .iter()
            .map(|column| column.relation)
            .collect();
        let (id, shipped) = (Some(ColumnRelation::Same(0)), Some(ColumnRelation::Same(1)));
        assert_eq!(references, [None, None, id, shipped, None]);
        assert_eq!(row_group.columns[2].codec, CodecId::Constant);
        // 30 differences are 5 bits, alone it would be 12; what is NULL takes a bit more.
        let bits = row_group.columns[3].encoded_bytes * 8 / row_group.row_count;
        assert!(bits <= 6, "{bits} bits a value");
    }
    assert_eq!(read(&table, reading(vec![0, 1, 2, 3, 4])), rows);
    assert_eq!(read(&table, reading(vec![3])), rows.project(&[3]).unwrap());
    assert!(Engine::check(engine.volume()).is_empty());
}

/// Of two columns one follows the other; either may be in the pool when the other is not.
#[test]
fn columns_are_pooled_apart_from_those_that_they_follow() {
    let rows = rows();
    for projections in [
        [vec![1], vec![1, 3], vec![3]],
        [vec![3], vec![1], vec![3, 1]],
        [vec![0], vec![2, 0], vec![2]],
        [vec![2], vec![2, 0], vec![0, 2]],
    ] {
        // Nothing has to go.
        let options = VolumeOptions {
            cache_bytes: 512 << 20,
            ..VolumeOptions::default()
        };
        let (_engine, table) = table_in(options, definition(), &rows);
        let pooled = |projection: &[usize]| ScanOptions {
            decompression: Decompression::IntoPool,
            ..reading(projection.to_vec())
        };
        for projection in &projections {
            let expected = rows.project(projection).unwrap();
            let found = read_once(&table, pooled(projection));
            assert_eq!(found, expected, "{projection:?}");
        }
        // What follows has not taken the place of what it follows.
        for projection in &projections {
            let scan = table.scan(pooled(projection)).unwrap();
            let mut reader = scan.reader();
            while reader.next().unwrap().is_some() {}
            drop(reader);
            let statistics = scan.statistics();
            assert_eq!(statistics.pool_misses, 0, "{projection:?}");
            assert!(statistics.pool_hits > 0, "{projection:?}");
        }
    }
}

/// Keeps few rows of few vectors, by a column that follows another.
#[derive(Debug)]
struct Selective;

const KEPT_BELOW: i64 = 1 << 21;

impl Predicate for Selective {
    fn columns(&self) -> &[usize] {
        &[2]
    }

    fn evaluate(&self, columns: &RecordBatch) -> Result<BooleanArray, String> {
        let ids = columns.column(0).as_primitive::<Int64Type>();
        Ok(ids
            .values()
            .iter()
            .map(|id| Some(*id < KEPT_BELOW))
            .collect())
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn selected_rows_are_those_of_the_column() {
    let rows = rows();
    let (_engine, table) = table_of(definition(), &rows);
    let options = ScanOptions {
        predicates: vec![Arc::new(Selective)],
        ..reading(vec![2, 3])
    };
    let ids = rows.column(0).as_primitive::<Int64Type>();
    let kept: BooleanArray = ids
        .values()
        .iter()
        .map(|id| Some(*id < KEPT_BELOW))
        .collect();
    assert!(kept.true_count() > 10 && kept.true_count() < 1_000);
    let expected = filter_record_batch(&rows.project(&[2, 3]).unwrap(), &kept).unwrap();
    assert_eq!(read(&table, options), expected);
}

fn relations(table: &ColumnTable, row_group: usize) -> Vec<Option<ColumnRelation>> {
    let row_group = table.row_group(row_group).unwrap();
    let columns = row_group.columns.iter();
    columns.map(|column| column.relation).collect()
}

#[test]
fn a_column_with_nulls_is_followed_and_a_forced_codec_is_kept() {
    let rows = rows();
    let with_nulls: Int64Array = rows
        .column(0)
        .as_primitive::<Int64Type>()
        .iter()
        .enumerate()
        .map(|(row, id)| id.filter(|_| row != 140_000 && row % 9_000 != 3))
        .collect();
    let mut columns = rows.columns().to_vec();
    columns[0] = Arc::new(with_nulls);
    let rows = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let mut definition = definition();
    definition.columns[3].compression = Some(CodecId::Pfor);
    let (engine, table) = table_of(definition, &rows);
    assert_eq!(table.row_group_count(), 2);
    for row_group in 0..2 {
        let relations = relations(&table, row_group);
        // One of two columns that are equal but for NULLs follows the other; the forced one follows none.
        assert_eq!(relations.iter().flatten().count(), 1, "{relations:?}");
        assert!(relations[0].is_some() || relations[2] == Some(ColumnRelation::Same(0)));
        assert_eq!(relations[3], None);
    }
    assert_eq!(read(&table, reading(vec![0, 1, 2, 3, 4])), rows);
    assert!(Engine::check(engine.volume()).is_empty());
}

fn column(name: &str, sql_type: SqlType) -> ColumnDefinition {
    ColumnDefinition::new(name, sql_type)
}

/// Net price, tax and total, whose rows add up but for every 200th; quantity, price of one and their product with cents
/// rounded away; every tenth row has no tax.
fn invoices() -> (TableDefinition, RecordBatch) {
    let money = SqlType::Decimal {
        precision: 15,
        scale: 2,
    };
    let definition = TableDefinition::new(
        "t",
        vec![
            column("net", money),
            column("tax", SqlType::BigInt),
            column("total", SqlType::BigInt),
            column("quantity", money),
            column("price", money),
            column("amount", money),
        ],
    );
    let decimal = |salt: u64, limit: i64| -> Vec<i64> {
        let rows = (0..ROWS).map(|row| scrambled(row, salt) % limit);
        rows.collect()
    };
    let (net, tax) = (decimal(5, 10_000_000), decimal(6, 2_000_000));
    let taxes: Vec<Option<i64>> = (0..ROWS)
        .zip(&tax)
        .map(|(row, tax)| (row % 10 != 4).then_some(*tax))
        .collect();
    let total: Int64Array = (0..ROWS)
        .zip(net.iter().zip(&taxes))
        .map(|(row, (net, tax))| match row % 200 {
            7 => scrambled(row, 9),
            _ => net + tax.unwrap_or(0),
        })
        .collect();
    let (quantity, price) = (decimal(7, 5_000), decimal(8, 1_000_000));
    let product = |quantity: &i64, price: &i64| (quantity * price + 50) / 100;
    let amount = quantity
        .iter()
        .zip(&price)
        .map(|(quantity, price)| product(quantity, price));
    let decimals = |values: &[i64]| -> ArrayRef {
        let values = values.iter().map(|&value| Some(i128::from(value)));
        let array = values.collect::<Decimal128Array>();
        Arc::new(array.with_precision_and_scale(15, 2).unwrap())
    };
    let amount: Vec<i64> = amount.collect();
    let columns: Vec<ArrayRef> = vec![
        decimals(&net),
        Arc::new(Int64Array::from(taxes)),
        Arc::new(total),
        decimals(&quantity),
        decimals(&price),
        decimals(&amount),
    ];
    let rows = RecordBatch::try_new(definition.arrow_schema(), columns).unwrap();
    (definition, rows)
}

#[test]
fn totals_and_products_follow_two_columns() {
    let (definition, rows) = invoices();
    let (engine, table) = table_of(definition, &rows);
    let row_group = table.row_group(0).unwrap();
    let relations = relations(&table, 0);
    // Of a sum any of the three may be told by the others, of a product the product.
    let first: Vec<_> = relations[..3].iter().flatten().collect();
    assert_eq!(first.len(), 1, "{relations:?}");
    let (_, second) = first[0].references();
    assert!(second.is_some(), "{relations:?}");
    let product = ColumnRelation::Product {
        columns: (3, 4),
        divisor_digits: 2,
    };
    assert_eq!(relations[3..], [None, None, Some(product)]);
    assert!(row_group.columns[5].encoded_bytes < 100);
    // An exception is some 6 bytes.
    let follower = relations.iter().position(Option::is_some).unwrap();
    let bytes = row_group.columns[follower].encoded_bytes;
    assert!(bytes < row_group.row_count, "{bytes} bytes");
    assert_eq!(read(&table, reading((0..6).collect())), rows);
    for column in 0..6 {
        let expected = rows.project(&[column]).unwrap();
        assert_eq!(read(&table, reading(vec![column])), expected);
    }
    assert!(Engine::check(engine.volume()).is_empty());
}

/// Provinces by code, with a name, a region that some lack, a latitude and whether they have a coast; in the second
/// row group names mean nothing. Some rows name the province otherwise, some codes are unknown.
fn provinces() -> (TableDefinition, RecordBatch) {
    let definition = TableDefinition::new(
        "t",
        vec![
            column("code", SqlType::Integer),
            column("name", SqlType::Text),
            column("region", SqlType::VarChar(20)),
            column("latitude", SqlType::Double),
            column("coast", SqlType::Boolean),
            column("cases", SqlType::BigInt),
        ],
    );
    let codes: Vec<Option<i32>> = (0..ROWS)
        .map(|row| (row % 50 != 11).then_some((scrambled(row, 1) % 110) as i32 * 9 + 7))
        .collect();
    let rows = || (0..ROWS).zip(codes.iter().map(|code| code.map_or(-1, i64::from)));
    let name = |(row, code): (i64, i64)| match row {
        _ if row >= 131_072 => Some(format!("name {}", scrambled(row, 2) % 100)),
        _ if row % 1_000 == 500 => Some("being defined".to_owned()),
        _ if row % 1_000 == 700 => None,
        _ => Some(format!("province number {}", scrambled(code, 3))),
    };
    let region = |(_, code): (i64, i64)| (code % 11 != 3).then(|| format!("region {}", code % 21));
    let latitude = |(_, code): (i64, i64)| Some(35.0 + scrambled(code, 4) as f64 / 3e8);
    let coast = |(_, code): (i64, i64)| (code % 13 != 5).then_some(scrambled(code, 5) % 2 == 0);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(codes.clone())),
        Arc::new(rows().map(name).collect::<StringViewArray>()),
        Arc::new(rows().map(region).collect::<StringViewArray>()),
        Arc::new(rows().map(latitude).collect::<Float64Array>()),
        Arc::new(rows().map(coast).collect::<BooleanArray>()),
        Arc::new(
            (0..ROWS)
                .map(|row| Some(scrambled(row, 6)))
                .collect::<Int64Array>(),
        ),
    ];
    let rows = RecordBatch::try_new(definition.arrow_schema(), columns).unwrap();
    (definition, rows)
}

#[test]
fn what_a_code_tells_is_a_map() {
    let (definition, rows) = provinces();
    let (engine, table) = table_of(definition, &rows);
    let leader = |row_group: usize| {
        let relations = relations(&table, row_group);
        let found: Vec<usize> = relations
            .iter()
            .flatten()
            .map(|one| one.references().0)
            .collect();
        assert!(
            relations
                .iter()
                .flatten()
                .all(|one| matches!(one, ColumnRelation::Map(_)))
        );
        assert!(found.iter().all(|one| *one == found[0]), "{relations:?}");
        (found[0], relations)
    };
    // Whatever leads, it tells all but the cases; without names in the second row group.
    let (first, told) = leader(0);
    let followers = told.iter().flatten().count();
    assert_eq!((followers, told[5]), (4, None), "{told:?}");
    let row_group = table.row_group(0).unwrap();
    for column in (0..5).filter(|column| *column != first) {
        let bytes = row_group.columns[column].encoded_bytes;
        assert!(bytes < 8_000, "{bytes} bytes of column {column}");
    }
    let (second, told) = leader(1);
    assert_eq!((told[1], told[5]), (None, None), "{told:?}");
    assert!(
        second != 1 && told.iter().flatten().count() >= 3,
        "{told:?}"
    );
    assert_eq!(read(&table, reading((0..6).collect())), rows);
    for column in 0..6 {
        let expected = rows.project(&[column]).unwrap();
        assert_eq!(read(&table, reading(vec![column])), expected);
    }
    assert!(Engine::check(engine.volume()).is_empty());
}

/// Keeps the rows where a text is one of some, or those where it is NULL.
#[derive(Debug)]
struct OneOf {
    column: usize,
    texts: Vec<Option<&'static str>>,
}

impl OneOf {
    fn keeps(&self, texts: &StringViewArray) -> BooleanArray {
        let is_kept = |text: Option<&str>| self.texts.contains(&text);
        // What no row has would fail a cast, and is not to be shown to a predicate.
        assert!(texts.iter().flatten().all(|text| text.contains(' ')));
        texts.iter().map(|text| Some(is_kept(text))).collect()
    }
}

impl Predicate for OneOf {
    fn columns(&self) -> &[usize] {
        std::slice::from_ref(&self.column)
    }

    fn evaluate(&self, columns: &RecordBatch) -> Result<BooleanArray, String> {
        Ok(self.keeps(columns.column(0).as_string_view()))
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn predicates_on_maps_see_exceptions_and_nulls() {
    let (definition, rows) = provinces();
    let (_engine, table) = table_of(definition, &rows);
    for (column, texts) in [
        (1, vec![Some("being defined")]),
        (1, vec![None]),
        (2, vec![Some("region 4"), None]),
        (2, vec![Some("region 5")]),
        (2, vec![Some("no region")]),
    ] {
        let predicate = OneOf { column, texts };
        let kept = predicate.keeps(rows.column(column).as_string_view());
        let expected = filter_record_batch(&rows.project(&[1, 5, 2]).unwrap(), &kept).unwrap();
        let options = ScanOptions {
            predicates: vec![Arc::new(predicate)],
            ..reading(vec![1, 5, 2])
        };
        assert_eq!(read(&table, options), expected);
    }
}

/// Small row groups are read back and written again; what follows in them may follow otherwise then.
#[test]
fn small_appends_are_joined_with_what_they_follow() {
    let (definition, rows) = provinces();
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    transaction.commit().unwrap();
    let mut expected = Vec::new();
    for (start, length) in [(0, 5_000), (5_000, 1), (5_001, 300), (130_000, 9_000)] {
        let mut transaction = engine.begin().unwrap();
        let mut appender = transaction.appender("t").unwrap();
        appender.append(&rows.slice(start, length)).unwrap();
        appender.finish().unwrap();
        transaction.commit().unwrap();
        expected.push(rows.slice(start, length));
        let table = engine.snapshot().table("t").unwrap().unwrap();
        let expected = concat_batches(&rows.schema(), &expected).unwrap();
        assert_eq!(read(&table, reading((0..6).collect())), expected);
    }
    assert!(Engine::check(engine.volume()).is_empty());
}
