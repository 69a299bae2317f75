//! Reading a segment, whose values may follow from those of other columns.

use super::combined::Combined;
use super::entries::SegmentEntries;
use super::image::SegmentImage;
use super::map::Mapped;
use super::map_image::MapImage;
use super::map_lead::LeadRuns;
use super::materialized::MaterializedSegment;
use super::plain::{PlainSegment, SegmentHeader};
use quire_codec::correlated::{self, Combination, Residual};
use quire_codec::text::SharedDictionary;
use quire_codec::{BytesVector, CodecId, CodecScalar, Corrupt, PhysicalType};
use quire_codec::{RowMask, vector_count, vector_rows};
use std::cell::OnceCell;
use std::sync::Arc;

/// A segment, open for reading. Opening checks the header and every length, but decodes no values.
#[derive(Debug)]
pub struct SegmentReader {
    header: SegmentHeader,
    pub(super) source: SegmentSource,
    /// Its runs, once a map follows this segment.
    lead: OnceCell<Arc<LeadRuns>>,
}

/// Where the values come from.
#[derive(Debug)]
pub(super) enum SegmentSource {
    Plain(PlainSegment),
    /// What is left of other columns, and these.
    Residuals(PlainSegment, Box<Combined>),
    /// Any type, by the values of another column.
    Mapped(Box<Mapped>),
    /// All values, decoded.
    Materialized(Arc<MaterializedSegment>),
}

/// A vector of decoded values of one type.
macro_rules! decode_entries {
    ($holder:ident, $variant:ident, $vector:ident, $out:expr) => {
        $holder.decode($vector, $out, |entries| match entries {
            SegmentEntries::$variant(values) => Some(values),
            _ => None,
        })
    };
}

