//! What a run found.

use super::options::RunOptions;
use super::recorder::KindRecorder;
use crate::measure::RunMeasurement;
use std::time::Duration;

/// What a run of a workload on a target found.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadResult {
    pub workload: String,
    pub target: String,
    /// As the workload counts it, such as warehouses.
    pub scale: f64,
    /// Of the rows and the transactions.
    pub seed: u64,
    pub options: RunOptions,
    /// Whether it was cancelled: then the measured time is shorter than the options say.
    pub is_cancelled: bool,
    /// Seconds since 1970-01-01, when the run began.
    pub began_unix_s: u64,
    /// In the order of the workload.
    pub kinds: Vec<KindResult>,
    /// All kinds together.
    pub total: KindResult,
    /// With a rate: intended starts within the run that no user was free for. They have no latency; if there are many, the target does not keep
    /// the rate.
    pub unstarted: u64,
    /// From the end of the warm-up to the deadline, or to the end of the last user before it.
    pub elapsed: Duration,
    /// What the same time cost, but for the moments that both samples take.
    pub measurement: RunMeasurement,
    /// The target's files before the warm-up.
    pub size_bytes_before: u64,
    /// The target's files when the last user has ended; it was not brought to rest.
    pub size_bytes_after: u64,
    /// Finished transactions of each second of the measured time; the last one may be shorter.
    pub finished_per_second: Vec<u64>,
}

impl WorkloadResult {
    /// What the latencies are.
    pub fn latency_meaning(&self) -> &'static str {
        if self.options.rate.is_some() {
            "from the intended start to the end"
        } else {
            "from the start to the end (service time)"
        }
    }

    /// Seconds that were measured whole.
    pub fn whole_seconds(&self) -> &[u64] {
        let whole = self.elapsed.as_secs();
        let whole = usize::try_from(whole).unwrap_or(usize::MAX);
        &self.finished_per_second[..whole.min(self.finished_per_second.len())]
    }
}

/// Counts and latencies of a kind of transactions. Latencies are microseconds; they include retries and the pauses before these, and are within a
/// thousandth, mean and maximum exact.
#[derive(Clone, Debug, PartialEq)]
pub struct KindResult {
    pub name: String,
    /// Transactions that ended behind the warm-up, committed or rolled back as the workload wants it.
    pub finished: u64,
    /// Of the finished, those that the workload rolled back.
    pub rolled_back: u64,
    /// Of the finished, those that ended behind the measured time: they have a latency, and are not part of `tps`.
    pub late: u64,
    /// Transactions finished per second of the measured time.
    pub tps: f64,
    pub latency_us_mean: f64,
    pub latency_us_p50: u64,
    pub latency_us_p95: u64,
    pub latency_us_p99: u64,
    pub latency_us_p999: u64,
    pub latency_us_max: u64,
    /// How often transactions were run again.
    pub retries: u64,
    /// Transactions that were given up after the last retry. They have no latency.
    pub errors: u64,
}

impl KindResult {
    pub(super) fn of(name: &str, recorder: &KindRecorder, elapsed_s: f64) -> Self {
        let in_time = recorder.finished - recorder.late;
        Self {
            name: name.to_owned(),
            finished: recorder.finished,
            rolled_back: recorder.rolled_back,
            late: recorder.late,
            tps: if elapsed_s > 0.0 {
                in_time as f64 / elapsed_s
            } else {
                0.0
            },
            latency_us_mean: recorder.latency_us_mean(),
            latency_us_p50: recorder.latency_us(0.5),
            latency_us_p95: recorder.latency_us(0.95),
            latency_us_p99: recorder.latency_us(0.99),
            latency_us_p999: recorder.latency_us(0.999),
            latency_us_max: recorder.latency_us_max,
            retries: recorder.retries,
            errors: recorder.given_up,
        }
    }
}
