//! What equation 6.1 and its paper claim, judged by the measurements.

use quire_lab::{Verdict, VerdictCase};

use crate::column_tables::{CodecPair, ColumnCodecs, EquationTerms, TimeInMemory, TimeOnDevice};
use crate::devices::measure::DeviceQuery;

/// A query on a device.
#[derive(Clone, Debug)]
pub(crate) struct QueryOnDevice {
    /// Query and device.
    pub(crate) name: String,
    pub(crate) in_memory: CodecPair<TimeInMemory>,
    pub(crate) on_device: CodecPair<TimeOnDevice>,
    pub(crate) terms: EquationTerms,
}

impl QueryOnDevice {
    /// All queries on all devices.
    pub(crate) fn all(queries: &[DeviceQuery]) -> Vec<Self> {
        let of_query = |query: &DeviceQuery| {
            let (name, in_memory, terms) = (query.name, query.in_memory, query.terms());
            let devices = query.on_devices.iter();
            let devices = devices.map(move |(device, on_device)| Self {
                name: format!("{name} on {}", device.name),
                in_memory,
                on_device: *on_device,
                terms,
            });
            devices.collect::<Vec<_>>()
        };
        queries.iter().flat_map(of_query).collect()
    }

    /// The longer of the times that processor and device need.
    pub(crate) fn slower_part_seconds(&self, codecs: ColumnCodecs) -> f64 {
        let device = self.on_device.get(codecs).device_seconds;
        device.max(self.in_memory.get(codecs).seconds)
    }

    /// By equation 6.1.
    pub(crate) fn calculated_seconds(&self, codecs: ColumnCodecs) -> f64 {
        let bandwidth = self.on_device.get(codecs).device_bandwidth();
        self.terms.seconds(codecs, bandwidth)
    }

    fn is_device_slower(&self, codecs: ColumnCodecs) -> bool {
        self.on_device.get(codecs).device_seconds >= self.in_memory.get(codecs).seconds
    }
}

/// A case for each query, device and kind of tables.
fn cases(
    all: &[QueryOnDevice],
    judge: impl Fn(&QueryOnDevice, ColumnCodecs) -> (bool, f64),
) -> Vec<VerdictCase> {
    let both = |one| ColumnCodecs::BOTH.map(|codecs| (one, codecs));
    let cases = all.iter().flat_map(both).map(|(one, codecs)| {
        let (holds, value) = judge(one, codecs);
        VerdictCase {
            name: format!("{}, {}", one.name, codecs.name()),
            holds,
            value,
        }
    });
    cases.collect()
}

/// Processor and device work at the same time.
pub(crate) fn overlap(all: &[QueryOnDevice]) -> Verdict {
    let cases = cases(all, |one, codecs| {
        let share = one.on_device.get(codecs).seconds / one.slower_part_seconds(codecs).max(1e-9);
        (share <= 1.1, share)
    });
    let statement =
        "(i) a query takes the longer of what processor and device need, and 10 % more at most";
    Verdict::of_all(statement, &cases)
}

/// Where the device is the bottleneck, time shrinks as bytes do.
pub(crate) fn gain(all: &[QueryOnDevice]) -> Verdict {
    let is_bound = |one: &&QueryOnDevice| {
        let mut both = ColumnCodecs::BOTH.into_iter();
        both.all(|codecs| one.is_device_slower(codecs))
    };
    let cases = all.iter().filter(is_bound).map(|one| {
        let CodecPair { compressed, plain } = &one.on_device;
        let gain = plain.seconds / compressed.seconds.max(1e-9);
        let ratio = plain.disk_bytes / compressed.disk_bytes.max(1.0);
        let share = gain / ratio.max(1e-9);
        VerdictCase {
            name: one.name.clone(),
            holds: share >= 0.9,
            value: share,
        }
    });
    let statement = "(ii) where the device is slower than the processor with and without compression, compression gains 0.9 of the ratio of bytes at least";
    Verdict::of_all(statement, &cases.collect::<Vec<_>>())
}

/// The equation says how long a query takes.
pub(crate) fn equation(all: &[QueryOnDevice]) -> Verdict {
    let cases = cases(all, |one, codecs| {
        let measured = one.on_device.get(codecs).seconds;
        // The bandwidth of results, measured by calculated.
        let share = one.calculated_seconds(codecs) / measured.max(1e-9);
        ((0.8..=1.2).contains(&share), share)
    });
    let statement = "(iii) equation 6.1 gives the bandwidth of results within 20 %";
    Verdict::of_all(statement, &cases)
}
