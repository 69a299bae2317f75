//! Is the data of Calling Circle consistent?
//!
//! The benchmark has no conditions of its own; these follow from what its transactions do. Each account, line and slot has versions whose times
//! do not overlap, one of which is current. Each line has ten slots. An update of a slot that was used keeps a version and is counted, so a
//! line has been updated as often as its slots have old versions, and not more often than it may be.

use super::schema::{ACCOUNTS, CIRCLES, END, LINES, SLOTS, tables};
use crate::workloads::violations::{none_found, unique_keys};
use crate::{ConditionOutcome, SessionError, SqlValue, WorkloadSession};

/// A table of versions: what identifies the thing, and the times of a version.
struct VersionedTable {
    table: &'static str,
    of: &'static [&'static str],
    from: &'static str,
    to: &'static str,
}

const VERSIONED_TABLES: [VersionedTable; 3] = [
    VersionedTable {
        table: ACCOUNTS,
        of: &["caid"],
        from: "cavalidfrom",
        to: "cavalidto",
    },
    VersionedTable {
        table: LINES,
        of: &["ccid"],
        from: "ccvalidfrom",
        to: "ccvalidto",
    },
    VersionedTable {
        table: CIRCLES,
        of: &["ccid", "psid"],
        from: "pcvalidfrom",
        to: "pcvalidto",
    },
];

const TOO_MANY_UPDATES: &str = "SELECT ccid, ccupdates, ccupdatesallowed FROM custclis WHERE ccupdates > ccupdatesallowed LIMIT 3";
const MISCOUNTED_UPDATES: &str = "SELECT c.ccid, c.ccupdates, count(p.psid) FROM custclis c \
     LEFT JOIN packageclis p ON p.ccid = c.ccid AND p.pcvalidto < $1 WHERE c.ccvalidto = $2 \
     GROUP BY c.ccid, c.ccupdates HAVING count(p.psid) <> c.ccupdates LIMIT 3";
const WRONG_CIRCLES: &str = "SELECT c.ccid, count(p.psid) FROM custclis c \
     LEFT JOIN packageclis p ON p.ccid = c.ccid AND p.pcvalidto = $1 WHERE c.ccvalidto = $2 \
     GROUP BY c.ccid HAVING count(p.psid) <> $3 LIMIT 3";
const LINES_WITHOUT_ACCOUNT: &str = "SELECT c.ccid, c.caid FROM custclis c LEFT JOIN custaccounts a ON a.caid = c.caid \
     WHERE a.caid IS NULL LIMIT 3";
const SLOTS_WITHOUT_LINE: &str = "SELECT p.ccid, p.psid FROM packageclis p LEFT JOIN custclis c ON c.ccid = p.ccid \
     WHERE c.ccid IS NULL LIMIT 3";

/// All conditions.
pub(super) fn check(
    session: &mut dyn WorkloadSession,
) -> Result<Vec<ConditionOutcome>, SessionError> {
    let mut outcomes = Vec::new();
    for table in tables() {
        outcomes.push(unique_keys(session, &table.name, &table.primary_key)?);
    }
    outcomes.push(unique_keys(session, ACCOUNTS, &["caname", "cavalidto"])?);
    for versions in &VERSIONED_TABLES {
        outcomes.push(versions.one_is_current(session)?);
        outcomes.push(versions.do_not_overlap(session)?);
    }
    let conditions: [(&str, &str, &[SqlValue]); 5] = [
        (
            "no line has more updates than allowed",
            TOO_MANY_UPDATES,
            &[],
        ),
        (
            "a line has as many updates as its slots have old versions",
            MISCOUNTED_UPDATES,
            &[END, END],
        ),
        (
            "every circle has ten slots",
            WRONG_CIRCLES,
            &[END, END, SqlValue::Integer(SLOTS)],
        ),
        ("every line has an account", LINES_WITHOUT_ACCOUNT, &[]),
        ("every slot has a line", SLOTS_WITHOUT_LINE, &[]),
    ];
    for (name, sql, parameters) in conditions {
        outcomes.push(none_found(session, name, sql, parameters)?);
    }
    Ok(outcomes)
}

impl VersionedTable {
    fn one_is_current(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<ConditionOutcome, SessionError> {
        let of = self.of.join(", ");
        let sql = format!(
            "SELECT {of} FROM {} GROUP BY {of} HAVING sum(CASE WHEN {} = $1 THEN 1 ELSE 0 END) <> 1 LIMIT 3",
            self.table, self.to
        );
        let name = format!("one version of each {of} of {} is current", self.table);
        none_found(session, name, &sql, &[END])
    }

    /// No version ends before it begins, and none that has ended does so after a later one begins. Two current ones are found by the
    /// condition above.
    fn do_not_overlap(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<ConditionOutcome, SessionError> {
        let Self {
            table,
            of,
            from,
            to,
        } = self;
        let joined: Vec<String> = of.iter().map(|key| format!("b.{key} = a.{key}")).collect();
        let (first, joined) = (of[0], joined.join(" AND "));
        let sql = format!(
            "SELECT a.{first}, a.{from}, a.{to} FROM {table} a WHERE a.{from} > a.{to} \
             UNION ALL SELECT a.{first}, a.{from}, a.{to} FROM {table} a JOIN {table} b ON {joined} AND b.{to} > a.{to} \
             WHERE a.{to} < $1 AND b.{from} <= a.{to} LIMIT 3"
        );
        let name = format!(
            "versions of each {} of {table} do not overlap",
            of.join(", ")
        );
        none_found(session, name, &sql, &[END])
    }
}
