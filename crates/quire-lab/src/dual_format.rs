//! Paper 3, §IV-B: the table of the system-level evaluation as leaves of Quire's B+tree, in every order of their bytes.

use crate::random::LabRandom;
use crate::sample_text::made_up_text;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    BuildOptions, LevelBuilder, PAGE_BYTES_DEFAULT, PageTransform, RowPage, RowPageShape,
    encode_image, encode_image_as,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};

const NUMBER_COLUMNS: usize = 32;
const STRING_BYTES: usize = 32;

/// Rows the sizes are given for.
const TABLE_ROWS: f64 = 2e6;

/// Storage compresses each sector by itself (§II-B).
const SECTOR_BYTES: usize = 4096;

/// How full pages are, in percent: 15/16 as in §IV-A1.
const FILL_PERCENT: u8 = 94;

/// What the text of the paper says of figure 11: the ratio of rows, and what the other scenarios add to it.
const PAPER_RATIO: f64 = 2.08;
const PAPER_GAINS: [f64; 6] = [0.0, 0.206, 0.305, 0.449, 0.375, 0.408];

/// Compression ratio and size of the table under the six scenarios, with numbers in as many bits as their range needs,
/// and with strings so too. `text` is where the words of its strings come from.
pub fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    let made_up = made_up_text(11, 1 << 20);
    let words = Words::of(text.unwrap_or(made_up.as_bytes()))?;
    let mut ratios = Vec::new();
    let mut sizes = Vec::new();
    for (tuples, compression) in [
        ("plain tuples", TupleCompression::None),
        ("compressed tuples", TupleCompression::NullSuppressed),
    ] {
        let table = TupleTable::new(&compression)?;
        let leaves = table.leaves(&words, lab.size(40_000, 600))?;
        for way in WAYS {
            let mut codec = open(way.codec, &BlockOptions::default())?;
            let bytes = leaves.bytes(&table.shape, way, codec.as_mut())?;
            let name = format!("{tuples}, {}", way.name);
            let page_bytes = (leaves.pages.len() * PAGE_BYTES_DEFAULT) as f64;
            let ratio = bytes.iter().map(|bytes| page_bytes / *bytes as f64);
            ratios.push(Series::new(&name, SeriesOrigin::Measured, ratio.collect()));
            let megabytes = |bytes: &usize| *bytes as f64 / leaves.rows as f64 * TABLE_ROWS / 1e6;
            let size = bytes.iter().map(megabytes);
            sizes.push(Series::new(&name, SeriesOrigin::Measured, size.collect()));
        }
    }
    let gains = PAPER_GAINS.map(|gain| Some(PAPER_RATIO * (1.0 + gain)));
    let mut paper = gains.to_vec();
    paper.resize(PageTransform::ALL.len(), None);
    ratios.push(Series::paper("zlib of sectors, in the drive", paper));
    let ratio = Axis::linear("compression ratio", "");
    let size = Axis::linear("size of 2 million rows", "MB");
    Ok(vec![
        figure(lab, "paper-3-figure-11", ratio, ratios),
        figure(lab, "paper-3-figure-11-size", size, sizes),
    ])
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
            format!(
                "leaves of {PAGE_BYTES_DEFAULT} bytes, filled to {FILL_PERCENT} %, keys of 8 bytes; nothing is timed. Ratios are \
                 of whole pages in memory. Sectors: an image that no codec has compressed, in pieces of {SECTOR_BYTES} bytes, as a \
                 drive would. Images: as Quire stores them. Sizes are those of a sample, for {TABLE_ROWS} rows; inner pages and \
                 what the volume adds are not in them"
            ),
            "columns as in §IV-A2: a centre between 2^8 and 2^16 for each, numbers within a tenth of it; words drawn one by \
             one as often as the text has them. The paper's pages are not all 15/16 full, as those of a table that was \
             not built at once are, and zeros compress: its ratios are the higher for that"
                .to_owned(),
        ],
    }
}

/// A way to compress images.
#[derive(Clone, Copy)]
struct CompressionMethod {
    name: &'static str,
    codec: BlockCodecId,
    sectors: bool,
}

const WAYS: [CompressionMethod; 5] = [
    CompressionMethod {
        name: "LZ4 of sectors",
        codec: BlockCodecId::Lz4,
        sectors: true,
    },
    CompressionMethod {
        name: "zlib of sectors",
        codec: BlockCodecId::Zlib,
        sectors: true,
    },
    CompressionMethod {
        name: "LZ4 of images",
        codec: BlockCodecId::Lz4,
        sectors: false,
    },
    CompressionMethod {
        name: "zlib of images",
        codec: BlockCodecId::Zlib,
        sectors: false,
    },
    CompressionMethod {
        name: "zstd of images",
        codec: BlockCodecId::Zstd,
        sectors: false,
    },
];

