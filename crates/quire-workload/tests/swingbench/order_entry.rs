//! Does Order Entry have the rows, do the transactions and keep the conditions that its description says?

use crate::loaded::{Loaded, assert_share, rows_of, run, run_of_each_kind, texts_of, users};
use quire_workload::workloads::order_entry::{OrderEntry, OrderEntryRows, OrderEntryWeights};
use quire_workload::{SqlValue, Workload, WorkloadRows, WorkloadSession};
use std::collections::{HashMap, HashSet};

const SEED: u64 = 23;

/// Customers and orders of a thousandth, and few products in few warehouses.
fn tiny() -> OrderEntry {
    let rows = OrderEntryRows {
        products: 100,
        warehouses: 10,
        ..OrderEntryRows::of_scale(0.001)
    };
    OrderEntry::with_rows(rows, SEED)
}

fn share(rows: &WorkloadRows, what: &str, probability: f64, is_hit: impl Fn(&[SqlValue]) -> bool) {
    let hits = rows.iter().filter(|row| is_hit(row)).count();
    assert_share(what, hits, rows.len(), probability);
}

fn is_text(value: &SqlValue, text: &str) -> bool {
    value.as_text() == Some(text)
}

fn number(value: &SqlValue) -> i64 {
    value.as_unscaled(0).unwrap()
}

/// The share of a normal distribution, cut three deviations from its middle and rounded, that is within half a range of it: that is, within 1.5
/// deviations. Both are known from tables: Φ(1.5) and Φ(3).
const WITHIN_HALF: f64 = (2.0 * 0.933_193 - 1.0) / (2.0 * 0.998_650 - 1.0);

/// A column is within a range, and as often in its middle half as a normal distribution.
fn normal(rows: &WorkloadRows, column: usize, least: i64, most: i64) {
    let quarter = (most - least) as f64 / 4.0;
    let middle = (least + most) as f64 / 2.0;
    for row in rows {
        let value = number(&row[column]);
        assert!(
            (least..=most).contains(&value),
            "{value} in column {column}"
        );
    }
    // Only ranges that rounding does not matter for.
    if most - least >= 500 {
        share(
            rows,
            &format!("middle of column {column}"),
            WITHIN_HALF,
            |row| (number(&row[column]) as f64 - middle).abs() <= quarter,
        );
    }
}

#[test]
fn tables_have_the_rows_of_their_scale() {
    let rows = OrderEntryRows::of_scale(1.0);
    assert_eq!(
        (rows.customers, rows.addresses, rows.cards),
        (1_000_000, 1_500_000, 1_500_000)
    );
    assert_eq!((rows.orders, rows.logons), (1_429_790, 2_382_984));
    assert_eq!(
        (rows.products, rows.warehouses, rows.names),
        (1_000, 1_000, 1_000)
    );

    let workload = OrderEntry::new(0.001, SEED);
    let count = |table| rows_of(&workload, table).len();
    assert_eq!(count("customers"), 1_000);
    assert_eq!(count("addresses"), 1_500);
    assert_eq!(count("card_details"), 1_500);
    assert_eq!(count("orders"), 1_430);
    assert_eq!(count("logon"), 2_383);
    for table in ["product_information", "product_descriptions", "warehouses"] {
        assert_eq!(count(table), 1_000);
    }
    let of_product = texts_of(&rows_of(&workload, "inventories"), 0);
    assert_eq!(of_product.len(), 1_000);
    assert!(
        of_product
            .values()
            .all(|count| (800..=1_000).contains(count))
    );
}

