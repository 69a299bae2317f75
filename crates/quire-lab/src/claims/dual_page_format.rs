//! Paper 3: Qiao et al.

use super::{compared, measured_series, named, value, values};
use crate::figure::Figure;
use crate::verdict::{Verdict, VerdictCase};

/// The codecs that the paper compares.
const CODECS: [&str; 2] = ["lz4", "zlib"];

/// What is measured of them: blocks of figures 4 and 5 as a whole, and sector by sector.
const BLOCKS: [&str; 2] = ["", ", 4 KiB"];

/// Where the paper says that a ratio is the same, or that two times are.
const SAME_RATIO: f64 = 1.05;
const SAME_TIME: f64 = 1.5;

/// How far what a transform adds to R2C may differ between lengths of fields, "largely independent" (§IV-A1), in microseconds.
const INDEPENDENT_US: f64 = 2.0;

/// Access to flash memory, and what share of it is "significantly less" (§IV-A1): the paper's own slowest conversion takes 31.7 µs.
const IO_US: f64 = 100.0;
const IO_PARTS: f64 = 3.0;

/// Section III.
pub(super) fn figure_4(figure: &Figure) -> Vec<Verdict> {
    let mut cases = Vec::new();
    for block in BLOCKS {
        let (zlib, lz4) = (format!("zlib{block}"), format!("lz4{block}"));
        let compared = compared(figure, [&zlib, &lz4], |gain| gain > 1.0);
        cases.extend(named(&zlib, compared));
    }
    let claim = "constant bytes at random places help codecs with entropy coding more: zlib's ratio is above LZ4's";
    vec![Verdict::of_all(claim, &cases)]
}

/// Section III.
pub(super) fn figure_5(figure: &Figure) -> Vec<Verdict> {
    let claim = "longer repetitions help codecs without entropy coding more: LZ4's ratio grows more than zlib's";
    let growth = |codec: String| {
        let values = values(figure, &codec);
        let (first, last) = (values.first()?.1?, values.last()?.1?);
        Some(last / first)
    };
    let pairs = BLOCKS.into_iter().filter_map(|block| {
        let (lz4, zlib) = (format!("lz4{block}"), format!("zlib{block}"));
        Some(Pair {
            of: block.trim_start_matches(", "),
            names: ["lz4", "zlib"],
            values: [growth(lz4)?, growth(zlib)?],
        })
    });
    vec![Pair::judge(claim, pairs, |[lz4, zlib]| lz4 > zlib)]
}

/// Two numbers that a claim compares.
struct Pair<'a> {
    /// What they are of; may be empty.
    of: &'a str,
    names: [&'a str; 2],
    values: [f64; 2],
}

impl<'a> Pair<'a> {
    /// The ratios under two transforms with a codec.
    fn of_transforms(figure: &Figure, codec: &'a str, names: [&'a str; 2]) -> Option<Self> {
        let [one, other] = names.map(|name| value(figure, codec, name));
        Some(Self {
            of: codec,
            names,
            values: [one?, other?],
        })
    }

    /// A verdict that names both numbers of every pair.
    fn judge(
        claim: &str,
        pairs: impl Iterator<Item = Self>,
        holds: impl Fn([f64; 2]) -> bool,
    ) -> Verdict {
        let pairs: Vec<Self> = pairs.collect();
        if pairs.is_empty() {
            return Verdict::not_measured(claim);
        }
        let findings = pairs.iter().map(|pair| {
            let ([one, other], [left, right]) = (pair.names, pair.values);
            let of = match pair.of {
                "" => String::new(),
                of => format!("{of}: "),
            };
            format!("{of}{one} {left:.2}, {other} {right:.2}")
        });
        let findings: Vec<String> = findings.collect();
        let holds = pairs.iter().all(|pair| holds(pair.values));
        Verdict::of_one(claim, holds, findings.join("; "))
    }
}

