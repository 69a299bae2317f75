//! What the kernel says of the whole machine, and of this process.

use super::proc_text::MachineStat;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};
use std::fs;

/// Of all processors; `None` where there is no `/proc`.
pub(super) fn machine_stat() -> Option<MachineStat> {
    MachineStat::parse(&fs::read_to_string("/proc/stat").ok()?)
}

/// Clock ticks of `/proc` per second.
pub(super) fn ticks_per_second() -> f64 {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    // 100 on all of Linux's architectures of today.
    ticks
        .filter(|&ticks| ticks > 0)
        .map_or(100.0, |ticks| ticks as f64)
}

/// Seconds of processor time of this process without its children, as user and in the kernel.
pub(super) fn own_seconds() -> (f64, f64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return (0.0, 0.0);
    };
    let seconds = |microseconds: i64| microseconds as f64 / 1e6;
    (
        seconds(usage.user_time().num_microseconds()),
        seconds(usage.system_time().num_microseconds()),
    )
}
