//! The machines of the table: their disks, and how much slower their processors are than ours.

use quire_store::disk::DeviceProfile;

use crate::tpch::paper;

/// A machine on which queries are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpchMachine {
    /// The paper's Pentium4 Xeon of 3 GHz, with twelve disks.
    Pentium4,
    /// The paper's Opteron of 2 GHz, with four disks.
    Opteron,
    /// This machine's processor, with a disk of today.
    Own,
}

impl TpchMachine {
    pub(crate) const ALL: [Self; 3] = [Self::Pentium4, Self::Opteron, Self::Own];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pentium4 => "Pentium4",
            Self::Opteron => "Opteron",
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

    /// How many seconds of this machine's processor are one of ours, if so many of the Pentium4's are.
    pub(crate) fn slowness(self, pentium4_slowness: f64) -> f64 {
        match self {
            Self::Pentium4 => pentium4_slowness,
            Self::Opteron => pentium4_slowness * paper::OPTERON_SECONDS_PER_PENTIUM4_SECOND,
            Self::Own => 1.0,
        }
    }
}
