//! A run: sessions, threads, and what they found together.

use super::error::RunError;
use super::options::RunOptions;
use super::recorder::{KindRecorder, UserRecord};
use super::result::{KindResult, WorkloadResult};
use super::run_state::RunState;
use super::supervisor::{NothingSent, RunProgress, Supervised, Supervisor};
use super::user_thread::UserThread;
use crate::{Target, Workload, WorkloadSession};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::SystemTime;

/// What is run, and on what.
pub struct WorkloadDriver<'a> {
    pub workload: &'a dyn Workload,
    /// It holds the workload's tables.
    pub target: &'a dyn Target,
    /// Of the workload, for the result.
    pub scale: f64,
    /// Of the workload, for the result.
    pub seed: u64,
    /// Processes that are measured beside the target's, such as that of a mount.
    pub other_processes: Vec<u32>,
    /// Set to end the run early; transactions that have begun end, and there is a result.
    pub cancel: &'a AtomicBool,
}

type UserHandle<'scope> = ScopedJoinHandle<'scope, Result<UserRecord, RunError>>;

/// Held by a user's thread. Its channel closes when the thread ends, and a thread that fails or panics ends the run.
struct UserPresence<'a> {
    run: &'a RunState<'a>,
    has_ended_well: bool,
    _open: Sender<NothingSent>,
}

impl Drop for UserPresence<'_> {
    fn drop(&mut self) {
        if !self.has_ended_well {
            self.run.stop.give();
        }
    }
}

