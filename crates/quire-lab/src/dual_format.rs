//! Paper 3, §IV-B: the table of the system-level evaluation as leaves of Quire's B+tree, in every order of their bytes.

use crate::evaluated_table::{
    EVALUATED_NUMBERS, EvaluatedRows, EvaluatedWords, evaluated_keys, ratios_of_the_paper,
};
use crate::leaves::{FILL_PERCENT, LeafFormat, built_in_order, fill_percent, inserted, of_pages};
use crate::sectors::{SECTOR_BYTES, SectorCodec, ZLIB_NOTE};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_format::row_page::{PAGE_BYTES_DEFAULT, PageTransform, RowPage};
use quire_format::tuple::{TupleCompression, TupleType, TupleValue};

/// Rows the sizes are given for.
const TABLE_ROWS: f64 = 2e6;

/// Figure 11 with leaves as random inserts leave them; and with leaves that were built in order, the ratio and the size, with
/// numbers in as many bits as their range needs, and with strings so too. `text` is where the words of the strings come from.
pub(crate) fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    let words = EvaluatedWords::of(text)?;
    let rows = lab.size(40_000, 600) as u64;
    let mut figures = vec![figure_11(lab, &words, rows)?];
    figures.extend(figures_of_full_leaves(lab, &words, rows)?);
    Ok(figures)
}

/// As the paper has it: what a drive that compresses makes of the table, and what page compression with hole punching does.
fn figure_11(lab: &Lab, words: &EvaluatedWords, rows: u64) -> Result<Figure, LabError> {
    let table = EvaluatedTable::new(words, &TupleCompression::None)?;
    let inserted = inserted(evaluated_keys(rows), table.rows())?;
    let built = built_in_order(rows, table.rows())?;
    let (inserted_fill, built_fill) = (fill_percent(&inserted)?, fill_percent(&built)?);
    let mut series = Vec::new();
    let mut add = |name: &str, leaves: &[Vec<u8>], storage: PageStorage| {
        let ratios = table.ratios(leaves, storage)?;
        let mut one = Series::new(name, SeriesOrigin::Measured, Vec::new());
        one.values = ratios;
        series.push(one);
        Ok::<(), LabError>(())
    };
    for (name, codec) in [("LZ4", BlockCodecId::Lz4), ("zlib", BlockCodecId::Zlib)] {
        add(
            &format!("{name} drive"),
            &inserted,
            PageStorage::Drive(codec),
        )?;
    }
    let zlib_drive = PageStorage::Drive(BlockCodecId::Zlib);
    add("zlib drive, leaves built in order", &built, zlib_drive)?;
    for (name, codec) in [("LZ4", BlockCodecId::Lz4), ("zlib", BlockCodecId::Zlib)] {
        let storage = PageStorage::HolePunching(codec);
        add(&format!("page compression, {name}"), &inserted, storage)?;
    }
    for (name, codec) in [("LZ4", BlockCodecId::Lz4), ("zlib", BlockCodecId::Zlib)] {
        let storage = PageStorage::Images(codec);
        add(&format!("Quire's images, {name}"), &inserted, storage)?;
    }
    series.push(paper_series());
    let y = Axis::linear("compression ratio", "");
    let mut figure = figure(lab, "paper-3-figure-11", y, series);
    figure.notes.extend([
        format!(
            "leaves of {PAGE_BYTES_DEFAULT} bytes after {rows} rows were inserted in random order, {inserted_fill:.0} % full; built in order: \
             {built_fill:.0} %. The paper does not say how full its pages are, but that not all are 15/16 full; zeros compress"
        ),
        "drive: an image that no codec has compressed, with zeros for the free space, in sectors of 4 KiB, each compressed by itself and packed \
         tightly. Page compression: the page in memory, compressed and rounded up to 4 KiB, on a drive that does not compress. Quire's images: as \
         Quire stores pages compressed with that codec, of any length; packed is its own format"
            .to_owned(),
        ZLIB_NOTE.to_owned(),
    ]);
    Ok(figure)
}

/// Compression ratio and size of leaves that were built in order.
fn figures_of_full_leaves(
    lab: &Lab,
    words: &EvaluatedWords,
    rows: u64,
) -> Result<[Figure; 2], LabError> {
    let mut ratios = Vec::new();
    let mut sizes = Vec::new();
    for (tuples, compression) in [
        ("plain tuples", TupleCompression::None),
        ("compressed tuples", TupleCompression::NullSuppressed),
    ] {
        let table = EvaluatedTable::new(words, &compression)?;
        let leaves = built_in_order(rows, table.rows())?;
        for (name, storage) in STORAGES {
            let name = format!("{tuples}, {name}");
            let ratio = table.ratios(&leaves, storage)?;
            let page_bytes = (leaves.len() * PAGE_BYTES_DEFAULT) as f64;
            let megabytes = |ratio: f64| page_bytes / ratio / rows as f64 * TABLE_ROWS / 1e6;
            let mut size = Series::new(&name, SeriesOrigin::Measured, Vec::new());
            size.values = ratio.iter().map(|ratio| ratio.map(megabytes)).collect();
            sizes.push(size);
            let mut one = Series::new(&name, SeriesOrigin::Measured, Vec::new());
            one.values = ratio;
            ratios.push(one);
        }
    }
    ratios.push(paper_series());
    let ratio = Axis::linear("compression ratio", "");
    let size = Axis::linear("size of 2 million rows", "MB");
    let mut figures = [
        figure(lab, "paper-3-figure-11-full", ratio, ratios),
        figure(lab, "paper-3-figure-11-size", size, sizes),
    ];
    for figure in &mut figures {
        figure.notes.extend([
            format!(
                "leaves of {PAGE_BYTES_DEFAULT} bytes, built in order and filled to {FILL_PERCENT} %. Drive: an image that no codec has \
                 compressed, in pieces of {SECTOR_BYTES} bytes. Images: as Quire stores them. Sizes are those of a sample, for {TABLE_ROWS} rows; \
                 inner pages and what the volume adds are not in them"
            ),
            ZLIB_NOTE.to_owned(),
        ]);
    }
    Ok(figures)
}

