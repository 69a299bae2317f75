//! The eleven queries, in memory and from a cold start on each machine.

use crate::column_tables::{
    AnswerComparison, CodecPair, ColumnCodecs, ColumnLayout, DecompressionTarget,
    ExperimentProgress, LoadedColumns, RunConditions, TimeInMemory, TimeOnDevice, run_cold,
    run_in_memory, sped_up, tpch_query,
};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::{Files, TABLES};
use crate::tpch::machine::TpchMachine;
use crate::tpch::times::{TpchColdRun, TpchTimes, TpchVariant, query_name};
use crate::tpch::{TpchSetup, paper};

/// The processor is measured by so many runs.
const CALIBRATION_ROUNDS: usize = 9;

/// All that was measured.
#[derive(Clone, Debug)]
pub(crate) struct TpchResults {
    /// None if only our own processor was asked for.
    pub(crate) calibration: Option<ProcessorCalibration>,
    pub(crate) queries: Vec<TpchTimes>,
}

/// The query by which processors are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessorCalibration {
    /// Of query 1 over compressed DSM tables in memory, on our processor.
    pub(crate) own_seconds: f64,
    /// Of the same on the Pentium4, in proportion to the scale.
    pub(crate) pentium4_seconds: f64,
}

impl ProcessorCalibration {
    /// Whether the query took too little time to compare processors by.
    pub(crate) fn is_too_short(&self) -> bool {
        self.own_seconds < CALIBRATION_SECONDS_MIN
    }

    /// How many seconds of the Pentium4 are one of our processor.
    pub(crate) fn pentium4_slowness(&self) -> f64 {
        if self.is_too_short() {
            return 1.0;
        }
        self.pentium4_seconds / self.own_seconds
    }
}

/// A query that takes less does not tell how fast a processor is: what was subtracted for planning may be more than that.
const CALIBRATION_SECONDS_MIN: f64 = 2e-3;

/// Plans are made before, as the paper's are: its system is given them by hand.
const PLANNED: RunConditions = RunConditions {
    device: None,
    decompression: DecompressionTarget::Cache,
    pool_bytes: None,
    is_planned: true,
};

/// Loads, and measures all queries.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers differ.
pub(crate) fn run(
    setup: &TpchSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<TpchResults, BenchmarkFailure> {
    let files = setup.tables.generate(progress)?;
    let is_modelled = setup.machines.iter().any(|one| *one != TpchMachine::Own);
    let calibration = if is_modelled {
        Some(calibrate(setup, &files, progress)?)
    } else {
        None
    };
    let mut queries = paper::ROWS.map(|row| TpchTimes::new(row.number));
    let mut answers = paper::ROWS.map(|row| AnswerComparison::new(query_name(row.number)));
    for &layout in &setup.layouts {
        let name = format!("tpch-{}", layout.name().to_lowercase());
        let loaded = setup
            .tables
            .load(&name, (&files, &TABLES), layout, progress)?;
        let measurement = LayoutMeasurement {
            setup,
            pentium4_slowness: calibration.map_or(1.0, |one| one.pentium4_slowness()),
            layout,
            loaded,
        };
        for (query, answers) in queries.iter_mut().zip(&mut answers) {
            measurement.in_memory(query, answers, progress)?;
            measurement.cold(query, answers, progress)?;
        }
    }
    Ok(TpchResults {
        calibration,
        queries: queries.to_vec(),
    })
}

fn query_text(setup: &TpchSetup, number: u32) -> String {
    tpch_query(number, setup.tables.scale).unwrap_or_default()
}

/// Measures our processor by query 1.
fn calibrate(
    setup: &TpchSetup,
    files: &Files,
    progress: &mut ExperimentProgress<'_>,
) -> Result<ProcessorCalibration, BenchmarkFailure> {
    let tables = (files, ["lineitem"].as_slice());
    let storage = (ColumnLayout::Dsm, ColumnCodecs::Auto);
    let loaded = LoadedColumns::load_telling(None, tables, storage, progress)?;
    let sql = query_text(setup, 1);
    let run = progress.timed("measuring the processor", || {
        run_in_memory(&loaded, PLANNED, &sql, CALIBRATION_ROUNDS)
    })?;
    Ok(ProcessorCalibration {
        own_seconds: run.seconds,
        pentium4_seconds: paper::PROCESSOR_SECONDS * setup.tables.scale / paper::SCALE,
    })
}

/// Databases of one layout, in which all queries are measured.
struct LayoutMeasurement<'s> {
    setup: &'s TpchSetup,
    pentium4_slowness: f64,
    layout: ColumnLayout,
    loaded: CodecPair<LoadedColumns>,
}

impl LayoutMeasurement<'_> {
    fn in_memory(
        &self,
        query: &mut TpchTimes,
        answers: &mut AnswerComparison,
        progress: &mut ExperimentProgress<'_>,
    ) -> Result<(), BenchmarkFailure> {
        let (name, sql) = (
            query_name(query.number),
            query_text(self.setup, query.number),
        );
        let times = CodecPair::try_of(|codecs| {
            let loaded = self.loaded.get(codecs);
            let layout = self.layout.name();
            let what = format!("{name} in memory, {layout} {}", codecs.name());
            let run = progress.timed(&what, || {
                run_in_memory(loaded, PLANNED, &sql, self.setup.tables.rounds)
            })?;
            answers.check(&run.answer)?;
            Ok::<_, BenchmarkFailure>(TimeInMemory::of(&run))
        })?;
        query.in_memory.push((self.layout, times));
        Ok(())
    }

    /// On each machine. Its processor is slower than ours, so the query runs in quick motion; see [`sped_up`].
    fn cold(
        &self,
        query: &mut TpchTimes,
        answers: &mut AnswerComparison,
        progress: &mut ExperimentProgress<'_>,
    ) -> Result<(), BenchmarkFailure> {
        let (name, sql) = (
            query_name(query.number),
            query_text(self.setup, query.number),
        );
        let variants = TpchVariant::ALL.into_iter();
        for variant in variants.filter(|variant| variant.layout() == self.layout) {
            for &machine in &self.setup.machines {
                let slowness = machine.slowness(self.pentium4_slowness);
                let conditions = RunConditions {
                    device: Some(sped_up(machine.profile(), slowness)),
                    decompression: variant.decompression(),
                    ..PLANNED
                };
                let what = format!("{name} on {}, {}", machine.name(), variant.name());
                let loaded = self.loaded.get(variant.codecs());
                let run = progress.timed(&what, || {
                    run_cold(loaded, conditions, &sql, self.setup.tables.rounds)
                })?;
                answers.check(&run.answer)?;
                let time = TimeOnDevice::of(&run.slowed(slowness), &machine.profile());
                progress.say(&format!("  a run, on that machine: {:.3} s", time.seconds));
                query.cold.push(TpchColdRun {
                    machine,
                    variant,
                    slowness,
                    time,
                });
            }
        }
        Ok(())
    }
}
