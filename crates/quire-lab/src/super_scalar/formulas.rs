//! The paper's formulas, and one that it approximates.

use super::GROUP_VALUES;
use super::bit_pack::code_mask;

/// Equation 6.1: the bandwidth at which a query delivers results from compressed data, all bandwidths in the
/// same unit.
///
/// `io` is that of the device, `ratio` the compression ratio, `query` and `decompression` those of the query
/// and of decompression when each has the processor to itself, counted in uncompressed data. While both fit in
/// the time the device needs, the device decides; otherwise they share the processor.
///
/// ```
/// use quire_lab::super_scalar::result_bandwidth;
/// // §6.4: on a RAID of 350 MB/s a query of 580 MB/s gains nothing from a codec of 883 MB/s.
/// assert_eq!(result_bandwidth(350.0, 3.47, 580.0, 883.0).round(), 350.0);
/// ```
pub fn result_bandwidth(io: f64, ratio: f64, query: f64, decompression: f64) -> f64 {
    let delivered = io * ratio;
    if delivered / decompression + delivered / query <= 1.0 {
        delivered
    } else {
        query * decompression / (query + decompression)
    }
}

/// The paper's exception rate E′ with compulsory exceptions (§6.2.7), where `rate` of the values do not fit
/// codes of `width` bits.
///
/// A group of 128 values with 128 E exceptions has a list over the part (128 E − 1) / 128 E of it, in which no
/// link is longer than 2ʷ. [`expected_exception_rate`] is exact where this is a sketch.
pub fn effective_exception_rate(rate: f64, width: usize) -> f64 {
    let per_group = GROUP_VALUES as f64 * rate;
    if per_group <= 1.0 {
        return rate;
    }
    rate.max((per_group - 1.0) / per_group * (-(width as f64)).exp2())
}

/// The exception rate with compulsory exceptions that is expected of a full group, if each value by itself
/// fails to fit codes of `width` bits with probability `rate`.
///
/// Two of the 128 places that are d apart are neighbours on the list before compulsory exceptions with
/// probability E² (1 − E)ᵈ⁻¹, and then ⌊(d − 1) / 2ʷ⌋ of these lie between them.
pub fn expected_exception_rate(rate: f64, width: usize) -> f64 {
    let longest_link = code_mask(width).saturating_add(1);
    let mut neighbours = rate * rate;
    let mut compulsory = 0.0;
    for distance in 1..GROUP_VALUES {
        let between = (distance as u64 - 1) / longest_link;
        compulsory += (GROUP_VALUES - distance) as f64 * neighbours * between as f64;
        neighbours *= 1.0 - rate;
    }
    rate + compulsory / GROUP_VALUES as f64
}
