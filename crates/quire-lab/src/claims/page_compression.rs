//! Paper 4: J. Ma et al.

use super::{compared, value, values};
use crate::figure::{Figure, Positions};
use crate::verdict::{Verdict, VerdictCase};

/// Whose codecs a series of figures 3 and 4 is calculated with, as its name ends.
const CODECS: [&str; 2] = ["the paper's codec", "this machine's codec"];

/// The two sizes of the data, over that of the pool, between which the paper's own numbers have uncompressed pages pass zlib.
const ZLIB_AHEAD_TO: f64 = 16.0;
const UNCOMPRESSED_AHEAD_FROM: f64 = 20.0;

/// Bytes of a compressed page, the longest record of figure 4.
const PAGE_BYTES: f64 = 8_192.0;

/// Section VI-B.
pub(super) fn table_7(figure: &Figure) -> Vec<Verdict> {
    let of = |(series, whose): (&str, &str)| {
        let claim =
            format!("lz4hc's expected page access is the shortest of table VII, with {whose}");
        let positions = ["uncompressed", "zlib", "lz4hc"];
        let [Some(uncompressed), Some(zlib), Some(lz4hc)] =
            positions.map(|position| value(figure, series, position))
        else {
            return Verdict::not_measured(&claim);
        };
        let finding =
            format!("lz4hc {lz4hc:.2} µs, uncompressed {uncompressed:.2} µs, zlib {zlib:.2} µs");
        Verdict::of_one(claim, lz4hc < uncompressed && lz4hc < zlib, finding)
    };
    let series = [
        ("equations 1 and 2", "the paper's codecs"),
        (
            "equations 1 and 2, this machine's codecs",
            "this machine's codecs",
        ),
    ];
    series.map(of).into()
}

/// Section V-B.
pub(super) fn figure_3(figure: &Figure) -> Vec<Verdict> {
    let [paper_zlib, zlib_here] = CODECS.map(|whose| format!("zlib, {whose}"));
    let faster_here = compared(figure, [&zlib_here, &paper_zlib], |factor| factor > 1.0);
    let is_faster_here = faster_here.iter().all(|case| case.holds);
    let reason = is_faster_here.then(|| {
        "zlib's curve with this machine's codec is above that with the paper's at every D/BS"
            .to_owned()
    });
    let passed = CODECS.map(|whose| {
        let claim = format!(
            "uncompressed pages become faster than zlib between D/BS = 16 and 20, with {whose} (the paper: in an early stage; zlib by \
             uncompressed)"
        );
        Verdict::of_all(claim, &passing(figure, &format!("zlib, {whose}")))
    });
    let [passed, passed_here] = passed;
    let mut verdicts = vec![passed, passed_here.deviating_by(reason)];
    verdicts.extend(CODECS.map(|whose| {
        let claim = format!(
            "lz4hc is fastest at every D/BS from 4 to 32, with {whose} (lz4hc by the faster of the others)"
        );
        let reason = is_behind_by_hits_alone(figure, whose).then(|| {
            "the pool holds more of zlib's smaller pages, which counts more than its slower decompression while the data is small".to_owned()
        });
        Verdict::of_all(claim, &fastest(figure, whose)).deviating_by(reason)
    }));
    verdicts
}

/// Whether zlib is ahead at small positions and uncompressed pages are at large ones.
fn passing(figure: &Figure, zlib: &str) -> Vec<VerdictCase> {
    let uncompressed = numbered(figure, "uncompressed");
    let both = numbered(figure, zlib).into_iter().zip(uncompressed);
    let cases = both.filter_map(|((data_to_pool, zlib), (_, uncompressed))| {
        let factor = zlib? / uncompressed?;
        let holds = if data_to_pool <= ZLIB_AHEAD_TO {
            factor > 1.0
        } else if data_to_pool >= UNCOMPRESSED_AHEAD_FROM {
            factor < 1.0
        } else {
            return None;
        };
        Some(VerdictCase::new(data_to_pool.to_string(), holds, factor))
    });
    cases.collect()
}

/// Whether lz4hc is ahead of both others at each position.
fn fastest(figure: &Figure, whose: &str) -> Vec<VerdictCase> {
    let of = |series: &str| numbered(figure, series).into_iter();
    let others = of(&format!("zlib, {whose}")).zip(of("uncompressed"));
    let all = of(&format!("lz4hc, {whose}")).zip(others);
    let cases = all.filter_map(|((data_to_pool, lz4hc), ((_, zlib), (_, uncompressed)))| {
        let factor = lz4hc? / zlib?.max(uncompressed?);
        Some(VerdictCase::new(
            data_to_pool.to_string(),
            factor > 1.0,
            factor,
        ))
    });
    cases.collect()
}

/// Whether lz4hc is ahead of uncompressed pages everywhere, and of zlib with the most data. By equations 2, 4 and 5 zlib can then be ahead
/// with less data only by its hits: what hits save falls with *D / BS*, and what decompression takes does not.
fn is_behind_by_hits_alone(figure: &Figure, whose: &str) -> bool {
    let lz4hc = format!("lz4hc, {whose}");
    let zlib = format!("zlib, {whose}");
    let over_uncompressed = compared(figure, [&lz4hc, "uncompressed"], |factor| factor > 1.0);
    let over_zlib = compared(figure, [&lz4hc, &zlib], |factor| factor > 1.0);
    over_uncompressed.iter().all(|case| case.holds)
        && over_zlib.last().is_some_and(|case| case.holds)
}

/// Section V-C. By the exact sum: the paper's equation 6 would make compression longer.
pub(super) fn figure_4(figure: &Figure) -> Vec<Verdict> {
    let of_a_page = |series: &str| {
        let mut values = numbered(figure, series).into_iter();
        values
            .find(|(record_bytes, _)| *record_bytes == PAGE_BYTES)?
            .1
    };
    let of = |whose| {
        let claim = format!(
            "even with records as long as a compressed page compression takes longer than the write of the page, with {whose}"
        );
        let compression = of_a_page(&format!("lz4hc, {whose}"));
        let Some((compression_ms, write_ms)) =
            compression.zip(of_a_page("write of the page to the SSD"))
        else {
            return Verdict::not_measured(&claim);
        };
        let finding = format!("compression {compression_ms:.2} ms, write {write_ms:.2} ms");
        Verdict::of_one(claim, compression_ms > write_ms, finding)
    };
    CODECS.map(of).into()
}

/// Values of ours by the numbers of the axis.
fn numbered(figure: &Figure, series: &str) -> Vec<(f64, Option<f64>)> {
    let Positions::Numbers(numbers) = &figure.positions else {
        return Vec::new();
    };
    let values = values(figure, series).into_iter();
    let values = values.map(|(_, value)| value);
    numbers.iter().copied().zip(values).collect()
}
