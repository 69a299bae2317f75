//! A user: transactions, one after the other, on a session of its own.

use super::error::RunError;
use super::recorder::UserRecord;
use super::run_state::RunState;
use crate::{
    SeededRandom, SessionError, TransactionEnd, User, WorkloadSession, WorkloadTransaction,
};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The longest pause before the first retry; it doubles with each retry, up to the second number.
const BACKOFF_US: u64 = 1_000;
const BACKOFF_US_MAX: u64 = 64_000;

/// What becomes of a transaction.
enum Attempts {
    Finished(TransactionEnd),
    /// All retries are used up.
    GivenUp,
    /// The run was stopped before the next retry.
    Stopped,
}

/// A user in its thread.
pub(super) struct UserThread<'a> {
    number: u32,
    run: &'a RunState<'a>,
    user: Box<dyn User>,
    session: Box<dyn WorkloadSession>,
    random: SeededRandom,
    record: UserRecord,
}

impl<'a> UserThread<'a> {
    pub(super) fn new(
        number: u32,
        run: &'a RunState<'a>,
        user: Box<dyn User>,
        session: Box<dyn WorkloadSession>,
    ) -> Result<Self, RunError> {
        Ok(Self {
            number,
            run,
            user,
            session,
            random: SeededRandom::of_part(run.options.seed, u64::from(number)),
            record: UserRecord::new(run.kinds.len())?,
        })
    }

    /// Until the deadline, the signal, or the user's last transaction. A transaction that has begun ends.
    pub(super) fn work(mut self) -> Result<UserRecord, RunError> {
        while !self.run.is_over() {
            // Its parameters are drawn before it begins: that is no work of the database.
            let Some(mut transaction) = self.user.next() else {
                break;
            };
            let Some(start) = self.run.next_start() else {
                break;
            };
            self.complete(transaction.as_mut(), start)?;
            let think = self.think_time();
            self.run.pause(think);
        }
        Ok(self.record)
    }

    /// Runs a transaction to its end and records it; `start` is when it was meant to begin.
    fn complete(
        &mut self,
        transaction: &mut dyn WorkloadTransaction,
        start: Instant,
    ) -> Result<(), RunError> {
        let kind = transaction.kind();
        if kind >= self.run.kinds.len() {
            return Err(RunError::Kind {
                user: self.number,
                kind,
                count: self.run.kinds.len(),
            });
        }
        let (attempts, retries) = self.attempts(transaction, kind)?;
        let end = Instant::now();
        if let Attempts::Finished(_) = attempts {
            self.run.finished.fetch_add(1, Ordering::Relaxed);
        }
        let clock = self.run.clock;
        if end < clock.measured_from {
            return Ok(());
        }
        let recorder = &mut self.record.kinds[kind];
        recorder.retries += u64::from(retries);
        match attempts {
            Attempts::Finished(outcome) => {
                let is_rolled_back = outcome == TransactionEnd::RolledBack;
                let is_late = end >= clock.deadline;
                recorder.finished(end.duration_since(start), is_rolled_back, is_late);
                if !is_late {
                    let second = end.duration_since(clock.measured_from).as_secs();
                    self.record.ended_in(second as usize);
                }
            }
            Attempts::GivenUp => recorder.given_up += 1,
            Attempts::Stopped => {}
        }
        Ok(())
    }

    /// The transaction with the same parameters until it ends, and how often it was run again.
    fn attempts(
        &mut self,
        transaction: &mut dyn WorkloadTransaction,
        kind: usize,
    ) -> Result<(Attempts, u32), RunError> {
        let mut retries = 0;
        loop {
            match transaction.run(self.session.as_mut()) {
                Ok(end) => return Ok((Attempts::Finished(end), retries)),
                Err(SessionError::Retry(_)) => self.roll_back(kind)?,
                Err(error) => {
                    // The first error is the one to be told.
                    let _ = self.session.rollback();
                    return Err(RunError::Failed {
                        kind: self.run.kinds[kind].name.to_owned(),
                        user: self.number,
                        error,
                    });
                }
            }
            if retries == self.run.options.retries_max {
                return Ok((Attempts::GivenUp, retries));
            }
            self.back_off(retries);
            if self.run.stop.is_given() {
                return Ok((Attempts::Stopped, retries));
            }
            retries += 1;
            self.run.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn roll_back(&mut self, kind: usize) -> Result<(), RunError> {
        match self.session.rollback() {
            // A transaction that cannot be rolled back now is rolled back by its database.
            Ok(()) | Err(SessionError::Retry(_)) => Ok(()),
            Err(error) => Err(RunError::Rollback {
                kind: self.run.kinds[kind].name.to_owned(),
                user: self.number,
                error,
            }),
        }
    }

    /// A random pause, so that users that hinder each other do not meet again.
    fn back_off(&mut self, retries: u32) {
        let limit = BACKOFF_US << retries.min(16);
        let pause_us = self.random.below(limit.min(BACKOFF_US_MAX));
        let end = Instant::now() + Duration::from_micros(pause_us);
        self.run.stop.wait_until(end);
    }

    fn think_time(&mut self) -> Duration {
        let (least, most) = self.run.options.think_time;
        least + (most - least).mul_f64(self.random.fraction())
    }
}