#[test]
fn customers_addresses_and_cards_are_distributed_as_described() {
    println!("seed {SEED}");
    let workload = OrderEntry::new(0.02, SEED);
    let rows = rows_of(&workload, "customers");
    share(&rows, "prime", 0.2, |row| is_text(&row[9], "Prime"));
    share(&rows, "occasional", 0.6, |row| {
        is_text(&row[9], "Occasional")
    });
    share(&rows, "mailshot", 0.75, |row| is_text(&row[12], "Y"));
    share(&rows, "partner mailshot", 1.0 / 3.0, |row| {
        is_text(&row[13], "Y")
    });
    share(&rows, "no preferred address", 0.05, |row| {
        row[14] == SqlValue::Null
    });
    share(&rows, "language of two letters", 0.5, |row| {
        row[3].as_text().unwrap().len() == 2
    });
    normal(&rows, 7, 0, 1_000);
    assert_eq!(texts_of(&rows, 5).len(), 12);
    assert_eq!(texts_of(&rows, 10).len(), 13);
    assert_eq!(texts_of(&rows, 4).len(), 79);
    // Names: 1,000 · √0.02 of them.
    assert!((130..=141).contains(&texts_of(&rows, 1).len()));
    for row in &rows {
        let born = row[11].to_string();
        assert!(born.as_str() >= "1950-01-01" && born.as_str() <= "2000-05-05");
        for name in &row[1..3] {
            let name = name.as_text().unwrap();
            assert!(name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_lowercase()));
        }
    }

    let rows = rows_of(&workload, "addresses");
    share(&rows, "no house", 0.1, |row| row[3] == SqlValue::Null);
    share(&rows, "no post code", 0.5, |row| row[8] == SqlValue::Null);
    share(&rows, "no zip code", 0.5, |row| row[9] == SqlValue::Null);
    share(&rows, "road", 0.5, |row| {
        row[4].as_text().unwrap().ends_with(" road")
    });
    let distinct = [5, 6, 7].map(|column| texts_of(&rows, column).len());
    assert_eq!(distinct, [515, 90, 79]);

    let rows = rows_of(&workload, "card_details");
    share(&rows, "valid", 33.0 / 34.0, |row| is_text(&row[5], "Y"));
    share(&rows, "debit", 0.25, |row| is_text(&row[2], "Visa(Debit)"));
    for row in &rows {
        assert_eq!(row[3].to_string().len(), 10);
        assert!((1_111..=9_999).contains(&number(&row[6])));
    }
}

#[test]
fn orders_and_items_are_distributed_as_described() {
    println!("seed {SEED}");
    let workload = OrderEntry::new(0.01, SEED);
    let rows = rows_of(&workload, "orders");
    share(&rows, "no mode", 0.2, |row| row[2] == SqlValue::Null);
    share(&rows, "online", 0.4, |row| is_text(&row[2], "online"));
    share(&rows, "standard", 4.0 / 7.0, |row| {
        is_text(&row[9], "Standard")
    });
    share(&rows, "ready", 0.8, |row| {
        is_text(&row[11], "ship_when_ready")
    });
    share(&rows, "cost", 0.2, |row| number(&row[10]) == 5);
    normal(&rows, 4, 1, 10);
    normal(&rows, 5, 0, 10_000);
    normal(&rows, 6, 1, 1_000);
    let orders = rows.len();

    let rows = rows_of(&workload, "order_items");
    let mut items_of: HashMap<i64, usize> = HashMap::new();
    for row in &rows {
        *items_of.entry(number(&row[0])).or_default() += 1;
    }
    assert_eq!(items_of.len(), orders);
    for items in 1..=6 {
        let with = items_of.values().filter(|&&count| count == items).count();
        assert_share(&format!("{items} items"), with, orders, 1.0 / 6.0);
    }
    share(&rows, "not returned", 0.97, |row| row[6] == SqlValue::Null);
    share(&rows, "no wrap", 6.0 / 11.0, |row| is_text(&row[7], "None"));
    share(&rows, "new", 13.0 / 15.0, |row| is_text(&row[8], "New"));
    normal(&rows, 2, 1, 1_000);
    normal(&rows, 3, 0, 2_000);
    normal(&rows, 4, 0, 10);
}

#[test]
fn products_and_stocks_are_distributed_as_described() {
    println!("seed {SEED}");
    let workload = OrderEntry::new(0.001, SEED);
    let rows = rows_of(&workload, "product_information");
    share(&rows, "orderable", 0.25, |row| {
        is_text(&row[7], "orderable")
    });
    for row in &rows {
        let bytes = [1, 2, 10].map(|column| row[column].as_text().unwrap().len());
        assert!((10..=35).contains(&bytes[0]));
        assert!((40..=150).contains(&bytes[1]));
        assert!((6..=32).contains(&bytes[2]));
        assert!((1..=200).contains(&number(&row[3])));
        assert!((1..=5_000).contains(&number(&row[8])) && (1..=5_000).contains(&number(&row[9])));
    }
    let rows = rows_of(&workload, "inventories");
    share(&rows, "small stocks", 0.1, |row| {
        number(&row[2]) < 10_000_000
    });
}

