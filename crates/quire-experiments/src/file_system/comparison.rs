//! What is measured of a data set, and how it compares with the one without compression.

use super::codecs::ComparedCodec;
use super::scenarios::TransactionScenario;

/// What a run on one data set gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DataSetRun {
    pub(crate) tps: f64,
    /// Bytes that the database has written and not discarded by those that are stored of them, before the run.
    pub(crate) ratio: f64,
    pub(crate) response_ms_max: f64,
    /// Of all cores.
    pub(crate) system_percent: f64,
    pub(crate) user_percent: f64,
}

/// The runs of one scenario.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioRuns {
    pub(crate) scenario: TransactionScenario,
    pub(crate) base: DataSetRun,
    pub(crate) compared: Vec<(ComparedCodec, DataSetRun)>,
}

/// A run beside the one without compression, in per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunComparison {
    /// More transactions a second (tables 5, 9, 13).
    pub(crate) improvement_percent: f64,
    /// Less space: 1 - 1 / ratio (tables 6, 10, 14).
    pub(crate) saving_percent: f64,
    /// How much faster the slowest response is: base / this - 1 (tables 7, 11, 15).
    pub(crate) response_percent: f64,
    /// More processor time, system and user together (tables 8, 12, 16).
    pub(crate) overhead_percent: f64,
}

impl RunComparison {
    /// Compares. A value of the base that is 0 gives 0, since nothing can be said.
    pub(crate) fn of(base: &DataSetRun, run: &DataSetRun) -> Self {
        let more = |this: f64, than: f64| {
            if than > 0.0 {
                (this / than - 1.0) * 100.0
            } else {
                0.0
            }
        };
        let busy = |run: &DataSetRun| run.system_percent + run.user_percent;
        Self {
            improvement_percent: more(run.tps, base.tps),
            saving_percent: (1.0 - 1.0 / run.ratio) * 100.0,
            response_percent: more(base.response_ms_max, run.response_ms_max),
            overhead_percent: more(busy(run), busy(base)),
        }
    }
}

impl ScenarioRuns {
    pub(crate) fn comparisons(&self) -> Vec<RunComparison> {
        let runs = self.compared.iter();
        runs.map(|(_, run)| RunComparison::of(&self.base, run))
            .collect()
    }
}
