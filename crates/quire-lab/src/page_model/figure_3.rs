//! Figure 3: how many pages a second are accessed, by the size of the data over that of the pool.

use super::codecs_here::CodecsHere;
use super::page_codec::PageCodecSpeed;
use super::paper::{COMPRESSED_SHARE, LZ4HC, SSD_8_KIB, SSD_16_KIB, ZLIB};
use super::{HitRates, compressed_access_us, uncompressed_access_us};
use crate::{Axis, Chart, Figure, Lab, Paper, Positions, Series, SeriesOrigin};

/// *D / BS*, where the paper's axis has it.
const DATA_TO_POOL: [f64; 8] = [4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0];

/// Figure 3, §V-B.
pub(super) fn figure(lab: &Lab, here: &CodecsHere) -> Figure {
    let series = [
        ("zlib, the paper's codec", ZLIB.codec),
        ("lz4hc, the paper's codec", LZ4HC.codec),
        ("zlib, this machine's codec", here.zlib),
        ("lz4hc, this machine's codec", here.lz4hc),
    ];
    let series = series.map(|(name, codec)| of_rates(name, |x| compressed_rate(x, codec)));
    let mut all = vec![of_rates("uncompressed", uncompressed_rate)];
    all.extend(series);
    let mut notes = vec![lab.machine().to_owned()];
    notes.extend(notes_on_the_model(here));
    notes.extend(here.notes());
    Figure {
        stem: "paper-4-figure-3",
        title: "Access to pages by the size of the data over that of the buffer pool".to_owned(),
        paper: Paper::PageCompression,
        number: "figure 3",
        chart: Chart::Lines,
        x: Axis::linear("size of the data by that of the pool", ""),
        y: Axis::linear("accesses to pages", "1/s"),
        positions: Positions::Numbers(DATA_TO_POOL.to_vec()),
        series: all,
        verdicts: Vec::new(),
        notes,
    }
}

fn of_rates(name: &str, rate: impl Fn(f64) -> Option<f64>) -> Series {
    Series {
        name: name.to_owned(),
        origin: SeriesOrigin::Calculated,
        values: DATA_TO_POOL.into_iter().map(rate).collect(),
    }
}

/// Equations 1 and 3; pages of 16 KiB are read.
fn uncompressed_rate(data_to_pool: f64) -> Option<f64> {
    let read_us = SSD_16_KIB.random_read_us()?;
    let hits = HitRates::of_uncompressed_pool(data_to_pool)?;
    per_second(uncompressed_access_us(read_us, hits)?)
}

/// Equations 2, 4 and 5; pages of 8 KiB are read.
fn compressed_rate(data_to_pool: f64, codec: PageCodecSpeed) -> Option<f64> {
    let read_us = SSD_8_KIB.random_read_us()?;
    let fraction = codec.compression_fraction;
    let hits = HitRates::of_compressed_pool(data_to_pool, COMPRESSED_SHARE, fraction)?;
    let decompression_us = codec.page_decompression_us()?;
    per_second(compressed_access_us(read_us, decompression_us, hits)?)
}

/// None where access takes no time.
fn per_second(access_us: f64) -> Option<f64> {
    (access_us > 0.0).then(|| 1e6 / access_us)
}

fn notes_on_the_model(here: &CodecsHere) -> Vec<String> {
    let of = |codec: PageCodecSpeed| codec.page_decompression_us().unwrap_or_default();
    let reads_us = [SSD_16_KIB, SSD_8_KIB].map(|ssd| ssd.random_read_us().unwrap_or_default());
    let saved_us = reads_us[0] - reads_us[1];
    vec![
        "calculated by equations 1 to 5 with tables II and III; the paper prints no values. It names no factor of its hit rates and no R \
         for this figure: here the factor is 1, and compressed pages have 90 % of the pool, InnoDB's default (§III)"
            .to_owned(),
        format!(
            "to decompress a page takes {:.1} µs with the paper's zlib and {:.1} µs with its lz4hc, {:.1} and {:.1} µs here. Reading 8 KiB \
             in place of 16 KiB saves {saved_us:.1} µs: with data many times as large as the pool, uncompressed pages are faster \
             where decompression takes longer than that",
            of(ZLIB.codec),
            of(LZ4HC.codec),
            of(here.zlib),
            of(here.lz4hc)
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rate: impl Fn(f64) -> Option<f64>) -> [f64; 4] {
        [4.0, 8.0, 16.0, 32.0].map(|x| rate(x).unwrap().round())
    }

    /// Calculated apart from this code, from equations 1 to 5 and tables II and III.
    #[test]
    fn curves_have_the_values_that_the_papers_numbers_give() {
        let expected = [2_671.0, 2_289.0, 2_137.0, 2_068.0];
        assert_eq!(at(uncompressed_rate), expected);
        let expected = [4_061.0, 2_555.0, 2_155.0, 1_998.0];
        assert_eq!(at(|x| compressed_rate(x, ZLIB.codec)), expected);
        let expected = [9_815.0, 4_628.0, 3_661.0, 3_314.0];
        assert_eq!(at(|x| compressed_rate(x, LZ4HC.codec)), expected);
    }

    #[test]
    fn a_pool_without_misses_has_no_rate_without_decompression() {
        assert_eq!(uncompressed_rate(1.0), None);
        assert!(compressed_rate(1.0, LZ4HC.codec).is_some());
        assert_eq!(uncompressed_rate(0.0), None);
    }
}
