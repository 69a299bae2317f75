//! Figure 11 as figures.

use quire_codec::block::BlockCodecId;
use quire_lab::{
    Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin, judge,
    ratios_of_the_paper,
};

use crate::dual_format_system::database::DatabaseSize;
use crate::dual_format_system::measure::DualFormatResults;
use crate::dual_format_system::scenarios::{
    CODECS, EvaluatedDatabase, EvaluatedStorage, KeyOrder, PageScenario, codec_name,
};

const ZLIB_DRIVE: EvaluatedStorage = EvaluatedStorage::Drive(BlockCodecId::Zlib);

/// Behind the name of a drive, as the claims on figure 11 have it.
const IN_ORDER: &str = ", leaves built in order";

/// Ratios with the verdicts, bytes that are stored, lengths of files, and how full leaves are.
pub(crate) fn figures(results: &DualFormatResults) -> Vec<Figure> {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let mut figures = vec![
        figure(
            "paper-3-figure-11-system",
            Axis::linear("compression ratio", ""),
            ratios(results),
        ),
        figure(
            "paper-3-figure-11-system-stored",
            Axis::linear("stored", "MB"),
            of_databases(results, |size| megabytes(size.stored_bytes)),
        ),
        figure(
            "paper-3-figure-11-system-files",
            Axis::linear("length of the file", "MB"),
            of_databases(results, |size| megabytes(size.file_bytes)),
        ),
        figure(
            "paper-3-figure-11-system-fill",
            Axis::linear("fill of the leaves", "%"),
            of_databases(results, |size| size.contents.fill_percent()),
        ),
    ];
    judge(&mut figures);
    let notes = notes(results);
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    figures
}

fn figure(stem: &'static str, y: Axis, series: Vec<Series>) -> Figure {
    Figure {
        stem,
        title: "A whole database of 32 numbers and a string of 32 bytes a row, by the order of the bytes in its pages".to_owned(),
        paper: Paper::DualPageFormat,
        number: "figure 11",
        chart: Chart::Bars,
        x: Axis::linear("pages", ""),
        y,
        positions: Positions::labels(PageScenario::ALL.map(|scenario| scenario.name)),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// The bytes of plain rows by what is stored, of drives, of page compression, of files; and the paper's.
fn ratios(results: &DualFormatResults) -> Vec<Series> {
    let plain = EvaluatedDatabase::at_random(ZLIB_DRIVE, PageScenario::ROWS);
    let plain_bytes = results.of(plain).map_or(0, |size| size.contents.used_bytes);
    let by = |stored_bytes: u64| plain_bytes as f64 / stored_bytes.max(1) as f64;
    let mut series = of_databases(results, |size| by(size.stored_bytes));
    // Leaves that are fuller are fewer: what they use is not what rows in random order use.
    let own = series_of(
        results,
        ZLIB_DRIVE,
        KeyOrder::Ascending,
        DatabaseSize::ratio,
    );
    let in_order = series.iter_mut().find(|one| one.name.ends_with(IN_ORDER));
    if let Some(in_order) = in_order {
        in_order.values = own.values;
    }
    for codec in CODECS {
        let images = EvaluatedStorage::Images(codec);
        let mut pages = series_of(results, images, KeyOrder::Random, |size| {
            by(size.contents.hole_punched_bytes)
        });
        // Its pages are rows.
        for value in pages.values.iter_mut().skip(1) {
            *value = None;
        }
        pages.name = format!("page compression, {}", codec_name(codec));
        series.push(pages);
    }
    let mut paper = ratios_of_the_paper().map(Some).to_vec();
    paper.resize(PageScenario::ALL.len(), None);
    series.push(Series::paper("zlib drive", paper));
    series
}

/// A value of each database.
fn of_databases(results: &DualFormatResults, value: impl Fn(&DatabaseSize) -> f64) -> Vec<Series> {
    let drives = CODECS.map(EvaluatedStorage::Drive);
    let images = CODECS.map(EvaluatedStorage::Images);
    let storages = drives.into_iter().chain(images);
    let mut series: Vec<Series> = storages
        .map(|storage| series_of(results, storage, KeyOrder::Random, &value))
        .collect();
    let mut in_order = series_of(results, ZLIB_DRIVE, KeyOrder::Ascending, value);
    in_order.name += IN_ORDER;
    series.insert(drives.len(), in_order);
    series
}

fn series_of(
    results: &DualFormatResults,
    storage: EvaluatedStorage,
    order: KeyOrder,
    value: impl Fn(&DatabaseSize) -> f64,
) -> Series {
    let mut series = Series::new(storage.name(), SeriesOrigin::Measured, Vec::new());
    series.values = PageScenario::ALL
        .map(|scenario| {
            let database = EvaluatedDatabase {
                storage,
                scenario,
                order,
            };
            results.of(database).map(&value)
        })
        .to_vec();
    series
}

fn notes(results: &DualFormatResults) -> Vec<String> {
    let plain = EvaluatedDatabase::at_random(ZLIB_DRIVE, PageScenario::ROWS);
    let in_order = EvaluatedDatabase {
        order: KeyOrder::Ascending,
        ..plain
    };
    let fill = |database| {
        let size = results.of(database);
        size.map_or(0.0, |size| size.contents.fill_percent())
    };
    let drives_own = results.of(plain).and_then(|size| size.drive);
    let drives_own = drives_own.map_or(1.0, |drive| drive.compression_ratio());
    vec![
        Lab::new(MeasureEffort::Quick).machine().to_owned(),
        format!(
            "{} rows with a key of 8 bytes, inserted in random order and in transactions into a pool that has room for a part of them; then the database is closed. Leaves of 16 KiB are {:.0} % full, \
             {:.0} % if rows come in the order of their keys; the paper does not say how full its pages are",
            results.rows,
            fill(plain),
            fill(in_order)
        ),
        format!(
            "ratio: bytes that the database of rows uses on the drive (written and not discarded) by the bytes that are stored, pages of the catalog, inner pages and the map of pages included. \
             The paper's scenarios use as many bytes as rows, so theirs is the drive's ratio, as is that of leaves built in order. Blocks of zeros that the database has written count as used; the data set below has them as holes and leaves them \
             out of its own ratio, which is {drives_own:.2} for rows on the zlib drive"
        ),
        "drive: csd:lz4 and csd:zlib, page_codec = none, page_target_bytes = 16384; blocks of 4 KiB, each compressed by itself and packed tightly; its map of blocks is left out, as the paper's drive has it elsewhere. \
         Quire's images: page_codec = lz4 or zlib, images of any length in a file of which no drive compresses anything. Page compression: these images of rows, each rounded up to 4 KiB"
            .to_owned(),
        "rows to packed: compression = none; the last position has compression = auto, tuples in as few bytes as they need in memory, too. zlib is its format, as libdeflate writes it".to_owned(),
    ]
}
