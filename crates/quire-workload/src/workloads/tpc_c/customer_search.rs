//! Which customer does a transaction mean?

use super::parameters::CustomerChoice;
use crate::workloads::statements::{QueryResult, integer};
use crate::{SessionError, SqlValue, WorkloadSession};

const BY_NAME: &str = "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 \
    ORDER BY c_first";

/// The number of the customer: of n with the last name, that at position n/2, rounded up (clause 2.5.2.2).
///
/// # Errors
/// When the query fails, or no customer has the name.
pub fn customer_id(
    session: &mut dyn WorkloadSession,
    warehouse: i64,
    district: i64,
    choice: &CustomerChoice,
) -> Result<i64, SessionError> {
    match choice {
        CustomerChoice::Id(id) => Ok(*id),
        CustomerChoice::LastName(name) => {
            let parameters = [
                integer(warehouse),
                integer(district),
                SqlValue::text(name.as_str()),
            ];
            let found = QueryResult::of_existing(session, BY_NAME, &parameters)?;
            found.integer(found.count().div_ceil(2) - 1, 0)
        }
    }
}
