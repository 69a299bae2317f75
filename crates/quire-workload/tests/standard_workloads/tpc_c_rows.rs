//! The initial rows against clause 4.3.3.1 of TPC-C.

use crate::harness::{NamedRow, rows_of};
use quire_workload::workloads::tpc_c::{TpcC, TpcCScale};
use quire_workload::{SqlValue, Workload};
use std::collections::{HashMap, HashSet};
use std::io;

/// Calls `check` with each row of a table; how many there are.
fn each_row(workload: &TpcC, table: &str, mut check: impl FnMut(NamedRow<'_>)) -> usize {
    struct Checked<F>(F, usize);
    impl<F: FnMut(&[SqlValue])> quire_workload::WorkloadRowSink for Checked<F> {
        fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
            self.1 += 1;
            (self.0)(values);
            Ok(())
        }
    }
    let tables = workload.tables();
    let definition = tables.iter().find(|one| one.name == table).unwrap();
    let mut sink = Checked(
        |values: &[SqlValue]| {
            assert_eq!(values.len(), definition.columns.len());
            let row = NamedRow {
                table: definition,
                values,
            };
            check(row);
        },
        0,
    );
    workload.generate(table, &mut sink).unwrap();
    sink.1
}

fn full() -> TpcC {
    TpcC::new(TpcCScale::full(1), 7)
}

#[track_caller]
fn assert_length(row: &NamedRow<'_>, column: &str, least: usize, most: usize) {
    let text = row.text(column);
    assert!((least..=most).contains(&text.len()), "{column}: {text}");
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

#[track_caller]
fn assert_address(row: &NamedRow<'_>, prefix: &str) {
    for column in ["street_1", "street_2", "city"] {
        assert_length(row, &format!("{prefix}_{column}"), 10, 20);
    }
    assert_length(row, &format!("{prefix}_state"), 2, 2);
    let zip = row.text(&format!("{prefix}_zip")).to_owned();
    assert!(zip.len() == 9 && zip.ends_with("11111"), "{zip}");
    assert!(zip.bytes().all(|byte| byte.is_ascii_digit()), "{zip}");
}

/// A tenth, within five standard deviations.
#[track_caller]
fn assert_tenth(part: usize, whole: usize) {
    let (part, whole) = (part as f64, whole as f64);
    assert!(
        (part - whole / 10.0).abs() < 5.0 * (0.09 * whole).sqrt(),
        "{part} of {whole}"
    );
}

#[test]
fn items_and_stock() {
    let (mut original, mut ids) = (0, HashSet::new());
    let items = each_row(&full(), "item", |row| {
        assert!(ids.insert(row.integer("i_id")));
        assert!((1..=100_000).contains(&row.integer("i_id")));
        assert!((1..=10_000).contains(&row.integer("i_im_id")));
        assert_length(&row, "i_name", 14, 24);
        assert!((100..=10_000).contains(&row.unscaled("i_price", 2)));
        assert_length(&row, "i_data", 26, 50);
        original += usize::from(row.text("i_data").contains("ORIGINAL"));
    });
    assert_eq!(items, 100_000);
    assert_tenth(original, items);
    let (mut original, mut ids) = (0, HashSet::new());
    let stock = each_row(&full(), "stock", |row| {
        assert!(ids.insert(row.integer("s_i_id")));
        assert_eq!(row.integer("s_w_id"), 1);
        assert!((10..=100).contains(&row.integer("s_quantity")));
        for district in 1..=10 {
            assert_length(&row, &format!("s_dist_{district:02}"), 24, 24);
        }
        for column in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
            assert_eq!(row.integer(column), 0);
        }
        assert_length(&row, "s_data", 26, 50);
        original += usize::from(row.text("s_data").contains("ORIGINAL"));
    });
    assert_eq!(stock, 100_000);
    assert_tenth(original, stock);
}

#[test]
fn warehouses_and_districts() {
    let workload = TpcC::new(TpcCScale::full(3), 7);
    let warehouses = each_row(&workload, "warehouse", |row| {
        assert_length(&row, "w_name", 6, 10);
        assert_address(&row, "w");
        assert!((0..=2_000).contains(&row.unscaled("w_tax", 4)));
        assert_eq!(row.unscaled("w_ytd", 2), 30_000_000);
    });
    assert_eq!(warehouses, 3);
    let mut ids = HashSet::new();
    let districts = each_row(&workload, "district", |row| {
        ids.insert((row.integer("d_w_id"), row.integer("d_id")));
        assert_length(&row, "d_name", 6, 10);
        assert_address(&row, "d");
        assert!((0..=2_000).contains(&row.unscaled("d_tax", 4)));
        assert_eq!(row.unscaled("d_ytd", 2), 3_000_000);
        assert_eq!(row.integer("d_next_o_id"), 3_001);
    });
    assert_eq!((districts, ids.len()), (30, 30));
}

