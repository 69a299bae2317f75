//! What paths, joins and spilling cost: `cargo run --release -p quire-exec --example tuple_paths -- [ORDERS]`.
//!
//! A table of orders and two of their lines, in memory, four lines to an order: one of them has a primary key that begins with the order, the
//! other has none. The join of some orders with their lines can look them up in the one, and has to read all of the other. Then sorts,
//! groups and joins of all lines, with memory for everything and with less: what is kept or written. Best of three rounds, in milliseconds.

use std::sync::Arc;
use std::time::Instant;

use quire_exec::plan::{
    Aggregate, AggregateCall, AggregateFunction, ComparisonExpression, Expression, Join, JoinKey,
    JoinKind, Plan, PlanColumn, PlanNode, PlanQuery, PlanSortKey, ScanNode, SortNode, SumKind,
    ValueKind,
};
use quire_exec::tuple::{QueryOptions, TupleQuery};
use quire_kv::mvcc::TransactionOptions;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    CatalogKeyPart, ColumnDefinition, Engine, EngineOptions, KeyDefinition, RowTable, SqlType,
    TableDefinition, TableStorage,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const LINES: i64 = 4;
const DAYS: i64 = 1_000;
const ROWS_OF_COMMIT: i64 = 50_000;

const ORDERS: [(&str, SqlType); 3] = [
    ("orderkey", SqlType::BigInt),
    ("day", SqlType::Integer),
    ("comment", SqlType::Text),
];

const LINE: [(&str, SqlType); 4] = [
    ("orderkey", SqlType::BigInt),
    ("number", SqlType::Integer),
    ("price", SqlType::BigInt),
    ("comment", SqlType::Text),
];

fn main() -> Result<(), Failure> {
    let orders: i64 = std::env::args()
        .nth(1)
        .map_or(Ok(100_000), |count| count.parse())?;
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
    let engine = Engine::open_with(volume, EngineOptions::default())?;
    create(&engine, "orders", &ORDERS, &[0])?;
    create(&engine, "lines", &LINE, &[0, 1])?;
    create(&engine, "heap", &LINE, &[])?;
    fill(&engine, orders)?;
    let snapshot = engine.snapshot();
    let tables = |name: &str| snapshot.row_table(name).ok().flatten();
    println!("{orders} orders, {} lines", orders * LINES);
    for days in [1, 10, 100, DAYS] {
        let run = |lines| best(&joined(days, lines), &tables, 1 << 30);
        let (by_key, without) = (run("lines")?, run("heap")?);
        println!("join of {days} days of {DAYS}: with a key {by_key:8.1}, without {without:8.1}");
    }
    for (name, plan) in [
        ("sort", sorted()),
        ("groups", grouped()),
        ("join", all_joined()),
    ] {
        for megabytes in [1024, 16, 4] {
            let elapsed_ms = best(&plan, &tables, megabytes << 20)?;
            let (peak, kept) = (peak(), kept(&plan, &tables, megabytes << 20)?);
            println!("{name} with {megabytes:4} MiB: {elapsed_ms:8.1}, {peak}{kept}");
        }
    }
    Ok(())
}

/// The most memory that the process has had since it was asked last, where the system says that.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    // 5 starts the peak anew. Where that is not possible, it is that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    line.unwrap_or("VmHWM unknown").to_owned()
}

fn create(
    engine: &Engine,
    name: &str,
    columns: &[(&str, SqlType)],
    key: &[usize],
) -> Result<(), Failure> {
    let column = |(name, sql_type): &(&str, SqlType)| {
        let mut column = ColumnDefinition::new(*name, *sql_type);
        column.nullable = false;
        column
    };
    let mut definition = TableDefinition::new(name, columns.iter().map(column).collect());
    definition.storage = TableStorage::Row;
    let part = |column: &usize| CatalogKeyPart {
        column: *column,
        is_descending: false,
    };
    definition.primary_key = (!key.is_empty()).then(|| KeyDefinition {
        name: format!("{name}_pkey"),
        columns: key.iter().map(part).collect(),
    });
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.define(|tables| tables.create_table(definition))?;
    transaction.commit()?;
    Ok(())
}

/// A number that looks like chance.
fn mixed(number: i64) -> i64 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)) >> 2) as i64
}

