//! Table 6.1 as the paper prints it: TPC-H at scale 100.

/// The paper's scale.
pub(crate) const SCALE: f64 = 100.0;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaperTpchRow {
    pub(crate) number: u32,
    /// Compression ratios: of columns stored apart (DSM), and of blocks with all columns (PAX).
    pub(crate) ratios: [f64; 2],
    /// MB/s of decompression: Pentium4, Opteron.
    pub(crate) decompression: [f64; 2],
    /// Seconds on the Pentium4: DSM uncompressed, memory to cache, memory to memory; PAX uncompressed, memory to cache.
    pub(crate) pentium4: [f64; 5],
    /// Seconds on the Opteron: DSM uncompressed, memory to cache; PAX uncompressed, memory to cache.
    pub(crate) opteron: [f64; 4],
    /// Seconds of DB2 8.1 with 8 processors and 142 disks.
    pub(crate) db2: f64,
}

const fn row(
    number: u32,
    ratios: [f64; 2],
    decompression: [f64; 2],
    pentium4: [f64; 5],
    opteron: [f64; 4],
    db2: f64,
) -> PaperTpchRow {
    PaperTpchRow {
        number,
        ratios,
        decompression,
        pentium4,
        opteron,
        db2,
    }
}

/// Table 6.1.
#[rustfmt::skip]
pub(crate) const ROWS: [PaperTpchRow; 11] = [
    row(1, [4.33, 2.30], [4_502.0, 3_736.0], [65.9, 50.9, 63.8, 265.0, 103.0], [307.2, 69.6, 1_098.9, 480.3], 111.9),
    row(3, [3.04, 1.66], [2_306.0, 2_546.0], [8.9, 6.0, 7.1, 45.5, 27.0], [35.0, 11.3, 183.5, 113.6], 15.1),
    row(4, [8.15, 1.82], [3_709.0, 3_018.0], [4.8, 1.8, 2.3, 30.2, 16.5], [18.2, 2.4, 115.5, 65.9], 12.5),
    row(5, [3.81, 2.24], [2_421.0, 2_119.0], [17.2, 16.2, 16.7, 81.2, 36.7], [54.3, 15.3, 300.1, 155.9], 84.0),
    row(6, [4.39, 2.25], [2_200.0, 2_031.0], [10.8, 4.6, 6.1, 51.0, 22.5], [48.2, 10.7, 232.7, 104.3], 17.1),
    row(7, [1.71, 2.01], [1_457.0, 1_251.0], [34.4, 40.8, 48.3, 158.0, 76.5], [119.8, 72.0, 614.2, 349.4], 86.5),
    row(11, [2.14, 1.08], [4_084.0, 3_225.0], [18.8, 18.5, 19.4, 38.8, 35.6], [27.0, 14.6, 180.9, 162.2], 19.5),
    row(14, [1.91, 1.94], [3_688.0, 2_888.0], [5.8, 4.9, 5.4, 22.1, 11.5], [23.7, 12.2, 90.6, 46.9], 10.9),
    row(15, [2.70, 2.13], [2_584.0, 2_464.0], [30.3, 31.2, 31.3, 49.6, 40.0], [44.9, 22.4, 209.8, 97.1], 21.6),
    row(18, [3.56, 2.75], [4_315.0, 3_833.0], [38.9, 13.6, 21.3, 419.9, 151.5], [181.9, 50.6, 1_379.7, 704.9], 318.2),
    row(21, [4.11, 2.12], [2_600.0, 2_520.0], [43.2, 24.2, 32.1, 338.0, 157.6], [197.6, 46.6, 1_423.5, 759.2], 374.9),
];

/// Query 1 on the Pentium4 over compressed columns, decompressed into the cache, for which its processor decides.
pub(crate) const PROCESSOR_SECONDS: f64 = ROWS[0].pentium4[1];

/// The Opteron's processor by the Pentium4's: by what both decompress for query 1. The clocks, 3 and 2 GHz, would be 1.5. Then query 1 would keep the Opteron busy for
/// 76.4 s; the paper measured 69.6 s on it, disk included.
pub(crate) const OPTERON_SECONDS_PER_PENTIUM4_SECOND: f64 =
    ROWS[0].decompression[0] / ROWS[0].decompression[1];

/// The row of a query.
pub(crate) fn row_of(number: u32) -> Option<&'static PaperTpchRow> {
    ROWS.iter().find(|row| row.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_compared_by_query_1() {
        assert_eq!(ROWS[0].number, 1);
        assert_eq!(PROCESSOR_SECONDS, 50.9);
        let opteron_seconds = PROCESSOR_SECONDS * OPTERON_SECONDS_PER_PENTIUM4_SECOND;
        let [_, measured, ..] = ROWS[0].opteron;
        assert!((61.0..measured).contains(&opteron_seconds));
        // By the clocks alone it would take longer than it did.
        assert!(PROCESSOR_SECONDS * 3.0 / 2.0 > measured);
    }

    /// What the text beside the table says of it, so that a slip of the pen is noticed.
    #[test]
    fn the_table_says_what_the_paper_says_of_it() {
        let fast = ROWS.iter().filter(|row| row.decompression[1] > 2_000.0);
        assert_eq!(fast.count(), 10);
        for row in ROWS {
            let [_, to_cache, to_memory, ..] = row.pentium4;
            assert!(to_memory > to_cache, "{}", row.number);
            let [plain, compressed, ..] = row.opteron;
            let share = plain / compressed / row.ratios[0];
            assert!(
                (0.8..1.2).contains(&share) || row.number == 15,
                "{}",
                row.number
            );
        }
    }
}
