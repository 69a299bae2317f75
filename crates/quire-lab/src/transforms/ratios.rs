//! Figures 8 and 9: what a device makes of pages of integers and of strings.

use super::scenario::{IntegerTable, Magnitude, PAGE_BYTES, ScenarioStrings, StringTable};
use super::{CODECS, compressors, figure};
use crate::sample_text::made_up_text;
use crate::sectors::{SectorCodec, ZLIB_NOTE};
use crate::{Axis, Figure, Lab, LabError, Positions, Series, SeriesOrigin};
use quire_codec::transform::{Transform, TransformPageShape, to_storage};

/// Ratios of pages under one transform, one for each codec.
fn page_ratios(
    codecs: &mut [SectorCodec],
    transform: Transform,
    pages: &[(TransformPageShape<'_>, Vec<u8>)],
) -> Result<Vec<f64>, LabError> {
    let mut bytes = vec![0; codecs.len()];
    let mut image = vec![0; PAGE_BYTES];
    for (shape, page) in pages {
        to_storage(transform, *shape, page, &mut image)?;
        for (codec, bytes) in codecs.iter_mut().zip(&mut bytes) {
            *bytes += codec.device_bytes(&image);
        }
    }
    let raw_bytes = (pages.len() * PAGE_BYTES) as f64;
    let ratios = bytes.into_iter().map(|bytes| raw_bytes / bytes as f64);
    Ok(ratios.collect())
}

/// Compression ratios of pages of integers under the six scenarios: (a) large, (b) small.
pub(super) fn figure_8(lab: &Lab, magnitude: Magnitude) -> Result<Figure, LabError> {
    let table = IntegerTable::new(4, magnitude, 1)?;
    let page_count = lab.size(64, 4) as u32;
    let pages: Vec<_> = (0..page_count)
        .map(|number| (table.shape(), table.page(number)))
        .collect();
    let mut codecs = compressors()?;
    let mut ratios = vec![Vec::new(); CODECS.len()];
    for transform in Transform::ALL {
        let by_codec = page_ratios(&mut codecs, transform, &pages)?;
        for (ratios, ratio) in ratios.iter_mut().zip(by_codec) {
            ratios.push(ratio);
        }
    }
    let series = CODECS.into_iter().zip(ratios);
    let series = series.map(|(id, ratios)| Series::new(id.name(), SeriesOrigin::Measured, ratios));
    let (names, title) = match magnitude {
        Magnitude::Large => (
            ("paper-3-figure-8a", "figure 8 (a)"),
            "Compression ratio of pages of large integers",
        ),
        Magnitude::Small => (
            ("paper-3-figure-8b", "figure 8 (b)"),
            "Compression ratio of pages of small integers",
        ),
    };
    let positions = Positions::labels(Transform::ALL.map(Transform::name));
    let x = Axis::linear("transform", "");
    let mut figure = figure(lab, names, title, (x, positions), series.collect());
    figure.notes.extend([
        format!(
            "{page_count} pages of 32 four-byte integers a row, each sector of 4 KiB by itself; nothing is timed. The paper prints \
             no values, but four observations, which are judged above; XOR+CLT, of §III-2, is in none of them"
        ),
        ZLIB_NOTE.to_owned(),
    ]);
    Ok(figure)
}

/// The texts of figure 9: the user's, or four that are made up.
fn figure_9_texts(lab: &Lab, texts: &[&[u8]]) -> Result<Vec<Vec<u8>>, LabError> {
    if texts.iter().any(|text| text.is_empty()) {
        return Err(LabError::EmptyText);
    }
    if texts.is_empty() {
        let made_up = |seed: u64| made_up_text(90 + seed, lab.size(1 << 20, 1 << 14)).into_bytes();
        return Ok((0..4).map(made_up).collect());
    }
    Ok(texts.iter().map(|text| text.to_vec()).collect())
}

/// Compression ratios of pages of strings, as rows and as columns.
pub(super) fn figure_9(lab: &Lab, texts: &[&[u8]]) -> Result<Figure, LabError> {
    let all = figure_9_texts(lab, texts)?;
    let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    let page_count = lab.size(64, 4) as u32;
    let mut codecs = compressors()?;
    let transforms = [Transform::Rows, Transform::R2c];
    let mut ratios = vec![Vec::new(); CODECS.len() * transforms.len()];
    for strings in [
        ScenarioStrings::Fixed,
        ScenarioStrings::Variable,
        ScenarioStrings::Mixed,
    ] {
        let table = StringTable::new(strings, &all, 9)?;
        let pages: Vec<_> = (0..page_count).map(|number| table.page(number)).collect();
        for (at, transform) in transforms.into_iter().enumerate() {
            let by_codec = page_ratios(&mut codecs, transform, &pages)?;
            for (codec, ratio) in by_codec.into_iter().enumerate() {
                ratios[codec * transforms.len() + at].push(ratio);
            }
        }
    }
    let names = CODECS
        .into_iter()
        .flat_map(|id| ["rows", "columns"].map(|order| format!("{id}, {order}")));
    let gains: Vec<f64> = ratios.chunks_exact(2).map(gain_percent_max).collect();
    let series = names
        .zip(ratios)
        .map(|(name, ratios)| Series::new(name, SeriesOrigin::Measured, ratios));
    let positions = Positions::labels(["fixed", "variable", "mixed"]);
    let x = Axis::linear("length of the strings", "");
    let title = "Compression ratio of pages of strings";
    let names = ("paper-3-figure-9", "figure 9");
    let mut figure = figure(lab, names, title, (x, positions), series.collect());
    figure.notes.extend([
        format!(
            "{page_count} pages; each column of a page is a piece of one of {}, drawn for it; each sector of 4 KiB by itself; nothing is \
             timed. Columns gain up to {:.0} % with LZ4 and {:.0} % with zlib; the paper, on dickens, samba, osdb and webster of the \
             Silesia corpus: up to 27 and 35 %",
            match texts.len() {
                0 => "four made-up texts".to_owned(),
                1 => "the text named, the only one,".to_owned(),
                count => format!("the {count} texts named"),
            },
            gains[0],
            gains[1]
        ),
        ZLIB_NOTE.to_owned(),
    ]);
    Ok(figure)
}

/// The largest gain of columns over rows, in percent.
fn gain_percent_max(rows_and_columns: &[Vec<f64>]) -> f64 {
    let [rows, columns] = rows_and_columns else {
        return 0.0;
    };
    let gains = rows.iter().zip(columns);
    let gains = gains.map(|(rows, columns)| columns / rows - 1.0);
    100.0 * gains.fold(f64::NEG_INFINITY, f64::max)
}
