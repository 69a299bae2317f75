//! The eleven queries, in memory and from a cold start on each machine.

use std::fs;

use quire_store::disk::DeviceProfile;

use crate::column_tables::{
    CodecPair, ColumnCodecs, EquationTerms, ExperimentProgress, LoadedColumns, TimeInMemory,
    TimeOnDevice, run_cold, run_in_memory, tpch_query,
};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::{Files, TABLES};
use crate::tpcd::warehouse::CsvAnswer;
use crate::tpch::TpchSetup;
use crate::tpch::paper;

/// A machine of the table: its disk, and our processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TpchMachine {
    Pentium4,
    Opteron,
    /// A disk of today.
    Own,
}

impl TpchMachine {
    pub(crate) const ALL: [Self; 3] = [Self::Pentium4, Self::Opteron, Self::Own];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pentium4 => "Pentium4's RAID",
            Self::Opteron => "Opteron's RAID",
            Self::Own => "own",
        }
    }

    pub(crate) fn profile(self) -> DeviceProfile {
        match self {
            Self::Pentium4 => DeviceProfile::RAID_12,
            Self::Opteron => DeviceProfile::RAID_4,
            Self::Own => DeviceProfile::NVME_SSD,
        }
    }
}

/// A column of the table: how the tables are laid out, and where they are decompressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TpchVariant {
    DsmPlain,
    DsmToCache,
    DsmToMemory,
    PaxPlain,
    PaxToCache,
}

impl TpchVariant {
    pub(crate) const ALL: [Self; 5] = [
        Self::DsmPlain,
        Self::DsmToCache,
        Self::DsmToMemory,
        Self::PaxPlain,
        Self::PaxToCache,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::DsmPlain => "DSM unc.",
            Self::DsmToCache => "DSM M⇒C",
            Self::DsmToMemory => "DSM M⇒M",
            Self::PaxPlain => "PAX unc.",
            Self::PaxToCache => "PAX M⇒C",
        }
    }

    /// The database that it reads; none for what is not run yet.
    pub(crate) fn codecs(self) -> Option<ColumnCodecs> {
        match self {
            Self::DsmPlain => Some(ColumnCodecs::Plain),
            Self::DsmToCache => Some(ColumnCodecs::Auto),
            Self::DsmToMemory | Self::PaxPlain | Self::PaxToCache => None,
        }
    }
}

/// What was measured of a query.
#[derive(Clone, Debug)]
pub(crate) struct TpchTimes {
    pub(crate) number: u32,
    pub(crate) in_memory: CodecPair<TimeInMemory>,
    pub(crate) cold: Vec<(TpchMachine, TpchVariant, TimeOnDevice)>,
}

impl TpchTimes {
    /// From a cold start.
    pub(crate) fn on(&self, machine: TpchMachine, variant: TpchVariant) -> Option<&TimeOnDevice> {
        let mut cold = self.cold.iter();
        let found = cold.find(|(on, of, _)| (*on, *of) == (machine, variant));
        found.map(|(.., time)| time)
    }

    /// How many times faster `faster` is than `slower`.
    pub(crate) fn speed_up(
        &self,
        machine: TpchMachine,
        [slower, faster]: [TpchVariant; 2],
    ) -> Option<f64> {
        let (slower, faster) = (self.on(machine, slower)?, self.on(machine, faster)?);
        Some(slower.seconds / faster.seconds.max(1e-9))
    }

    /// Uncompressed bytes read for each compressed one.
    pub(crate) fn ratio(&self, [plain, compressed]: [TpchVariant; 2]) -> Option<f64> {
        let bytes = |variant| Some(self.on(TpchMachine::Pentium4, variant)?.disk_bytes);
        Some(bytes(plain)? / bytes(compressed)?.max(1.0))
    }

    /// The terms of equation 6.1.
    pub(crate) fn terms(&self) -> Option<EquationTerms> {
        let bytes = |variant| Some(self.on(TpchMachine::Pentium4, variant)?.disk_bytes);
        let bytes = CodecPair {
            compressed: bytes(TpchVariant::DsmToCache)?,
            plain: bytes(TpchVariant::DsmPlain)?,
        };
        Some(EquationTerms::new(&self.in_memory, &bytes))
    }
}

/// Loads, and measures all queries.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers differ.
pub(crate) fn run(
    setup: &TpchSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<Vec<TpchTimes>, BenchmarkFailure> {
    fs::create_dir_all(&setup.folder)?;
    let files = progress.timed("generating rows", || {
        Files::generate(&setup.folder.join("csv"), setup.scale)
    })?;
    let loaded = CodecPair::try_of(|codecs| {
        let path = setup.folder.join(format!("tpch-{}.quire", codecs.name()));
        let path = setup.has_files.then_some(path.as_path());
        LoadedColumns::load_telling(path, (&files, &TABLES), codecs, progress)
    })?;
    let mut queries = Vec::new();
    for row in paper::ROWS {
        queries.push(measure(setup, row.number, &loaded, progress)?);
    }
    Ok(queries)
}

fn measure(
    setup: &TpchSetup,
    number: u32,
    loaded: &CodecPair<LoadedColumns>,
    progress: &mut ExperimentProgress<'_>,
) -> Result<TpchTimes, BenchmarkFailure> {
    let sql = tpch_query(number, setup.scale).unwrap_or_default();
    let mut answers = Vec::new();
    let in_memory = CodecPair::try_of(|codecs| {
        let what = format!("Q{number} in memory, {}", codecs.name());
        let run = progress.timed(&what, || {
            run_in_memory(loaded.get(codecs), &sql, setup.rounds)
        })?;
        answers.push(run.answer.clone());
        Ok::<_, BenchmarkFailure>(TimeInMemory::of(&run))
    })?;
    let mut cold = Vec::new();
    for machine in TpchMachine::ALL {
        for variant in TpchVariant::ALL {
            let Some(codecs) = variant.codecs() else {
                continue;
            };
            let what = format!("Q{number} on {}, {}", machine.name(), variant.name());
            let profile = machine.profile();
            let run = progress.timed(&what, || {
                run_cold(loaded.get(codecs), Some(profile), &sql, setup.rounds)
            })?;
            let time = TimeOnDevice::of(&run, &profile);
            progress.say(&format!("  a run: {:.3} s", time.seconds));
            answers.push(run.answer);
            cold.push((machine, variant, time));
        }
    }
    same(number, &answers)?;
    Ok(TpchTimes {
        number,
        in_memory,
        cold,
    })
}

fn same(number: u32, answers: &[CsvAnswer]) -> Result<(), BenchmarkFailure> {
    let Some((first, others)) = answers.split_first() else {
        return Ok(());
    };
    match others.iter().all(|other| first.has_rows_of(other)) {
        true => Ok(()),
        false => Err(BenchmarkFailure::Answers {
            query: query_name(number),
        }),
    }
}

/// `Q6`.
pub(crate) fn query_name(number: u32) -> &'static str {
    match number {
        1 => "Q1",
        3 => "Q3",
        4 => "Q4",
        5 => "Q5",
        6 => "Q6",
        7 => "Q7",
        11 => "Q11",
        14 => "Q14",
        15 => "Q15",
        18 => "Q18",
        _ => "Q21",
    }
}