fn paper_series() -> Series {
    let mut paper = ratios_of_the_paper().map(Some).to_vec();
    paper.resize(PageTransform::ALL.len(), None);
    Series::paper("zlib drive", paper)
}

fn figure(lab: &Lab, stem: &'static str, y: Axis, series: Vec<Series>) -> Figure {
    Figure {
        stem,
        title: "32 numbers and a string of 32 bytes a row, by the order of the bytes in pages".to_owned(),
        paper: Paper::DualPageFormat,
        number: "figure 11",
        chart: Chart::Bars,
        x: Axis::linear("transform", ""),
        y,
        positions: Positions::labels(PageTransform::ALL.map(PageTransform::name)),
        series,
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            "columns as in §IV-A2: a centre between 2^8 and 2^16 for each, numbers within a tenth of it; words drawn one by one as often as the \
             text has them; keys of 8 bytes; a sample in memory, of which nothing is timed. Ratios are of whole pages in memory"
                .to_owned(),
        ],
    }
}

/// How pages get onto storage.
#[derive(Clone, Copy)]
enum PageStorage {
    /// Not compressed, on a drive that compresses each sector.
    Drive(BlockCodecId),
    /// The page in memory compressed, in whole sectors of a drive that does not compress. It has one order of bytes: rows.
    HolePunching(BlockCodecId),
    /// Compressed images of any length.
    Images(BlockCodecId),
}

const STORAGES: [(&str, PageStorage); 5] = [
    ("LZ4 drive", PageStorage::Drive(BlockCodecId::Lz4)),
    ("zlib drive", PageStorage::Drive(BlockCodecId::Zlib)),
    ("LZ4 of images", PageStorage::Images(BlockCodecId::Lz4)),
    ("zlib of images", PageStorage::Images(BlockCodecId::Zlib)),
    ("zstd of images", PageStorage::Images(BlockCodecId::Zstd)),
];

/// The table of the paper: 32 numbers and a string a row.
struct EvaluatedTable<'a> {
    format: LeafFormat,
    words: &'a EvaluatedWords,
}

impl<'a> EvaluatedTable<'a> {
    fn new(words: &'a EvaluatedWords, compression: &TupleCompression) -> Result<Self, LabError> {
        let mut types = vec![TupleType::Int32; EVALUATED_NUMBERS];
        types.push(TupleType::Text);
        Ok(Self {
            format: LeafFormat::new(types, compression)?,
            words,
        })
    }

    /// Writes the tuples of the table, from the first on.
    fn rows(&self) -> impl FnMut(&mut Vec<u8>) -> Result<(), LabError> + use<'_> {
        let mut rows = EvaluatedRows::new(self.words);
        move |tuple| {
            let Some(row) = rows.next() else {
                return Ok(());
            };
            let numbers = row.numbers.iter();
            let numbers = numbers.map(|number| TupleValue::Integer(i64::from(*number)));
            let mut values: Vec<TupleValue<'_>> = numbers.collect();
            values.push(TupleValue::Bytes(row.string.as_bytes()));
            self.format.layout.encode(&values, tuple).map_err(of_pages)
        }
    }

    /// The compression ratio of leaves under each transform; none of transforms that cannot be stored so.
    fn ratios(
        &self,
        leaves: &[Vec<u8>],
        storage: PageStorage,
    ) -> Result<Vec<Option<f64>>, LabError> {
        let page_bytes = (leaves.len() * PAGE_BYTES_DEFAULT) as f64;
        let mut ratios = Vec::new();
        for transform in PageTransform::ALL {
            let bytes = self.stored_bytes(leaves, storage, transform)?;
            ratios.push(bytes.map(|bytes| page_bytes / bytes as f64));
        }
        Ok(ratios)
    }

    /// Bytes of leaves on storage.
    fn stored_bytes(
        &self,
        leaves: &[Vec<u8>],
        storage: PageStorage,
        transform: PageTransform,
    ) -> Result<Option<usize>, LabError> {
        let (image_codec, device_codec) = match storage {
            PageStorage::Drive(codec) => (BlockCodecId::None, codec),
            PageStorage::HolePunching(codec) => (BlockCodecId::None, codec),
            PageStorage::Images(codec) => (codec, BlockCodecId::None),
        };
        let mut codec = open(image_codec, &BlockOptions::default())?;
        let mut device = SectorCodec::open(device_codec)?;
        let mut bytes = 0;
        for leaf in leaves {
            let page = RowPage::trusted(leaf)?;
            bytes += match storage {
                PageStorage::HolePunching(_) if transform != PageTransform::ROWS => {
                    return Ok(None);
                }
                PageStorage::HolePunching(_) => device.hole_punched_bytes(leaf),
                PageStorage::Images(_) => {
                    self.format.image(&page, transform, codec.as_mut())?.len()
                }
                PageStorage::Drive(_) => {
                    let mut image = self.format.image(&page, transform, codec.as_mut())?;
                    let page_bytes = image.len().max(leaf.len());
                    image.resize(page_bytes.next_multiple_of(SECTOR_BYTES), 0);
                    device.device_bytes(&image)
                }
            };
        }
        Ok(Some(bytes))
    }
}
