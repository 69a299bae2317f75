//! Paper 3, §III and §IV-A: the order of a page's bytes, and what block codecs make of it.

pub mod scenario;

use crate::sample_text::made_up_text;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_codec::transform::{
    LayoutColumn, Transform, TransformError, TransformPageShape, TransformRowLayout, to_memory,
    to_storage,
};
use scenario::{
    IntegerTable, Magnitude, PAGE_BYTES, SECTOR_BYTES, ScenarioStrings, StringTable,
    constant_byte_block, repeated_vector_block,
};
use std::hint::black_box;

const CODECS: [BlockCodecId; 3] = [BlockCodecId::Lz4, BlockCodecId::Zlib, BlockCodecId::Zstd];

/// All of them. `text` fills the strings of figure 9; without it four texts are made up.
pub fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    Ok(vec![
        figure_4(lab)?,
        figure_5(lab)?,
        figure_7(lab)?,
        figure_8(lab, Magnitude::Large)?,
        figure_8(lab, Magnitude::Small)?,
        figure_9(lab, text)?,
    ])
}

/// Block codecs with room for whatever they write.
struct Compressors {
    codecs: Vec<Box<dyn BlockCodec>>,
    room: Vec<u8>,
}

impl Compressors {
    fn new() -> Result<Self, LabError> {
        let codecs = CODECS
            .into_iter()
            .map(|id| open(id, &BlockOptions::default()));
        Ok(Self {
            codecs: codecs.collect::<Result<_, _>>()?,
            room: Vec::new(),
        })
    }

    /// Bytes that codec `codec` makes of a block; those of the block where it does not shrink.
    fn bytes(&mut self, codec: usize, block: &[u8]) -> usize {
        self.room.resize(2 * block.len() + 1024, 0);
        let limit = self.room.len();
        let written = self.codecs[codec].compress(block, &mut self.room, limit);
        written.unwrap_or(block.len()).min(block.len())
    }

    /// The same of an image, each sector by itself.
    fn sector_bytes(&mut self, codec: usize, image: &[u8]) -> usize {
        let sectors = image.chunks(SECTOR_BYTES);
        sectors.map(|sector| self.bytes(codec, sector)).sum()
    }
}

fn ratio_axis() -> Axis {
    Axis::linear("compression ratio", "")
}

fn figure(
    lab: &Lab,
    (stem, number): (&'static str, &'static str),
    title: &str,
    (x, positions): (Axis, Positions),
    series: Vec<Series>,
) -> Figure {
    let chart = match positions {
        Positions::Numbers(_) => Chart::Lines,
        Positions::Labels(_) => Chart::Bars,
    };
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::DualPageFormat,
        number,
        chart,
        x,
        y: ratio_axis(),
        positions,
        series,
        verdicts: Vec::new(),
        notes: vec![lab.machine().to_owned()],
    }
}

/// The ratio of each codec on random blocks, over a parameter of them.
fn block_ratios(
    parameters: &[usize],
    block: impl Fn(usize) -> Vec<u8>,
) -> Result<Vec<Series>, LabError> {
    let mut compressors = Compressors::new()?;
    let mut series = Vec::new();
    for (codec, id) in CODECS.into_iter().enumerate() {
        let ratios = parameters.iter().map(|&parameter| {
            let block = block(parameter);
            block.len() as f64 / compressors.bytes(codec, &block) as f64
        });
        series.push(Series::new(
            id.name(),
            SeriesOrigin::Measured,
            ratios.collect(),
        ));
    }
    Ok(series)
}

fn numbers(parameters: &[usize]) -> Positions {
    Positions::Numbers(
        parameters
            .iter()
            .map(|&parameter| parameter as f64)
            .collect(),
    )
}

/// Random bytes of which some, at random places, are one constant.
pub fn figure_4(lab: &Lab) -> Result<Figure, LabError> {
    let percents = [10, 20, 30, 40, 50, 60];
    let block_bytes = lab.size(1 << 16, 1 << 13);
    let series = block_ratios(&percents, |percent| {
        constant_byte_block(percent as u64, block_bytes, 4)
    })?;
    let x = Axis::linear("constant bytes", "%");
    let title = "Constant bytes at random places: what entropy coding gains";
    let names = ("paper-3-figure-4", "figure 4");
    let mut figure = figure(lab, names, title, (x, numbers(&percents)), series);
    figure.notes.push(format!(
        "one block of {block_bytes} bytes; nothing is timed; the paper prints no values, but that codecs with \
         entropy coding gain more"
    ));
    Ok(figure)
}

