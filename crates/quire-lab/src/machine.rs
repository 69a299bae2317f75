//! What a reader has to know about the machine.

use quire_codec::active_backend;
use std::fs;
use std::thread;

/// Processor, processors in view, instruction set, clock.
pub(crate) fn description(cycles_per_ns: f64) -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {processors} processors in view, one used; Quire's kernels run as {:?}; {cycles_per_ns:.2} \
         dependent additions per ns (the clock, in an optimized build)",
        processor(),
        active_backend(),
    )
}

/// The name the processor gives itself, where the system tells it.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    name.unwrap_or_else(|| format!("a processor of {}", std::env::consts::ARCH))
}
