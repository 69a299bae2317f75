//! How fast does a query get its data? Paper 2 (Zukowski), equation 6.1.

/// The bandwidth of results in MB/s of plain data, when the device delivers `io` MB/s of data compressed by `ratio`, and one processor shares its time
/// between a query and decompression, which by themselves have these bandwidths.
pub(super) fn scan_mb_s(io: f64, ratio: f64, query: f64, decompression: f64) -> f64 {
    let delivered = io * ratio;
    if delivered / decompression + delivered / query <= 1.0 {
        delivered
    } else {
        query * decompression / (query + decompression)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_those_of_the_paper() {
        // §6.4: on a RAID of 350 MB/s a query of 580 MB/s gains nothing from a codec of 883 MB/s.
        assert_eq!(scan_mb_s(350.0, 3.47, 580.0, 883.0).round(), 350.0);
        for io in [100.0, 350.0, 3_400.0] {
            for ratio in [1.0, 3.47, 9.0] {
                let expected = quire_lab::super_scalar::result_bandwidth(io, ratio, 580.0, 2_500.0);
                assert_eq!(scan_mb_s(io, ratio, 580.0, 2_500.0), expected);
            }
        }
    }
}
