//! What joins and sorts keep of rows: tuples as they are, or what is asked of them. The rows that come out are those of nested loops, and what is kept
//! takes no more than it does in its table.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../quire-tables/tests/fill/fixture.rs"]
mod fixture;
#[path = "kept_rows/methods.rs"]
mod methods;

use std::sync::Arc;

use arrow::datatypes::DataType;
use fixture::{Random, create, definition, engine_on, fill, key, rows};
use quire_exec::costs::CostModel;
use quire_exec::plan::{
    Expression, Join, JoinKey, JoinKind, Plan, PlanColumn, PlanNode, PlanQuery, PlanSortKey,
    ScanNode, SortNode,
};
use quire_exec::tuple::{QueryOptions, TupleQuery};
use quire_kv::mvcc::TransactionOptions;
use quire_store::MemDisk;
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    ColumnDefinition, Engine, Insertion, RowTable, SqlType, TableDefinition, TableStorage,
};
use tpchgen::generators::{LineItemGenerator, OrderGenerator};

type Row = Vec<Value>;

fn column(plan: &Plan, slot: usize) -> Expression {
    let column = &plan.columns[slot];
    Expression::Column {
        slot,
        kind: column.kind().unwrap(),
        nullable: column.nullable,
    }
}

/// All columns of a table.
fn scan(table: &str, types: &[DataType]) -> Plan {
    let columns = types.iter().enumerate().map(|(at, data_type)| PlanColumn {
        name: format!("{table}{at}"),
        data_type: data_type.clone(),
        nullable: true,
    });
    Plan {
        columns: columns.collect(),
        node: PlanNode::Scan(ScanNode {
            table: table.to_owned(),
            columns: (0..types.len()).collect(),
            conditions: Vec::new(),
        }),
    }
}

/// Some columns of a plan.
fn project(plan: Plan, slots: &[usize]) -> Plan {
    let outputs = slots.iter();
    let outputs = outputs.map(|slot| (plan.columns[*slot].clone(), column(&plan, *slot)));
    let outputs: Vec<_> = outputs.collect();
    plan.project(outputs)
}

fn join(kind: JoinKind, left: Plan, right: Plan, slots: (usize, usize)) -> Plan {
    let key = JoinKey {
        left: column(&left, slots.0),
        right: column(&right, slots.1),
    };
    let join = Join {
        kind,
        left,
        right,
        keys: vec![key],
        nulls_match: false,
        residual: None,
        is_null_aware: false,
    };
    Plan::join(join, "")
}

fn sort(input: Plan, slot: usize) -> Plan {
    let key = PlanSortKey {
        expression: column(&input, slot),
        is_descending: false,
        nulls_first: false,
    };
    Plan::sort(SortNode {
        input,
        keys: vec![key],
        fetch: None,
    })
}

/// The rows of a plan, and what its iterators say of themselves afterwards, in one line.
fn run(
    plan: Plan,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    options: &QueryOptions,
) -> (Vec<Row>, String) {
    let query = PlanQuery {
        parameter_count: 0,
        values: Vec::new(),
        plan,
    };
    let mut running = TupleQuery::with_options(&query, tables, &[], options).unwrap();
    let mut rows = Vec::new();
    while running.next_row().unwrap() {
        let columns = query.plan.columns.iter().enumerate();
        let value = |(slot, column): (usize, &PlanColumn)| {
            running.value(slot).into_value(column.is_text()).unwrap()
        };
        rows.push(columns.map(value).collect());
    }
    let explained = running.explanation(false).to_string();
    let words: Vec<&str> = explained.split_whitespace().collect();
    (rows, words.join(" "))
}

/// Costs by which rows are kept, not looked up and not joined in order.
fn keeping(memory_bytes: usize) -> QueryOptions {
    let mut costs = CostModel::default();
    for (name, ns) in [
        ("lookup", "1e9"),
        ("range_start", "1e9"),
        ("compare", "1e9"),
    ] {
        costs.set(name, ns).unwrap();
    }
    QueryOptions {
        memory_bytes,
        is_counted: true,
        costs,
        ..QueryOptions::default()
    }
}

