//! Table VII: the expected time of access to a page, beside what equations 1 and 2 give.

use super::codecs_here::CodecsHere;
use super::paper::{LZ4HC, SSD_8_KIB, SSD_16_KIB, ZLIB};
use super::paper::{UNCOMPRESSED_ACCESS_US, UNCOMPRESSED_HIT_RATE};
use super::{HitRates, compressed_access_us, uncompressed_access_us};
use crate::{Axis, Chart, Figure, Lab, Paper, Positions, Series, SeriesOrigin};

/// Table VII, §VI-B.
pub(super) fn figure(lab: &Lab, here: &CodecsHere) -> Figure {
    let paper_times = [LZ4HC, ZLIB].map(|one| Some(one.page_decompression_us));
    let times_here = [&here.lz4hc, &here.zlib].map(|codec| codec.page_decompression_us());
    let calculated = |name: &str, decompression_us| Series {
        name: name.to_owned(),
        origin: SeriesOrigin::Calculated,
        values: access_us(decompression_us),
    };
    let printed = [UNCOMPRESSED_ACCESS_US, LZ4HC.access_us, ZLIB.access_us];
    let mut notes = vec![lab.machine().to_owned()];
    notes.extend(notes_on_equations());
    notes.extend(here.notes());
    Figure {
        stem: "paper-4-table-7",
        title: "Expected access to a page by the hit rates of the buffer pool".to_owned(),
        paper: Paper::PageCompression,
        number: "table VII",
        chart: Chart::Bars,
        x: Axis::linear("pages", ""),
        y: Axis::linear("access to a page", "µs"),
        positions: Positions::labels(["uncompressed", LZ4HC.name, ZLIB.name]),
        series: vec![
            calculated("equations 1 and 2", paper_times),
            calculated("equations 1 and 2, this machine's codecs", times_here),
            Series::paper("the paper", printed.map(Some).to_vec()),
        ],
        verdicts: Vec::new(),
        notes,
    }
}

/// Without compression, with lz4hc and with zlib, by what these two take to decompress a page.
fn access_us(decompression_us: [Option<f64>; 2]) -> Vec<Option<f64>> {
    let uncompressed = || {
        let hits = HitRates::new(UNCOMPRESSED_HIT_RATE, 0.0)?;
        uncompressed_access_us(SSD_16_KIB.random_read_us()?, hits)
    };
    let mut times = vec![uncompressed()];
    for (evaluated, decompression_us) in [LZ4HC, ZLIB].into_iter().zip(decompression_us) {
        let compressed = || {
            compressed_access_us(
                SSD_8_KIB.random_read_us()?,
                decompression_us?,
                evaluated.hit_rates()?,
            )
        };
        times.push(compressed());
    }
    times
}

fn notes_on_equations() -> Vec<String> {
    let reads = [SSD_8_KIB, SSD_16_KIB].map(|ssd| ssd.random_read_us().unwrap_or_default());
    let [_, uncompressed_read_us] = reads;
    let rate = 100.0 * (1.0 - UNCOMPRESSED_ACCESS_US / uncompressed_read_us);
    let equation_1 = access_us([None; 2]).first().copied().flatten();
    vec![
        format!(
            "a read of the SSD takes {:.2} µs for 8 KiB and {:.2} µs for 16 KiB (table II; its MB are MiB, which the values of equation 2 \
             need); decompression of a page is that of table V, with this machine's codecs that of 16 KiB of text; hit rates are those of \
             table VI for both",
            reads[0], uncompressed_read_us
        ),
        format!(
            "equation 1 gives {:.2} µs for the hit rate of table VI, {:.2} %; the paper prints {UNCOMPRESSED_ACCESS_US} µs, which is a hit \
             rate of {rate:.1} %",
            equation_1.unwrap_or_default(),
            100.0 * UNCOMPRESSED_HIT_RATE
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeasureEffort;

    #[test]
    fn the_deviation_of_equation_1_is_told() {
        let lab = Lab::new(MeasureEffort::Quick);
        let (zlib, lz4hc) = (ZLIB.codec, LZ4HC.codec);
        let pages = String::new();
        let figure = figure(&lab, &CodecsHere { zlib, lz4hc, pages });
        for words in [
            "gives 92.35 µs",
            "prints 94.85 µs",
            "of 81.0 %",
            "303.63",
            "499.20",
        ] {
            assert!(
                figure.notes.iter().any(|note| note.contains(words)),
                "{words}"
            );
        }
        let rounded = |series: &Series| -> Vec<f64> {
            let values = series.values.iter().flatten();
            values.map(|us| (us * 100.0).round() / 100.0).collect()
        };
        assert_eq!(rounded(&figure.series[0]), [92.35, 62.28, 102.36]);
        // 233.07 and 26.64 µs in place of 208.06 and 49.88, by the share of accesses that decompress.
        let faster = 62.28 - 0.2746 * (49.88 - 26.643);
        let slower = 102.36 + 0.2754 * (233.07 - 208.06);
        let here = figure.series[1].values.iter().flatten().skip(1);
        for (value, expected) in here.zip([faster, slower]) {
            assert!((value - expected).abs() < 0.02, "{value}, {expected}");
        }
        assert_eq!(rounded(&figure.series[2]), [94.85, 62.28, 102.36]);
    }
}
