//! A result as JSON.

use crate::driver::{KindResult, RunOptions, WorkloadResult};
use crate::measure::{GroupUse, RunMeasurement};
use serde_json::{Value, json};
use std::time::Duration;

/// The version of the schema, which the README of this crate describes. It is raised when a member changes its meaning or is gone; a new member does
/// not raise it.
pub const RESULT_FORMAT_VERSION: u64 = 1;

/// The result as JSON, with line breaks.
pub fn to_json(result: &WorkloadResult) -> String {
    let document = json!({
        "format_version": RESULT_FORMAT_VERSION,
        "workload": result.workload,
        "target": result.target,
        "scale": result.scale,
        "seed": result.seed,
        "options": options(&result.options),
        "is_cancelled": result.is_cancelled,
        "began_unix_s": result.began_unix_s,
        "elapsed_us": microseconds(result.elapsed),
        "kinds": result.kinds.iter().map(kind).collect::<Vec<Value>>(),
        "total": kind(&result.total),
        "unstarted": result.unstarted,
        "measurement": measurement(&result.measurement),
        "size_bytes_before": result.size_bytes_before,
        "size_bytes_after": result.size_bytes_after,
        "finished_per_second": result.finished_per_second,
    });
    format!("{document:#}\n")
}

fn options(options: &RunOptions) -> Value {
    json!({
        "users": options.users,
        "warm_up_us": microseconds(options.warm_up),
        "measured_us": microseconds(options.measured),
        "think_us_min": microseconds(options.think_time.0),
        "think_us_max": microseconds(options.think_time.1),
        "rate": options.rate,
        "arrivals": options.arrivals.name(),
        "seed": options.seed,
        "retries_max": options.retries_max,
    })
}

fn kind(kind: &KindResult) -> Value {
    json!({
        "name": kind.name,
        "finished": kind.finished,
        "rolled_back": kind.rolled_back,
        "late": kind.late,
        "tps": kind.tps,
        "latency_us_mean": kind.latency_us_mean,
        "latency_us_p50": kind.latency_us_p50,
        "latency_us_p95": kind.latency_us_p95,
        "latency_us_p99": kind.latency_us_p99,
        "latency_us_p999": kind.latency_us_p999,
        "latency_us_max": kind.latency_us_max,
        "retries": kind.retries,
        "errors": kind.errors,
    })
}

fn measurement(measured: &RunMeasurement) -> Value {
    let group = |group: &GroupUse| {
        json!({
            "user_s": group.user_s,
            "system_s": group.system_s,
            "read_bytes": group.read_bytes,
            "written_bytes": group.written_bytes,
        })
    };
    json!({
        "elapsed_us": microseconds(measured.elapsed),
        "processors": measured.processors,
        "server": measured.server.as_ref().map(group),
        "others": measured.others.as_ref().map(group),
        "driver": group(&measured.driver),
        "machine_busy": measured.machine_busy,
    })
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
