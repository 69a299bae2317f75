//! What was measured of the queries, and what follows of it.

use crate::column_tables::{
    CodecPair, ColumnCodecs, ColumnLayout, DecompressionTarget, EquationTerms, TimeInMemory,
    TimeOnDevice,
};
use crate::tpch::machine::TpchMachine;

/// A column of the table: how the tables are stored, and where they are decompressed to.
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

    pub(crate) fn layout(self) -> ColumnLayout {
        match self {
            Self::DsmPlain | Self::DsmToCache | Self::DsmToMemory => ColumnLayout::Dsm,
            Self::PaxPlain | Self::PaxToCache => ColumnLayout::Pax,
        }
    }

    pub(crate) fn codecs(self) -> ColumnCodecs {
        match self {
            Self::DsmPlain | Self::PaxPlain => ColumnCodecs::Plain,
            Self::DsmToCache | Self::DsmToMemory | Self::PaxToCache => ColumnCodecs::Auto,
        }
    }

    pub(crate) fn decompression(self) -> DecompressionTarget {
        match self {
            Self::DsmToMemory => DecompressionTarget::Memory,
            Self::DsmPlain | Self::DsmToCache | Self::PaxPlain | Self::PaxToCache => {
                DecompressionTarget::Cache
            }
        }
    }

    /// Of a layout, uncompressed and M⇒C.
    pub(crate) fn plain_and_compressed(layout: ColumnLayout) -> [Self; 2] {
        match layout {
            ColumnLayout::Dsm => [Self::DsmPlain, Self::DsmToCache],
            ColumnLayout::Pax => [Self::PaxPlain, Self::PaxToCache],
        }
    }
}

/// A query from a cold start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TpchColdRun {
    pub(crate) machine: TpchMachine,
    pub(crate) variant: TpchVariant,
    /// How many seconds of the machine's processor are one of ours.
    pub(crate) slowness: f64,
    /// On that machine.
    pub(crate) time: TimeOnDevice,
}

/// What was measured of a query.
#[derive(Clone, Debug)]
pub(crate) struct TpchTimes {
    pub(crate) number: u32,
    /// On our processor.
    pub(crate) in_memory: Vec<(ColumnLayout, CodecPair<TimeInMemory>)>,
    pub(crate) cold: Vec<TpchColdRun>,
}

impl TpchTimes {
    /// Of a query that has not been measured.
    pub(crate) fn new(number: u32) -> Self {
        Self {
            number,
            in_memory: Vec::new(),
            cold: Vec::new(),
        }
    }

    /// With everything in memory, on our processor.
    pub(crate) fn in_memory(&self, layout: ColumnLayout) -> Option<&CodecPair<TimeInMemory>> {
        let mut all = self.in_memory.iter();
        all.find(|(of, _)| *of == layout).map(|(_, times)| times)
    }

    /// From a cold start.
    pub(crate) fn on(&self, machine: TpchMachine, variant: TpchVariant) -> Option<&TimeOnDevice> {
        let mut cold = self.cold.iter();
        let found = cold.find(|run| (run.machine, run.variant) == (machine, variant));
        found.map(|run| &run.time)
    }

    /// How many seconds of the machine's processor are one of ours.
    fn slowness_of(&self, machine: TpchMachine) -> Option<f64> {
        let mut cold = self.cold.iter();
        let found = cold.find(|run| run.machine == machine);
        found.map(|run| run.slowness)
    }

    /// Bytes read from the device of the first machine. Others read the same pages, and sometimes more of what lies between them.
    fn disk_bytes(&self, variant: TpchVariant) -> Option<f64> {
        let mut cold = self.cold.iter();
        let found = cold.find(|run| run.variant == variant);
        found.map(|run| run.time.disk_bytes)
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

    /// Uncompressed bytes read for each compressed one: of the columns that the query names, or of whole blocks.
    pub(crate) fn ratio(&self, layout: ColumnLayout) -> Option<f64> {
        let [plain, compressed] = TpchVariant::plain_and_compressed(layout);
        Some(self.disk_bytes(plain)? / self.disk_bytes(compressed)?.max(1.0))
    }

    /// Decoded bytes a second on a machine.
    pub(crate) fn decompression_bandwidth(
        &self,
        machine: TpchMachine,
        layout: ColumnLayout,
    ) -> Option<f64> {
        let time = self.in_memory(layout)?.compressed;
        let time = time.slowed(self.slowness_of(machine)?);
        Some(time.decompression_bandwidth())
    }

    /// The terms of equation 6.1 on a machine.
    pub(crate) fn terms(
        &self,
        machine: TpchMachine,
        layout: ColumnLayout,
    ) -> Option<EquationTerms> {
        let CodecPair { compressed, plain } = self.in_memory(layout)?;
        let slowness = self.slowness_of(machine)?;
        let times = CodecPair {
            compressed: compressed.slowed(slowness),
            plain: plain.slowed(slowness),
        };
        let [of_plain, of_compressed] = TpchVariant::plain_and_compressed(layout);
        let bytes = CodecPair {
            compressed: self.disk_bytes(of_compressed)?,
            plain: self.disk_bytes(of_plain)?,
        };
        Some(EquationTerms::new(&times, &bytes))
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
