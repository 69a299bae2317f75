//! TPC-B, the teller at a bank (TPC Benchmark B, revision 2.0), and pgbench's form of it.
//!
//! One transaction adds an amount to an account, to the teller and to the branch, and records it. All of them are additions in the database,
//! so none can be lost, at any isolation level. Not a TPC result.

use super::statements::{QueryResult, change_one, integer, now};
use crate::{
    ColumnType, ConditionOutcome, SeededRandom, SessionError, SqlValue, TransactionEnd,
    TransactionKind, User, Workload, WorkloadColumn, WorkloadRowSink, WorkloadSession,
    WorkloadTable, WorkloadTransaction,
};
use std::collections::BTreeMap;
use std::io;

/// The workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TpcB {
    /// At least 1.
    pub branches: u32,
    /// 100,000 is the specification's, and pgbench's.
    pub accounts_of_branch: u32,
    pub rule: AccountRule,
    pub seed: u64,
}

/// Which account, teller and branch a transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountRule {
    /// A random teller, its branch, and with 85 % one of that branch's accounts, otherwise one of another branch's (TPC-B, clause 5.3.5).
    /// Amounts are from -999,999 to 999,999.
    LocalAccounts,
    /// Each of the three at random, whatever belongs to whom, as pgbench does. Amounts are from -5,000 to 5,000.
    Pgbench,
}

pub const TELLERS_OF_BRANCH: i64 = 10;

impl TpcB {
    /// The specification's cardinalities (clause 4.2) and its rule of accounts.
    pub const fn new(branches: u32, seed: u64) -> Self {
        Self {
            branches,
            accounts_of_branch: 100_000,
            rule: AccountRule::LocalAccounts,
            seed,
        }
    }

    fn branch_count(self) -> i64 {
        i64::from(self.branches.max(1))
    }

    fn accounts_of_each(self) -> i64 {
        i64::from(self.accounts_of_branch.max(1))
    }
}

const BRANCH: WorkloadColumn = WorkloadColumn::new("bid", ColumnType::Integer);
const TELLER: WorkloadColumn = WorkloadColumn::new("tid", ColumnType::Integer);
const ACCOUNT: WorkloadColumn = WorkloadColumn::new("aid", ColumnType::Integer);

const fn balance(name: &'static str) -> WorkloadColumn {
    WorkloadColumn::new(name, ColumnType::BigInteger)
}

const fn filler(characters: u32) -> WorkloadColumn {
    WorkloadColumn::new("filler", ColumnType::Char(characters))
}

/// Lengths of the fillers are pgbench's; the rows have the 100 bytes, and those of the history the 50, of clause 3.2.
const BRANCH_FILLER: u32 = 88;
const TELLER_FILLER: u32 = 84;
const ACCOUNT_FILLER: u32 = 84;
const HISTORY_FILLER: u32 = 22;

