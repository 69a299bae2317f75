//! Figure 7: how long the conversion of a page takes.

use super::figure;
use super::scenario::{FIELD_COUNT, IntegerTable, Magnitude, PAGE_BYTES};
use crate::leaves::{LeafFormat, built_in_order, of_pages};
use crate::random::LabRandom;
use crate::{Axis, Figure, Lab, LabError, Positions, Series, SeriesOrigin};
use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_codec::transform::{
    LayoutColumn, Transform, TransformError, TransformPageShape, TransformRowLayout, to_memory,
    to_storage,
};
use quire_format::row_page::{PAGE_BYTES_DEFAULT, PageImage, PageTransform, RowPage};
use quire_format::tuple::{TupleCompression, TupleType, TupleValue};
use std::hint::black_box;

/// The lengths of the fields of the paper's pages.
const FIELD_BYTES: [u16; 3] = [2, 4, 8];

/// What the paper's conversions take longer than R2C (§IV-A1), in the order of its six scenarios; rows take none.
const PAPER_LONGER_US: [Option<f64>; 6] =
    [None, Some(0.0), Some(5.0), Some(15.0), Some(3.0), Some(8.0)];

/// Access to flash memory: τ_io where few requests are in flight (§IV-A1).
const PAPER_IO_US: f64 = 100.0;

/// A page as a buffer pool would align it.
#[repr(align(4096))]
struct AlignedPage([u8; PAGE_BYTES]);

/// Time to convert a page of rows of 32 integers, each way: of the paper's page, of its numbers alone, and of a leaf of Quire.
pub(super) fn figures(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let page = TimedFigure {
        stem: "paper-3-figure-7",
        title: "Time to convert a page of 16 KiB with its record headers",
        positions: Transform::ALL.len(),
        note: "the page of figure 8: header, rows of a record header of 5 bytes and 32 fields up to 15/16, zeros, trailer",
    };
    let fields = TimedFigure {
        stem: "paper-3-figure-7-fields",
        title: "Time to convert a page of 16 KiB that has nothing but numbers",
        positions: Transform::ALL.len(),
        note: "rows of 32 fields and nothing else fill 15/16: the least a conversion can take, with nothing of what a page needs besides",
    };
    let leaf = TimedFigure {
        stem: "paper-3-figure-7-leaf",
        title: "Time to make the image of a leaf of Quire, and to restore it",
        positions: PageTransform::ALL.len(),
        note: "what Quire's pool does: a leaf of plain tuples of 32 SMALLINT, INTEGER or BIGINT, 15/16 full, keys of 8 bytes, to \
               its image without a codec and back. Free space and slots are not stored, so tuples are taken out of the page and put \
               into it one by one, also by rows",
    };
    Ok(vec![
        page.measure(lab, page_with_headers)?,
        fields.measure(lab, fields_alone)?,
        leaf.measure(lab, leaf_of_quire)?,
    ])
}

/// One way to measure figure 7.
struct TimedFigure {
    stem: &'static str,
    title: &'static str,
    positions: usize,
    note: &'static str,
}

impl TimedFigure {
    /// Microseconds to storage and back for each transform, by the length of the fields.
    fn measure(
        &self,
        lab: &Lab,
        times: impl Fn(&Lab, u16) -> Result<Vec<[f64; 2]>, LabError>,
    ) -> Result<Figure, LabError> {
        let mut series = Vec::new();
        for field_bytes in FIELD_BYTES {
            let times = times(lab, field_bytes)?;
            for (way, name) in ["to storage", "to memory"].into_iter().enumerate() {
                let name = format!("{field_bytes} bytes, {name}");
                let times = times.iter().map(|both| both[way]).collect();
                series.push(Series::new(name, SeriesOrigin::Measured, times));
            }
            series.extend(self.paper(field_bytes));
        }
        let io = vec![Some(PAPER_IO_US); self.positions];
        series.push(Series::paper("page I/O of flash memory", io));
        let positions = PageTransform::ALL.into_iter().take(self.positions);
        let positions = Positions::labels(positions.map(PageTransform::name));
        let x = Axis::linear("transform", "");
        let names = (self.stem, "figure 7");
        let mut figure = figure(lab, names, self.title, (x, positions), series);
        figure.y = Axis::logarithmic("time of a page", "µs");
        figure.notes.extend([
            format!("{}; a page in cache; median of rounds. Rows are copied", self.note),
            "the paper prints R2C of 2 and 8 bytes, 16.7 and 6.6 µs, and about what the others add: XOR 3, RLT 5, XOR+RLT 8, CLT 15, \
             and nothing of XOR+CLT; \
             and that page I/O takes about 100 µs with few requests in flight, several times that with many"
                .to_owned(),
        ]);
        Ok(figure)
    }

