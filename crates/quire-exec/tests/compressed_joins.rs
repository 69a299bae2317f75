//! The method of a join follows from compression (paper 1 §4.2): rows of a table that fits the pool because it is compressed are looked up, and
//! a plain table with the same rows, which does not fit, is read from end to end. The rows that come out are the same.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../quire-tables/tests/fill/fixture.rs"]
mod fixture;

use std::sync::Arc;

use arrow::datatypes::DataType;
use fixture::{create, key, options};
use quire_exec::access::TableLookUps;
use quire_exec::costs::{Cost, CostModel};
use quire_exec::plan::{
    Expression, Join, JoinKey, JoinKind, Plan, PlanColumn, PlanNode, PlanQuery, PlanScalar,
    ScanNode, ValueKind,
};
use quire_exec::tuple::{
    JoinCosts, QueryOptions, RelationSize, TupleQuery, Workspace, kept_value_bytes, scan_cost,
};
use quire_kv::mvcc::TransactionOptions;
use quire_store::pool::PoolOptions;
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    BlockCodecId, ColumnDefinition, Engine, EngineOptions, Insertion, SqlType, TableDefinition,
    TableStorage,
};

const INNER_ROWS: i64 = 20_000;
const OUTER_ROWS: i64 = 10_000;
/// More than the compressed table takes, and less than the plain one.
const POOL_BYTES: usize = 900 << 10;

/// A table of so many numbers a row, the first of which is its key.
fn load(
    engine: &Engine,
    name: &str,
    compresses_tuples: bool,
    rows: impl Iterator<Item = Vec<i64>>,
) {
    let mut rows = rows.peekable();
    let column_count = rows.peek().unwrap().len();
    let columns = (0..column_count).map(|at| ColumnDefinition {
        nullable: false,
        stores_null: false,
        ..ColumnDefinition::new(format!("{name}{at}"), SqlType::BigInt)
    });
    let mut definition = TableDefinition::new(name, columns.collect());
    definition.storage = TableStorage::Row;
    definition.primary_key = Some(key(&format!("{name}_pkey"), &[(0, false)]));
    definition.options.page_bytes = 4_096;
    definition.options.page_codec = BlockCodecId::None;
    definition.options.compresses_tuples = compresses_tuples;
    create(engine, definition);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table(name).unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for row in rows {
        let values: Vec<TupleValue<'_>> = row.into_iter().map(TupleValue::Integer).collect();
        let inserted = writer.insert(&values).unwrap();
        assert!(matches!(inserted, Insertion::Inserted(_)));
    }
    transaction.commit().unwrap();
}

fn scan(table: &str, column_count: usize) -> Plan {
    let columns = (0..column_count).map(|at| PlanColumn {
        name: format!("{table}{at}"),
        data_type: DataType::Int64,
        nullable: false,
    });
    Plan {
        columns: columns.collect(),
        node: PlanNode::Scan(ScanNode {
            table: table.to_owned(),
            columns: (0..column_count).collect(),
            conditions: Vec::new(),
        }),
    }
}

/// Each row of `sale` with that of the table whose key is its second column.
fn joined(inner: &str) -> PlanQuery {
    let column = |slot: usize| Expression::Column {
        slot,
        kind: ValueKind::Integer,
        nullable: false,
    };
    let join = Join {
        kind: JoinKind::Inner,
        left: scan("sale", 2),
        right: scan(inner, 6),
        keys: vec![JoinKey {
            left: column(1),
            right: column(0),
        }],
        nulls_match: false,
        residual: None,
        is_null_aware: false,
    };
    PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan: Plan::join(join, ""),
    }
}

fn item(id: i64) -> Vec<i64> {
    vec![id, id % 7, id % 11, id % 13, id % 100, id % 5]
}

fn sale(id: i64) -> Vec<i64> {
    vec![id, id * 7_919 % INNER_ROWS]
}

/// The tables on a disk, none of whose pages are in memory.
fn opened() -> Engine {
    let disk = Arc::new(MemDisk::new());
    {
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open_with(volume, options(64 << 20)).unwrap();
        load(&engine, "packed", true, (0..INNER_ROWS).map(item));
        load(&engine, "plain", false, (0..INNER_ROWS).map(item));
        load(&engine, "sale", true, (0..OUTER_ROWS).map(sale));
        engine.checkpoint().unwrap();
    }
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    let pool = PoolOptions {
        budget_bytes: POOL_BYTES,
        ..PoolOptions::default()
    };
    let options = EngineOptions {
        pool,
        ..options(64 << 20)
    };
    Engine::open_with(volume, options).unwrap()
}

