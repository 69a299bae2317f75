//! Every kernel of this crate that has a bar to pass, beside its peer: one table.
//!
//! `cargo run --release -p quire-codec --example bench_codecs [avx2 | portable]`: on less than the processor has, if
//! named. Figures are medians of many short rounds, in each of
//! which the kernel and its peer run in turn; cycles are by the clock of the same round, measured by dependent
//! additions. Values are decoded into one vector that stays in cache, from a column of 131,072 rows.

mod columns;
mod decode;
mod encode;
mod measure;
mod pages;

use measure::Measured;
use quire_codec::{Backend, active_backend, limit_backend};

/// What a kernel must reach.
#[derive(Clone, Copy)]
enum Bar {
    /// Cycles a value, at most.
    Cycles(f64),
    /// Values a cycle, at least.
    PerCycle(f64),
    /// Gigabytes of values a second, at least.
    Gigabytes(f64),
    /// Nanoseconds a call, at most.
    Nanoseconds(f64),
    /// Times the speed of the peer, at least.
    Ratio(f64),
}

impl Bar {
    fn is_passed(self, measured: &Measured, value_bytes: f64) -> bool {
        match self {
            Self::Cycles(most) => measured.cycles <= most,
            Self::PerCycle(least) => 1.0 / measured.cycles >= least,
            Self::Gigabytes(least) => value_bytes / measured.ns >= least,
            Self::Nanoseconds(most) => measured.ns <= most,
            Self::Ratio(least) => measured.ratio >= least,
        }
    }
}

impl std::fmt::Display for Bar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cycles(most) => write!(f, "≤ {most:.2} cycles"),
            Self::PerCycle(least) => write!(f, "≥ {least:.1} a cycle"),
            Self::Gigabytes(least) => write!(f, "≥ {least:.1} GB/s"),
            Self::Nanoseconds(most) => write!(f, "≤ {most:.0} ns"),
            Self::Ratio(least) => write!(f, "≥ {least:.1} × peer"),
        }
    }
}

/// Prints a line of the table; `value_bytes` is the size of what a value or a call gives or takes.
fn line(kernel: &str, measured: &Measured, value_bytes: f64, peer: &str, bars: &[Bar]) {
    let passed = bars.iter().all(|bar| bar.is_passed(measured, value_bytes));
    let bars: Vec<String> = bars.iter().map(Bar::to_string).collect();
    println!(
        "{kernel:<44} {:>9.3} {:>9.3} {:>7.1}   {peer:<26} {:>9.3} {:>6.2}   {:<27} {}",
        measured.cycles,
        measured.ns,
        value_bytes / measured.ns,
        measured.peer_ns,
        measured.ratio,
        bars.join(", "),
        if passed { "yes" } else { "no" },
    );
}

fn heading(what: &str) {
    println!(
        "\n{what:<44} {:>9} {:>9} {:>7}   {:<26} {:>9} {:>6}   {:<27} passed",
        "cycles", "ns", "GB/s", "peer", "its ns", "ratio", "bar"
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("avx2") => limit_backend(Backend::Avx2),
        Some("portable") => limit_backend(Backend::Portable),
        _ => {}
    }
    println!("{:?}", active_backend());
    heading("decode a value");
    decode::packed()?;
    decode::with_some_exceptions()?;
    decode::differences()?;
    decode::dictionaries()?;
    heading("read at random");
    decode::single_values()?;
    heading("compare a value");
    decode::comparisons()?;
    heading("choose and encode a value");
    encode::columns()?;
    heading("transform a page of 16 KiB");
    pages::transforms()?;
    Ok(())
}