/// Words of a text, each as often as it is there.
struct Words<'a>(Vec<&'a [u8]>);

impl<'a> Words<'a> {
    fn of(text: &'a [u8]) -> Result<Self, LabError> {
        let words = text.split(|byte| !byte.is_ascii_alphabetic());
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            Err(LabError::EmptyText)
        } else {
            Ok(Self(words))
        }
    }

    /// Writes words to `string` until they are long enough, and cuts them.
    fn string(&self, random: &mut LabRandom, string: &mut Vec<u8>) {
        string.clear();
        while string.len() < STRING_BYTES {
            if !string.is_empty() {
                string.push(b' ');
            }
            let number = random.below(self.0.len() as u64) as usize;
            string.extend_from_slice(self.0.get(number).copied().unwrap_or_default());
        }
        string.truncate(STRING_BYTES);
    }
}

/// How rows of the table are tuples.
struct TupleTable {
    layout: TupleLayout,
    shape: RowPageShape,
}

/// Leaves, and how many rows are in them.
struct DualFormatLeaves {
    pages: Vec<Vec<u8>>,
    rows: usize,
}

impl TupleTable {
    fn new(compression: &TupleCompression) -> Result<Self, LabError> {
        let column = |column_type| TupleColumn {
            column_type,
            nullable: false,
            compression: compression.clone(),
        };
        let mut columns = vec![column(TupleType::Int32); NUMBER_COLUMNS];
        columns.push(column(TupleType::Text));
        let layout = TupleLayout::new(&columns).map_err(of_pages)?;
        let shape = layout.page_shape().map_err(of_pages)?;
        Ok(Self { layout, shape })
    }

    fn leaves(&self, words: &Words<'_>, rows: usize) -> Result<DualFormatLeaves, LabError> {
        let mut random = LabRandom(42);
        let centres = [(); NUMBER_COLUMNS].map(|()| 256 + random.below((1 << 16) - 256));
        let mut builder = LevelBuilder::new(BuildOptions {
            page_bytes: PAGE_BYTES_DEFAULT,
            level: 0,
            layout: 1,
            lsn: 1,
            fill_percent: FILL_PERCENT,
        })
        .map_err(of_pages)?;
        let (mut pages, mut string, mut tuple) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows as u64 {
            words.string(&mut random, &mut string);
            let number = |centre: u64| {
                let least = centre * 9 / 10;
                TupleValue::Integer((least + random.below(centre * 11 / 10 + 1 - least)) as i64)
            };
            let mut values: Vec<TupleValue<'_>> = centres.map(number).to_vec();
            values.push(TupleValue::Bytes(&string));
            tuple.clear();
            self.layout.encode(&values, &mut tuple).map_err(of_pages)?;
            let built = builder
                .push(&row.to_be_bytes(), &tuple, false)
                .map_err(of_pages)?;
            pages.extend(built.map(|page| page.bytes));
        }
        let last = builder.finish().map_err(of_pages)?;
        pages.extend(last.into_iter().map(|page| page.bytes));
        Ok(DualFormatLeaves { pages, rows })
    }
}

fn of_pages(error: impl std::error::Error) -> LabError {
    LabError::Pages(error.to_string())
}

impl DualFormatLeaves {
    /// Bytes of all leaves under each transform.
    fn bytes(
        &self,
        shape: &RowPageShape,
        way: CompressionMethod,
        codec: &mut dyn BlockCodec,
    ) -> Result<Vec<usize>, LabError> {
        let mut stored = open(BlockCodecId::None, &BlockOptions::default())?;
        let mut room = vec![0; 2 * SECTOR_BYTES];
        let mut all = vec![0; PageTransform::ALL.len()];
        for (bytes, transform) in all.iter_mut().zip(PageTransform::ALL) {
            for page in &self.pages {
                let page = RowPage::trusted(page)?;
                if !way.sectors {
                    *bytes += image(&page, transform, shape, codec)?.len();
                    continue;
                }
                let image = image(&page, transform, shape, stored.as_mut())?;
                for sector in image.chunks(SECTOR_BYTES) {
                    let limit = room.len();
                    let written = codec.compress(sector, &mut room, limit);
                    *bytes += written.unwrap_or(sector.len()).min(sector.len());
                }
            }
        }
        Ok(all)
    }
}

fn image(
    page: &RowPage<'_>,
    transform: PageTransform,
    shape: &RowPageShape,
    codec: &mut dyn BlockCodec,
) -> Result<Vec<u8>, LabError> {
    Ok(match transform {
        PageTransform::ROWS => encode_image(page, codec)?,
        _ => encode_image_as(page, transform, shape, codec)?,
    })
}