/// Cases of `hold` for each series of ours and each of the transforms, named by both.
fn by_series(
    figure: &Figure,
    transforms: &[&str],
    hold: impl Fn(&str, &str) -> Option<(bool, f64)>,
) -> Vec<VerdictCase> {
    let series = measured_series(figure);
    let cases = series.flat_map(|series| {
        let cases = transforms.iter().filter_map(|transform| {
            let (holds, factor) = hold(series, transform)?;
            Some(VerdictCase::new(*transform, holds, factor))
        });
        named(series, cases.collect()).collect::<Vec<_>>()
    });
    cases.collect()
}

const CONVERSIONS: [&str; 5] = ["r2c", "rlt", "clt", "xor", "xor_rlt"];

/// Section IV-A1.
pub(super) fn figure_7(figure: &Figure) -> Vec<Verdict> {
    let one_pass = || {
        let reason = "a conversion is one pass here, in which the order of bytes costs little";
        Some(reason.to_owned())
    };
    let of = |series: &str, transform: &str| value(figure, series, transform);
    let longest = by_series(
        figure,
        &["r2c", "rlt", "xor", "xor_rlt"],
        |series, other| {
            let factor = of(series, "clt")? / of(series, other)?;
            Some((factor > 1.0, factor))
        },
    );
    let xor = by_series(figure, &["rlt", "xor_rlt"], |series, other| {
        let factor = of(series, other)? / of(series, "xor")?;
        Some((factor > 1.0, factor))
    });
    let io = by_series(figure, &CONVERSIONS, |series, transform| {
        let us = of(series, transform)?;
        Some((us * IO_PARTS < IO_US, us))
    });
    vec![
        Verdict::of_all("CLT takes the longest of all transforms", &longest)
            .deviating_by(one_pass()),
        Verdict::of_all("XOR takes less time than transposition", &xor).deviating_by(one_pass()),
        figure_7_ways(figure),
        figure_7_lengths(figure),
        figure_7_independence(figure),
        Verdict::of_all(
            "a conversion takes significantly less than page I/O (less than a third of 100 µs)",
            &io,
        ),
    ]
}

/// To storage beside to memory.
fn figure_7_ways(figure: &Figure) -> Verdict {
    let there = " to storage";
    let series = measured_series(figure).filter_map(|series| series.strip_suffix(there));
    let cases = series.flat_map(|fields| {
        let (to, from) = (format!("{fields}{there}"), format!("{fields} to memory"));
        let is_same = |factor: f64| (1.0 / SAME_TIME..=SAME_TIME).contains(&factor);
        let cases = compared(figure, [&to, &from], is_same).into_iter();
        let cases = cases.filter(|case| CONVERSIONS.contains(&case.name.as_str()));
        named(fields.trim_end_matches(','), cases.collect()).collect::<Vec<_>>()
    });
    let claim = "both ways take almost the same time (within 1.5 times)";
    Verdict::of_all(claim, &cases.collect::<Vec<_>>())
}

/// Short fields beside long ones.
fn figure_7_lengths(figure: &Figure) -> Verdict {
    let ways = ["to storage", "to memory"];
    let pairs = ways.into_iter().filter_map(|way| {
        let of = |bytes: u8| value(figure, &format!("{bytes} bytes, {way}"), "r2c");
        Some(Pair {
            of: way,
            names: ["2 bytes", "8 bytes"],
            values: [of(2)?, of(8)?],
        })
    });
    let claim = "row-column conversion takes the longer the shorter the fields are (the paper: 16.7 and 6.6 µs)";
    Pair::judge(claim, pairs, |[short, long]| short > long)
}

/// What transforms add to R2C, by the length of the fields.
fn figure_7_independence(figure: &Figure) -> Verdict {
    let mut cases = Vec::new();
    for way in ["to storage", "to memory"] {
        for transform in ["rlt", "clt", "xor", "xor_rlt"] {
            let longer = [2, 4, 8].into_iter().filter_map(|bytes| {
                let series = format!("{bytes} bytes, {way}");
                Some(value(figure, &series, transform)? - value(figure, &series, "r2c")?)
            });
            let longer: Vec<f64> = longer.collect();
            let most = longer.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = longer.iter().copied().fold(f64::INFINITY, f64::min);
            if longer.len() > 1 {
                let name = format!("{transform} {way}");
                let us = most - least;
                cases.push(VerdictCase::new(name, us <= INDEPENDENT_US, us));
            }
        }
    }
    let claim = "what a transform adds hardly depends on the length of the fields (2 µs at most)";
    Verdict::of_all(claim, &cases)
}

