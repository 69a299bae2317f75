//! The pages of the paper's evaluation (§III, figures 4 and 5; §IV-A, figures 7 to 9), made again for any seed.
//!
//! A page is laid out as InnoDB's are: a header and two fixed records, rows that each begin with a record header,
//! free space of zeros from 15/16 of the page on, a trailer. The paper gives no figure for the bytes of the
//! headers; these have InnoDB's lengths and the same kind of content, in little endian.

pub use crate::sectors::SECTOR_BYTES;

use quire_codec::transform::{
    LayoutColumn, TransformError, TransformPageShape, TransformRowLayout,
};
use std::ops::Range;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 16 * 1024;

/// Fields of a row, besides the record header.
pub const FIELD_COUNT: usize = 32;

/// Where the rows begin: behind the header of 94 bytes and two fixed records of 13.
const LEAD_BYTES: usize = 120;

/// Where the rows end at the latest: the paper fills a page to 15/16.
const FILLED_BYTES: usize = PAGE_BYTES / 16 * 15;

/// Flags, heap number and distance to the next record, as in InnoDB.
const RECORD_HEADER: [LayoutColumn; 3] = [
    LayoutColumn::Number(1),
    LayoutColumn::Number(2),
    LayoutColumn::Number(2),
];

/// A small seeded source of numbers (SplitMix64).
struct ScenarioRandom(u64);

impl ScenarioRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number of a range that is not empty.
    fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }
}

/// How large the integers of a page are (§IV-A2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magnitude {
    /// Around a number from 2⁸ to 2¹⁶.
    Small,
    /// Around a number from 2¹⁶ to 2²⁴.
    Large,
}

/// A table of [`FIELD_COUNT`] unsigned integers. Those of column `i` are independent of each other and uniform
/// within 10 % of a number `r[i]`, which is uniform in the range of the magnitude.
#[derive(Clone, Debug)]
pub struct IntegerTable {
    layout: TransformRowLayout,
    field_bytes: usize,
    centres: Vec<u64>,
    seed: u64,
}

impl IntegerTable {
    /// A table of fields of `field_bytes`, of which the paper has 2, 4 and 8. Of a number that does not fit
    /// it holds the low bytes.
    ///
    /// # Errors
    ///
    /// `field_bytes` is 0.
    pub fn new(field_bytes: u16, magnitude: Magnitude, seed: u64) -> Result<Self, TransformError> {
        let field = LayoutColumn::Number(field_bytes);
        let columns = RECORD_HEADER.into_iter().chain([field; FIELD_COUNT]);
        let layout = TransformRowLayout::new(&columns.collect::<Vec<_>>())?;
        let mut random = ScenarioRandom(seed);
        let range = match magnitude {
            Magnitude::Small => 1 << 8..1 << 16,
            Magnitude::Large => 1 << 16..1 << 24,
        };
        Ok(Self {
            layout,
            field_bytes: field_bytes.into(),
            centres: (0..FIELD_COUNT)
                .map(|_| random.within(range.clone()))
                .collect(),
            seed: random.next(),
        })
    }

    /// The shape all pages of the table have: as many rows as 15/16 of the page hold.
    pub fn shape(&self) -> TransformPageShape<'_> {
        TransformPageShape {
            layout: &self.layout,
            lead_bytes: LEAD_BYTES,
            row_count: (FILLED_BYTES - LEAD_BYTES) / self.layout.row_bytes(),
        }
    }

    /// Page `number` of the table, [`PAGE_BYTES`] long.
    pub fn page(&self, number: u32) -> Vec<u8> {
        let mut random = ScenarioRandom(self.seed ^ u64::from(number) << 32);
        let mut page = page_frame(number, &mut random);
        let shape = self.shape();
        let rows = page[LEAD_BYTES..].chunks_exact_mut(self.layout.row_bytes());
        for (index, row) in rows.take(shape.row_count).enumerate() {
            let (header, fields) = row.split_at_mut(5);
            header.copy_from_slice(&record_header(index, self.layout.row_bytes()));
            for (field, &centre) in fields.chunks_exact_mut(self.field_bytes).zip(&self.centres) {
                let value = random.within(centre * 9 / 10..centre * 11 / 10 + 1);
                for (byte, of_value) in field.iter_mut().zip(value.to_le_bytes()) {
                    *byte = of_value;
                }
            }
        }
        page
    }
}

/// Which strings the rows of a page hold (§IV-A2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioStrings {
    /// All of 16 bytes.
    Fixed,
    /// All of 8 to 24 bytes.
    Variable,
    /// One half of 16 bytes, the other of 8 to 24.
    Mixed,
}

/// A table of [`FIELD_COUNT`] strings. On each page, each column is a segment of a text, cut into strings.
#[derive(Clone, Debug)]
pub struct StringTable<'a> {
    layout: TransformRowLayout,
    variable_count: usize,
    texts: &'a [&'a [u8]],
    seed: u64,
}

