//! The New-Order transaction (TPC-C, clause 2.4): a customer orders 5 to 15 items.
//!
//! It reads what it has changed itself. `d_next_o_id` is incremented before it is read, which locks the district until the end: no other
//! transaction gets the same number, at READ COMMITTED as under snapshot isolation, where the second one fails and is run again. Stock is
//! decremented in the database, not from a quantity that was read before.

use super::parameters::TerminalParameters;
use super::random_values::ORIGINAL;
use crate::workloads::statements::{QueryResult, change_one, integer, money, now};
use crate::{SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction};

/// The parameters of an order, and what the terminal shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    kind: usize,
    pub warehouse: i64,
    pub district: i64,
    pub customer: i64,
    pub lines: Vec<NewOrderLine>,
    /// What the order costs; `None` until it is executed.
    pub total_cents: Option<i64>,
}

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrderLine {
    pub supply_warehouse: i64,
    pub item: i64,
    pub quantity: i64,
}

/// Of the customer, warehouse and district, in ten-thousandths.
struct Rates {
    discount: i64,
    warehouse_tax: i64,
    district_tax: i64,
}

impl NewOrder {
    /// Draws an order (clause 2.4.1). Lines are in the order of their stock's key, so that two orders do not wait for each other in a
    /// circle. One order in a hundred ends with an item that does not exist.
    pub(super) fn draw(kind: usize, source: &mut TerminalParameters) -> Self {
        let district = source.any_district();
        let customer = source.customer();
        let line_count = source.random.between(5, 15);
        let is_wrong = source.random.between(1, 100) == 1;
        let mut lines: Vec<NewOrderLine> = (0..line_count)
            .map(|_| NewOrderLine::draw(source))
            .collect();
        lines.sort_by_key(|line| (line.supply_warehouse, line.item));
        if let Some(last) = lines.last_mut().filter(|_| is_wrong) {
            last.item = source.scale.items() + 1;
        }
        Self {
            kind,
            warehouse: source.warehouse,
            district,
            customer,
            lines,
            total_cents: None,
        }
    }

    fn is_local(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.all(|line| line.supply_warehouse == self.warehouse)
    }

    /// The next number of the district, and the rates.
    fn take_number(&self, session: &mut dyn WorkloadSession) -> Result<(i64, Rates), SessionError> {
        let place = [integer(self.warehouse), integer(self.district)];
        change_one(session, TAKE_NUMBER, &place)?;
        let district = QueryResult::of_existing(session, READ_DISTRICT, &place)?;
        let warehouse = QueryResult::of_existing(session, READ_WAREHOUSE, &place[..1])?;
        let of_customer = [
            integer(self.warehouse),
            integer(self.district),
            integer(self.customer),
        ];
        let customer = QueryResult::of_existing(session, READ_CUSTOMER, &of_customer)?;
        let rates = Rates {
            discount: customer.unscaled(0, 0, 4)?,
            warehouse_tax: warehouse.unscaled(0, 0, 4)?,
            district_tax: district.unscaled(0, 0, 4)?,
        };
        Ok((district.integer(0, 1)? - 1, rates))
    }

    fn insert_order(
        &self,
        session: &mut dyn WorkloadSession,
        order: i64,
    ) -> Result<(), SessionError> {
        let mut row = vec![
            integer(order),
            integer(self.district),
            integer(self.warehouse),
        ];
        change_one(session, INSERT_NEW_ORDER, &row)?;
        row.extend([
            integer(self.customer),
            now(),
            integer(self.lines.len() as i64),
            integer(self.is_local()),
        ]);
        change_one(session, INSERT_ORDER, &row)
    }

