//! What do customers of Calling Circle do?

use super::accounts::{CallNumber, name_of};
use super::lookups::{choose_line, current_circle, dial_code_of, history, log_in};
use super::parameters::{CircleParameters, NEW_CUSTOMER, RETRIEVE};
use super::run::CallingCircleRun;
use super::schema::{END, PIN, START, UPDATES_ALLOWED};
use super::slot_change::set_slot;
use crate::{SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction};
use std::sync::Arc;

const INSERT_ACCOUNT: &str = "INSERT INTO custaccounts (caid, cavalidfrom, cavalidto, caname, capin, calastlogin, cafailedlogins, \
     calastfailedlogin) VALUES ($1, $2, $3, $4, $5, $6, 0, $7)";
const INSERT_LINE: &str = "INSERT INTO custclis (ccid, ccvalidfrom, ccvalidto, dcid, cccli, ccupdates, ccupdatesallowed, cpid, caid) \
     VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8)";
const INSERT_UNUSED_SLOTS: &str = "INSERT INTO packageclis (ccid, psid, pcvalidfrom, pcvalidto, dcid, pccli) \
     SELECT c.ccid, ps.psid, c.ccvalidfrom, c.ccvalidto, -1, 'Unused' FROM custclis c JOIN packageslots ps ON ps.cpid = c.cpid \
     WHERE c.ccid = $1 AND c.ccvalidto = $2";

/// A transaction of a customer. Its parts commit by themselves, and those that have are not run again after a retry.
pub(super) struct CircleTransaction {
    run: Arc<CallingCircleRun>,
    parameters: CircleParameters,
    /// The id of a new account, and that of its line.
    new_ids: Option<[i64; 2]>,
    done: PartsDone,
}

#[derive(Default)]
struct PartsDone {
    account: bool,
    line: bool,
    /// What comes before the changes of slots.
    introduction: bool,
    changes: usize,
}

impl CircleTransaction {
    pub(super) fn new(run: &Arc<CallingCircleRun>, parameters: CircleParameters) -> Self {
        let is_new = parameters.kind == NEW_CUSTOMER;
        Self {
            new_ids: is_new.then(|| run.draw_ids()),
            run: Arc::clone(run),
            parameters,
            done: PartsDone::default(),
        }
    }

    /// *Register account*.
    fn register_account(
        &self,
        session: &mut dyn WorkloadSession,
        caid: i64,
    ) -> Result<(), SessionError> {
        let account = [
            SqlValue::Integer(caid),
            START,
            END,
            SqlValue::Text(name_of(self.parameters.account)),
            SqlValue::text(PIN),
            self.run.clock.now(),
            START,
        ];
        session.begin()?;
        session.execute(INSERT_ACCOUNT, &account)?;
        session.commit()
    }

    /// *Register line*, with ten unused slots.
    fn register_line(
        &self,
        session: &mut dyn WorkloadSession,
        [caid, ccid]: [i64; 2],
    ) -> Result<(), SessionError> {
        let number = CallNumber::of_account(self.parameters.account);
        let dial_code = dial_code_of(session, &self.run.clock, &number)?;
        let line = [
            SqlValue::Integer(ccid),
            START,
            END,
            SqlValue::Integer(dial_code),
            SqlValue::Text(number.cli()),
            SqlValue::Integer(UPDATES_ALLOWED),
            SqlValue::Integer(self.parameters.package),
            SqlValue::Integer(caid),
        ];
        session.begin()?;
        session.execute(INSERT_LINE, &line)?;
        session.execute(INSERT_UNUSED_SLOTS, &[SqlValue::Integer(ccid), END])?;
        session.commit()
    }

    fn register(
        &mut self,
        session: &mut dyn WorkloadSession,
        ids: [i64; 2],
    ) -> Result<(), SessionError> {
        if !self.done.account {
            self.register_account(session, ids[0])?;
            self.done.account = true;
        }
        if !self.done.line {
            log_in(session, &self.run.clock, self.parameters.account)?;
            self.register_line(session, ids)?;
            self.done.line = true;
        }
        Ok(())
    }

    /// Looks at the line and its circle before anything is changed. A new customer is logged in.
    fn introduce(&self, session: &mut dyn WorkloadSession) -> Result<(), SessionError> {
        let clock = &self.run.clock;
        let account = self.parameters.account;
        let caid = match self.new_ids {
            Some([caid, _]) => caid,
            None => log_in(session, clock, account)?,
        };
        let line = choose_line(session, clock, caid, &CallNumber::of_account(account))?;
        if self.parameters.kind == RETRIEVE {
            return history(session, clock, line.ccid);
        }
        current_circle(session, clock, line.ccid)?;
        Ok(())
    }

    /// Login, line, circle, a change of a slot, and the circle again.
    fn change_slot(
        &self,
        session: &mut dyn WorkloadSession,
        index: usize,
    ) -> Result<(), SessionError> {
        let clock = &self.run.clock;
        let account = self.parameters.account;
        let caid = log_in(session, clock, account)?;
        let line = choose_line(session, clock, caid, &CallNumber::of_account(account))?;
        let circle = current_circle(session, clock, line.ccid)?;
        let change = &self.parameters.changes[index];
        // A change that is refused ends as in the original: without a word.
        let _ = set_slot(session, clock, &line, &circle, change)?;
        current_circle(session, clock, line.ccid)?;
        Ok(())
    }
}

impl WorkloadTransaction for CircleTransaction {
    fn kind(&self) -> usize {
        self.parameters.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        if let Some(ids) = self.new_ids {
            self.register(session, ids)?;
        }
        if !self.done.introduction {
            self.introduce(session)?;
            self.done.introduction = true;
        }
        while self.done.changes < self.parameters.changes.len() {
            self.change_slot(session, self.done.changes)?;
            self.done.changes += 1;
        }
        Ok(TransactionEnd::Committed)
    }
}