#[test]
fn conditions_hold_before_and_after_some_hundred_transactions_of_each_kind() {
    println!("seed {SEED}");
    let workload = tiny().with_reports();
    let loaded = Loaded::new(&workload, true);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    let before = [
        "SELECT count(*) FROM customers",
        "SELECT count(*) FROM orders",
        "SELECT count(*) FROM logon",
        "SELECT sum(quantity_on_hand) FROM inventories",
    ]
    .map(|sql| loaded.count(sql));
    run_of_each_kind(&workload, &mut loaded.session(), 200);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    // 200 registrations, 200 orders, and logons of these, of browsed products and of browsed orders.
    assert_eq!(
        loaded.count("SELECT count(*) FROM customers"),
        before[0] + 200
    );
    assert_eq!(loaded.count("SELECT count(*) FROM orders"), before[1] + 200);
    assert_eq!(loaded.count("SELECT count(*) FROM logon"), before[2] + 800);
    let items = loaded.count("SELECT count(*) FROM order_items WHERE order_id > 1430");
    let stock = loaded.count("SELECT sum(quantity_on_hand) FROM inventories");
    assert_eq!(stock, before[3] - items);
    assert!(items > 200, "{items} items in 200 orders");
    for change in [
        "SELECT count(*) FROM orders WHERE order_id > 1430 AND order_total > 0",
        "SELECT count(*) FROM addresses a JOIN customers c ON c.preferred_address = a.address_id WHERE a.address_id > 1700",
        "SELECT count(*) FROM order_items WHERE order_id > 1430 AND quantity > 1",
    ] {
        println!("{change}: {}", loaded.count(change));
    }
}

/// What damages rows, and which condition then fails.
const DAMAGES: [(&str, &str); 14] = [
    (
        "DELETE FROM orders WHERE order_id = 5",
        "every order_id of order_items is in orders",
    ),
    (
        "UPDATE orders SET customer_id = 0 WHERE order_id = 5",
        "every customer_id of orders is in customers",
    ),
    (
        "UPDATE addresses SET customer_id = -1 WHERE address_id = 9",
        "every customer_id of addresses is in customers",
    ),
    (
        "UPDATE card_details SET customer_id = 0 WHERE card_id = 9",
        "every customer_id of card_details is in customers",
    ),
    (
        "UPDATE logon SET customer_id = 0 WHERE logon_id = 9",
        "every customer_id of logon is in customers",
    ),
    (
        "DELETE FROM addresses WHERE address_id = (SELECT max(preferred_address) FROM customers)",
        "every preferred_address of customers is in addresses",
    ),
    (
        "DELETE FROM card_details WHERE card_id = (SELECT max(preferred_card) FROM customers)",
        "every preferred_card of customers is in card_details",
    ),
    (
        "UPDATE order_items SET product_id = 0 WHERE order_id = 5 AND line_item_id = 1",
        "every product_id of order_items is in product_information",
    ),
    (
        "UPDATE orders SET order_total = order_total + 0.01 WHERE order_id = (SELECT max(order_id) FROM orders)",
        "totals of the run's orders are the worth of their items",
    ),
    (
        "UPDATE orders SET order_total = NULL WHERE order_id = (SELECT max(order_id) FROM orders)",
        "totals of the run's orders are the worth of their items",
    ),
    (
        "UPDATE orders SET order_total = order_total + 1 WHERE order_id = 7",
        "generated totals less the worth of their items are the same in sum",
    ),
    (
        "UPDATE order_items SET quantity = quantity + 1 WHERE order_id = 7 AND line_item_id = 1 AND unit_price > 0",
        "generated totals less the worth of their items are the same in sum",
    ),
    (
        "UPDATE inventories SET quantity_on_hand = quantity_on_hand - 1 WHERE product_id = 3 AND warehouse_id = 2",
        "stocks are the generated ones less what was ordered in the run",
    ),
    (
        "DELETE FROM order_items WHERE order_id = (SELECT max(order_id) FROM order_items)",
        "stocks are the generated ones less what was ordered in the run",
    ),
];

#[test]
fn each_condition_fails_when_its_rows_are_damaged() {
    let workload = tiny();
    let loaded = Loaded::new(&workload, false);
    run_of_each_kind(&workload, &mut loaded.session(), 40);
    let mut damages: Vec<(String, String)> = DAMAGES
        .map(|(damage, condition)| (damage.to_owned(), condition.to_owned()))
        .to_vec();
    for table in workload.tables() {
        damages.push((
            format!("INSERT INTO {0} SELECT * FROM {0} LIMIT 1", table.name),
            format!(
                "keys {} of {} are unique",
                table.primary_key.join(", "),
                table.name
            ),
        ));
    }
    let damages: Vec<(&str, &str)> = damages
        .iter()
        .map(|(damage, condition)| (damage.as_str(), condition.as_str()))
        .collect();
    loaded.each_damage_is_found(&workload, &damages);
    let names: HashSet<String> = loaded
        .check(&workload)
        .into_iter()
        .map(|outcome| outcome.name)
        .collect();
    let damaged: HashSet<String> = damages
        .iter()
        .map(|(_, condition)| (*condition).into())
        .collect();
    assert_eq!(names, damaged, "every condition is damaged once");
}

