//! Paper 1: Westmann et al.

use super::{compared, values};
use crate::figure::Figure;
use crate::verdict::{Verdict, VerdictCase};

/// "About three times as long" begins here.
const NAIVE_FACTOR_MIN: f64 = 2.5;
/// "Much higher" begins here.
const ENCODING_FACTOR_MIN: f64 = 2.0;
/// "Did not affect" ends here.
const UNAFFECTED_FACTOR_MAX: f64 = 1.1;

/// Section 5.4: naive decoding "would triple the CPU costs of decompression for most queries".
pub(super) fn length_decoding(figure: &Figure) -> Vec<Verdict> {
    let ratios = values(figure, "ratio").into_iter();
    let queries = ratios.filter(|(name, _)| name.starts_with("fields of Q"));
    let cases = queries.filter_map(|(name, ratio)| {
        let ratio = ratio?;
        Some(VerdictCase::new(name, ratio >= NAIVE_FACTOR_MIN, ratio))
    });
    let claim = format!(
        "naive decoding takes about three times as long for the fields of queries, or longer ({NAIVE_FACTOR_MIN} times at least)"
    );
    vec![Verdict::of_all(claim, &cases.collect::<Vec<_>>())]
}

/// Section 5.3: compressing tuples has "much higher" overhead than decompressing them.
pub(super) fn whole_tuples(figure: &Figure) -> Vec<Verdict> {
    let series = ["encoding", "decoding, a table for each length byte"];
    let cases = compared(figure, series, |ratio| ratio >= ENCODING_FACTOR_MIN);
    let cases: Vec<VerdictCase> = cases
        .into_iter()
        .filter(|case| case.name.ends_with("all fields"))
        .collect();
    let claim = format!(
        "compressing a tuple costs much more than decompressing it ({ENCODING_FACTOR_MIN} times at least)"
    );
    vec![Verdict::of_all(claim, &cases)]
}

/// Section 4.3: compression "did not affect the performance of queries on uncompressed data".
pub(super) fn uncompressed_tuples(figure: &Figure) -> Vec<Verdict> {
    let series = ["Quire, the same bytes", "fixed places"];
    let cases = compared(figure, series, |ratio| ratio <= UNAFFECTED_FACTOR_MAX);
    let claim = format!(
        "fields without compression are read as fast as by a reader that knows no compression ({UNAFFECTED_FACTOR_MAX} times its time at most)"
    );
    vec![Verdict::of_all(claim, &cases)]
}

/// Sections 4.1.1 and 4.3.
pub(super) fn iterator_models(figure: &Figure) -> Vec<Verdict> {
    let cases = compared(figure, ["classic", "extended"], |ratio| ratio > 1.0);
    let claim = "extended iterators need less of the processor than classic ones (the paper: less than half, together with its \
                 register machine)";
    vec![Verdict::of_all(claim, &cases)]
}