fn table(name: &str, key: &[&'static str], columns: Vec<WorkloadColumn>) -> WorkloadTable {
    WorkloadTable {
        name: name.to_owned(),
        columns,
        primary_key: key.to_vec(),
        indexes: Vec::new(),
    }
}

impl Workload for TpcB {
    fn name(&self) -> &'static str {
        match self.rule {
            AccountRule::LocalAccounts => "tpc-b",
            AccountRule::Pgbench => "pgbench",
        }
    }

    fn about(&self) -> &'static str {
        match self.rule {
            AccountRule::LocalAccounts => {
                "TPC-B 2.0: tellers of a bank, by branches; not a TPC result"
            }
            AccountRule::Pgbench => "pgbench's TPC-B: tellers of a bank, any account at any branch",
        }
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        let history = vec![
            TELLER,
            BRANCH,
            ACCOUNT,
            balance("delta"),
            WorkloadColumn::new("mtime", ColumnType::Timestamp),
            filler(HISTORY_FILLER),
        ];
        let branch = vec![BRANCH, balance("bbalance"), filler(BRANCH_FILLER)];
        let teller = vec![TELLER, BRANCH, balance("tbalance"), filler(TELLER_FILLER)];
        let account = vec![ACCOUNT, BRANCH, balance("abalance"), filler(ACCOUNT_FILLER)];
        vec![
            table("pgbench_branches", &["bid"], branch),
            table("pgbench_tellers", &["tid"], teller),
            table("pgbench_accounts", &["aid"], account),
            table("pgbench_history", &[], history),
        ]
    }

    /// All balances are 0, and the history is empty (clause 4.2).
    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        let branches = self.branch_count();
        let mut random = SeededRandom::of_part(self.seed, table.len() as u64);
        let mut text = |bytes: u32| SqlValue::Text(random.letters(bytes as usize));
        let mut numbered = |count: i64, of_branch: i64, bytes: u32| {
            (1..=count).try_for_each(|number| {
                let branch = integer((number - 1) / of_branch + 1);
                rows.row(&[integer(number), branch, integer(0), text(bytes)])
            })
        };
        match table {
            "pgbench_branches" => (1..=branches).try_for_each(|branch| {
                rows.row(&[integer(branch), integer(0), text(BRANCH_FILLER)])
            }),
            "pgbench_tellers" => numbered(
                branches * TELLERS_OF_BRANCH,
                TELLERS_OF_BRANCH,
                TELLER_FILLER,
            ),
            "pgbench_accounts" => {
                let of_each = self.accounts_of_each();
                numbered(branches * of_each, of_each, ACCOUNT_FILLER)
            }
            "pgbench_history" => Ok(()),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{table} is no table of TPC-B; take one of Workload::tables"),
            )),
        }
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        vec![TransactionKind {
            name: "teller",
            weight: 1,
            reads_only: false,
        }]
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        Box::new(BankClient {
            workload: *self,
            random: SeededRandom::of_part(self.seed, 1 << 63 | u64::from(number)),
        })
    }

    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let mut outcomes = vec![
            totals_agree(session)?,
            same_sums(
                session,
                "balances of branches",
                BRANCHES,
                HISTORY_OF_BRANCHES,
            )?,
            same_sums(session, "balances of tellers", TELLERS, HISTORY_OF_TELLERS)?,
            same_sums(
                session,
                "balances of accounts",
                ACCOUNTS,
                HISTORY_OF_ACCOUNTS,
            )?,
        ];
        if self.rule == AccountRule::LocalAccounts {
            let name = "balances of branches are those of their tellers";
            outcomes.push(same_sums(session, name, BRANCHES, TELLERS_OF_BRANCHES)?);
        }
        Ok(outcomes)
    }
}

struct BankClient {
    workload: TpcB,
    random: SeededRandom,
}

impl User for BankClient {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        Some(Box::new(TellerTransaction::draw(
            self.workload,
            &mut self.random,
        )))
    }
}

/// The parameters of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TellerTransaction {
    branch: i64,
    teller: i64,
    account: i64,
    delta: i64,
    filler: String,
}

impl TellerTransaction {
    fn draw(workload: TpcB, random: &mut SeededRandom) -> Self {
        let branches = workload.branch_count();
        let of_each = workload.accounts_of_each();
        let teller = random.between(1, branches * TELLERS_OF_BRANCH);
        let (branch, account, delta) = match workload.rule {
            AccountRule::LocalAccounts => {
                let branch = (teller - 1) / TELLERS_OF_BRANCH + 1;
                let account = (account_branch(branch, branches, random) - 1) * of_each;
                let delta = random.between(-999_999, 999_999);
                (branch, account + random.between(1, of_each), delta)
            }
            AccountRule::Pgbench => (
                random.between(1, branches),
                random.between(1, branches * of_each),
                random.between(-5_000, 5_000),
            ),
        };
        Self {
            branch,
            teller,
            account,
            delta,
            filler: random.letters(HISTORY_FILLER as usize),
        }
    }
}

/// The branch of the account: the teller's in 85 %, or if there is no other.
fn account_branch(branch: i64, branches: i64, random: &mut SeededRandom) -> i64 {
    if branches == 1 || random.below(100) < 85 {
        return branch;
    }
    let other = random.between(1, branches - 1);
    if other < branch { other } else { other + 1 }
}