fn fill(engine: &Engine, orders: i64) -> Result<(), Failure> {
    for start in (0..orders).step_by(ROWS_OF_COMMIT as usize / LINES as usize) {
        let end = orders.min(start + ROWS_OF_COMMIT / LINES);
        let mut transaction = engine.transaction(TransactionOptions::default());
        for name in ["orders", "lines", "heap"] {
            let table = transaction.snapshot().row_table(name)?.ok_or("no table")?;
            let mut writer = transaction.row_writer(table.parts());
            for order in start..end {
                let comment = format!("comment {:x}", mixed(order));
                let text = TupleValue::Bytes(comment.as_bytes());
                let key = TupleValue::Integer(order);
                if name == "orders" {
                    let day = TupleValue::Integer(mixed(order) % DAYS);
                    writer.insert(&[key, day, text])?;
                    continue;
                }
                for number in 0..LINES {
                    let price = mixed(order * LINES + number) % 100_000;
                    let (number, price) = (TupleValue::Integer(number), TupleValue::Integer(price));
                    writer.insert(&[key, number, price, text])?;
                }
            }
        }
        transaction.commit()?;
    }
    Ok(())
}

fn scan(table: &str, columns: &[(&str, SqlType)]) -> Plan {
    let column = |(name, sql_type): &(&str, SqlType)| PlanColumn {
        name: (*name).to_owned(),
        data_type: sql_type.arrow_type(),
        nullable: false,
    };
    Plan {
        columns: columns.iter().map(column).collect(),
        node: PlanNode::Scan(ScanNode {
            table: table.to_owned(),
            columns: (0..columns.len()).collect(),
            conditions: Vec::new(),
        }),
    }
}

fn column(slot: usize, kind: ValueKind) -> Expression {
    Expression::Column {
        slot,
        kind,
        nullable: false,
    }
}

fn integer(slot: usize) -> Expression {
    column(slot, ValueKind::Integer)
}

fn join(left: Plan, right: Plan) -> Plan {
    let key = JoinKey {
        left: integer(0),
        right: integer(0),
    };
    let join = Join {
        kind: JoinKind::Inner,
        left,
        right,
        keys: vec![key],
        nulls_match: false,
        residual: None,
        is_null_aware: false,
    };
    Plan::join(join, "")
}

fn group(input: Plan, slot: usize, sum: usize) -> Plan {
    let call = AggregateCall {
        function: AggregateFunction::Sum(SumKind::BigInt),
        argument: Some(integer(sum)),
        is_distinct: false,
        filter: None,
    };
    let name = |name: &str| (name.to_owned(), SqlType::BigInt.arrow_type());
    let aggregate = Aggregate {
        input,
        groups: vec![integer(slot)],
        calls: vec![call],
    };
    Plan::aggregate(aggregate, vec![name("key"), name("sum")])
}

/// The ten orders of some days with the greatest sums of their lines.
fn joined(days: i64, lines: &str) -> Plan {
    let limit = Expression::Constant(Value::Integer(days));
    let condition = Expression::Compare(ComparisonExpression::Less, Box::new([integer(1), limit]));
    let orders = scan("orders", &ORDERS).filter(condition);
    let groups = group(join(orders, scan(lines, &LINE)), 0, 5);
    first(groups, integer(1), Some(10))
}

fn first(input: Plan, expression: Expression, fetch: Option<u64>) -> Plan {
    let key = PlanSortKey {
        expression,
        is_descending: true,
        nulls_first: false,
    };
    let keys = vec![key];
    Plan::sort(SortNode { input, keys, fetch })
}

fn sorted() -> Plan {
    first(scan("lines", &LINE), integer(2), None)
}

fn grouped() -> Plan {
    group(scan("lines", &LINE), 0, 2)
}

/// Lines with lines of the same order.
fn all_joined() -> Plan {
    join(scan("heap", &LINE), scan("heap", &LINE))
}

/// What iterators say that they have kept and written.
fn kept(
    plan: &Plan,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    memory_bytes: usize,
) -> Result<String, Failure> {
    let query = PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan: plan.clone(),
    };
    let options = QueryOptions {
        memory_bytes,
        is_counted: true,
        ..QueryOptions::default()
    };
    let mut running = TupleQuery::with_options(&query, tables, &[], &options)?;
    while running.next_row()? {}
    let explained = running.explanation(false).to_string();
    let words: Vec<&str> = explained.split_whitespace().collect();
    let words = words.join(" ");
    let remarks = words.split([';', ')']).map(str::trim);
    let of_bytes = remarks.filter(|remark| {
        remark.starts_with("has written ")
            || (remark.starts_with("keeps ") && remark.contains(" rows of "))
    });
    Ok(of_bytes.map(|remark| format!(", {remark}")).collect())
}

fn best(
    plan: &Plan,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    memory_bytes: usize,
) -> Result<f64, Failure> {
    let query = PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan: plan.clone(),
    };
    let options = QueryOptions {
        memory_bytes,
        ..QueryOptions::default()
    };
    let mut best_ms = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let mut running = TupleQuery::with_options(&query, tables, &[], &options)?;
        let mut rows = 0;
        while running.next_row()? {
            rows += 1;
        }
        if rows == 0 {
            return Err("no rows".into());
        }
        best_ms = best_ms.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best_ms)
}