/// Two numbers, the second of a text that starts behind the first: `keeps 15 rows of 340 bytes`.
fn numbers_behind(text: &str, words: &str) -> (u64, u64) {
    let (_, rest) = text
        .split_once(words)
        .unwrap_or_else(|| panic!("{words} in {text}"));
    let mut numbers = rest.split(|letter: char| !letter.is_ascii_digit());
    let mut next = || {
        let number = numbers.find(|number| !number.is_empty());
        number.unwrap().parse().unwrap()
    };
    (next(), next())
}

const TYPES: [DataType; 4] = [
    DataType::Int64,
    DataType::Int32,
    DataType::Utf8View,
    DataType::Utf8View,
];

/// Pairs of rows with equal second values, and those without a partner as the kind of the join says.
fn joined(kind: JoinKind, left: &[Row], right: &[Row]) -> Vec<Row> {
    let nulls = || vec![Value::Null; TYPES.len()];
    let matches = |one: &Row, other: &Row| !one[1].is_null() && one[1] == other[1];
    let mut rows = Vec::new();
    for one in left {
        let mut partners = right.iter().filter(|other| matches(one, other)).peekable();
        let has_partner = partners.peek().is_some();
        match kind {
            JoinKind::Semi if has_partner => rows.push(one.clone()),
            JoinKind::Anti if !has_partner => rows.push(one.clone()),
            JoinKind::Semi | JoinKind::Anti | JoinKind::Mark => {}
            _ => rows.extend(partners.map(|other| [one.clone(), other.clone()].concat())),
        }
        if matches!(kind, JoinKind::Left | JoinKind::Full) && !has_partner {
            rows.push([one.clone(), nulls()].concat());
        }
    }
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        let alone = right.iter();
        let alone = alone.filter(|other| !left.iter().any(|one| matches(one, other)));
        rows.extend(alone.map(|other| [nulls(), other.clone()].concat()));
    }
    rows
}

fn projected(rows: &[Row], slots: &[usize]) -> Vec<Row> {
    let of_row = |row: &Row| slots.iter().map(|slot| row[*slot].clone()).collect();
    let mut rows: Vec<Row> = rows.iter().map(of_row).collect();
    rows.sort();
    rows
}

/// Rows of which some texts are so long that they are stored beside their tuples.
fn made_rows(random: &mut Random, count: usize, has_key: bool) -> Vec<[Value; 4]> {
    let mut made = rows(random, count);
    for (at, row) in made.iter_mut().enumerate() {
        if at % 7 == 0 {
            row[3] = Value::Text("long ".repeat(500 + at).into());
        }
    }
    if has_key {
        made.sort_by(|left, right| left[1].cmp(&right[1]).then(right[0].cmp(&left[0])));
    }
    made
}

const KINDS: [JoinKind; 6] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Right,
    JoinKind::Full,
    JoinKind::Semi,
    JoinKind::Anti,
];