/// Constant vectors and random ones in turns.
pub fn figure_5(lab: &Lab) -> Result<Figure, LabError> {
    let lengths = [2, 4, 6, 8, 12, 16, 20, 24];
    let block_bytes = lab.size(1 << 16, 1 << 13);
    let series = block_ratios(&lengths, |vector_bytes| {
        repeated_vector_block(vector_bytes, block_bytes, 5)
    })?;
    let x = Axis::linear("length of the repeated vector", "bytes");
    let title = "Half constant, half random: what longer repetitions gain";
    let names = ("paper-3-figure-5", "figure 5");
    let mut figure = figure(lab, names, title, (x, numbers(&lengths)), series);
    figure.notes.push(format!(
        "one block of {block_bytes} bytes; nothing is timed; the paper prints no values, but that codecs \
         without entropy coding gain more"
    ));
    Ok(figure)
}

/// A page as a buffer pool would align it.
#[repr(align(4096))]
struct AlignedPage([u8; PAGE_BYTES]);

/// Time to convert a page of rows of 32 integers, each way.
pub fn figure_7(lab: &Lab) -> Result<Figure, LabError> {
    let table = IntegerTable::new(4, Magnitude::Small, 7)?;
    let mut page = AlignedPage([0; PAGE_BYTES]);
    page.0.copy_from_slice(&table.page(0));
    let mut series = Vec::new();
    for field_bytes in [2u16, 4, 8] {
        let layout = TransformRowLayout::new(&[LayoutColumn::Number(field_bytes); 32])?;
        let shape = TransformPageShape {
            layout: &layout,
            lead_bytes: 0,
            row_count: PAGE_BYTES / 16 * 15 / layout.row_bytes(),
        };
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for transform in Transform::ALL {
            let [to_storage, to_memory] = latency_us(lab, transform, shape, &page)?;
            there.push(to_storage);
            back.push(to_memory);
        }
        let name = |way: &str| format!("{field_bytes} bytes, {way}");
        series.push(Series::new(
            name("to storage"),
            SeriesOrigin::Measured,
            there,
        ));
        series.push(Series::new(name("to memory"), SeriesOrigin::Measured, back));
        // §IV-A1 prints R2C, and what the others take longer.
        let r2c = match field_bytes {
            2 => 16.7,
            8 => 6.6,
            _ => continue,
        };
        let paper = [None, Some(0.0), Some(5.0), Some(15.0), Some(3.0), Some(8.0)];
        let paper = paper.map(|longer| longer.map(|us| r2c + us));
        series.push(Series::paper(
            format!("{field_bytes} bytes"),
            paper.to_vec(),
        ));
    }
    let positions = Positions::labels(Transform::ALL.map(Transform::name));
    let x = Axis::linear("transform", "");
    let title = "Time to convert a page of 16 KiB";
    let names = ("paper-3-figure-7", "figure 7");
    let mut figure = figure(lab, names, title, (x, positions), series);
    figure.y = Axis::logarithmic("time of a page", "µs");
    figure.notes.push(
        "rows of 32 fields fill 15/16 of the page; a page in cache; median of rounds. Rows are copied. The \
         paper prints R2C of 2 and 8 bytes, 16.7 and 6.6 µs, and about what the others add: XOR 3, RLT 5, \
         XOR+RLT 8, CLT 15"
            .to_owned(),
    );
    Ok(figure)
}

/// Microseconds of one page to storage, and back to memory.
fn latency_us(
    lab: &Lab,
    transform: Transform,
    shape: TransformPageShape<'_>,
    page: &AlignedPage,
) -> Result<[f64; 2], LabError> {
    let (mut image, mut restored) = (AlignedPage([0; PAGE_BYTES]), AlignedPage([0; PAGE_BYTES]));
    let there = lab.nanoseconds(|| {
        to_storage(transform, shape, black_box(&page.0), &mut image.0)?;
        black_box(&mut image);
        Ok::<(), TransformError>(())
    })?;
    let back = lab.nanoseconds(|| {
        to_memory(transform, shape, black_box(&image.0), &mut restored.0)?;
        black_box(&mut restored);
        Ok::<(), TransformError>(())
    })?;
    if restored.0 == page.0 {
        Ok([there, back].map(|ns| ns / 1e3))
    } else {
        Err(LabError::NotRestored {
            codec: transform.to_string(),
        })
    }
}

