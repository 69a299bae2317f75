//! Paper 3: Qiao et al.

use super::{compared, measured_series, named, value, values};
use crate::figure::Figure;
use crate::verdict::{Verdict, VerdictCase};

/// The codecs that the paper compares.
const CODECS: [&str; 2] = ["lz4", "zlib"];

/// Section III.
pub(super) fn figure_4(figure: &Figure) -> Vec<Verdict> {
    let cases = compared(figure, ["zlib", "lz4"], |gain| gain > 1.0);
    let claim = "constant bytes at random places help codecs with entropy coding more: zlib's ratio is above LZ4's";
    vec![Verdict::of_all(claim, &cases)]
}

/// Section III.
pub(super) fn figure_5(figure: &Figure) -> Vec<Verdict> {
    let claim = "longer repetitions help codecs without entropy coding more: LZ4's ratio grows more than zlib's";
    let growth = |codec: &str| {
        let values = values(figure, codec);
        let (first, last) = (values.first()?.1?, values.last()?.1?);
        Some(last / first)
    };
    let (Some(lz4), Some(zlib)) = (growth("lz4"), growth("zlib")) else {
        return vec![Verdict::not_measured(claim)];
    };
    let finding = format!("{lz4:.2} times and {zlib:.2} times");
    vec![Verdict::of_one(claim, lz4 > zlib, finding)]
}

/// Section IV-A1.
pub(super) fn figure_7(figure: &Figure) -> Vec<Verdict> {
    let mut cases = Vec::new();
    for series in measured_series(figure) {
        let of = |transform: &str| value(figure, series, transform);
        let Some(clt) = of("clt") else { continue };
        let others = ["r2c", "rlt", "xor", "xor_rlt"];
        let others = others.into_iter().filter_map(|other| {
            let factor = clt / of(other)?;
            Some(VerdictCase::new(other, factor > 1.0, factor))
        });
        cases.extend(named(series, others.collect()));
    }
    let claim = "CLT takes the longest of all transforms";
    let reason = "a conversion is one pass here, in which the order of bytes costs little";
    vec![Verdict::of_all(claim, &cases).deviating_by(Some(reason.to_owned()))]
}

/// Each codec: the ratio under one transform by that under each of the others.
fn ahead(figure: &Figure, transform: &str, others: &[&str]) -> Vec<VerdictCase> {
    let mut cases = Vec::new();
    for codec in CODECS {
        let of = |transform: &str| value(figure, codec, transform);
        let Some(best) = of(transform) else { continue };
        let others = others.iter().filter_map(|other| {
            let factor = best / of(other)?;
            Some(VerdictCase::new(*other, factor > 1.0, factor))
        });
        cases.extend(named(codec, others.collect()));
    }
    cases
}

/// Section IV-A2.
pub(super) fn figure_8(figure: &Figure) -> Vec<Verdict> {
    let order = [("lz4", "rlt", "xor"), ("zlib", "xor", "rlt")];
    let order = order.into_iter().filter_map(|(codec, ahead, behind)| {
        let factor = value(figure, codec, ahead)? / value(figure, codec, behind)?;
        Some(VerdictCase::new(codec, factor > 1.0, factor))
    });
    vec![
        Verdict::of_all(
            "CLT is the best of its transforms",
            &ahead(figure, "clt", &["rows", "r2c", "rlt", "xor", "xor_rlt"]),
        ),
        Verdict::of_all(
            "XOR+RLT is the second",
            &ahead(figure, "xor_rlt", &["rows", "r2c", "rlt", "xor"]),
        ),
        Verdict::of_all(
            "RLT is ahead of XOR under LZ4, and behind it under zlib",
            &order.collect::<Vec<_>>(),
        ),
    ]
}

/// Section IV-A2.
pub(super) fn figure_9(figure: &Figure) -> Vec<Verdict> {
    let cases = CODECS.into_iter().flat_map(|codec| {
        let (columns, rows) = (format!("{codec}, columns"), format!("{codec}, rows"));
        named(
            codec,
            compared(figure, [&columns, &rows], |gain| gain > 1.0),
        )
    });
    let claim = "strings by columns compress better than by rows (the paper: up to 27 % with LZ4, 35 % with zlib)";
    vec![Verdict::of_all(claim, &cases.collect::<Vec<_>>())]
}

/// Section IV-B: the drive compresses sectors of 4 KiB with zlib; tuples are plain.
pub(super) fn figure_11(figure: &Figure) -> Vec<Verdict> {
    let series = "plain tuples, zlib of sectors";
    let by = |transform: &str, other: &str| {
        let factor = value(figure, series, transform)? / value(figure, series, other)?;
        Some(VerdictCase::new(
            format!("{transform} by {other}"),
            factor > 1.0,
            factor,
        ))
    };
    let transforms = ["r2c", "rlt", "clt", "xor", "xor_rlt"].into_iter();
    let over_rows = transforms.clone().filter_map(|one| by(one, "rows"));
    let others = transforms.filter(|one| *one != "clt");
    let best = others.filter_map(|other| by("clt", other));
    vec![
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
