//! What time is, and what a disk is: those of this machine, or of the paper's.

mod clock;
mod costs;
mod device;
mod disk;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_exec::tuple::TemporaryDisks;
use quire_store::{Disk, FileDisk};

use crate::tpcd::{BenchmarkFailure, paper};
pub(crate) use clock::{ProcessorClock, processor_time};
pub(crate) use costs::paper_costs;
pub(crate) use device::DeviceBuffer;
use disk::SharedDevice;

/// On what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The paper's disk and a processor that is as much slower than ours as the paper's was.
    Paper,
    /// Those of this machine.
    Own,
}

/// A machine, with its disks.
pub(crate) enum Machine {
    Paper(PaperMachine),
    Own(Instant),
}

/// One processor, a disk for the database and another one for temporary files.
pub(crate) struct PaperMachine {
    slowness: f64,
    clock: Arc<ProcessorClock>,
    database: Arc<SharedDevice>,
    temporaries: Arc<SharedDevice>,
}

/// Where a machine is in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    pub(crate) time: Duration,
    pub(crate) processor: Duration,
    /// Of the processor's, those in which the system read or wrote files.
    pub(crate) files: Duration,
    /// Bytes that were written into temporary files.
    pub(crate) spilled_bytes: u64,
}

impl Machine {
    /// `slowness`: how many seconds of the paper's processor are one of ours.
    pub(crate) fn new(device: Device, slowness: f64) -> Self {
        match device {
            Device::Paper => Self::Paper(PaperMachine {
                slowness,
                clock: Arc::new(ProcessorClock::new(slowness)),
                database: Arc::new(SharedDevice::new(paper::disk())),
                temporaries: Arc::new(SharedDevice::new(paper::disk())),
            }),
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
            Self::Paper(machine) => {
                Arc::new(machine.database.file(file, Arc::clone(&machine.clock)))
            }
        })
    }

    /// Where the tuple engine's temporary files are: on the second disk of the paper's machine.
    pub(crate) fn temporary_disks(&self) -> TemporaryDisks {
        let Self::Paper(machine) = self else {
            return TemporaryDisks::default();
        };
        let (device, clock) = (Arc::clone(&machine.temporaries), Arc::clone(&machine.clock));
        TemporaryDisks::made_by(move || {
            let file = Arc::new(FileDisk::temporary(None)?);
            Ok(Arc::new(device.file(file, Arc::clone(&clock))))
        })
    }

    /// Now.
    pub(crate) fn moment(&self) -> Moment {
        match self {
            Self::Paper(machine) => Moment {
                files: (machine.database.calls() + machine.temporaries.calls())
                    .mul_f64(machine.slowness),
                spilled_bytes: machine.temporaries.written_bytes(),
                ..machine.clock.moment()
            },
            Self::Own(start) => Moment {
                time: start.elapsed(),
                processor: processor_time(),
                ..Moment::default()
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
            files: between(start.files, now.files),
            spilled_kib: now.spilled_bytes.saturating_sub(start.spilled_bytes) as f64 / 1024.0,
        }
    }
}

/// How long something took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seconds {
    pub(crate) time: f64,
    pub(crate) processor: f64,
    /// Of the processor's, those in which the system read or wrote files; 0 on this machine.
    pub(crate) files: f64,
    /// KiB that were written into temporary files; 0 on this machine.
    pub(crate) spilled_kib: f64,
}

impl Seconds {
    /// This and then that.
    pub(crate) fn add(&mut self, more: Seconds) {
        self.time += more.time;
        self.processor += more.processor;
        self.files += more.files;
        self.spilled_kib += more.spilled_kib;
    }
}