    /// §IV-A1 prints R2C, and what the others take longer.
    fn paper(&self, field_bytes: u16) -> Option<Series> {
        let r2c_us = match field_bytes {
            2 => 16.7,
            8 => 6.6,
            _ => return None,
        };
        let times = PAPER_LONGER_US.map(|longer| longer.map(|us| r2c_us + us));
        let mut times = times.to_vec();
        times.resize(self.positions, None);
        Some(Series::paper(format!("{field_bytes} bytes"), times))
    }
}

fn page_with_headers(lab: &Lab, field_bytes: u16) -> Result<Vec<[f64; 2]>, LabError> {
    let table = IntegerTable::new(field_bytes, Magnitude::Small, 7)?;
    let mut page = AlignedPage([0; PAGE_BYTES]);
    page.0.copy_from_slice(&table.page(0));
    conversions(lab, table.shape(), &page)
}

fn fields_alone(lab: &Lab, field_bytes: u16) -> Result<Vec<[f64; 2]>, LabError> {
    let layout = TransformRowLayout::new(&[LayoutColumn::Number(field_bytes); FIELD_COUNT])?;
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: PAGE_BYTES / 16 * 15 / layout.row_bytes(),
    };
    let table = IntegerTable::new(field_bytes, Magnitude::Small, 7)?;
    let whole = table.page(0);
    let rows = whole[table.shape().lead_bytes..].chunks_exact(layout.row_bytes() + 5);
    let mut page = AlignedPage([0; PAGE_BYTES]);
    let numbers = page.0.chunks_exact_mut(layout.row_bytes());
    // The page has fewer rows than fit without record headers: they are repeated.
    let rows = rows.take(table.shape().row_count).cycle();
    for (numbers, row) in numbers.take(shape.row_count).zip(rows) {
        numbers.copy_from_slice(&row[5..]);
    }
    conversions(lab, shape, &page)
}

fn conversions(
    lab: &Lab,
    shape: TransformPageShape<'_>,
    page: &AlignedPage,
) -> Result<Vec<[f64; 2]>, LabError> {
    let times = Transform::ALL.map(|transform| conversion(lab, transform, shape, page));
    times.into_iter().collect()
}

/// Microseconds of one page to storage, and back to memory.
fn conversion(
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
        Err(not_restored(transform.name()))
    }
}

fn not_restored(transform: &str) -> LabError {
    LabError::NotRestored {
        codec: transform.to_owned(),
    }
}

fn leaf_of_quire(lab: &Lab, field_bytes: u16) -> Result<Vec<[f64; 2]>, LabError> {
    let number_type = match field_bytes {
        2 => TupleType::Int16,
        4 => TupleType::Int32,
        _ => TupleType::Int64,
    };
    let format = LeafFormat::new([number_type; FIELD_COUNT], &TupleCompression::None)?;
    let mut random = LabRandom(7);
    let centres = [(); FIELD_COUNT].map(|()| 256 + random.below((1 << 16) - 256));
    let leaves = built_in_order(4 * PAGE_BYTES_DEFAULT as u64 / 64, |row| {
        let values = centres.map(|centre| {
            let least = centre * 9 / 10;
            let number = least + random.below(centre / 5 + 1);
            // Of a number that does not fit, the low bytes, as in the scenario's pages.
            TupleValue::Integer(match field_bytes {
                2 => i64::from(number as i16),
                _ => number as i64,
            })
        });
        format.layout.encode(&values, row).map_err(of_pages)
    })?;
    let leaf = leaves.first().map(Vec::as_slice).unwrap_or_default();
    let times = PageTransform::ALL.map(|transform| image_of(lab, &format, transform, leaf));
    times.into_iter().collect()
}

/// Microseconds to make the image of a leaf, and to restore the leaf.
fn image_of(
    lab: &Lab,
    format: &LeafFormat,
    transform: PageTransform,
    leaf: &[u8],
) -> Result<[f64; 2], LabError> {
    let mut codec = open(BlockCodecId::None, &BlockOptions::default())?;
    let page = RowPage::trusted(leaf)?;
    let mut image = Vec::new();
    let there = lab.nanoseconds(|| {
        image = format.image(black_box(&page), transform, codec.as_mut())?;
        Ok::<(), LabError>(())
    })?;
    let mut restored = vec![0; leaf.len()];
    let back = lab.nanoseconds(|| {
        PageImage::open(black_box(&image))?.decode(codec.as_mut(), &mut restored)?;
        black_box(&mut restored);
        Ok::<(), LabError>(())
    })?;
    let again = format.image(&RowPage::trusted(&restored)?, transform, codec.as_mut())?;
    if again == image {
        Ok([there, back].map(|ns| ns / 1e3))
    } else {
        Err(not_restored(transform.name()))
    }
}