/// Section IV-A2: the observations on one of the two figures.
pub(super) fn figure_8(figure: &Figure) -> Vec<Verdict> {
    let pair = |codec, names| Pair::of_transforms(figure, codec, names);
    let [lz4, zlib] = CODECS;
    let same = |[columns, rows]: [f64; 2]| columns < rows * SAME_RATIO;
    let ahead = |[one, other]: [f64; 2]| one > other;
    let columns = CODECS
        .into_iter()
        .filter_map(|codec| pair(codec, ["r2c", "rows"]));
    // Each beside the best of those that are behind it.
    let first = |codec, transform, others: &[&'static str]| {
        let others = others.iter().filter_map(|other| {
            let ratio = value(figure, codec, other)?;
            Some((*other, ratio))
        });
        let (best, _) = others.max_by(|one, other| one.1.total_cmp(&other.1))?;
        pair(codec, [transform, best])
    };
    let clt = CODECS
        .into_iter()
        .filter_map(|codec| first(codec, "clt", &["rows", "r2c", "rlt", "xor", "xor_rlt"]));
    let second = CODECS
        .into_iter()
        .filter_map(|codec| first(codec, "xor_rlt", &["rows", "r2c", "rlt", "xor"]));
    vec![
        Pair::judge(
            "row-column conversion by itself gains nothing (5 % at most)",
            columns,
            same,
        ),
        Pair::judge(
            "RLT is ahead of XOR under LZ4",
            pair(lz4, ["rlt", "xor"]).into_iter(),
            ahead,
        ),
        Pair::judge(
            "XOR is ahead of RLT under zlib",
            pair(zlib, ["xor", "rlt"]).into_iter(),
            ahead,
        ),
        Pair::judge("CLT is the best of its transforms", clt, ahead),
        Pair::judge("XOR+RLT is the second", second, ahead),
    ]
}

/// Section IV-A2: small integers beside large ones.
pub(super) fn figures_8(large: &Figure, small: &Figure) -> Verdict {
    let transforms = ["rlt", "clt", "xor", "xor_rlt"];
    let names: Vec<(&str, String, &str)> = CODECS
        .into_iter()
        .flat_map(|codec| transforms.map(|one| (codec, format!("{codec}, {one}"), one)))
        .collect();
    let gain = |figure: &Figure, codec: &str, transform: &str| {
        let ratio = value(figure, codec, transform)? / value(figure, codec, "rows")?;
        Some(100.0 * (ratio - 1.0))
    };
    let pairs = names.iter().filter_map(|(codec, of, transform)| {
        Some(Pair {
            of,
            names: ["small %", "large %"],
            values: [
                gain(small, codec, transform)?,
                gain(large, codec, transform)?,
            ],
        })
    });
    let claim = "small integers gain more from transforms than large ones";
    Pair::judge(claim, pairs, |[small, large]| small > large)
}

/// Section IV-A2.
pub(super) fn figure_9(figure: &Figure) -> Vec<Verdict> {
    let series = |codec: &str, order: &str| format!("{codec}, {order}");
    let columns = CODECS.into_iter().flat_map(|codec| {
        let (columns, rows) = (series(codec, "columns"), series(codec, "rows"));
        named(
            codec,
            compared(figure, [&columns, &rows], |gain| gain > 1.0),
        )
    });
    let orders = ["rows", "columns"];
    let zlib = orders.into_iter().flat_map(|order| {
        let (zlib, lz4) = (series("zlib", order), series("lz4", order));
        named(order, compared(figure, [&zlib, &lz4], |gain| gain > 1.0))
    });
    let lengths = CODECS.into_iter().flat_map(|codec| {
        orders.into_iter().filter_map(move |order| {
            let name = series(codec, order);
            let factor = value(figure, &name, "fixed")? / value(figure, &name, "variable")?;
            Some(VerdictCase::new(name, factor > 1.0, factor))
        })
    });
    vec![
        Verdict::of_all(
            "strings by columns compress better than by rows (the paper: up to 27 % with LZ4, 35 % with zlib)",
            &columns.collect::<Vec<_>>(),
        ),
        Verdict::of_all(
            "zlib compresses strings better than LZ4",
            &zlib.collect::<Vec<_>>(),
        ),
        Verdict::of_all(
            "strings of variable length compress worse than those of a fixed one",
            &lengths.collect::<Vec<_>>(),
        ),
    ]
}