/// A method that decodes a vector of one type.
macro_rules! decode {
    ($(#[$meta:meta])* $name:ident, $type:ty, $variant:ident) => {
        $(#[$meta])*
        ///
        /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
        ///
        /// # Errors
        /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
        pub fn $name(&mut self, vector: usize, out: &mut [$type; 1024]) -> Result<usize, Corrupt> {
            match &mut self.source {
                SegmentSource::Plain(plain) | SegmentSource::Residuals(plain, _) => plain.$name(vector, out),
                SegmentSource::Mapped(mapped) => decode_entries!(mapped, $variant, vector, out),
                SegmentSource::Materialized(all) => decode_entries!(all, $variant, vector, out),
            }
        }
    };
}

/// A method that decodes a vector of integers, which may be what is left of other columns.
macro_rules! decode_integers {
    ($(#[$meta:meta])* $name:ident, $type:ty, $variant:ident) => {
        $(#[$meta])*
        ///
        /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
        ///
        /// # Errors
        /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
        pub fn $name(&mut self, vector: usize, out: &mut [$type; 1024]) -> Result<usize, Corrupt> {
            match &mut self.source {
                SegmentSource::Plain(plain) => plain.$name(vector, out),
                SegmentSource::Residuals(plain, combined) => {
                    let rows = plain.$name(vector, out)?;
                    combined.add_to(vector, out)?;
                    Ok(rows)
                }
                SegmentSource::Mapped(mapped) => decode_entries!(mapped, $variant, vector, out),
                SegmentSource::Materialized(all) => decode_entries!(all, $variant, vector, out),
            }
        }
    };
}

impl SegmentReader {
    fn new(header: SegmentHeader, source: SegmentSource) -> Self {
        Self {
            header,
            source,
            lead: OnceCell::new(),
        }
    }

    /// Opens the segment that `image` holds, all of it.
    ///
    /// # Errors
    /// Bytes that [`super::encode_segment`] did not write, as far as that shows without decoding.
    pub fn open(image: Arc<[u8]>) -> Result<Self, Corrupt> {
        Self::open_part(image.into())
    }

    /// Opens the segment that part of an image holds. The bytes stay where they are.
    ///
    /// # Errors
    /// As [`SegmentReader::open`]; or the part is not in the image.
    pub fn open_part(part: SegmentImage) -> Result<Self, Corrupt> {
        let plain = PlainSegment::open_part(part.image, part.range, None)?;
        Ok(Self::new(*plain.header(), SegmentSource::Plain(plain)))
    }

    /// Opens the segment that part of an image holds and that refers to this dictionary.
    ///
    /// # Errors
    /// As [`SegmentReader::open_part`]; or the segment refers to none, or to another one.
    pub fn open_shared_part(
        part: SegmentImage,
        dictionary: &SharedDictionary,
    ) -> Result<Self, Corrupt> {
        let dictionary = Some(dictionary.clone());
        let plain = PlainSegment::open_part(part.image, part.range, dictionary)?;
        Ok(Self::new(*plain.header(), SegmentSource::Plain(plain)))
    }

    /// The column of which this segment holds what `first`, or both references, leave of it.
    ///
    /// # Errors
    /// They cannot belong together: no integers of 16 to 64 bits, another number of rows or of references, or
    /// a reference with a relation of its own.
    pub fn combined(
        self,
        combination: Combination,
        first: &SegmentReader,
        second: Option<&SegmentReader>,
    ) -> Result<Self, Corrupt> {
        let header = self.header;
        let is_supported = correlated::is_supported(header.physical_type);
        let SegmentSource::Plain(own) = self.source else {
            return Err(Corrupt::new("segment of residuals follows others", 1));
        };
        if !is_supported {
            return Err(Corrupt::new("segment of residuals is of another type", 1));
        }
        let reopened = |reference: &SegmentReader| match &reference.source {
            SegmentSource::Plain(plain) => plain.reopen(),
            _ => Err(Corrupt::new(Combined::WRONG_REFERENCES, 0)),
        };
        let second = second.map(reopened).transpose()?;
        let combined = Combined::new(combination, reopened(first)?, second, header.row_count)?;
        let source = SegmentSource::Residuals(own, Box::new(combined));
        Ok(Self::new(header, source))
    }

    /// Opens the map segment that `image` holds, all of it, as the column that `reference` determines. Decodes the
    /// map: at most 16 MiB of strings and a table of 4 MiB. Maps of one reference share what they look up in its runs.
    ///
    /// # Errors
    /// Bytes that [`super::encode_map()`] did not write, or not for that reference.
    pub fn open_map(image: &Arc<[u8]>, reference: &SegmentReader) -> Result<Self, Corrupt> {
        Self::open_map_part(Arc::clone(image).into(), reference)
    }

    /// The same of the map segment that part of an image holds.
    ///
    /// # Errors
    /// As [`SegmentReader::open_map`]; or the part is not in the image.
    pub fn open_map_part(part: SegmentImage, reference: &SegmentReader) -> Result<Self, Corrupt> {
        let image = MapImage::open(&part.image, part.range)?;
        let header = image.header();
        let SegmentSource::Plain(plain) = &reference.source else {
            return Err(Corrupt::new(Mapped::WRONG_REFERENCE, 0));
        };
        let mapped = Mapped::new(image, plain, &reference.lead)?;
        Ok(Self::new(header, SegmentSource::Mapped(Box::new(mapped))))
    }

    /// The header of the same column when all of it is decoded.
    pub(super) fn header_of_values(&self) -> SegmentHeader {
        SegmentHeader {
            codec: CodecId::Plain,
            ..self.header
        }
    }

    /// A column of these values.
    pub(super) fn of_values(header: SegmentHeader, all: Arc<MaterializedSegment>) -> Self {
        Self::new(header, SegmentSource::Materialized(all))
    }

    /// The decoded values, if the segment is one of [`SegmentReader::materialized`], for further readers.
    pub fn values_in_memory(&self) -> Option<Arc<MaterializedSegment>> {
        match &self.source {
            SegmentSource::Materialized(all) => Some(Arc::clone(all)),
            _ => None,
        }
    }

    /// Bytes of the decoded values, if the segment is one of [`SegmentReader::materialized`].
    pub fn materialized_bytes(&self) -> Option<usize> {
        match &self.source {
            SegmentSource::Materialized(all) => Some(all.value_bytes()),
            _ => None,
        }
    }

    /// The segment, if its values do not follow from another column, so that others can follow them.
    pub(super) fn as_plain(&mut self) -> Option<&mut PlainSegment> {
        match &mut self.source {
            SegmentSource::Plain(plain) => Some(plain),
            SegmentSource::Residuals(..)
            | SegmentSource::Mapped(_)
            | SegmentSource::Materialized(_) => None,
        }
    }

    pub fn physical_type(&self) -> PhysicalType {
        self.header.physical_type
    }

    pub fn codec(&self) -> CodecId {
        self.header.codec
    }

    pub fn row_count(&self) -> usize {
        self.header.row_count
    }

    pub fn null_count(&self) -> usize {
        self.header.null_count
    }

    /// Vectors in the segment, of 1,024 rows each but the last.
    pub fn vector_count(&self) -> usize {
        vector_count(self.header.row_count)
    }

    /// Rows of vector `vector`; 0 beyond the segment.
    pub fn vector_rows(&self, vector: usize) -> usize {
        vector_rows(self.header.row_count, vector)
    }

    /// Which rows of a vector are not NULL: bit `i % 64` of word `i / 64` for row `i`, bits beyond the rows
    /// clear. Returns how many rows are NULL.
    ///
    /// # Errors
    /// Corrupt bytes, or a vector beyond the segment.
    pub fn validity(&mut self, vector: usize, out: &mut [u64; 16]) -> Result<usize, Corrupt> {
        if vector >= self.vector_count() {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        match &mut self.source {
            SegmentSource::Plain(plain) | SegmentSource::Residuals(plain, _) => {
                plain.validity(vector, out)
            }
            SegmentSource::Mapped(mapped) => mapped.validity(vector, out),
            SegmentSource::Materialized(all) => all.validity(vector, out),
        }
    }

    decode! {
        /// Decodes a vector of booleans.
        decode_bool, bool, Bool
    }
    decode_integers! {
        /// Decodes a vector of 16-bit integers.
        decode_i16, i16, Int16
    }
    decode_integers! {
        /// Decodes a vector of 32-bit integers.
        decode_i32, i32, Int32
    }
    decode_integers! {
        /// Decodes a vector of 64-bit integers.
        decode_i64, i64, Int64
    }
    decode! {
        /// Decodes a vector of 32-bit floats.
        decode_f32, f32, Float32
    }
    decode! {
        /// Decodes a vector of 64-bit floats.
        decode_f64, f64, Float64
    }

    /// Decodes a vector of 128-bit integers, or of 64-bit integers widened.
    ///
    /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
    pub fn decode_i128(&mut self, vector: usize, out: &mut [i128; 1024]) -> Result<usize, Corrupt> {
        match &mut self.source {
            SegmentSource::Plain(plain) => return plain.decode_i128(vector, out),
            SegmentSource::Mapped(mapped) if self.header.physical_type == PhysicalType::Int128 => {
                return decode_entries!(mapped, Int128, vector, out);
            }
            SegmentSource::Materialized(all)
                if self.header.physical_type == PhysicalType::Int128 =>
            {
                return decode_entries!(all, Int128, vector, out);
            }
            _ if self.header.physical_type == PhysicalType::Int64 => {}
            _ => return Err(self.wrong_type(PhysicalType::Int128)),
        }
        let mut narrow = [0i64; 1024];
        let rows = self.decode_i64(vector, &mut narrow)?;
        for (wide, narrow) in out.iter_mut().zip(narrow) {
            *wide = narrow.into();
        }
        Ok(rows)
    }

    /// Appends a vector of strings to `out` and returns its rows. NULL rows are arbitrary strings.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
    pub fn decode_bytes(&mut self, vector: usize, out: &mut BytesVector) -> Result<usize, Corrupt> {
        match &mut self.source {
            SegmentSource::Plain(plain) | SegmentSource::Residuals(plain, _) => {
                plain.decode_bytes(vector, out)
            }
            SegmentSource::Mapped(mapped) => mapped.decode_bytes(vector, out),
            SegmentSource::Materialized(all) => all.decode_bytes(vector, out),
        }
    }

    /// Number of values of the dictionary, if the codec is [`CodecId::Dictionary`], which are distinct and of which a shared one may have more than
    /// the rows do; of values, equal ones too, if they are a map from another column. What is left of other columns has none.
    pub fn dictionary_len(&self) -> Option<usize> {
        match &self.source {
            SegmentSource::Plain(plain) => plain.dictionary_len(),
            SegmentSource::Residuals(..) | SegmentSource::Materialized(_) => None,
            SegmentSource::Mapped(mapped) => Some(mapped.dictionary().len()),
        }
    }

    /// Whether the codes are those of a shared dictionary, and no others: so they mean the same in all such segments.
    pub fn has_shared_codes(&self) -> bool {
        match &self.source {
            SegmentSource::Plain(plain) => plain.has_shared_codes(),
            _ => false,
        }
    }

    /// The string a code stands for; `None` without a dictionary of strings, or beyond it.
    pub fn dictionary_bytes(&self, code: u32) -> Option<&[u8]> {
        match &self.source {
            SegmentSource::Plain(plain) | SegmentSource::Residuals(plain, _) => {
                plain.dictionary_bytes(code)
            }
            SegmentSource::Mapped(mapped) => mapped.dictionary().bytes(code),
            SegmentSource::Materialized(_) => None,
        }
    }

    /// The value of any type a code stands for; `None` without a dictionary, or beyond it.
    pub fn dictionary_value(&self, code: u32) -> Option<CodecScalar> {
        match &self.source {
            SegmentSource::Plain(plain) => plain.dictionary_value(code),
            SegmentSource::Residuals(..) | SegmentSource::Materialized(_) => None,
            SegmentSource::Mapped(mapped) => mapped.dictionary().scalar(code),
        }
    }

    /// Whether a code stands for a value: those of a map may stand for NULL.
    pub fn dictionary_is_valid(&self, code: u32) -> bool {
        match &self.source {
            SegmentSource::Mapped(mapped) => mapped.is_valid_code(code),
            _ => true,
        }
    }

    /// Decodes the codes of a vector, each below [`SegmentReader::dictionary_len`], and returns its rows. NULL
    /// rows have the code of some value.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment without a dictionary.
    pub fn decode_codes(&mut self, vector: usize, out: &mut [u32; 1024]) -> Result<usize, Corrupt> {
        match &mut self.source {
            SegmentSource::Plain(plain) => plain.decode_codes(vector, out),
            SegmentSource::Residuals(..) => {
                Err(Corrupt::new("segment of residuals has no dictionary", 2))
            }
            SegmentSource::Mapped(mapped) => mapped.codes(vector, out),
            SegmentSource::Materialized(_) => {
                Err(Corrupt::new("decoded segment has no dictionary", 2))
            }
        }
    }

    /// Marks the rows of a vector whose codes have their bit set in `wanted`: code `c` is bit `c % 64` of word `c / 64`.
    /// Returns the rows of the vector; bits beyond them are 0, those of NULL rows arbitrary.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment without a dictionary.
    pub fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        match &mut self.source {
            SegmentSource::Plain(plain) => {
                if let Some(rows) = plain.select_codes(vector, wanted, mask) {
                    return rows;
                }
            }
            SegmentSource::Mapped(mapped) => return mapped.select_codes(vector, wanted, mask),
            SegmentSource::Residuals(..) | SegmentSource::Materialized(_) => {}
        }
        let mut codes = [0; 1024];
        let rows = self.decode_codes(vector, &mut codes)?;
        *mask = RowMask::default();
        for (row, &code) in codes[..rows].iter().enumerate() {
            let word = wanted.get(code as usize / 64).copied().unwrap_or(0);
            mask[row / 64] |= (word >> (code % 64) & 1) << (row % 64);
        }
        Ok(rows)
    }

    /// Which values of a column of integers that another one determines pass, for [`SegmentReader::select_values`]; NULL does not. `None` for other
    /// segments.
    pub fn values_where(&self, passes: impl Fn(i64) -> bool) -> Option<Vec<u64>> {
        match &self.source {
            SegmentSource::Mapped(mapped) => mapped.numbers_where(passes),
            _ => None,
        }
    }

    /// Marks the rows of a vector whose values are among those of [`SegmentReader::values_where`], and returns the rows of the vector; bits beyond
    /// them are 0.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment that has no such values.
    pub fn select_values(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        match &mut self.source {
            SegmentSource::Mapped(mapped) => mapped.select_numbers(vector, wanted, mask),
            _ => Err(Corrupt::new("no other column determines the segment", 2)),
        }
    }

    /// As [`SegmentReader::select_codes`], for codes that are neighbours; `None` if the segment holds no strings.
    ///
    /// # Errors
    /// Corrupt bytes, or a segment without a dictionary.
    pub fn select_code_range(
        &mut self,
        vector: usize,
        codes: std::ops::Range<u32>,
        mask: &mut RowMask,
    ) -> Result<Option<usize>, Corrupt> {
        match &mut self.source {
            SegmentSource::Plain(plain) | SegmentSource::Residuals(plain, _) => {
                plain.select_code_range(vector, codes, mask)
            }
            SegmentSource::Mapped(_) | SegmentSource::Materialized(_) => Ok(None),
        }
    }

    /// The value of row `row`, `None` if it is NULL; decodes at most a vector.
    ///
    /// # Errors
    /// Corrupt bytes, or a row beyond the segment.
    pub fn value(&mut self, row: usize) -> Result<Option<CodecScalar>, Corrupt> {
        if row >= self.header.row_count {
            return Err(Corrupt::new("row is beyond the segment", 4));
        }
        let (own, combined) = match &mut self.source {
            SegmentSource::Plain(plain) => return plain.value(row),
            SegmentSource::Residuals(own, combined) => (own, combined),
            SegmentSource::Mapped(mapped) => return mapped.value(row),
            SegmentSource::Materialized(all) => return all.value(row),
        };
        let Some(left) = own.value(row)? else {
            return Ok(None);
        };
        let expected = combined.expected_value(row)?;
        Ok(Some(match left {
            CodecScalar::Int16(value) => CodecScalar::Int16(value.plus(expected)),
            CodecScalar::Int32(value) => CodecScalar::Int32(value.plus(expected)),
            CodecScalar::Int64(value) => CodecScalar::Int64(value.plus(expected)),
            _ => return Err(Corrupt::new("residuals of another type", 1)),
        }))
    }

    fn wrong_type(&self, asked: PhysicalType) -> Corrupt {
        let held = self.header.physical_type;
        Corrupt::new(
            format!("segment holds {held} values, {asked} was expected"),
            1,
        )
    }
}