impl WorkloadTransaction for TellerTransaction {
    fn kind(&self) -> usize {
        0
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let delta = integer(self.delta);
        let account = integer(self.account);
        change_one(session, ADD_TO_ACCOUNT, &[delta.clone(), account.clone()])?;
        QueryResult::of_existing(session, READ_ACCOUNT, &[account])?;
        change_one(
            session,
            ADD_TO_TELLER,
            &[delta.clone(), integer(self.teller)],
        )?;
        change_one(
            session,
            ADD_TO_BRANCH,
            &[delta.clone(), integer(self.branch)],
        )?;
        let row = [
            integer(self.teller),
            integer(self.branch),
            integer(self.account),
            delta,
            now(),
            SqlValue::text(self.filler.as_str()),
        ];
        change_one(session, INSERT_HISTORY, &row)?;
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

/// Consistency between the four tables as a whole (clause 2.3.2).
fn totals_agree(session: &mut dyn WorkloadSession) -> Result<ConditionOutcome, SessionError> {
    let mut totals = Vec::new();
    for sql in TOTALS {
        totals.push(QueryResult::of_existing(session, sql, &[])?.integer(0, 0)?);
    }
    Ok(ConditionOutcome {
        name: "totals of branches, tellers, accounts and history".to_owned(),
        holds: totals.iter().all(|total| *total == totals[0]),
        finding: format!("{totals:?}"),
    })
}

/// Whether two queries of numbers and sums agree; a number that only one of them has is 0 in the other.
fn same_sums(
    session: &mut dyn WorkloadSession,
    name: &str,
    balances: &str,
    history: &str,
) -> Result<ConditionOutcome, SessionError> {
    let mut differences: BTreeMap<i64, i64> = BTreeMap::new();
    for (sql, sign) in [(balances, 1), (history, -1)] {
        let rows = QueryResult::of(session, sql, &[])?;
        for row in 0..rows.count() {
            *differences.entry(rows.integer(row, 0)?).or_default() +=
                sign * rows.integer(row, 1)?;
        }
    }
    let compared = differences.len();
    differences.retain(|_, difference| *difference != 0);
    let first: Vec<_> = differences.iter().take(5).collect();
    Ok(ConditionOutcome {
        name: name.to_owned(),
        holds: differences.is_empty(),
        finding: format!(
            "{} of {compared} differ; the first, with the difference: {first:?}",
            differences.len()
        ),
    })
}

const ADD_TO_ACCOUNT: &str = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2";
const READ_ACCOUNT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
const ADD_TO_TELLER: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2";
const ADD_TO_BRANCH: &str = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2";
const INSERT_HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) \
    VALUES ($1, $2, $3, $4, $5, $6)";

const TOTALS: [&str; 4] = [
    "SELECT COALESCE(SUM(bbalance), 0) FROM pgbench_branches",
    "SELECT COALESCE(SUM(tbalance), 0) FROM pgbench_tellers",
    "SELECT COALESCE(SUM(abalance), 0) FROM pgbench_accounts",
    "SELECT COALESCE(SUM(delta), 0) FROM pgbench_history",
];
const BRANCHES: &str = "SELECT bid, bbalance FROM pgbench_branches";
const TELLERS: &str = "SELECT tid, tbalance FROM pgbench_tellers";
/// Most accounts were never used.
const ACCOUNTS: &str = "SELECT aid, abalance FROM pgbench_accounts WHERE abalance <> 0";
const TELLERS_OF_BRANCHES: &str = "SELECT bid, SUM(tbalance) FROM pgbench_tellers GROUP BY bid";
const HISTORY_OF_BRANCHES: &str = "SELECT bid, SUM(delta) FROM pgbench_history GROUP BY bid";
const HISTORY_OF_TELLERS: &str = "SELECT tid, SUM(delta) FROM pgbench_history GROUP BY tid";
const HISTORY_OF_ACCOUNTS: &str = "SELECT aid, SUM(delta) FROM pgbench_history GROUP BY aid";

#[cfg(test)]
mod tests {
    use super::{AccountRule, TellerTransaction, TpcB};
    use crate::SeededRandom;

    #[test]
    fn eighty_five_percent_of_the_accounts_are_of_the_tellers_branch() {
        let workload = TpcB::new(4, 1);
        let mut random = SeededRandom::new(8);
        let mut local = 0;
        for _ in 0..20_000 {
            let drawn = TellerTransaction::draw(workload, &mut random);
            assert!((1..=40).contains(&drawn.teller));
            assert_eq!(drawn.branch, (drawn.teller + 9) / 10);
            assert!((1..=400_000).contains(&drawn.account));
            local += i32::from((drawn.account + 99_999) / 100_000 == drawn.branch);
        }
        assert!((16_800..17_200).contains(&local), "{local}");
    }

    #[test]
    fn pgbench_takes_any_account() {
        let workload = TpcB {
            rule: AccountRule::Pgbench,
            ..TpcB::new(4, 1)
        };
        let mut random = SeededRandom::new(8);
        let drawn = (0..20_000).map(|_| TellerTransaction::draw(workload, &mut random));
        let local = drawn
            .filter(|one| (one.account + 99_999) / 100_000 == one.branch)
            .count();
        assert!((4_800..5_200).contains(&local), "{local}");
    }
}