impl<'a> StringTable<'a> {
    /// A table of strings of these texts.
    ///
    /// # Panics
    ///
    /// There is no text, or an empty one.
    ///
    /// # Errors
    ///
    /// None that these layouts can have.
    pub fn new(
        strings: ScenarioStrings,
        texts: &'a [&'a [u8]],
        seed: u64,
    ) -> Result<Self, TransformError> {
        assert!(!texts.is_empty() && texts.iter().all(|text| !text.is_empty()));
        let variable_count = match strings {
            ScenarioStrings::Fixed => 0,
            ScenarioStrings::Variable => FIELD_COUNT,
            ScenarioStrings::Mixed => FIELD_COUNT / 2,
        };
        let lengths = std::iter::repeat_n(LayoutColumn::Length1, variable_count);
        let fields = std::iter::repeat_n(LayoutColumn::Bytes(16), FIELD_COUNT - variable_count);
        let columns = RECORD_HEADER.into_iter().chain(lengths).chain(fields);
        Ok(Self {
            layout: TransformRowLayout::new(&columns.collect::<Vec<_>>())?,
            variable_count,
            texts,
            seed,
        })
    }

    /// Page `number` of the table, [`PAGE_BYTES`] long, and its shape.
    pub fn page(&self, number: u32) -> (TransformPageShape<'_>, Vec<u8>) {
        let mut random = ScenarioRandom(self.seed ^ u64::from(number) << 32);
        let mut page = page_frame(number, &mut random);
        let segment = |_| self.segment(&mut random);
        let mut columns: Vec<_> = (0..FIELD_COUNT).map(segment).collect();
        let (mut position, mut row_count) = (LEAD_BYTES, 0);
        loop {
            let lengths: Vec<u8> = (0..self.variable_count)
                .map(|_| random.within(8..25) as u8)
                .collect();
            let variable_bytes: usize = lengths.iter().copied().map(usize::from).sum();
            let row_bytes = self.layout.row_bytes() + variable_bytes;
            if position + row_bytes > FILLED_BYTES {
                break;
            }
            let mut row = record_header(row_count, row_bytes).to_vec();
            row.extend(&lengths);
            let fixed = std::iter::repeat_n(16, FIELD_COUNT - self.variable_count);
            let all_lengths = fixed.chain(lengths.iter().copied().map(usize::from));
            for (column, length) in columns.iter_mut().zip(all_lengths) {
                row.extend(column.by_ref().take(length));
            }
            page[position..position + row_bytes].copy_from_slice(&row);
            position += row_bytes;
            row_count += 1;
        }
        let shape = TransformPageShape {
            layout: &self.layout,
            lead_bytes: LEAD_BYTES,
            row_count,
        };
        (shape, page)
    }

    /// A text from a random place on, for ever.
    fn segment(&self, random: &mut ScenarioRandom) -> impl Iterator<Item = u8> + use<'a> {
        let text = self.texts[random.within(0..self.texts.len() as u64) as usize];
        let start = random.within(0..text.len() as u64) as usize;
        text[start..].iter().chain(text.iter().cycle()).copied()
    }
}

/// A page without rows: its header, two fixed records and the trailer.
fn page_frame(number: u32, random: &mut ScenarioRandom) -> Vec<u8> {
    let mut page = vec![0; PAGE_BYTES];
    let (checksum, sequence) = (random.next().to_le_bytes(), random.next().to_le_bytes());
    page[..4].copy_from_slice(&checksum[..4]);
    for (place, neighbour) in [number, number.wrapping_sub(1), number.wrapping_add(1)]
        .into_iter()
        .enumerate()
    {
        page[4 * (place + 1)..][..4].copy_from_slice(&neighbour.to_le_bytes());
    }
    page[16..21].copy_from_slice(&sequence[..5]);
    page[94..LEAD_BYTES].copy_from_slice(b"\x01\0\x02\0\x0dinfimum\0\x05\0\x0b\0\0supremum");
    let trailer = PAGE_BYTES - 8;
    page[trailer..trailer + 4].copy_from_slice(&checksum[..4]);
    page[trailer + 4..].copy_from_slice(&sequence[..4]);
    page
}

/// The header of row `index`: every sixth owns a slot of the directory, heap numbers count up, the next record
/// is the next row.
fn record_header(index: usize, row_bytes: usize) -> [u8; 5] {
    let owned = if index % 6 == 5 { 6 } else { 0 };
    let heap_number = ((index as u16 + 2) << 3).to_le_bytes();
    let next = (row_bytes as u16).to_le_bytes();
    [owned, heap_number[0], heap_number[1], next[0], next[1]]
}

/// A block of random bytes of which `percent` in a hundred, anywhere, are the byte 0xFF (figure 4).
pub fn constant_byte_block(percent: u64, block_bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = ScenarioRandom(seed);
    (0..block_bytes)
        .map(|_| {
            if random.within(0..100) < percent {
                0xFF
            } else {
                random.next() as u8
            }
        })
        .collect()
}

/// A block of `vector_bytes` constant bytes and `vector_bytes` random ones in turns (figure 5).
pub fn repeated_vector_block(vector_bytes: usize, block_bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = ScenarioRandom(seed);
    (0..block_bytes)
        .map(|place| match place / vector_bytes.max(1) % 2 {
            0 => 0xFF,
            _ => random.next() as u8,
        })
        .collect()
}