#[test]
fn customers_and_their_history() {
    let (mut bad, mut names, mut first_names) = (0, HashMap::new(), HashMap::new());
    let customers = each_row(&full(), "customer", |row| {
        assert!((1..=3_000).contains(&row.integer("c_id")));
        let name = row.text("c_last").to_owned();
        if row.integer("c_id") <= 1_000 {
            let of_district: &mut HashSet<String> =
                first_names.entry(row.integer("c_d_id")).or_default();
            assert!(of_district.insert(name.clone()), "each name once");
        }
        *names.entry(name).or_insert(0) += 1;
        assert_eq!(row.text("c_middle"), "OE");
        assert_length(&row, "c_first", 8, 16);
        assert_address(&row, "c");
        let phone = row.text("c_phone");
        assert!(phone.len() == 16 && phone.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(["GC", "BC"].contains(&row.text("c_credit")));
        bad += usize::from(row.text("c_credit") == "BC");
        assert_eq!(row.unscaled("c_credit_lim", 2), 5_000_000);
        assert!((0..=5_000).contains(&row.unscaled("c_discount", 4)));
        assert_eq!(row.unscaled("c_balance", 2), -1_000);
        assert_eq!(row.unscaled("c_ytd_payment", 2), 1_000);
        assert_eq!(row.integer("c_payment_cnt"), 1);
        assert_eq!(row.integer("c_delivery_cnt"), 0);
        assert_length(&row, "c_data", 300, 500);
    });
    assert_eq!(customers, 30_000);
    assert_tenth(bad, customers);
    assert_eq!(names.len(), 1_000);
    assert!(names.contains_key("BARBARBAR") && names.contains_key("EINGEINGEING"));
    // NURand(255, 0, 999) is far from uniform: the most frequent name has much more than the mean of 30.
    assert!(names.values().any(|&count| count > 60));
    let history = each_row(&full(), "history", |row| {
        assert_eq!(row.integer("h_c_d_id"), row.integer("h_d_id"));
        assert_eq!(row.integer("h_c_w_id"), row.integer("h_w_id"));
        assert_eq!(row.unscaled("h_amount", 2), 1_000);
        assert_length(&row, "h_data", 12, 24);
    });
    assert_eq!(history, 30_000);
}

#[test]
fn orders_and_their_lines() {
    let mut customers = HashSet::new();
    let mut line_counts = HashMap::new();
    let orders = each_row(&full(), "orders", |row| {
        let (district, order) = (row.integer("o_d_id"), row.integer("o_id"));
        assert!((1..=3_000).contains(&row.integer("o_c_id")));
        assert!(
            customers.insert((district, row.integer("o_c_id"))),
            "a permutation"
        );
        assert_eq!(row.is_null("o_carrier_id"), order >= 2_101);
        if order < 2_101 {
            assert!((1..=10).contains(&row.integer("o_carrier_id")));
        }
        assert!((5..=15).contains(&row.integer("o_ol_cnt")));
        assert_eq!(row.integer("o_all_local"), 1);
        let entry = row.value("o_entry_d").clone();
        line_counts.insert((district, order), (row.integer("o_ol_cnt"), entry));
    });
    assert_eq!(orders, 30_000);
    let mut found: HashMap<(i64, i64), i64> = HashMap::new();
    let mut items = HashSet::new();
    let lines = each_row(&full(), "order_line", |row| {
        let id = (row.integer("ol_d_id"), row.integer("ol_o_id"));
        let number = found.entry(id).or_default();
        *number += 1;
        assert_eq!(row.integer("ol_number"), *number);
        assert!((1..=100_000).contains(&row.integer("ol_i_id")));
        items.insert(row.integer("ol_i_id"));
        assert_eq!(row.integer("ol_supply_w_id"), 1);
        assert_eq!(row.integer("ol_quantity"), 5);
        assert_length(&row, "ol_dist_info", 24, 24);
        let cents = row.unscaled("ol_amount", 2);
        if id.1 < 2_101 {
            assert_eq!(
                (row.value("ol_delivery_d"), cents),
                (&line_counts[&id].1, 0)
            );
        } else {
            assert!(row.is_null("ol_delivery_d") && (1..=999_999).contains(&cents));
        }
    });
    assert!(
        items.len() > 90_000,
        "almost all items are ordered: {}",
        items.len()
    );
    assert_eq!(
        lines as i64,
        line_counts.values().map(|(lines, _)| lines).sum::<i64>()
    );
    assert!(
        line_counts
            .iter()
            .all(|(id, (lines, _))| found[id] == *lines)
    );
    let new_orders = each_row(&full(), "new_order", |row| {
        assert!((2_101..=3_000).contains(&row.integer("no_o_id")));
    });
    assert_eq!(new_orders, 9_000);
}

#[test]
fn reduced_tables_keep_their_proportions() {
    let workload = TpcC::new(TpcCScale::reduced(2), 7);
    for (table, count) in [
        ("item", 1_000),
        ("warehouse", 2),
        ("stock", 2_000),
        ("district", 20),
        ("customer", 600),
        ("history", 600),
        ("orders", 600),
        ("new_order", 180),
    ] {
        assert_eq!(rows_of(&workload, table).len(), count, "{table}");
    }
}

#[test]
fn a_seed_decides_the_rows() {
    let rows = |seed, table: &str| rows_of(&TpcC::new(TpcCScale::reduced(2), seed), table);
    for table in full().tables() {
        assert_eq!(rows(1, &table.name), rows(1, &table.name), "{}", table.name);
        if table.name != "new_order" {
            assert_ne!(rows(1, &table.name), rows(2, &table.name), "{}", table.name);
        }
    }
}