/// Ratios of pages under one transform, one for each codec.
fn page_ratios(
    compressors: &mut Compressors,
    transform: Transform,
    pages: &[(TransformPageShape<'_>, Vec<u8>)],
) -> Result<[f64; 3], LabError> {
    let mut bytes = [0; 3];
    let mut image = vec![0; PAGE_BYTES];
    for (shape, page) in pages {
        to_storage(transform, *shape, page, &mut image)?;
        for (codec, bytes) in bytes.iter_mut().enumerate() {
            *bytes += compressors.sector_bytes(codec, &image);
        }
    }
    let raw_bytes = (pages.len() * PAGE_BYTES) as f64;
    Ok(bytes.map(|bytes| raw_bytes / bytes as f64))
}

/// Compression ratios of pages of integers under the six scenarios: (a) large, (b) small.
pub fn figure_8(lab: &Lab, magnitude: Magnitude) -> Result<Figure, LabError> {
    let table = IntegerTable::new(4, magnitude, 1)?;
    let page_count = lab.size(64, 4) as u32;
    let pages: Vec<_> = (0..page_count)
        .map(|number| (table.shape(), table.page(number)))
        .collect();
    let mut compressors = Compressors::new()?;
    let mut ratios = vec![Vec::new(); CODECS.len()];
    for transform in Transform::ALL {
        let by_codec = page_ratios(&mut compressors, transform, &pages)?;
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
    figure.notes.push(format!(
        "{page_count} pages of 32 four-byte integers a row, each sector of 4 KiB by itself; nothing is timed. \
         The paper prints no values, but the order: CLT is best, XOR+RLT second; RLT is ahead of XOR under LZ4 \
         and behind it under zlib"
    ));
    Ok(figure)
}

/// Compression ratios of pages of strings, as rows and as columns.
pub fn figure_9(lab: &Lab, text: Option<&[u8]>) -> Result<Figure, LabError> {
    let made_up: Vec<String> = match text {
        Some([]) => return Err(LabError::EmptyText),
        Some(_) => Vec::new(),
        None => (0..4)
            .map(|seed| made_up_text(90 + seed, lab.size(1 << 20, 1 << 14)))
            .collect(),
    };
    let named = text.into_iter();
    let texts: Vec<&[u8]> = named.chain(made_up.iter().map(String::as_bytes)).collect();
    let page_count = lab.size(64, 4) as u32;
    let mut compressors = Compressors::new()?;
    let transforms = [Transform::Rows, Transform::R2c];
    let mut ratios = vec![Vec::new(); CODECS.len() * transforms.len()];
    for strings in [
        ScenarioStrings::Fixed,
        ScenarioStrings::Variable,
        ScenarioStrings::Mixed,
    ] {
        let table = StringTable::new(strings, &texts, 9)?;
        let pages: Vec<_> = (0..page_count).map(|number| table.page(number)).collect();
        for (at, transform) in transforms.into_iter().enumerate() {
            let by_codec = page_ratios(&mut compressors, transform, &pages)?;
            for (codec, ratio) in by_codec.into_iter().enumerate() {
                ratios[codec * transforms.len() + at].push(ratio);
            }
        }
    }
    let names = CODECS
        .into_iter()
        .flat_map(|id| ["rows", "columns"].map(|order| format!("{id}, {order}")));
    let gains: Vec<f64> = ratios
        .chunks_exact(2)
        .map(|pair| {
            let gains = pair[0]
                .iter()
                .zip(&pair[1])
                .map(|(rows, columns)| columns / rows - 1.0);
            100.0 * gains.fold(f64::NEG_INFINITY, f64::max)
        })
        .collect();
    let series = names
        .zip(ratios)
        .map(|(name, ratios)| Series::new(name, SeriesOrigin::Measured, ratios));
    let positions = Positions::labels(["fixed", "variable", "mixed"]);
    let x = Axis::linear("length of the strings", "");
    let title = "Compression ratio of pages of strings";
    let names = ("paper-3-figure-9", "figure 9");
    let mut figure = figure(lab, names, title, (x, positions), series.collect());
    figure.notes.push(format!(
        "{page_count} pages of {}, each sector of 4 KiB by itself; nothing is timed. Columns gain up to {:.0} % \
         with LZ4 and {:.0} % with zlib; the paper, on the Silesia corpus: up to 27 and 35 %",
        match text {
            Some(_) => "the text named",
            None => "four made-up texts",
        },
        gains[0],
        gains[1]
    ));
    Ok(figure)
}
