//! Which tables does Calling Circle have?
//!
//! Rows of five of them are versions: valid from a time to another, both included. The current version ends with [`END_US`].

use crate::ColumnType::{Integer, SmallInteger, Timestamp, Varchar};
use crate::workloads::definitions::{table, with_unique};
use crate::workloads::run_clock::{day_number, day_start_us};
use crate::{ColumnType, SqlValue, WorkloadColumn, WorkloadTable};

pub(super) const DIAL_CODES: &str = "dialcodes";
pub(super) const CALL_PACKAGES: &str = "callpackages";
pub(super) const PACKAGE_SLOTS: &str = "packageslots";
pub(super) const ACCOUNTS: &str = "custaccounts";
pub(super) const LINES: &str = "custclis";
pub(super) const CIRCLES: &str = "packageclis";

/// Since when generated versions are valid: 1970-01-01.
pub(super) const START: SqlValue = SqlValue::Timestamp(0);
/// The end of current versions: the last second of 4312.
pub(super) const END_US: i64 = day_start_us(day_number(4313, 1, 1)) - 1_000_000;
pub(super) const END: SqlValue = SqlValue::Timestamp(END_US);

/// The dial code of a slot without a number.
pub(super) const UNUSED_DIAL_CODE: i64 = -1;
pub(super) const UNUSED: &str = "Unused";
/// The dial code of the country, and how it is dialled.
pub(super) const COUNTRY_DIAL_CODE: i64 = 0;
pub(super) const COUNTRY: &str = "+44";
/// Regions are dialled `01000` to `01999`; their dial codes are 1 to 1,000.
pub(super) const REGIONS: i64 = 1_000;
pub(super) const PACKAGES: i64 = 10;
pub(super) const SLOTS: i64 = 10;
pub(super) const UPDATES_ALLOWED: i64 = 30;
pub(super) const PIN: &str = "1234";

/// The tables, in the order in which they are loaded.
pub(super) fn tables() -> Vec<WorkloadTable> {
    vec![
        dial_codes(),
        call_packages(),
        table(
            PACKAGE_SLOTS,
            &[column("cpid", Integer), column("psid", Integer)],
            &["cpid", "psid"],
            &[],
        ),
        accounts(),
        lines(),
        circles(),
    ]
}

const fn column(name: &'static str, kind: ColumnType) -> WorkloadColumn {
    WorkloadColumn::new(name, kind)
}

fn dial_codes() -> WorkloadTable {
    let columns = [
        column("dcid", Integer),
        column("dcvalidfrom", Timestamp),
        column("dcvalidto", Timestamp),
        column("dctype", Varchar(8)),
        column("dcvalue", Varchar(8)),
        column("dctext", Varchar(32)),
        WorkloadColumn::nullable("dcidparent", Integer),
    ];
    let parent: [&[&str]; 1] = [&["dcidparent"]];
    let table = table(DIAL_CODES, &columns, &["dcid", "dcvalidto"], &parent);
    // Codes are looked up by value. In the original the type comes first, and Oracle skips it.
    with_unique(table, &["dcvalue", "dctype", "dcvalidto"])
}

fn call_packages() -> WorkloadTable {
    let columns = [
        column("cpid", Integer),
        column("cpvalidfrom", Timestamp),
        column("cpvalidto", Timestamp),
        column("cpname", Varchar(32)),
        column("cpplsql", Varchar(32)),
    ];
    table(CALL_PACKAGES, &columns, &["cpid", "cpvalidto"], &[])
}

fn accounts() -> WorkloadTable {
    let columns = [
        column("caid", Integer),
        column("cavalidfrom", Timestamp),
        column("cavalidto", Timestamp),
        column("caname", Varchar(32)),
        column("capin", Varchar(32)),
        column("calastlogin", Timestamp),
        column("cafailedlogins", SmallInteger),
        column("calastfailedlogin", Timestamp),
    ];
    let table = table(ACCOUNTS, &columns, &["caid", "cavalidto"], &[]);
    with_unique(table, &["caname", "cavalidto"])
}

fn lines() -> WorkloadTable {
    let columns = [
        column("ccid", Integer),
        column("ccvalidfrom", Timestamp),
        column("ccvalidto", Timestamp),
        column("dcid", Integer),
        column("cccli", Varchar(32)),
        column("ccupdates", SmallInteger),
        column("ccupdatesallowed", SmallInteger),
        column("cpid", Integer),
        column("caid", Integer),
    ];
    let table = table(LINES, &columns, &["ccid", "ccvalidto"], &[]);
    with_unique(table, &["caid", "dcid", "cccli", "ccvalidto"])
}

fn circles() -> WorkloadTable {
    let columns = [
        column("ccid", Integer),
        column("psid", Integer),
        column("pcvalidfrom", Timestamp),
        column("pcvalidto", Timestamp),
        column("dcid", Integer),
        column("pccli", Varchar(32)),
    ];
    table(CIRCLES, &columns, &["ccid", "psid", "pcvalidto"], &[])
}
