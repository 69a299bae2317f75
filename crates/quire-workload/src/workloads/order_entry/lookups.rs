//! What do several transactions of Order Entry read and write in the same way?

use super::run::OrderEntryRun;
use crate::{SessionError, SqlValue, WorkloadRows, WorkloadSession};

/// `rownum < 15` in the original: results have at most 14 rows.
const CUSTOMER: &str = "SELECT customer_id, cust_first_name, cust_last_name, nls_language, nls_territory, credit_limit, cust_email, \
     account_mgr_id, customer_since, customer_class, suggestions, dob, mailshot, partner_mailshot, preferred_address, preferred_card \
     FROM customers WHERE customer_id = $1 LIMIT 14";
const ADDRESSES: &str = "SELECT address_id, customer_id, date_created, house_no_or_name, street_name, town, county, country, post_code, \
     zip_code FROM addresses WHERE customer_id = $1 LIMIT 14";
const RECORD_LOGON: &str =
    "INSERT INTO logon (logon_id, customer_id, logon_date) VALUES ($1, $2, $3)";
const INSERT_ADDRESS: &str = "INSERT INTO addresses (address_id, customer_id, date_created, house_no_or_name, street_name, town, county, \
     country, post_code, zip_code) VALUES ($1, $2, $3, $4, 'Street Name', $5, $6, $7, 'Postcode', NULL)";

pub(super) fn customer(
    session: &mut dyn WorkloadSession,
    customer_id: i64,
) -> Result<WorkloadRows, SessionError> {
    session.query(CUSTOMER, &[SqlValue::Integer(customer_id)])
}

pub(super) fn addresses(
    session: &mut dyn WorkloadSession,
    customer_id: i64,
) -> Result<WorkloadRows, SessionError> {
    session.query(ADDRESSES, &[SqlValue::Integer(customer_id)])
}

/// A logon to record, which is a transaction of its own and not recorded again when what follows is repeated.
pub(super) struct Logon {
    logon_id: i64,
    recorded: bool,
}

impl Logon {
    pub(super) fn new(run: &OrderEntryRun) -> Self {
        Self {
            logon_id: run.logon_ids.draw(),
            recorded: false,
        }
    }

    pub(super) fn record(
        &mut self,
        session: &mut dyn WorkloadSession,
        run: &OrderEntryRun,
        customer_id: i64,
    ) -> Result<(), SessionError> {
        if self.recorded {
            return Ok(());
        }
        let parameters = [
            SqlValue::Integer(self.logon_id),
            SqlValue::Integer(customer_id),
            run.clock.now(),
        ];
        session.begin()?;
        session.execute(RECORD_LOGON, &parameters)?;
        session.commit()?;
        self.recorded = true;
        Ok(())
    }
}

/// An address that a transaction adds.
pub(super) struct NewAddress {
    pub(super) address_id: i64,
    pub(super) house: i64,
    pub(super) town: String,
    pub(super) county: String,
    pub(super) country: &'static str,
}

impl NewAddress {
    pub(super) fn insert(
        &self,
        session: &mut dyn WorkloadSession,
        run: &OrderEntryRun,
        customer_id: &SqlValue,
    ) -> Result<(), SessionError> {
        let parameters = [
            SqlValue::Integer(self.address_id),
            customer_id.clone(),
            run.clock.now(),
            SqlValue::text(self.house.to_string()),
            SqlValue::text(self.town.as_str()),
            SqlValue::text(self.county.as_str()),
            SqlValue::text(self.country),
        ];
        session.execute(INSERT_ADDRESS, &parameters)?;
        Ok(())
    }
}
