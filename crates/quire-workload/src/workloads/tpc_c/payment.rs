//! The Payment transaction (TPC-C, clause 2.5): a customer pays, at a district of the terminal's warehouse.
//!
//! Balances are changed by additions in the database. The old `c_data` of a customer with bad credit is read after the customer's row was
//! changed and so is locked.

use super::customer_search::customer_id;
use super::parameters::{CustomerChoice, TerminalParameters};
use crate::workloads::statements::{QueryResult, change_one, integer, money, now};
use crate::{SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction};

/// The parameters of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    kind: usize,
    pub warehouse: i64,
    pub district: i64,
    pub customer_warehouse: i64,
    pub customer_district: i64,
    pub customer: CustomerChoice,
    pub cents: i64,
}

const DATA_CHARACTERS: usize = 500;

impl Payment {
    /// Draws a payment (clause 2.5.1): 15 % of the customers are of another warehouse.
    pub(super) fn draw(kind: usize, source: &mut TerminalParameters) -> Self {
        let district = source.any_district();
        let is_home = source.random.between(1, 100) <= 85;
        let (customer_warehouse, customer_district) = if is_home {
            (source.warehouse, district)
        } else {
            (source.remote_warehouse(), source.any_district())
        };
        Self {
            kind,
            warehouse: source.warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: source.customer_choice(),
            cents: source.random.between(100, 500_000),
        }
    }

    /// Adds the amount to the warehouse and the district; both names, for the history.
    fn pay_in(&self, session: &mut dyn WorkloadSession) -> Result<String, SessionError> {
        let place = [integer(self.warehouse), integer(self.district)];
        let [warehouse, district] = place.clone();
        change_one(
            session,
            PAY_WAREHOUSE,
            &[money(self.cents), warehouse.clone()],
        )?;
        change_one(
            session,
            PAY_DISTRICT,
            &[money(self.cents), warehouse, district],
        )?;
        let warehouse = QueryResult::of_existing(session, READ_WAREHOUSE, &place[..1])?;
        let district = QueryResult::of_existing(session, READ_DISTRICT, &place)?;
        Ok(format!(
            "{}    {}",
            warehouse.text(0, 0)?,
            district.text(0, 0)?
        ))
    }

    fn pay_customer(&self, session: &mut dyn WorkloadSession, id: i64) -> Result<(), SessionError> {
        let customer = [
            integer(self.customer_warehouse),
            integer(self.customer_district),
            integer(id),
        ];
        let mut change = vec![money(self.cents), money(self.cents)];
        change.extend(customer.clone());
        change_one(session, PAY_CUSTOMER, &change)?;
        let read = QueryResult::of_existing(session, READ_CUSTOMER, &customer)?;
        if read.text(0, 0)? != "BC" {
            return Ok(());
        }
        let old = QueryResult::of_existing(session, READ_DATA, &customer)?;
        let data = self.data_of_bad_credit(id, old.text(0, 0)?);
        let mut change = vec![SqlValue::Text(data)];
        change.extend(customer);
        change_one(session, WRITE_DATA, &change)
    }

    /// The history of a customer with bad credit moves to the right (clause 2.5.2.2).
    fn data_of_bad_credit(&self, id: i64, old: &str) -> String {
        let mut data = format!(
            "{id} {} {} {} {} {} {old}",
            self.customer_district,
            self.customer_warehouse,
            self.district,
            self.warehouse,
            money(self.cents)
        );
        // All of it is ASCII.
        data.truncate(DATA_CHARACTERS);
        data
    }
}

impl WorkloadTransaction for Payment {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let names = self.pay_in(session)?;
        let id = customer_id(
            session,
            self.customer_warehouse,
            self.customer_district,
            &self.customer,
        )?;
        self.pay_customer(session, id)?;
        let row = [
            integer(id),
            integer(self.customer_district),
            integer(self.customer_warehouse),
            integer(self.district),
            integer(self.warehouse),
            now(),
            money(self.cents),
            SqlValue::Text(names),
        ];
        change_one(session, INSERT_HISTORY, &row)?;
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

const PAY_WAREHOUSE: &str = "UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2";
const PAY_DISTRICT: &str = "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3";
const READ_WAREHOUSE: &str = "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip \
    FROM warehouse WHERE w_id = $1";
const READ_DISTRICT: &str = "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip \
    FROM district WHERE d_w_id = $1 AND d_id = $2";
const PAY_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance - $1, \
    c_ytd_payment = c_ytd_payment + $2, c_payment_cnt = c_payment_cnt + 1 \
    WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5";
const READ_CUSTOMER: &str = "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, \
    c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance \
    FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const READ_DATA: &str =
    "SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const WRITE_DATA: &str =
    "UPDATE customer SET c_data = $1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
const INSERT_HISTORY: &str = "INSERT INTO history \
    (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