/// A processor of the time: a row costs more than it does today.
fn slow_rows() -> CostModel {
    let mut costs = CostModel::default();
    costs.set("row", "2000").unwrap();
    costs
}

#[test]
fn a_table_that_fits_the_pool_compressed_is_looked_up_and_a_plain_one_is_read() {
    let engine = opened();
    let snapshot = engine.snapshot();
    let tables = |name: &str| snapshot.row_table(name).unwrap();
    for (name, fits) in [("packed", true), ("plain", false)] {
        let leaves = tables(name).unwrap().leaves().unwrap();
        let bytes = leaves.leaves * leaves.page_bytes;
        assert_eq!(bytes < POOL_BYTES as f64, fits, "{name}: {bytes}");
    }
    let options = QueryOptions {
        costs: slow_rows(),
        ..QueryOptions::default()
    };
    for (name, method) in [
        ("packed", "join by looking up"),
        ("plain", "join by hashing"),
    ] {
        let query = joined(name);
        let mut running = TupleQuery::with_options(&query, &tables, &[], &options).unwrap();
        let explained = running.explanation(false).to_string();
        assert!(explained.contains(method), "{name}: {explained}");
        let mut found = Vec::new();
        while running.next_row().unwrap() {
            let value = |slot: usize| match running.value(slot) {
                PlanScalar::Integer(value) => value,
                other => panic!("{other:?}"),
            };
            found.push((0..8).map(value).collect::<Vec<i64>>());
        }
        found.sort();
        let expected = (0..OUTER_ROWS).map(|id| [sale(id), item(sale(id)[1])].concat());
        assert!(found == expected.collect::<Vec<_>>(), "{name}");
    }
}

/// What the planner asks, to compare orders of joins, is what the engine chooses its method by: scans and look-ups, or scans and a hash table.
#[test]
fn the_parts_of_a_join_cost_what_the_join_does() {
    let engine = opened();
    let snapshot = engine.snapshot();
    let tables = |name: &str| snapshot.row_table(name).unwrap();
    let costs = slow_rows();
    let options = QueryOptions {
        costs,
        ..QueryOptions::default()
    };
    let of_scan = |name: &str, column_count: usize| {
        let table = tables(name).unwrap();
        let statistics = table.statistics().unwrap();
        let ordinals: Vec<usize> = (0..column_count).collect();
        let bytes = ordinals.iter();
        let bytes = bytes.map(|at| kept_value_bytes(table.layout(), &statistics, *at));
        let size = RelationSize {
            rows: statistics.row_count,
            row_bytes: bytes.sum(),
        };
        let scan = scan_cost(&table, &[], (size.rows, &ordinals), &costs).unwrap();
        assert!(scan.is_in_order);
        (scan.ns, size)
    };
    let (sale_ns, sale) = of_scan("sale", 2);
    let workspace = Workspace::of(options.memory_bytes, &costs);
    for (name, is_looked_up) in [("packed", true), ("plain", false)] {
        let query = joined(name);
        let expected = TupleQuery::estimate(&query, &tables, &[], &options).unwrap();
        let join_ns = expected.tuple_ns - costs.of(Cost::TupleStart);
        let (item_ns, item) = of_scan(name, 6);
        let table = tables(name).unwrap();
        assert!(TableLookUps::of(&table, &[1, 2], &costs).unwrap().is_none());
        let look_ups = TableLookUps::of(&table, &[0, 1], &costs).unwrap().unwrap();
        let each_ns = look_ups.cost_each_ns(|ordinal| ordinal == 0, sale.rows);
        let looking_up_ns = sale_ns + sale.rows * each_ns.unwrap();
        assert_eq!(look_ups.cost_each_ns(|ordinal| ordinal == 1, 1.0), None);
        let of = JoinCosts::new(&costs, &workspace);
        let keeping = [(sale, item), (item, sale)];
        let keeping_ns = keeping.map(|(kept, looking)| of.hashing_ns(kept, looking));
        let hashing_ns = sale_ns + item_ns + f64::min(keeping_ns[0], keeping_ns[1]);
        assert_eq!(looking_up_ns < hashing_ns, is_looked_up, "{name}");
        // Some pages that were read to say so are in memory now.
        let parts_ns = f64::min(looking_up_ns, hashing_ns);
        let is_about = (0.9..=1.1).contains(&(parts_ns / join_ns));
        assert!(is_about, "{name}: {parts_ns} {join_ns}");
    }
}
