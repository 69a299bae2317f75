//! How do customers register and change their addresses?

use super::lookups::{Logon, NewAddress, customer};
use super::names;
use super::run::OrderEntryRun;
use super::samples::money;
use crate::{
    SeededRandom, SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction,
};
use std::sync::Arc;

const INSERT_CUSTOMER: &str = "INSERT INTO customers (customer_id, cust_first_name, cust_last_name, nls_language, nls_territory, \
     credit_limit, cust_email, account_mgr_id, customer_since, customer_class, suggestions, dob, mailshot, partner_mailshot, \
     preferred_address, preferred_card) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'Occasional', 'Music', $10, 'Y', 'N', $11, $12)";
const INSERT_CARD: &str = "INSERT INTO card_details (card_id, customer_id, card_type, card_number, expiry_date, is_valid, security_code) \
     VALUES ($1, $2, 'Visa(Debit)', $3, $4, 'Y', $5)";
const NAMESAKES: &str = "SELECT customer_id, cust_first_name, cust_last_name, nls_language, nls_territory, credit_limit, cust_email, \
     account_mgr_id, customer_since, customer_class, suggestions, dob, mailshot, partner_mailshot, preferred_address, preferred_card \
     FROM customers WHERE cust_last_name = $1 AND cust_first_name = $2 LIMIT 14";
const PREFER_ADDRESS: &str = "UPDATE customers SET preferred_address = $1 WHERE customer_id = $2";

/// Names of the lists, all equally likely, unlike those of generated customers.
fn first_and_last_name(run: &OrderEntryRun, random: &mut SeededRandom) -> [String; 2] {
    [
        names::first_name(random.between(0, run.rows.names - 1)),
        names::last_name(random.between(0, run.rows.names - 1)),
    ]
}

fn new_address(run: &OrderEntryRun, random: &mut SeededRandom) -> NewAddress {
    NewAddress {
        address_id: run.address_ids.draw(),
        house: random.between(1, 199),
        town: names::town(random.between(0, names::TOWNS - 1)),
        county: names::county(random.between(0, names::COUNTIES - 1)),
        country: random.pick::<&str>(&names::COUNTRIES),
    }
}

/// *Customer Registration*: a customer with an address and a card, a logon, and a look at the customer.
pub(super) struct Registration {
    kind: usize,
    run: Arc<OrderEntryRun>,
    customer_id: i64,
    card_id: i64,
    names: [String; 2],
    language: String,
    territory: &'static str,
    credit_limit: i64,
    account_mgr_id: i64,
    /// Days before and after today.
    age_days: i64,
    card_days: i64,
    card_number: i64,
    security_code: i64,
    address: NewAddress,
    logon: Logon,
    registered: bool,
}

impl Registration {
    pub(super) fn new(kind: usize, run: &Arc<OrderEntryRun>, random: &mut SeededRandom) -> Self {
        Self {
            kind,
            run: Arc::clone(run),
            customer_id: run.customer_ids.draw(),
            card_id: run.card_ids.draw(),
            names: first_and_last_name(run, random),
            language: random.letters(2),
            territory: random.pick::<&str>(&names::COUNTRIES),
            credit_limit: random.between(100, 4_999),
            account_mgr_id: random.between(145, 170),
            age_days: random.between(365 * 20, 365 * 60),
            card_days: random.between(365, 1_460),
            card_number: random.between(1_111_111_111, 9_999_999_999),
            security_code: random.between(1_111, 9_999),
            address: new_address(run, random),
            logon: Logon::new(run),
            registered: false,
        }
    }

    fn register(&self, session: &mut dyn WorkloadSession) -> Result<(), SessionError> {
        let today = self.run.clock.today();
        let customer_id = SqlValue::Integer(self.customer_id);
        let [first, last] = &self.names;
        let customer = [
            customer_id.clone(),
            SqlValue::text(first.as_str()),
            SqlValue::text(last.as_str()),
            SqlValue::text(self.language.as_str()),
            SqlValue::text(self.territory),
            money(self.credit_limit),
            SqlValue::Text(format!("{first}.{last}@oracle.com")),
            SqlValue::Integer(self.account_mgr_id),
            SqlValue::Date(today),
            SqlValue::Date(today - self.age_days as i32),
            SqlValue::Integer(self.address.address_id),
            SqlValue::Integer(self.card_id),
        ];
        let card = [
            SqlValue::Integer(self.card_id),
            customer_id.clone(),
            SqlValue::Integer(self.card_number),
            SqlValue::Date(today + self.card_days as i32),
            SqlValue::Integer(self.security_code),
        ];
        session.begin()?;
        session.execute(INSERT_CUSTOMER, &customer)?;
        self.address.insert(session, &self.run, &customer_id)?;
        session.execute(INSERT_CARD, &card)?;
        session.commit()
    }
}

impl WorkloadTransaction for Registration {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        if !self.registered {
            self.register(session)?;
            self.registered = true;
        }
        self.logon.record(session, &self.run, self.customer_id)?;
        customer(session, self.customer_id)?;
        Ok(TransactionEnd::Committed)
    }
}

/// *Update Customer Details*: where several customers have a name, the first of them gets a new preferred address.
pub(super) struct AddressChange {
    kind: usize,
    run: Arc<OrderEntryRun>,
    names: [String; 2],
    address: NewAddress,
}

impl AddressChange {
    pub(super) fn new(kind: usize, run: &Arc<OrderEntryRun>, random: &mut SeededRandom) -> Self {
        Self {
            kind,
            run: Arc::clone(run),
            names: first_and_last_name(run, random),
            address: new_address(run, random),
        }
    }
}

impl WorkloadTransaction for AddressChange {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        let [first, last] = &self.names;
        let names = [
            SqlValue::text(last.as_str()),
            SqlValue::text(first.as_str()),
        ];
        let namesakes = session.query(NAMESAKES, &names)?;
        let [one, _, ..] = namesakes.as_slice() else {
            return Ok(TransactionEnd::Committed);
        };
        let customer_id = &one[0];
        session.begin()?;
        self.address.insert(session, &self.run, customer_id)?;
        let preferred = [
            SqlValue::Integer(self.address.address_id),
            customer_id.clone(),
        ];
        session.execute(PREFER_ADDRESS, &preferred)?;
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}
