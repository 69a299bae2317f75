//! A result from JSON.

use super::json::RESULT_FORMAT_VERSION;
use crate::driver::{Arrivals, KindResult, RunOptions, WorkloadResult};
use crate::measure::{GroupUse, RunMeasurement};
use serde_json::Value;
use std::time::Duration;

/// Why a text is not read as a result.
#[derive(Debug, thiserror::Error)]
pub enum ResultReadError {
    #[error("the text is no JSON: {0}; name a file that a run has written")]
    Json(#[from] serde_json::Error),
    #[error(
        "the result has version {found} of the format, this program reads version {RESULT_FORMAT_VERSION}; run the workload again"
    )]
    Version { found: u64 },
    #[error("`{path}` is not {wanted}; name a file that a run has written")]
    Member { path: String, wanted: &'static str },
}

/// Reads what [`to_json`](super::to_json) wrote. Members that this version does not know are passed over.
///
/// # Errors
/// When the text is no JSON, has another version, or a member is missing or of another kind; the error names it.
pub fn from_json(text: &str) -> Result<WorkloadResult, ResultReadError> {
    let document: Value = serde_json::from_str(text)?;
    let root = MemberPlace {
        value: &document,
        path: String::new(),
    };
    let found = root.member("format_version").whole()?;
    if found != RESULT_FORMAT_VERSION {
        return Err(ResultReadError::Version { found });
    }
    Ok(WorkloadResult {
        workload: root.member("workload").text()?,
        target: root.member("target").text()?,
        scale: root.member("scale").number()?,
        seed: root.member("seed").whole()?,
        options: options(&root.member("options"))?,
        is_cancelled: root.member("is_cancelled").truth()?,
        began_unix_s: root.member("began_unix_s").whole()?,
        elapsed: root.member("elapsed_us").time()?,
        kinds: root.member("kinds").each(kind)?,
        total: kind(&root.member("total"))?,
        unstarted: root.member("unstarted").whole()?,
        measurement: measurement(&root.member("measurement"))?,
        size_bytes_before: root.member("size_bytes_before").whole()?,
        size_bytes_after: root.member("size_bytes_after").whole()?,
        finished_per_second: root
            .member("finished_per_second")
            .each(MemberPlace::whole)?,
    })
}

fn options(place: &MemberPlace<'_>) -> Result<RunOptions, ResultReadError> {
    let arrivals = place.member("arrivals");
    let name = arrivals.text()?;
    let mut known = [Arrivals::Poisson, Arrivals::Even].into_iter();
    let found = known.find(|one| one.name() == name);
    Ok(RunOptions {
        users: place.member("users").small()?,
        warm_up: place.member("warm_up_us").time()?,
        measured: place.member("measured_us").time()?,
        think_time: (
            place.member("think_us_min").time()?,
            place.member("think_us_max").time()?,
        ),
        rate: place.member("rate").unless_null(MemberPlace::number)?,
        arrivals: found.ok_or_else(|| arrivals.is_not("`poisson` or `even`"))?,
        seed: place.member("seed").whole()?,
        retries_max: place.member("retries_max").small()?,
    })
}

fn kind(place: &MemberPlace<'_>) -> Result<KindResult, ResultReadError> {
    let whole = |name: &'static str| place.member(name).whole();
    Ok(KindResult {
        name: place.member("name").text()?,
        finished: whole("finished")?,
        rolled_back: whole("rolled_back")?,
        late: whole("late")?,
        tps: place.member("tps").number()?,
        latency_us_mean: place.member("latency_us_mean").number()?,
        latency_us_p50: whole("latency_us_p50")?,
        latency_us_p95: whole("latency_us_p95")?,
        latency_us_p99: whole("latency_us_p99")?,
        latency_us_p999: whole("latency_us_p999")?,
        latency_us_max: whole("latency_us_max")?,
        retries: whole("retries")?,
        errors: whole("errors")?,
    })
}

fn measurement(place: &MemberPlace<'_>) -> Result<RunMeasurement, ResultReadError> {
    let group = |place: &MemberPlace<'_>| {
        Ok(GroupUse {
            user_s: place.member("user_s").number()?,
            system_s: place.member("system_s").number()?,
            read_bytes: place.member("read_bytes").unless_null(MemberPlace::whole)?,
            written_bytes: place
                .member("written_bytes")
                .unless_null(MemberPlace::whole)?,
        })
    };
    Ok(RunMeasurement {
        elapsed: place.member("elapsed_us").time()?,
        processors: place.member("processors").small()? as usize,
        server: place.member("server").unless_null(group)?,
        others: place.member("others").unless_null(group)?,
        driver: group(&place.member("driver"))?,
        machine_busy: place
            .member("machine_busy")
            .unless_null(MemberPlace::number)?,
    })
}

/// A value, and where in the document it is.
struct MemberPlace<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> MemberPlace<'a> {
    /// A member that is missing is null.
    fn member(&self, name: &'static str) -> MemberPlace<'a> {
        let separator = if self.path.is_empty() { "" } else { "." };
        MemberPlace {
            value: &self.value[name],
            path: format!("{}{separator}{name}", self.path),
        }
    }

    fn is_not(&self, wanted: &'static str) -> ResultReadError {
        ResultReadError::Member {
            path: self.path.clone(),
            wanted,
        }
    }

    fn whole(&self) -> Result<u64, ResultReadError> {
        let number = self.value.as_u64();
        number.ok_or_else(|| self.is_not("a whole number"))
    }

    fn small(&self) -> Result<u32, ResultReadError> {
        u32::try_from(self.whole()?).map_err(|_| self.is_not("a whole number below 2^32"))
    }

    fn number(&self) -> Result<f64, ResultReadError> {
        let number = self.value.as_f64().filter(|number| *number >= 0.0);
        number.ok_or_else(|| self.is_not("a number that is not negative"))
    }

    fn truth(&self) -> Result<bool, ResultReadError> {
        let truth = self.value.as_bool();
        truth.ok_or_else(|| self.is_not("true or false"))
    }

    fn text(&self) -> Result<String, ResultReadError> {
        let text = self.value.as_str();
        text.map(str::to_owned).ok_or_else(|| self.is_not("a text"))
    }

    fn time(&self) -> Result<Duration, ResultReadError> {
        self.whole().map(Duration::from_micros)
    }

    fn unless_null<T>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, ResultReadError>,
    ) -> Result<Option<T>, ResultReadError> {
        if self.value.is_null() {
            Ok(None)
        } else {
            read(self).map(Some)
        }
    }

    fn each<T>(
        &self,
        read: impl Fn(&Self) -> Result<T, ResultReadError>,
    ) -> Result<Vec<T>, ResultReadError> {
        let values = self.value.as_array();
        let values = values.ok_or_else(|| self.is_not("a list"))?;
        let places = values.iter().enumerate().map(|(at, value)| {
            read(&MemberPlace {
                value,
                path: format!("{}[{at}]", self.path),
            })
        });
        places.collect()
    }
}
