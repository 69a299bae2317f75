//! The initial rows (TPC-C, clause 4.3.3.1).

use super::random_values::{
    RunConstants, a_string, brand_data, last_name, last_name_number_max, state, zip,
};
use super::scale::{DISTRICTS_OF_WAREHOUSE, TpcCScale};
use crate::workloads::permutation::Permutation;
use crate::workloads::statements::{integer, money};
use crate::{SeededRandom, SqlValue, WorkloadRowSink};
use std::io;

/// What the rows are a function of.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    pub scale: TpcCScale,
    pub seed: u64,
    pub constants: RunConstants,
}

/// When the tables are populated: 2024-01-01, in microseconds. Fixed, so that a seed gives the same rows on any day.
const POPULATED_US: i64 = 1_704_067_200_000_000;
/// The entries of two orders lie this far apart.
const ENTRY_STEP_US: i64 = 1_000;
/// Of each customer, in cents, as clause 4.3.3.1 has them.
const FIRST_PAYMENT_CENTS: i64 = 1_000;

impl Population {
    /// Rows of a table.
    ///
    /// # Errors
    /// Those of the sink, and for a table that is none of TPC-C's.
    pub fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        match table {
            "item" => self.items(rows),
            "warehouse" => self.for_warehouses(rows, 2, Self::warehouse),
            "stock" => self.for_warehouses(rows, 3, Self::stock),
            "district" => self.for_districts(rows, 4, Self::district),
            "customer" => self.for_districts(rows, 5, Self::customers),
            "history" => self.for_districts(rows, 6, Self::history),
            "orders" => self.for_districts(rows, 7, Self::orders),
            "order_line" => self.for_districts(rows, 8, Self::order_lines),
            "new_order" => self.for_districts(rows, 9, Self::new_orders),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{table} is no table of TPC-C; take one of Workload::tables"),
            )),
        }
    }

    /// Random numbers that no other part of the rows draws.
    fn random(&self, table: u64, place: PopulatedPlace) -> SeededRandom {
        let part = table << 48 | (place.warehouse as u64) << 8 | place.district as u64;
        SeededRandom::of_part(self.seed, part)
    }

    fn for_warehouses(
        &self,
        rows: &mut dyn WorkloadRowSink,
        table: u64,
        rows_of: RowsOf,
    ) -> io::Result<()> {
        for warehouse in 1..=i64::from(self.scale.warehouses) {
            let place = PopulatedPlace {
                warehouse,
                district: 0,
            };
            rows_of(self, place, &mut self.random(table, place), rows)?;
        }
        Ok(())
    }

    fn for_districts(
        &self,
        rows: &mut dyn WorkloadRowSink,
        table: u64,
        rows_of: RowsOf,
    ) -> io::Result<()> {
        for warehouse in 1..=i64::from(self.scale.warehouses) {
            for district in 1..=DISTRICTS_OF_WAREHOUSE {
                let place = PopulatedPlace {
                    warehouse,
                    district,
                };
                rows_of(self, place, &mut self.random(table, place), rows)?;
            }
        }
        Ok(())
    }

    fn items(&self, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        let mut random = SeededRandom::of_part(self.seed, 1);
        for item in 1..=self.scale.items() {
            rows.row(&[
                integer(item),
                integer(random.between(1, 10_000)),
                SqlValue::Text(a_string(14, 24, &mut random)),
                money(random.between(100, 10_000)),
                SqlValue::Text(brand_data(&mut random)),
            ])?;
        }
        Ok(())
    }

    fn warehouse(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        let mut row = vec![
            integer(place.warehouse),
            SqlValue::Text(a_string(6, 10, random)),
        ];
        row.extend(address(random));
        row.push(rate(0, 2_000, random));
        row.push(money(
            DISTRICTS_OF_WAREHOUSE * self.scale.customers() * FIRST_PAYMENT_CENTS,
        ));
        rows.row(&row)
    }

    fn stock(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        for item in 1..=self.scale.items() {
            let mut row = vec![
                integer(item),
                integer(place.warehouse),
                integer(random.between(10, 100)),
            ];
            row.extend((0..10).map(|_| SqlValue::Text(a_string(24, 24, random))));
            row.extend([integer(0), integer(0), integer(0)]);
            row.push(SqlValue::Text(brand_data(random)));
            rows.row(&row)?;
        }
        Ok(())
    }

    fn district(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        let mut row = vec![
            integer(place.district),
            integer(place.warehouse),
            SqlValue::Text(a_string(6, 10, random)),
        ];
        row.extend(address(random));
        row.push(rate(0, 2_000, random));
        row.push(money(self.scale.customers() * FIRST_PAYMENT_CENTS));
        row.push(integer(self.scale.customers() + 1));
        rows.row(&row)
    }

    fn customers(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        let name_max = last_name_number_max(self.scale.customers());
        for customer in 1..=self.scale.customers() {
            let name = if customer <= 1_000 {
                customer - 1
            } else {
                self.constants.names_of_load.draw(0, name_max, random)
            };
            let mut row = vec![
                integer(customer),
                integer(place.district),
                integer(place.warehouse),
                SqlValue::Text(a_string(8, 16, random)),
                SqlValue::text("OE"),
                SqlValue::Text(last_name(name)),
            ];
            row.extend(address(random));
            let credit = if random.happens(0.1) { "BC" } else { "GC" };
            row.extend([
                SqlValue::Text(random.digits(16)),
                SqlValue::Timestamp(POPULATED_US),
                SqlValue::text(credit),
                money(5_000_000),
                rate(0, 5_000, random),
                money(-FIRST_PAYMENT_CENTS),
                money(FIRST_PAYMENT_CENTS),
                integer(1),
                integer(0),
                SqlValue::Text(a_string(300, 500, random)),
            ]);
            rows.row(&row)?;
        }
        Ok(())
    }

    fn history(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        for customer in 1..=self.scale.customers() {
            rows.row(&[
                integer(customer),
                integer(place.district),
                integer(place.warehouse),
                integer(place.district),
                integer(place.warehouse),
                SqlValue::Timestamp(POPULATED_US),
                money(FIRST_PAYMENT_CENTS),
                SqlValue::Text(a_string(12, 24, random)),
            ])?;
        }
        Ok(())
    }

    fn orders(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        let customers = Permutation::new(self.scale.customers() as u64, random);
        let line_counts = self.line_counts(place);
        for (order, lines) in (1..).zip(line_counts) {
            let carrier = if order < self.scale.first_new_order() {
                integer(random.between(1, 10))
            } else {
                SqlValue::Null
            };
            rows.row(&[
                integer(order),
                integer(place.district),
                integer(place.warehouse),
                integer(1 + customers.at(order as u64 - 1) as i64),
                self.entry(place, order),
                carrier,
                integer(lines),
                integer(1),
            ])?;
        }
        Ok(())
    }

    fn order_lines(
        &self,
        place: PopulatedPlace,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        for (order, lines) in (1..).zip(self.line_counts(place)) {
            let is_delivered = order < self.scale.first_new_order();
            for line in 1..=lines {
                let (delivery, cents) = if is_delivered {
                    (self.entry(place, order), 0)
                } else {
                    (SqlValue::Null, random.between(1, 999_999))
                };
                rows.row(&[
                    integer(order),
                    integer(place.district),
                    integer(place.warehouse),
                    integer(line),
                    integer(random.between(1, self.scale.items())),
                    integer(place.warehouse),
                    delivery,
                    integer(5),
                    money(cents),
                    SqlValue::Text(a_string(24, 24, random)),
                ])?;
            }
        }
        Ok(())
    }

    fn new_orders(
        &self,
        place: PopulatedPlace,
        _: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        for order in self.scale.first_new_order()..=self.scale.customers() {
            rows.row(&[
                integer(order),
                integer(place.district),
                integer(place.warehouse),
            ])?;
        }
        Ok(())
    }

    /// The lines of each order of a district, which two tables have to agree on.
    fn line_counts(&self, place: PopulatedPlace) -> Vec<i64> {
        let mut random = self.random(10, place);
        (0..self.scale.customers())
            .map(|_| random.between(5, 15))
            .collect()
    }

    fn entry(&self, place: PopulatedPlace, order: i64) -> SqlValue {
        let district = (place.warehouse - 1) * DISTRICTS_OF_WAREHOUSE + place.district - 1;
        let orders_before = district * self.scale.customers() + order;
        SqlValue::Timestamp(POPULATED_US + orders_before * ENTRY_STEP_US)
    }
}

/// Generates the rows that a table has of a warehouse or district.
type RowsOf =
    fn(&Population, PopulatedPlace, &mut SeededRandom, &mut dyn WorkloadRowSink) -> io::Result<()>;

/// A district, or with district 0 a warehouse.
#[derive(Clone, Copy)]
struct PopulatedPlace {
    warehouse: i64,
    district: i64,
}

/// Two streets, city, state and zip code.
fn address(random: &mut SeededRandom) -> [SqlValue; 5] {
    let mut line = || a_string(10, 20, random);
    let (street_1, street_2, city) = (line(), line(), line());
    [street_1, street_2, city, state(random), zip(random)].map(SqlValue::Text)
}

/// A rate between two numbers of ten-thousandths.
fn rate(least: i64, most: i64, random: &mut SeededRandom) -> SqlValue {
    SqlValue::Decimal {
        unscaled: random.between(least, most),
        scale: 4,
    }
}
