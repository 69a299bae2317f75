//! What time is, and what a disk is: those of this machine, or of the paper's.

mod clock;
mod device;
mod disk;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_store::{Disk, FileDisk};

use crate::tpcd::{BenchmarkFailure, paper};
pub(crate) use clock::{ProcessorClock, processor_time};
pub(crate) use device::DeviceBuffer;
use disk::BufferedDisk;

/// On what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The paper's disk and a processor that is as much slower than ours as the paper's was.
    Paper,
    /// Those of this machine.
    Own,
}

/// A machine, with its disk.
pub(crate) enum Machine {
    Paper(Arc<ProcessorClock>),
    Own(Instant),
}

/// Where a machine is in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    pub(crate) time: Duration,
    pub(crate) processor: Duration,
}

impl Machine {
    /// `slowness`: how many seconds of the paper's processor are one of ours.
    pub(crate) fn new(device: Device, slowness: f64) -> Self {
        match device {
            Device::Paper => Self::Paper(Arc::new(ProcessorClock::new(slowness))),
            Device::Own => Self::Own(Instant::now()),
        }
    }

    /// The file as this machine's disk.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(crate) fn disk(&self, path: &Path) -> Result<Arc<dyn Disk>, BenchmarkFailure> {
        let file = FileDisk::open_or_create(path).map_err(quire::Error::from)?;
        let file = Arc::new(file);
        Ok(match self {
            Self::Own(_) => file,
            Self::Paper(clock) => {
                let clock = Arc::clone(clock);
                Arc::new(BufferedDisk::new(file, paper::disk(), clock))
            }
        })
    }

    /// Now.
    pub(crate) fn moment(&self) -> Moment {
        match self {
            Self::Paper(clock) => clock.moment(),
            Self::Own(start) => Moment {
                time: start.elapsed(),
                processor: processor_time(),
            },
        }
    }

    /// Seconds since then: all of them, and those of the processor.
    pub(crate) fn seconds_since(&self, start: Moment) -> Seconds {
        let now = self.moment();
        let between = |from: Duration, to: Duration| to.saturating_sub(from).as_secs_f64();
        Seconds {
            time: between(start.time, now.time),
            processor: between(start.processor, now.processor),
        }
    }
}

/// How long something took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seconds {
    pub(crate) time: f64,
    pub(crate) processor: f64,
}

impl Seconds {
    /// This and then that.
    pub(crate) fn add(&mut self, more: Seconds) {
        self.time += more.time;
        self.processor += more.processor;
    }
}