#[test]
fn kept_rows_are_those_of_nested_loops_whatever_is_asked_of_them_and_however_little_memory_there_is()
 {
    let mut random = Random(3);
    let (mut whole_count, mut projected_count, mut spilled_count) = (0, 0, 0);
    for has_key in [false, true] {
        let engine = engine_on(Arc::new(MemDisk::new()), 64 << 20);
        create(&engine, definition(has_key));
        let made = made_rows(&mut random, 60, has_key);
        let mut transaction = engine.transaction(TransactionOptions::default());
        fill(&mut transaction, &made).unwrap();
        transaction.commit().unwrap();
        let snapshot = engine.snapshot();
        let tables = |name: &str| snapshot.row_table(name).unwrap();
        let all: Vec<Row> = made.iter().map(|row| row.to_vec()).collect();
        for _ in 0..40 {
            // A part of the rows on either side, by conditions that the naive side has as filters.
            let parts = [0, 1].map(|_| random.below(6) as i64);
            let sides = parts.map(|least| {
                let limit = Expression::Constant(Value::Integer(least));
                let condition = Expression::Compare(
                    quire_exec::plan::ComparisonExpression::GreaterOrEqual,
                    Box::new([column(&scan("t", &TYPES), 1), limit]),
                );
                scan("t", &TYPES).filter(condition)
            });
            let of_part = |least: i64| -> Vec<Row> {
                let rows = all.iter().filter(|row| row[1] >= Value::Integer(least));
                rows.cloned().collect()
            };
            let (left, right) = (of_part(parts[0]), of_part(parts[1]));
            let kind = KINDS[random.below(KINDS.len())];
            let column_count = if kind.shows_right() { 8 } else { 4 };
            let slots: Vec<usize> = (0..column_count).filter(|_| random.below(2) == 0).collect();
            let slots = if slots.is_empty() { vec![0] } else { slots };
            let expected = projected(&joined(kind, &left, &right), &slots);
            let [left, right] = sides;
            let plan = project(join(kind, left, right, (1, 1)), &slots);
            for memory_bytes in [0, 20_000, 1 << 30] {
                let (mut found, text) = run(plan.clone(), &tables, &keeping(memory_bytes));
                found.sort();
                assert_eq!(found, expected, "{kind:?} {slots:?} {memory_bytes}\n{text}");
                assert!(text.contains("join by hashing"), "{text}");
                whole_count += usize::from(text.contains("as it is"));
                projected_count += usize::from(!text.contains("as it is"));
                spilled_count += usize::from(text.contains("has written"));
            }
        }
        for slot in 0..4 {
            let plan = project(sort(scan("t", &TYPES), slot), &[3, slot]);
            for memory_bytes in [0, 20_000, 1 << 30] {
                let (found, text) = run(plan.clone(), &tables, &keeping(memory_bytes));
                let of_slot: Vec<&Value> = found.iter().map(|row| &row[1]).collect();
                assert!(of_slot.is_sorted(), "{text}");
                let mut found = found.clone();
                found.sort();
                assert_eq!(found, projected(&all, &[3, slot]), "{text}");
            }
        }
    }
    let counts = [whole_count, projected_count, spilled_count];
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

fn decimal(cents: i64) -> Value {
    Value::Decimal(i128::from(cents).into())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn orders() -> impl Iterator<Item = Row> {
    OrderGenerator::new(0.002, 1, 1).iter().map(|order| {
        vec![
            Value::Integer(order.o_orderkey),
            Value::Integer(order.o_custkey),
            text(&order.o_orderstatus.to_string()),
            decimal(order.o_totalprice.0),
            Value::Integer(order.o_orderdate.to_unix_epoch().into()),
            text(order.o_orderpriority),
            text(&order.o_clerk.to_string()),
            Value::Integer(order.o_shippriority.into()),
            text(order.o_comment),
        ]
    })
}

fn lineitem() -> impl Iterator<Item = Row> {
    LineItemGenerator::new(0.002, 1, 1).iter().map(|line| {
        vec![
            Value::Integer(line.l_orderkey),
            Value::Integer(line.l_linenumber.into()),
            Value::Integer(line.l_partkey),
            Value::Integer(line.l_suppkey),
            decimal(line.l_quantity * 100),
            decimal(line.l_extendedprice.0),
            decimal(line.l_discount.0),
            decimal(line.l_tax.0),
            Value::Integer(line.l_shipdate.to_unix_epoch().into()),
            Value::Integer(line.l_commitdate.to_unix_epoch().into()),
            Value::Integer(line.l_receiptdate.to_unix_epoch().into()),
            text(line.l_shipmode),
            text(line.l_comment),
        ]
    })
}

const MONEY: SqlType = SqlType::Decimal {
    precision: 15,
    scale: 2,
};

const ORDERS: [SqlType; 9] = [
    SqlType::Integer,
    SqlType::Integer,
    SqlType::Text,
    MONEY,
    SqlType::Date,
    SqlType::Text,
    SqlType::Text,
    SqlType::Integer,
    SqlType::Text,
];

const LINEITEM: [SqlType; 13] = [
    SqlType::Integer,
    SqlType::Integer,
    SqlType::Integer,
    SqlType::Integer,
    MONEY,
    MONEY,
    MONEY,
    MONEY,
    SqlType::Date,
    SqlType::Date,
    SqlType::Date,
    SqlType::Text,
    SqlType::Text,
];

fn load(
    engine: &Engine,
    (name, types, key_columns): (&str, &[SqlType], &[(usize, bool)]),
    rows: impl Iterator<Item = Row>,
) -> usize {
    let columns = types
        .iter()
        .enumerate()
        .map(|(at, sql_type)| ColumnDefinition {
            nullable: false,
            stores_null: false,
            ..ColumnDefinition::new(format!("{name}{at}"), *sql_type)
        });
    let mut definition = TableDefinition::new(name, columns.collect());
    definition.storage = TableStorage::Row;
    definition.primary_key = Some(key(&format!("{name}_pkey"), key_columns));
    create(engine, definition);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table(name).unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let mut count = 0;
    for row in rows {
        let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        let inserted = writer.insert(&values).unwrap();
        assert!(matches!(inserted, Insertion::Inserted(_)));
        count += 1;
    }
    transaction.commit().unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.analyze(name).unwrap();
    transaction.commit().unwrap();
    count
}

fn arrow_types(types: &[SqlType]) -> Vec<DataType> {
    types.iter().map(|sql_type| sql_type.arrow_type()).collect()
}

/// Kept rows may have the lengths of a tuple and of its key besides.
const LENGTHS_BYTES: u64 = 2;

#[test]
fn a_join_of_orders_and_lineitem_keeps_no_more_than_the_tables_have() {
    let engine = engine_on(Arc::new(MemDisk::new()), 64 << 20);
    let order_count = load(&engine, ("orders", &ORDERS, &[(0, false)]), orders());
    let lines = (
        "lineitem",
        LINEITEM.as_slice(),
        [(0, false), (1, false)].as_slice(),
    );
    let line_count = load(&engine, lines, lineitem());
    let snapshot = engine.snapshot();
    let tables = |name: &str| snapshot.row_table(name).unwrap();
    let orders = || scan("orders", &arrow_types(&ORDERS));
    let lineitem = || scan("lineitem", &arrow_types(&LINEITEM));
    let options = keeping(1 << 30);
    let in_table = |plan: Plan| numbers_behind(&run(plan, &tables, &options).1, "has read ");
    let (read_orders, orders_bytes) = in_table(orders());
    let (read_lines, lines_bytes) = in_table(lineitem());
    assert_eq!(
        (read_orders, read_lines),
        (order_count as u64, line_count as u64)
    );

    // Everything is asked for: the kept tuples are as they are in the table.
    let all = join(JoinKind::Inner, lineitem(), orders(), (0, 0));
    let (rows, text) = run(all.clone(), &tables, &options);
    assert_eq!(rows.len(), line_count);
    assert!(text.contains("as it is"), "{text}");
    let (kept_rows, kept_bytes) = numbers_behind(&text, "; keeps ");
    println!("orders, all columns: {kept_bytes} of {orders_bytes} bytes in {kept_rows} rows");
    assert_eq!(kept_rows, read_orders);
    assert!(
        kept_bytes <= orders_bytes + LENGTHS_BYTES * kept_rows,
        "{text}"
    );
    let leaves = tables("orders").unwrap().leaves().unwrap();
    assert!(
        (kept_bytes as f64) < leaves.leaves * leaves.page_bytes,
        "{text}"
    );

    // As query 3 of TPC-H: the date and the priority, which are less than half.
    let some = project(all, &[0, 5, 6, 13 + 4, 13 + 7]);
    let (rows, text) = run(some, &tables, &options);
    assert_eq!(rows.len(), line_count);
    let (kept_rows, kept_bytes) = numbers_behind(&text, "; keeps ");
    println!("orders, two columns: {kept_bytes} of {orders_bytes} bytes in {kept_rows} rows");
    assert!(2 * kept_bytes <= orders_bytes, "{text}");

    // A sort of everything.
    let (rows, text) = run(sort(lineitem(), 5), &tables, &options);
    assert_eq!(rows.len(), line_count);
    let (kept_rows, kept_bytes) = numbers_behind(&text, "; keeps ");
    println!("lineitem, all columns: {kept_bytes} of {lines_bytes} bytes in {kept_rows} rows");
    assert_eq!(kept_rows, read_lines);
    assert!(
        kept_bytes <= lines_bytes + LENGTHS_BYTES * kept_rows,
        "{text}"
    );
}

/// Small numbers and large ones beside long texts, so that the numbers are less than half of a tuple.
fn numbered() -> impl Iterator<Item = Row> {
    (0..3_000_i64).map(|id| {
        let large = id.wrapping_mul(0x5851_F42D_4C95_7F2D) | 1 << 61;
        vec![
            Value::Integer(id),
            Value::Integer(id % 100),
            Value::Integer(large),
            text(&format!(
                "{id} a text that nobody asks for, {}",
                "long ".repeat(20)
            )),
        ]
    })
}

const NUMBERED: [SqlType; 4] = [
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::BigInt,
    SqlType::Text,
];

#[test]
fn each_column_is_null_suppressed_if_that_costs_less_than_the_bytes_it_saves() {
    let engine = engine_on(Arc::new(MemDisk::new()), 64 << 20);
    load(&engine, ("n", &NUMBERED, &[(0, false)]), numbered());
    let snapshot = engine.snapshot();
    let tables = |name: &str| snapshot.row_table(name).unwrap();
    let by_small = || {
        let plan = sort(scan("n", &arrow_types(&NUMBERED)), 0);
        project(plan, &[1, 2])
    };
    let with_costs = |memory_bytes, costs: &[(&str, &str)]| {
        let mut options = keeping(memory_bytes);
        for (name, ns) in costs {
            options.costs.set(name, ns).unwrap();
        }
        run(by_small(), &tables, &options)
    };
    // What fits memory and the caches is kept as it is.
    let (expected, text) = with_costs(1 << 30, &[]);
    assert!(text.contains("keeps n1 plain, n2 plain in"), "{text}");
    // What is written is compressed where that makes it shorter.
    let (found, text) = with_costs(20_000, &[("spill_pack", "1e9")]);
    assert!(text.contains("keeps n1 compressed, n2 plain in"), "{text}");
    assert!(text.contains("some values compressed"), "{text}");
    assert_eq!(found, expected);
    let (compressed_bytes, _) = numbers_behind(&text, "has written ");
    // Compressing may cost more than it saves.
    let dear = [("spill_pack", "1e9"), ("suppress", "1e6")];
    let (found, text) = with_costs(20_000, &dear);
    assert!(text.contains("keeps n1 plain, n2 plain in"), "{text}");
    assert!(text.contains("values plain"), "{text}");
    assert_eq!(found, expected);
    let (plain_bytes, _) = numbers_behind(&text, "has written ");
    println!("3,000 rows of two numbers: {compressed_bytes} bytes written, plain {plain_bytes}");
    // Seven of eight bytes of one column, less its length code; more than once, if runs are merged.
    assert!(
        compressed_bytes + 3_000 * 6 <= plain_bytes,
        "{compressed_bytes} {plain_bytes}"
    );
}