#[test]
fn weights_are_those_of_swingbench_or_of_the_paper() {
    let weights = |workload: OrderEntry| -> Vec<u32> {
        workload.kinds().iter().map(|kind| kind.weight).collect()
    };
    assert_eq!(weights(tiny()), [15, 10, 50, 40, 5, 5]);
    assert_eq!(
        weights(tiny().weighted(OrderEntryWeights::Paper)),
        [15, 10, 40, 0, 5, 5]
    );
    assert_eq!(
        weights(tiny().with_reports()),
        [15, 10, 50, 40, 5, 5, 2, 2, 2]
    );
}

#[test]
fn statements_that_read_and_write_are_counted() {
    for weights in [OrderEntryWeights::Swingbench, OrderEntryWeights::Paper] {
        let workload = tiny().weighted(weights);
        let loaded = Loaded::new(&workload, true);
        let mut session = loaded.session();
        let kinds = run(&mut users(&workload, 7), &mut session, 2_000);
        let total: u32 = workload.kinds().iter().map(|kind| kind.weight).sum();
        for (kind, &count) in workload.kinds().iter().zip(&kinds) {
            assert_share(
                kind.name,
                count,
                2_000,
                f64::from(kind.weight) / f64::from(total),
            );
        }
        let all = session.queries + session.changes;
        println!(
            "order entry, weights of {weights:?}, seed {SEED}: {} reads, {} writes, of which {:.0} % read",
            session.queries,
            session.changes,
            100.0 * session.queries as f64 / all as f64
        );
        assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_and_statements() {
    let statements = |seed| {
        let rows = OrderEntryRows {
            products: 50,
            warehouses: 5,
            ..OrderEntryRows::of_scale(0.0002)
        };
        let workload = OrderEntry::with_rows(rows, seed);
        let generated: Vec<WorkloadRows> = workload
            .tables()
            .iter()
            .map(|table| rows_of(&workload, &table.name))
            .collect();
        let loaded = Loaded::new(&workload, true);
        let mut session = loaded.recording_session();
        run(&mut users(&workload, 3), &mut session, 200);
        (generated, session.texts)
    };
    let (rows, texts) = statements(SEED);
    assert!(
        (&rows, &texts) == (&statements(SEED).0, &statements(SEED).1),
        "seed {SEED} gives other rows the second time"
    );
    assert!(rows != statements(SEED + 1).0 && texts != statements(SEED + 1).1);
}

#[test]
fn reports_ask_for_what_they_say() {
    let workload = tiny().with_reports();
    let loaded = Loaded::new(&workload, true);
    run_of_each_kind(&workload, &mut loaded.session(), 20);
    let mut session = loaded.recording_session();
    let mut user = workload.user(99);
    let mut seen = [0; 9];
    while seen[6..].contains(&0) {
        let mut transaction = user.next().unwrap();
        seen[transaction.kind()] += 1;
        if workload.kinds()[transaction.kind()].reads_only {
            transaction.run(&mut session).unwrap();
        }
    }
    assert_eq!(session.changes, 0);
    // The union of the grouping sets of a warehouse has the groups by mode twice, with it and without, and twice the whole.
    let rows = session
        .texts
        .iter()
        .find(|text| text.contains("UNION ALL SELECT NULL, NULL"))
        .unwrap()
        .clone();
    let sql = rows.split(" [").next().unwrap().to_owned();
    let cube = session.query(&sql, &[SqlValue::Integer(3)]).unwrap();
    let modes = loaded.count(
        "SELECT count(*) FROM (SELECT DISTINCT order_mode FROM orders WHERE warehouse_id = 3) m",
    );
    assert_eq!(cube.len() as i64, 2 * modes + 2);
    let counted: i64 = cube.iter().map(|row| row[3].as_integer().unwrap()).sum();
    assert_eq!(
        counted,
        4 * loaded.count("SELECT count(*) FROM orders WHERE warehouse_id = 3")
    );
}
