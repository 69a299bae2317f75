//! How a workload is run.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Users of a run.
pub const USERS: RangeInclusive<u32> = 1..=500;
/// A rate that no driver keeps; it bounds how many intended starts a run has.
const RATE_MAX: f64 = 1e6;
/// Longer times are a slip of the pen, and would overflow a clock.
const DURATION_MAX: Duration = Duration::from_secs(7 * 86_400);

/// How a workload is run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Simulated users, each with a thread and a session: 1 to 500.
    pub users: u32,
    /// Runs before anything is measured.
    pub warm_up: Duration,
    /// What is measured, behind the warm-up.
    pub measured: Duration,
    /// How long a user waits between two transactions, at least and at most; equally likely in between. Only in the closed loop.
    pub think_time: (Duration, Duration),
    /// Transactions per second of all users together. None is the closed loop: each user begins a transaction when the one before it has
    /// ended.
    pub rate: Option<f64>,
    /// How the intended starts of a rate are spread.
    pub arrivals: Arrivals,
    /// Of intended starts, think times and pauses before retries; transactions have the workload's seed.
    pub seed: u64,
    /// How often a transaction is run again at most.
    pub retries_max: u32,
}

/// How intended starts are spread over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// As independent users send them: times between two starts are exponentially distributed.
    #[default]
    Poisson,
    /// At equal distances.
    Even,
}

impl Arrivals {
    /// As written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Even => "even",
        }
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            users: 1,
            warm_up: Duration::from_secs(5),
            measured: Duration::from_secs(30),
            think_time: (Duration::ZERO, Duration::ZERO),
            rate: None,
            arrivals: Arrivals::Poisson,
            seed: 1,
            retries_max: 100,
        }
    }
}

/// Why options cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunOptionsError {
    #[error("{0} users: a run has 1 to {most}; name another number", most = USERS.end())]
    Users(u32),
    #[error("a rate of {0} transactions per second: it has to be above 0, and at most 1,000,000")]
    Rate(f64),
    #[error("the measured time is 0; name how long to measure")]
    NothingMeasured,
    #[error("warm-up, measured time and think time are at most 7 days")]
    TooLong,
    #[error("the shortest think time is longer than the longest; exchange them")]
    ThinkTime,
    #[error(
        "think times and a rate exclude each other: the rate says when transactions begin; leave one of them out"
    )]
    ThinkTimeWithRate,
}

impl RunOptions {
    /// # Errors
    /// When they cannot be run.
    pub fn check(&self) -> Result<(), RunOptionsError> {
        let (think_min, think_max) = self.think_time;
        let durations = [self.warm_up, self.measured, think_max];
        if !USERS.contains(&self.users) {
            Err(RunOptionsError::Users(self.users))
        } else if self.measured.is_zero() {
            Err(RunOptionsError::NothingMeasured)
        } else if durations.iter().any(|one| *one > DURATION_MAX) {
            Err(RunOptionsError::TooLong)
        } else if think_min > think_max {
            Err(RunOptionsError::ThinkTime)
        } else if self.rate.is_some() && !think_max.is_zero() {
            Err(RunOptionsError::ThinkTimeWithRate)
        } else {
            // Not a number is no rate either.
            let wrong = self.rate.filter(|rate| !(*rate > 0.0 && *rate <= RATE_MAX));
            wrong.map_or(Ok(()), |rate| Err(RunOptionsError::Rate(rate)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut RunOptions)) -> Result<(), RunOptionsError> {
        let mut options = RunOptions::default();
        change(&mut options);
        options.check()
    }

    #[test]
    fn users_are_1_to_500() {
        for users in [1, 500] {
            assert_eq!(refused(|options| options.users = users), Ok(()));
        }
        for users in [0, 501, u32::MAX] {
            let error = refused(|options| options.users = users);
            assert_eq!(error, Err(RunOptionsError::Users(users)));
        }
        assert!(RunOptionsError::Users(501).to_string().contains("1 to 500"));
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let second = Duration::from_secs(1);
        let error = refused(|options| options.think_time = (second, Duration::ZERO));
        assert_eq!(error, Err(RunOptionsError::ThinkTime));
        let error = refused(|options| {
            options.think_time = (second, second);
            options.rate = Some(5.0);
        });
        assert_eq!(error, Err(RunOptionsError::ThinkTimeWithRate));
        for rate in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let error = refused(|options| options.rate = Some(rate));
            assert!(matches!(error, Err(RunOptionsError::Rate(_))), "{rate}");
        }
        let error = refused(|options| options.measured = Duration::ZERO);
        assert_eq!(error, Err(RunOptionsError::NothingMeasured));
        let error = refused(|options| options.warm_up = Duration::MAX);
        assert_eq!(error, Err(RunOptionsError::TooLong));
    }
}
