//! Counts, latencies, retries, failures and ends of runs.

use crate::fake::{FakeTarget, Script, ScriptedWorkload};
use quire_workload::TransactionEnd;
use quire_workload::driver::{
    Arrivals, RunError, RunOptions, RunOptionsError, WorkloadDriver, WorkloadResult,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn options(users: u32) -> RunOptions {
    RunOptions {
        users,
        warm_up: Duration::ZERO,
        measured: Duration::from_secs(60),
        ..RunOptions::default()
    }
}

fn run(
    scripts: &[Script],
    rounds: u32,
    options: &RunOptions,
) -> (FakeTarget, Result<WorkloadResult, RunError>) {
    let target = FakeTarget::default();
    let workload = ScriptedWorkload::new(scripts, rounds);
    let driver = WorkloadDriver {
        workload: &workload,
        target: &target,
        scale: 1.0,
        seed: 7,
        other_processes: Vec::new(),
        cancel: &AtomicBool::new(false),
    };
    let result = driver.run(options, &mut |_| {});
    (target, result)
}

#[test]
fn each_kind_is_counted_with_its_service_time() {
    let scripts = [Script::new(0, "sleep 1"), Script::new(1, "sleep 20")];
    let (target, result) = run(&scripts, 5, &options(4));
    let result = result.unwrap();
    let asked = &target.asked;
    assert_eq!(asked.sessions.load(Ordering::Relaxed), 4);
    assert_eq!(asked.commits.load(Ordering::Relaxed), 40);
    let [quick, slow] = result.kinds.as_slice() else {
        panic!("two kinds");
    };
    assert_eq!((quick.name.as_str(), quick.finished), ("quick", 20));
    assert_eq!((slow.name.as_str(), slow.finished), ("slow", 20));
    // A sleep is never shorter than it was meant to be.
    assert!(slow.latency_us_p50 >= 20_000 && quick.latency_us_p50 >= 1_000);
    assert!(quick.latency_us_mean < slow.latency_us_mean);
    assert!(slow.latency_us_p50 <= slow.latency_us_p999);
    assert_eq!(result.total.finished, 40);
    assert_eq!(
        result.total.latency_us_max,
        slow.latency_us_max.max(quick.latency_us_max)
    );
    assert_eq!(result.finished_per_second.iter().sum::<u64>(), 40);
    assert_eq!((result.total.retries, result.total.errors), (0, 0));
    assert_eq!(
        (result.size_bytes_before, result.size_bytes_after),
        (1_000, 1_040)
    );
    assert_eq!(result.measurement.server, None);
    assert!(!result.is_cancelled);
}

#[test]
fn what_the_workload_rolls_back_is_finished_and_counted() {
    let mut rolled_back = Script::new(0, "sleep 0");
    rolled_back.end = TransactionEnd::RolledBack;
    let scripts = [rolled_back, Script::new(1, "sleep 0")];
    let (_, result) = run(&scripts, 3, &options(2));
    let result = result.unwrap();
    assert_eq!(result.kinds[0].rolled_back, 6);
    assert_eq!(result.kinds[1].rolled_back, 0);
    assert_eq!((result.total.finished, result.total.rolled_back), (12, 6));
}

#[test]
fn a_retry_rolls_back_and_runs_the_same_transaction_again() {
    let scripts = [Script::new(0, "retry 3")];
    let (target, result) = run(&scripts, 5, &options(2));
    let total = result.unwrap().total;
    assert_eq!((total.finished, total.retries, total.errors), (10, 30, 0));
    let asked = &target.asked;
    assert_eq!(asked.rollbacks.load(Ordering::Relaxed), 30);
    assert_eq!(asked.begins.load(Ordering::Relaxed), 40);
}

#[test]
fn a_transaction_is_given_up_after_the_last_retry() {
    let scripts = [Script::new(0, "retry 3"), Script::new(1, "retry 2")];
    let mut options = options(1);
    options.retries_max = 2;
    let (_, result) = run(&scripts, 4, &options);
    let result = result.unwrap();
    let counts = |kind: usize| {
        let kind = &result.kinds[kind];
        (kind.finished, kind.retries, kind.errors)
    };
    assert_eq!(counts(0), (0, 8, 4));
    assert_eq!(counts(1), (4, 8, 0));
}

#[test]
fn an_error_that_is_no_retry_stops_the_run_and_names_transaction_and_statement() {
    let scripts = [Script::new(0, "sleep 1"), Script::new(1, "fail 5")];
    let (target, result) = run(&scripts, 1_000_000, &options(3));
    let message = result.unwrap_err().to_string();
    for part in ["slow", "fail 5", "no such table", "user"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(target.asked.begins.load(Ordering::Relaxed) <= 6);
}

#[test]
fn a_user_that_panics_stops_the_run() {
    let scripts = [Script::new(0, "panic 0")];
    let (_, result) = run(&scripts, 1, &options(1));
    assert!(matches!(result, Err(RunError::Panicked { user: 0 })));
}

#[test]
fn a_kind_that_the_workload_does_not_have_is_told() {
    let (_, result) = run(&[Script::new(2, "sleep 0")], 1, &options(1));
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RunError::Kind {
                kind: 2,
                count: 2,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn more_than_500_users_are_refused_before_anything_is_asked() {
    let (target, result) = run(&[Script::new(0, "sleep 0")], 1, &options(501));
    let error = result.unwrap_err();
    assert!(
        matches!(error, RunError::Options(RunOptionsError::Users(501))),
        "{error}"
    );
    assert_eq!(target.asked.sessions.load(Ordering::Relaxed), 0);
}

#[test]
fn five_hundred_users_each_have_a_session() {
    let (target, result) = run(&[Script::new(0, "sleep 0")], 2, &options(500));
    assert_eq!(result.unwrap().total.finished, 1_000);
    assert_eq!(target.asked.sessions.load(Ordering::Relaxed), 500);
}

/// 100 starts a second, one user, and the first transaction takes 200 ms: those that were meant to begin within these waited.
#[test]
fn a_stall_is_in_the_latency_of_all_that_were_meant_to_begin_during_it() {
    let scripts = [Script::new(0, "stall 200"), Script::new(1, "sleep 0")];
    let mut options = options(1);
    options.rate = Some(100.0);
    options.arrivals = Arrivals::Even;
    let (_, rated) = run(&scripts, 15, &options);
    let rated = rated.unwrap();
    options.rate = None;
    let (_, closed) = run(&scripts, 15, &options);
    let closed = closed.unwrap();
    assert_eq!((rated.total.finished, closed.total.finished), (30, 30));
    // Start n is meant at 10 n ms, and waits for at least 200 - 10 n ms. So 16 of 30, which is the upper half, wait for at least 50 ms. In
    // the closed loop only the first one is slow.
    assert!(rated.total.latency_us_p50 >= 50_000, "{:?}", rated.total);
    assert!(closed.total.latency_us_p50 < 50_000, "{:?}", closed.total);
    assert!(closed.total.latency_us_max >= 200_000, "{:?}", closed.total);
}

#[test]
fn starts_that_no_user_was_free_for_are_told() {
    let mut options = options(1);
    options.rate = Some(1_000.0);
    options.arrivals = Arrivals::Even;
    options.measured = Duration::from_millis(300);
    let (_, result) = run(&[Script::new(0, "sleep 50")], 1_000, &options);
    let result = result.unwrap();
    // A user cannot begin more than 7 in this time, of 300 that were meant to begin.
    assert!(
        (1..=7).contains(&result.total.finished),
        "{:?}",
        result.total
    );
    assert_eq!(result.total.finished + result.unstarted, 300);
    assert!(result.total.late <= 1);
}

#[test]
fn a_rate_is_kept_and_not_exceeded() {
    let mut options = options(8);
    options.rate = Some(200.0);
    options.measured = Duration::from_secs(2);
    let (_, result) = run(&[Script::new(0, "sleep 1")], 1_000_000, &options);
    let result = result.unwrap();
    // 400 with a standard deviation of 20; the schedule has them even if the machine is slow.
    let meant = result.total.finished + result.unstarted;
    assert!((280..520).contains(&meant), "{meant}");
}

#[test]
fn a_cancellation_ends_the_run_with_what_was_measured() {
    let target = FakeTarget::default();
    let scripts = [Script::new(0, "sleep 1")];
    let workload = ScriptedWorkload::new(&scripts, 1_000_000);
    let cancel = AtomicBool::new(false);
    let driver = WorkloadDriver {
        workload: &workload,
        target: &target,
        scale: 1.0,
        seed: 7,
        other_processes: Vec::new(),
        cancel: &cancel,
    };
    let mut options = options(4);
    // Users that wait are woken, too.
    options.think_time = (Duration::from_secs(20), Duration::from_secs(30));
    let mut told = 0;
    let result = driver.run(&options, &mut |progress| {
        told += 1;
        assert!(!progress.is_warm_up && progress.planned == Duration::from_secs(60));
        assert!(progress.finished >= 1);
        cancel.store(true, Ordering::Relaxed);
    });
    let result = result.unwrap();
    assert!(result.is_cancelled && result.total.finished == 4);
    // The first progress is told after a second; the run would take 60, a pause 20.
    assert!(told <= 2, "{told}");
    assert!(
        result.elapsed < Duration::from_secs(10),
        "{:?}",
        result.elapsed
    );
}

#[test]
fn a_run_that_ends_in_its_warm_up_measures_nothing_and_says_so() {
    let mut options = options(2);
    options.warm_up = Duration::from_secs(60);
    let (_, result) = run(&[Script::new(0, "sleep 0")], 1, &options);
    assert!(matches!(result, Err(RunError::EndedInWarmUp)));
}

#[test]
fn transactions_of_the_warm_up_are_not_counted() {
    let mut options = options(1);
    options.warm_up = Duration::from_millis(300);
    options.measured = Duration::from_millis(300);
    let (target, result) = run(&[Script::new(0, "sleep 5")], 1_000_000, &options);
    let finished = result.unwrap().total.finished;
    // Each takes at least 5 ms, and at least some end in either half.
    assert!((1..=61).contains(&finished), "{finished}");
    assert!(target.asked.commits.load(Ordering::Relaxed) > finished);
}

#[test]
fn a_database_with_processes_is_measured_apart() {
    let mut server = std::process::Command::new("sleep")
        .arg("30")
        .spawn()
        .unwrap();
    let target = FakeTarget {
        processes: vec![server.id()],
        ..FakeTarget::default()
    };
    let workload = ScriptedWorkload::new(&[Script::new(0, "sleep 1")], 5);
    let driver = WorkloadDriver {
        workload: &workload,
        target: &target,
        scale: 1.0,
        seed: 7,
        other_processes: vec![server.id()],
        cancel: &AtomicBool::new(false),
    };
    let result = driver.run(&options(1), &mut |_| {});
    server.kill().unwrap();
    server.wait().unwrap();
    let measured = result.unwrap().measurement;
    let used = measured.server.map(|used| used.user_s + used.system_s);
    assert!(used.is_some_and(|used| used < 1.0), "{used:?}");
    // A process of both groups counts once.
    let others = measured.others.map(|used| used.user_s + used.system_s);
    assert_eq!(others, Some(0.0));
}
