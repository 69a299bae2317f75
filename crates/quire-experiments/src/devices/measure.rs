//! The queries in memory and on devices.

use quire_store::disk::DeviceProfile;

use crate::column_tables::{
    AnswerComparison, CodecPair, ColumnLayout, EquationTerms, ExperimentProgress, LoadedColumns,
    RunConditions, TimeInMemory, TimeOnDevice, run_cold, run_in_memory, tpch_query,
};
use crate::devices::DevicesSetup;
use crate::tpcd::BenchmarkFailure;

/// The queries: names and numbers of TPC-H.
const QUERIES: [(&str, u32); 3] = [("Q1", 1), ("Q6", 6), ("Q18", 18)];

/// The tables that they read.
const TABLES: [&str; 3] = ["customer", "orders", "lineitem"];

/// Bandwidths in MB/s; 350 is the paper's RAID.
const BANDWIDTHS: [u64; 7] = [50, 100, 200, 350, 700, 1_500, 3_000];
const BANDWIDTHS_QUICK: [u64; 2] = [100, 1_500];

/// A device that is tested.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestedDevice {
    pub(crate) name: String,
    pub(crate) profile: DeviceProfile,
    /// In MB/s, if nothing else tells it from others.
    pub(crate) bandwidth: Option<u64>,
}

/// What was measured of a query.
#[derive(Clone, Debug)]
pub(crate) struct DeviceQuery {
    pub(crate) name: &'static str,
    pub(crate) in_memory: CodecPair<TimeInMemory>,
    /// From a cold start on a disk in memory, or a file, as it is.
    pub(crate) undelayed_seconds: CodecPair<f64>,
    pub(crate) on_devices: Vec<(TestedDevice, CodecPair<TimeOnDevice>)>,
}

impl DeviceQuery {
    /// The terms of equation 6.1; the bytes are those read from the first device.
    pub(crate) fn terms(&self) -> EquationTerms {
        let first = self.on_devices.first();
        let bytes = first.map(|(_, times)| CodecPair {
            compressed: times.compressed.disk_bytes,
            plain: times.plain.disk_bytes,
        });
        EquationTerms::new(&self.in_memory, &bytes.unwrap_or_default())
    }
}

/// The devices: a solid-state disk of many bandwidths, and two others as they are.
pub(crate) fn devices(is_quick: bool) -> Vec<TestedDevice> {
    let bandwidths: &[u64] = match is_quick {
        true => &BANDWIDTHS_QUICK,
        false => &BANDWIDTHS,
    };
    let of_bandwidth = bandwidths.iter().map(|&bandwidth| TestedDevice {
        name: format!("{bandwidth} MB/s"),
        profile: DeviceProfile::NVME_SSD.with_bandwidth(bandwidth * 1_000_000),
        bandwidth: Some(bandwidth),
    });
    let others = [DeviceProfile::SATA_SSD, DeviceProfile::DISK_7200_RPM];
    let others = others.into_iter().map(|profile| TestedDevice {
        name: profile.name.to_owned(),
        profile,
        bandwidth: None,
    });
    of_bandwidth.chain(others).collect()
}

/// Loads, and measures all queries on all devices.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers differ.
pub(crate) fn run(
    setup: &DevicesSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<Vec<DeviceQuery>, BenchmarkFailure> {
    let tables = &setup.tables;
    let files = tables.generate(progress)?;
    let loaded = tables.load("devices", (&files, &TABLES), ColumnLayout::Dsm, progress)?;
    let mut queries = Vec::new();
    for (name, number) in QUERIES {
        let sql = tpch_query(number, tables.scale).unwrap_or_default();
        queries.push(measure(setup, (name, &sql), &loaded, progress)?);
    }
    Ok(queries)
}

fn measure(
    setup: &DevicesSetup,
    (name, sql): (&'static str, &str),
    loaded: &CodecPair<LoadedColumns>,
    progress: &mut ExperimentProgress<'_>,
) -> Result<DeviceQuery, BenchmarkFailure> {
    let mut answers = AnswerComparison::new(name);
    let rounds = setup.tables.rounds;
    let in_memory = CodecPair::try_of(|codecs| {
        let what = format!("{name} in memory, {}", codecs.name());
        let run = progress.timed(&what, || {
            run_in_memory(loaded.get(codecs), RunConditions::default(), sql, rounds)
        })?;
        answers.check(&run.answer)?;
        let time = TimeInMemory::of(&run);
        progress.say(&format!("  a run: {:.3} s", time.seconds));
        Ok::<_, BenchmarkFailure>(time)
    })?;
    let undelayed_seconds = CodecPair::try_of(|codecs| {
        let what = format!(
            "{name} from a cold start without a device, {}",
            codecs.name()
        );
        let run = progress.timed(&what, || {
            run_cold(loaded.get(codecs), RunConditions::default(), sql, rounds)
        })?;
        answers.check(&run.answer)?;
        progress.say(&format!("  a run: {:.3} s", run.seconds));
        Ok::<_, BenchmarkFailure>(run.seconds)
    })?;
    let mut on_devices = Vec::new();
    for device in devices(setup.is_quick) {
        let times = CodecPair::try_of(|codecs| {
            let what = format!("{name} on {}, {}", device.name, codecs.name());
            let conditions = RunConditions {
                device: Some(device.profile),
                ..RunConditions::default()
            };
            let run = progress.timed(&what, || {
                run_cold(loaded.get(codecs), conditions, sql, rounds)
            })?;
            answers.check(&run.answer)?;
            let time = TimeOnDevice::of(&run, &device.profile);
            progress.say(&format!(
                "  a run: {:.3} s, the device {:.3} s",
                time.seconds, time.device_seconds
            ));
            Ok::<_, BenchmarkFailure>(time)
        })?;
        on_devices.push((device, times));
    }
    Ok(DeviceQuery {
        name,
        in_memory,
        undelayed_seconds,
        on_devices,
    })
}