    /// Takes the goods out of the stock; cents of the line, or `None` if there is no such item.
    fn insert_line(
        &self,
        session: &mut dyn WorkloadSession,
        order: i64,
        number: i64,
        line: NewOrderLine,
    ) -> Result<Option<i64>, SessionError> {
        let item = QueryResult::of(session, READ_ITEM, &[integer(line.item)])?;
        if item.count() == 0 {
            return Ok(None);
        }
        let cents = item.unscaled(0, 0, 2)? * line.quantity;
        let is_remote = line.supply_warehouse != self.warehouse;
        let stock = [integer(line.item), integer(line.supply_warehouse)];
        let quantity = || integer(line.quantity);
        let mut change = vec![quantity(), quantity(), quantity(), quantity()];
        change.push(integer(is_remote));
        change.extend(stock.clone());
        change_one(session, TAKE_STOCK, &change)?;
        let sql = READ_STOCK[self.district as usize - 1];
        let left = QueryResult::of_existing(session, sql, &stock)?;
        // What the terminal shows as brand or generic goods.
        let _is_brand = item.text(0, 2)?.contains(ORIGINAL) && left.text(0, 1)?.contains(ORIGINAL);
        let row = [
            integer(order),
            integer(self.district),
            integer(self.warehouse),
            integer(number),
            integer(line.item),
            integer(line.supply_warehouse),
            quantity(),
            money(cents),
            SqlValue::text(left.text(0, 2)?),
        ];
        change_one(session, INSERT_LINE, &row)?;
        Ok(Some(cents))
    }
}

impl NewOrderLine {
    fn draw(source: &mut TerminalParameters) -> Self {
        let item = source.item();
        let is_remote = source.random.between(1, 100) == 1;
        Self {
            supply_warehouse: if is_remote {
                source.remote_warehouse()
            } else {
                source.warehouse
            },
            item,
            quantity: source.random.between(1, 10),
        }
    }
}

impl Rates {
    /// The total of clause 2.4.2.2: the sum, less the discount, with both taxes.
    fn apply(&self, cents: i64) -> i64 {
        let ten_thousandths = 10_000;
        let discounted = i128::from(cents) * i128::from(ten_thousandths - self.discount);
        let taxed =
            discounted * i128::from(ten_thousandths + self.warehouse_tax + self.district_tax);
        (taxed / i128::from(ten_thousandths * ten_thousandths)) as i64
    }
}

impl WorkloadTransaction for NewOrder {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let (order, rates) = self.take_number(session)?;
        self.insert_order(session, order)?;
        let mut sum = 0;
        for (number, &line) in (1..).zip(&self.lines) {
            let Some(cents) = self.insert_line(session, order, number, line)? else {
                session.rollback()?;
                return Ok(TransactionEnd::RolledBack);
            };
            sum += cents;
        }
        session.commit()?;
        self.total_cents = Some(rates.apply(sum));
        Ok(TransactionEnd::Committed)
    }
}

const TAKE_NUMBER: &str =
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2";
const READ_DISTRICT: &str =
    "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
const READ_WAREHOUSE: &str = "SELECT w_tax FROM warehouse WHERE w_id = $1";
const READ_CUSTOMER: &str = "SELECT c_discount, c_last, c_credit FROM customer \
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const INSERT_NEW_ORDER: &str =
    "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)";
const INSERT_ORDER: &str = "INSERT INTO orders \
    (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) \
    VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)";
const READ_ITEM: &str = "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1";
/// Ten or more are left in stock, or 91 come in (clause 2.4.2.2).
const TAKE_STOCK: &str = "UPDATE stock SET \
    s_quantity = CASE WHEN s_quantity >= $1 + 10 THEN s_quantity - $2 ELSE s_quantity - $3 + 91 END, \
    s_ytd = s_ytd + $4, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $5 \
    WHERE s_i_id = $6 AND s_w_id = $7";
const INSERT_LINE: &str = "INSERT INTO order_line \
    (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, \
    ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)";

/// One for each district, as the text of a statement is prepared once.
const READ_STOCK: [&str; 10] = [
    "SELECT s_quantity, s_data, s_dist_01 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_02 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_03 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_04 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_05 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_06 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_07 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_08 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_09 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
    "SELECT s_quantity, s_data, s_dist_10 FROM stock WHERE s_i_id = $1 AND s_w_id = $2",
];

#[cfg(test)]
mod tests {
    use super::Rates;

    /// 100.00 less 10 % are 90.00; with 5 % and 7.5 % tax, 101.25.
    #[test]
    fn the_total_has_the_discount_and_both_taxes() {
        let rates = Rates {
            discount: 1_000,
            warehouse_tax: 500,
            district_tax: 750,
        };
        assert_eq!(rates.apply(10_000), 10_125);
    }
}