/// Section IV-B: the drive compresses sectors of 4 KiB with zlib; tuples are plain.
fn drive_verdicts(figure: &Figure, series: &str) -> [Verdict; 2] {
    let by = |transform: &str, other: &str| {
        let factor = value(figure, series, transform)? / value(figure, series, other)?;
        Some(VerdictCase::new(
            format!("{transform} by {other}"),
            factor > 1.0,
            factor,
        ))
    };
    let transforms = CONVERSIONS.into_iter();
    let over_rows = transforms.clone().filter_map(|one| by(one, "rows"));
    let others = transforms.filter(|one| *one != "clt");
    let best = others.filter_map(|other| by("clt", other));
    [
        Verdict::of_all(
            "every transform compresses better than rows (the paper: by 20.6 to 44.9 %)",
            &over_rows.collect::<Vec<_>>(),
        ),
        Verdict::of_all(
            "CLT compresses best (the paper: 44.9 % better than rows)",
            &best.collect::<Vec<_>>(),
        ),
    ]
}

/// Section IV-B, with leaves that were built at once.
pub(super) fn figure_11_full(figure: &Figure) -> Vec<Verdict> {
    drive_verdicts(figure, "plain tuples, zlib drive").into()
}

/// Section IV-B.
pub(super) fn figure_11(figure: &Figure) -> Vec<Verdict> {
    let drive = "zlib drive";
    let of = |series: &str, transform: &str| value(figure, series, transform);
    // The paper's order, each beside the next.
    let order = ["r2c", "rlt", "xor", "xor_rlt", "clt"];
    let order = order.windows(2).filter_map(|pair| {
        let [behind, ahead] = pair else { return None };
        let factor = of(drive, ahead)? / of(drive, behind)?;
        let name = format!("{ahead} by {behind}");
        Some(VerdictCase::new(name, factor > 1.0, factor))
    });
    let pages = ["LZ4", "zlib"].into_iter().filter_map(|codec| {
        Some(Pair {
            of: codec,
            names: ["zlib drive", "page compression"],
            values: [
                of(drive, "rows")?,
                of(&format!("page compression, {codec}"), "rows")?,
            ],
        })
    });
    let full = format!("{drive}, leaves built in order");
    let fills = compared(figure, [drive, &full], |factor| factor > 1.0);
    let mut verdicts: Vec<Verdict> = drive_verdicts(figure, drive).into();
    verdicts.extend([
        Verdict::of_all(
            "the transforms follow each other as R2C, RLT, XOR, XOR+RLT, CLT (the paper: 20.6, 30.5, 37.5, 40.8, 44.9 %)",
            &order.collect::<Vec<_>>(),
        ),
        Pair::judge(
            "page compression with hole punching is behind the drive that compresses rows",
            pages,
            |[drive, pages]| drive > pages,
        ),
        Verdict::of_all("pages compress the better the less full they are", &fills),
    ]);
    verdicts
}

/// What Quire asks of its own format for rows, which the paper does not have: so many times the ratio of rows under the same codec.
const PACKED_TO_ROWS: f64 = 1.6;

/// The position of that format.
pub const PACKED_TUPLES: &str = "compressed tuples, packed";

/// Section IV-B, of whole databases.
pub(super) fn figure_11_system(figure: &Figure) -> Vec<Verdict> {
    let packed = by_series(figure, &[PACKED_TUPLES], |series, packed| {
        let factor = value(figure, series, packed)? / value(figure, series, "rows")?;
        Some((factor >= PACKED_TO_ROWS, factor))
    });
    let mut verdicts = figure_11(figure);
    verdicts.push(Verdict::of_all(
        "Quire's packed images of compressed tuples take 1.6 times less than rows under the same codec (a bar of our own)",
        &packed,
    ));
    verdicts
}