impl WorkloadDriver<'_> {
    /// Runs users on the target until the time is over, they have no more transactions, or the run is cancelled. `progress` is called each second.
    ///
    /// # Errors
    /// When the options cannot be run, a session is refused, or a transaction fails with an error that is no
    /// [`SessionError::Retry`](crate::SessionError::Retry): the message names the transaction and the statement.
    ///
    /// ```
    /// use quire_workload::driver::{RunOptions, WorkloadDriver};
    /// use quire_workload::report;
    /// use std::sync::atomic::AtomicBool;
    /// use std::time::Duration;
    /// # use quire_workload::*;
    /// # struct Counting;
    /// # impl Workload for Counting {
    /// #     fn name(&self) -> &'static str { "counting" }
    /// #     fn about(&self) -> &'static str { "counts" }
    /// #     fn tables(&self) -> Vec<WorkloadTable> { Vec::new() }
    /// #     fn generate(&self, _: &str, _: &mut dyn WorkloadRowSink) -> std::io::Result<()> { Ok(()) }
    /// #     fn kinds(&self) -> Vec<TransactionKind> {
    /// #         vec![TransactionKind { name: "count", weight: 1, reads_only: false }]
    /// #     }
    /// #     fn user(&self, _: u32) -> Box<dyn User> { Box::new(Twice(2)) }
    /// # }
    /// # struct Twice(u32);
    /// # impl User for Twice {
    /// #     fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
    /// #         self.0 = self.0.checked_sub(1)?;
    /// #         Some(Box::new(Count))
    /// #     }
    /// # }
    /// # struct Count;
    /// # impl WorkloadTransaction for Count {
    /// #     fn kind(&self) -> usize { 0 }
    /// #     fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
    /// #         session.begin()?;
    /// #         session.execute("UPDATE counter SET n = n + $1", &[SqlValue::Integer(1)])?;
    /// #         session.commit()?;
    /// #         Ok(TransactionEnd::Committed)
    /// #     }
    /// # }
    /// # struct Nowhere;
    /// # impl Target for Nowhere {
    /// #     fn name(&self) -> String { "nowhere".to_owned() }
    /// #     fn create_table(&self, _: &WorkloadTable) -> Result<(), TargetError> { Ok(()) }
    /// #     fn load(&self, _: &WorkloadTable, _: &std::path::Path) -> Result<(), TargetError> { Ok(()) }
    /// #     fn create_indexes(&self, _: &WorkloadTable) -> Result<(), TargetError> { Ok(()) }
    /// #     fn settle(&self) -> Result<(), TargetError> { Ok(()) }
    /// #     fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> { Ok(Box::new(Nobody)) }
    /// #     fn stored_bytes(&self) -> Result<u64, TargetError> { Ok(0) }
    /// #     fn processes(&self) -> Vec<u32> { Vec::new() }
    /// # }
    /// # struct Nobody;
    /// # impl WorkloadSession for Nobody {
    /// #     fn query(&mut self, _: &str, _: &[SqlValue]) -> Result<WorkloadRows, SessionError> { Ok(Vec::new()) }
    /// #     fn execute(&mut self, _: &str, _: &[SqlValue]) -> Result<u64, SessionError> { Ok(1) }
    /// #     fn begin(&mut self) -> Result<(), SessionError> { Ok(()) }
    /// #     fn commit(&mut self) -> Result<(), SessionError> { Ok(()) }
    /// #     fn rollback(&mut self) -> Result<(), SessionError> { Ok(()) }
    /// # }
    /// # let (workload, target) = (Counting, Nowhere);
    ///
    /// // `workload` is a `Workload`, each of whose users counts twice; `target` is a `Target` with its tables.
    /// let driver = WorkloadDriver {
    ///     workload: &workload,
    ///     target: &target,
    ///     scale: 1.0,
    ///     seed: 7,
    ///     other_processes: Vec::new(),
    ///     cancel: &AtomicBool::new(false),
    /// };
    /// let options = RunOptions {
    ///     users: 8,
    ///     warm_up: Duration::ZERO,
    ///     measured: Duration::from_secs(60),
    ///     rate: Some(1_000.0),
    ///     ..RunOptions::default()
    /// };
    /// let result = driver.run(&options, &mut |progress| println!("{:.0} tps", progress.tps))?;
    /// assert_eq!(result.total.finished, 16);
    /// assert!(result.total.latency_us_p50 <= result.total.latency_us_p999);
    /// println!("{}", report::text(&result));
    /// # Ok::<(), quire_workload::driver::RunError>(())
    /// ```
    pub fn run(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(RunProgress),
    ) -> Result<WorkloadResult, RunError> {
        options.check()?;
        let sessions = self.sessions(options.users)?;
        let size_bytes_before = self.target.stored_bytes()?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let kinds = self.workload.kinds();
        let run = RunState::starting_now(options, &kinds);
        let (supervised, record) = self.work(&run, sessions, progress)?;
        let measurement = supervised.measurement.ok_or(if supervised.is_cancelled {
            RunError::CancelledInWarmUp
        } else {
            RunError::EndedInWarmUp
        })?;
        let elapsed = supervised.end.duration_since(run.clock.measured_from);
        let elapsed_s = elapsed.as_secs_f64();
        let mut total = KindRecorder::new()?;
        record.kinds.iter().for_each(|kind| total.add(kind));
        let of_kinds = kinds.iter().zip(&record.kinds);
        Ok(WorkloadResult {
            workload: self.workload.name().to_owned(),
            target: self.target.name(),
            scale: self.scale,
            seed: self.seed,
            options: options.clone(),
            is_cancelled: supervised.is_cancelled,
            began_unix_s: began.map_or(0, |since| since.as_secs()),
            kinds: of_kinds
                .map(|(kind, recorder)| KindResult::of(kind.name, recorder, elapsed_s))
                .collect(),
            total: KindResult::of("all", &total, elapsed_s),
            elapsed,
            unstarted: run.unstarted_before(supervised.end),
            measurement,
            size_bytes_before,
            size_bytes_after: self.target.stored_bytes()?,
            finished_per_second: record.finished_per_second,
        })
    }

    /// All sessions are there before the first user begins.
    fn sessions(&self, users: u32) -> Result<Vec<Box<dyn WorkloadSession>>, RunError> {
        let sessions = (0..users).map(|user| {
            let session = self.target.connect();
            session.map_err(|error| RunError::Connect { user, error })
        });
        sessions.collect()
    }

    /// All users in their threads, and what they recorded together.
    fn work(
        &self,
        run: &RunState<'_>,
        sessions: Vec<Box<dyn WorkloadSession>>,
        progress: &mut dyn FnMut(RunProgress),
    ) -> Result<(Supervised, UserRecord), RunError> {
        let server = || self.target.processes();
        thread::scope(|scope| {
            let supervisor =
                Supervisor::new(run, &server, &self.other_processes, self.cancel, progress);
            let (open, users) = channel();
            let mut handles = Vec::new();
            for (number, session) in (0..).zip(sessions) {
                let user = self.workload.user(number);
                let user = UserThread::new(number, run, user, session);
                let handle = user.and_then(|user| spawn(scope, number, run, user, open.clone()));
                match handle {
                    Ok(handle) => handles.push(handle),
                    Err(error) => {
                        // The scope waits for the users that have begun.
                        run.stop.give();
                        return Err(error);
                    }
                }
            }
            drop(open);
            let supervised = supervisor.watch(&users);
            Ok((supervised, joined(run, handles)?))
        })
    }
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    number: u32,
    run: &'scope RunState<'scope>,
    user: UserThread<'scope>,
    open: Sender<NothingSent>,
) -> Result<UserHandle<'scope>, RunError> {
    let work = move || {
        let mut presence = UserPresence {
            run,
            has_ended_well: false,
            _open: open,
        };
        let worked = user.work();
        presence.has_ended_well = worked.is_ok();
        worked
    };
    let thread = thread::Builder::new().name(format!("user {number}"));
    let handle = thread.spawn_scoped(scope, work);
    handle.map_err(|error| RunError::Thread {
        user: number,
        error,
    })
}

/// What all users recorded, or the error of the one with the lowest number among those that failed.
fn joined(run: &RunState<'_>, handles: Vec<UserHandle<'_>>) -> Result<UserRecord, RunError> {
    let mut all = UserRecord::new(run.kinds.len())?;
    let mut failure = None;
    for (user, handle) in (0..).zip(handles) {
        match handle.join() {
            Ok(Ok(record)) => all.add(&record),
            Ok(Err(error)) => {
                failure.get_or_insert(error);
            }
            Err(_) => {
                failure.get_or_insert(RunError::Panicked { user });
            }
        }
    }
    failure.map_or(Ok(all), Err)
}
