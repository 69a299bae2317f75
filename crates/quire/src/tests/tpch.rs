//! The 22 queries of TPC-H over some thousand rows.

use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

use tpchgen::csv::{
    CustomerCsv, LineItemCsv, NationCsv, OrderCsv, PartCsv, PartSuppCsv, RegionCsv, SupplierCsv,
};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::Fixture;
use super::tally::Tally;

/// Some 6,000 lines of orders.
const SCALE: f64 = 0.001;

/// A table as a file, and from there into the database.
struct Loader {
    fixture: Fixture,
    folder: PathBuf,
}

impl Loader {
    fn load(&mut self, table: &str, header: &str, rows: impl Iterator<Item = impl Display>) {
        let mut text = format!("{header}\n");
        for row in rows {
            writeln!(text, "{row}").unwrap();
        }
        let path = self.folder.join(format!("{table}.csv"));
        std::fs::write(&path, text).unwrap();
        let sql = format!("COPY {table} FROM '{}'", path.display());
        self.fixture.run(&sql).unwrap();
    }

    fn load_places_and_parts(&mut self) {
        let rows = RegionGenerator::new(SCALE, 1, 1);
        self.load(
            "region",
            RegionCsv::header(),
            rows.iter().map(RegionCsv::new),
        );
        let rows = NationGenerator::new(SCALE, 1, 1);
        self.load(
            "nation",
            NationCsv::header(),
            rows.iter().map(NationCsv::new),
        );
        let rows = PartGenerator::new(SCALE, 1, 1);
        self.load("part", PartCsv::header(), rows.iter().map(PartCsv::new));
        let rows = SupplierGenerator::new(SCALE, 1, 1);
        let rows = rows.iter().map(SupplierCsv::new);
        self.load("supplier", SupplierCsv::header(), rows);
        let rows = PartSuppGenerator::new(SCALE, 1, 1);
        let rows = rows.iter().map(PartSuppCsv::new);
        self.load("partsupp", PartSuppCsv::header(), rows);
    }

    fn load_orders(&mut self) {
        let rows = CustomerGenerator::new(SCALE, 1, 1);
        let rows = rows.iter().map(CustomerCsv::new);
        self.load("customer", CustomerCsv::header(), rows);
        let rows = OrderGenerator::new(SCALE, 1, 1);
        self.load("orders", OrderCsv::header(), rows.iter().map(OrderCsv::new));
        let rows = LineItemGenerator::new(SCALE, 1, 1);
        let rows = rows.iter().map(LineItemCsv::new);
        self.load("lineitem", LineItemCsv::header(), rows);
    }
}

fn fixture() -> Fixture {
    let tests = Path::new("../../tests/tpch");
    let schema = std::fs::read_to_string(tests.join("schema.sql")).unwrap();
    let mut fixture = Fixture::new();
    for sql in crate::Connection::statements(&schema).unwrap() {
        fixture.run(&sql).unwrap();
    }
    let folder = std::env::temp_dir().join(format!("quire-plan-tpch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut loader = Loader { fixture, folder };
    loader.load_places_and_parts();
    loader.load_orders();
    std::fs::remove_dir_all(&loader.folder).unwrap();
    loader.fixture
}

#[test]
fn all_queries_are_translated_and_agree() {
    let mut fixture = fixture();
    let tests = Path::new("../../tests/tpch/queries");
    let mut tally = Tally::default();
    for number in 1..=22 {
        let path = tests.join(format!("q{number:02}.sql"));
        let sql = std::fs::read_to_string(path).unwrap();
        tally.add(&sql, fixture.compare(sql.trim().trim_end_matches(';')));
    }
    assert_eq!(tally.answered, 22);
    tally.judge("TPC-H", &[]);
}
