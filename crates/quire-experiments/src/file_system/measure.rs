//! Each scenario on each data set.

use std::fs;
use std::path::Path;

use quire::DatabaseOptions;
use quire_device::DeviceSpecification;
use quire_workload::data::DataFolder;

use super::FileSystemSetup;
use super::codecs::{BASE, COMPARED, ComparedCodec};
use super::comparison::{DataSetRun, ScenarioRuns};
use super::scenarios::TransactionScenario;
use crate::column_tables::ExperimentProgress;
use crate::embedded_target::EmbeddedTarget;
use crate::tpcd::BenchmarkFailure;
use crate::transactions::TransactionRun;

/// Quire's own compression is off: the data set below compresses.
const TABLE_OPTIONS: &str = "USING row WITH (page_codec = none, compression = none)";

/// ZFS's default, which the paper does not change.
const RECORD_BYTES: &str = "128k";

impl FileSystemSetup {
    fn transactions(&self) -> TransactionRun {
        TransactionRun {
            scale: self.scale,
            seed: self.seed,
            users: self.users,
            measured: self.measured,
        }
    }
}

/// Runs a scenario on all data sets. Rows are generated once and loaded into each, as the paper restores one backup into each (§2.2).
///
/// # Errors
/// When a database cannot be written, or a transaction fails.
pub(crate) fn scenario(
    setup: &FileSystemSetup,
    scenario: TransactionScenario,
    progress: &mut ExperimentProgress<'_>,
) -> Result<ScenarioRuns, BenchmarkFailure> {
    let name = scenario.name().replace(' ', "-").to_lowercase();
    let folder = setup.folder.join(name);
    let rows = progress.timed(&format!("{}: rows", scenario.name()), || {
        let workload = scenario.workload(setup.scale, setup.seed);
        setup.transactions().rows(&*workload, &folder.join("rows"))
    })?;
    let mut run = |codec: ComparedCodec| {
        let directory = folder.join(codec.typed);
        let what = format!("{} on {}", scenario.name(), codec.name);
        let run = progress.timed(&what, || {
            data_set(setup, scenario, codec, &rows, &directory)
        })?;
        progress.say(&format!(
            "  {:.1} transactions a second, ratio {:.2}, slowest response {:.1} ms",
            run.tps, run.ratio, run.response_ms_max
        ));
        Ok::<_, BenchmarkFailure>(run)
    };
    let base = run(BASE)?;
    let compared = COMPARED.map(|codec| run(codec).map(|done| (codec, done)));
    let compared = compared.into_iter().collect::<Result<_, _>>()?;
    if !setup.keeps_files {
        fs::remove_dir_all(&folder)?;
    }
    Ok(ScenarioRuns {
        scenario,
        base,
        compared,
    })
}

/// One data set: rows are loaded, the ratio is read, and users work.
fn data_set(
    setup: &FileSystemSetup,
    scenario: TransactionScenario,
    codec: ComparedCodec,
    rows: &DataFolder,
    directory: &Path,
) -> Result<DataSetRun, BenchmarkFailure> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    // Keys of new rows begin behind those that are generated, so each run has a workload of its own.
    let workload = scenario.workload(setup.scale, setup.seed);
    let transactions = setup.transactions();
    // At the speed of the disk below: loading is not measured.
    let target = opened(setup, codec, None, directory)?;
    transactions.load(&*workload, rows, &target)?;
    drop(target);
    let profile = setup.profile.map(|(name, _)| name);
    let target = opened(setup, codec, profile, directory)?;
    let ratio = target.compression_ratio().unwrap_or(1.0);
    let result = transactions.run(&*workload, &target)?;
    drop(target);
    if !setup.keeps_files {
        fs::remove_dir_all(directory)?;
    }
    let processor = result.measurement.driver;
    Ok(DataSetRun {
        tps: result.total.tps,
        ratio,
        response_ms_max: result.total.latency_us_max as f64 / 1e3,
        system_percent: result.measurement.percent(processor.system_s),
        user_percent: result.measurement.percent(processor.user_s),
    })
}

fn opened(
    setup: &FileSystemSetup,
    codec: ComparedCodec,
    profile: Option<&str>,
    directory: &Path,
) -> Result<EmbeddedTarget, BenchmarkFailure> {
    let profile = profile.map_or_else(String::new, |name| format!("@{name}"));
    let device = format!("zfs:{}:{RECORD_BYTES}{profile}", codec.typed);
    let device: DeviceSpecification = device.parse()?;
    let options = DatabaseOptions {
        cache_bytes: setup.cache_bytes,
        ..DatabaseOptions::default()
    };
    let target = EmbeddedTarget::on_device(directory, &device, options, TABLE_OPTIONS)?;
    Ok(target)
}
