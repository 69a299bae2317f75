//! Figure 6.2: columns in the paper's schemes and in Quire's codecs.

use super::codec_speed::{CodecSpeed, PAPER_SCHEMES, QUIRE_CHOICE, speed};
use super::vectors::{VectorComparison, each_vector, patched};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{
    Chosen, DictionaryEncoder, Reference, Segment, SegmentError, SuperScalarDictionary,
    SuperScalarSample, choose, encode,
};
use crate::{Lab, LabError};
use quire_codec::choose::{ChooseOptions, choose as choose_stored};
use quire_codec::text::{self, BytesDecoder};
use quire_codec::{
    BytesSlice, BytesVector, Corrupt, EncodeError, ROWS_MAX, RowGroupValues, VECTOR_VALUES, fixed,
    vector_count,
};
use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::sync::Arc;

/// Strings of a dictionary at most: with more, the paper leaves the column uncompressed.
const DICTIONARY_STRINGS_MAX: usize = 1 << 12;

/// The paper's scheme of the smallest estimate.
pub(super) fn segment_speed(lab: &Lab, values: &[i32]) -> Result<CodecSpeed, LabError> {
    let [choice, ..] = choose(&SuperScalarSample::take(values));
    let encoder = match &choice.chosen {
        Chosen::Pdict { values } => Some(DictionaryEncoder::new(Arc::new(
            SuperScalarDictionary::new(values)?,
        ))),
        _ => None,
    };
    let reference = match (&choice.chosen, &encoder) {
        (Chosen::Pfor { base }, _) => Reference::Pfor { base: *base },
        (Chosen::Pdict { .. }, Some(encoder)) => Reference::Pdict {
            encoder,
            reuse: false,
        },
        (Chosen::PforDelta { base }, _) => Reference::PforDelta { base: *base },
        (Chosen::Pdict { .. }, None) => Reference::Pfor { base: 0 },
    };
    let settings = patched(reference, choice.width);
    let image = encode(values, &settings)?;
    let encode_ns = lab.nanoseconds(|| {
        black_box(encode(black_box(values), &settings)?);
        Ok::<(), SegmentError>(())
    })?;
    let mut segment = Segment::<i32>::open(&image, None)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    each_vector(&mut segment, out, |vector| comparison.take(vector))?;
    comparison.finish("the paper's segment")?;
    let decode_ns = lab.nanoseconds(|| {
        each_vector(&mut segment, out, |vector| {
            black_box(vector);
        })
    })?;
    let raw_bytes = size_of_val(values);
    Ok(speed(
        PAPER_SCHEMES,
        raw_bytes,
        image.len(),
        encode_ns,
        decode_ns,
    ))
}

/// What Quire's chooser takes.
pub(super) fn stored_speed(lab: &Lab, values: &[i32]) -> Result<CodecSpeed, LabError> {
    let codec = choose_stored(&RowGroupValues::Int32(values), &ChooseOptions::default()).codec;
    let encode_ns = lab.nanoseconds(|| {
        black_box(fixed::encode(codec, black_box(values))?);
        Ok::<(), EncodeError>(())
    })?;
    let mut column = StoredColumn::encode(codec, values)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    column.each_vector(out, |vector| comparison.take(vector))?;
    comparison.finish(codec.name())?;
    let decode_ns = lab.nanoseconds(|| {
        column.each_vector(out, |vector| {
            black_box(vector);
        })
    })?;
    let raw_bytes = size_of_val(values);
    Ok(speed(
        QUIRE_CHOICE,
        raw_bytes,
        column.bytes,
        encode_ns,
        decode_ns,
    ))
}

/// Bytes of strings uncompressed, with one that ends each.
pub(super) fn string_bytes(values: &BytesSlice<'_>) -> usize {
    values.data_bytes() + values.len()
}

/// All different strings; none if there are too many.
fn different_strings<'a>(values: &BytesSlice<'a>) -> Option<Vec<&'a [u8]>> {
    let mut known = HashSet::new();
    let mut strings = Vec::new();
    for value in values.iter() {
        if known.insert(value) {
            strings.push(value);
        }
        if strings.len() > DICTIONARY_STRINGS_MAX {
            return None;
        }
    }
    Some(strings)
}

/// PDICT of strings: a dictionary of all that occur, and their places in it as PFOR. None if there are too many, or if that is not
/// smaller than the strings.
///
/// # Errors
/// When the segment does not give back what was encoded.
pub(super) fn string_dictionary_speed(
    lab: &Lab,
    values: &BytesSlice<'_>,
) -> Result<Option<CodecSpeed>, LabError> {
    let Some(strings) = different_strings(values) else {
        return Ok(None);
    };
    let places: HashMap<&[u8], i32> = strings.iter().copied().zip(0..).collect();
    let width = (usize::BITS - strings.len().saturating_sub(1).leading_zeros()) as usize;
    let settings = patched(Reference::Pfor { base: 0 }, width);
    let encode_codes = || {
        // All strings are in the dictionary.
        let codes = values
            .iter()
            .map(|value| places.get(value).copied().unwrap_or_default());
        encode(&codes.collect::<Vec<i32>>(), &settings)
    };
    let image = encode_codes()?;
    let dictionary_bytes: usize = strings.iter().map(|string| string.len() + 1).sum();
    let bytes = image.len() + dictionary_bytes;
    let raw_bytes = string_bytes(values);
    if bytes >= raw_bytes {
        return Ok(None);
    }
    let encode_ns = lab.nanoseconds(|| {
        black_box(encode_codes()?);
        Ok::<(), SegmentError>(())
    })?;
    let mut segment = Segment::<i32>::open(&image, None)?;
    let mut all = BytesVector::new();
    decode_strings(&mut segment, &strings, &mut all, |_| {})?;
    if !all.as_slice().iter().eq(values.iter()) {
        let codec = PAPER_SCHEMES.to_owned();
        return Err(LabError::NotRestored { codec });
    }
    let mut out = BytesVector::new();
    let decode_ns = lab.nanoseconds(|| {
        out.clear();
        decode_strings(&mut segment, &strings, &mut out, |vector| {
            black_box(&*vector);
            vector.clear();
        })
    })?;
    Ok(Some(speed(
        PAPER_SCHEMES,
        raw_bytes,
        bytes,
        encode_ns,
        decode_ns,
    )))
}

/// Appends the strings of all codes to `out`, which `each` gets after every vector.
fn decode_strings(
    segment: &mut Segment<'_, i32>,
    strings: &[&[u8]],
    out: &mut BytesVector,
    mut each: impl FnMut(&mut BytesVector),
) -> Result<(), Corrupt> {
    let Vector(codes) = &mut Vector([0; VECTOR_VALUES]);
    for vector in 0..vector_count(segment.value_count()) {
        let rows = segment.decode_vector(vector, codes)?;
        for &code in &codes[..rows] {
            let string = strings.get(code as usize);
            let string =
                string.ok_or_else(|| Corrupt::new("a code is not in the dictionary", 0))?;
            out.push(string)?;
        }
        each(out);
    }
    Ok(())
}

/// What Quire's chooser takes for strings.
pub(super) fn stored_string_speed(
    lab: &Lab,
    values: &BytesSlice<'_>,
) -> Result<CodecSpeed, LabError> {
    let codec = choose_stored(&RowGroupValues::Bytes(*values), &ChooseOptions::default()).codec;
    let parts: Vec<BytesSlice<'_>> = (0..values.len())
        .step_by(ROWS_MAX)
        .map(|first| values.slice(first..first + ROWS_MAX))
        .collect();
    let encode_ns = lab.nanoseconds(|| {
        for part in &parts {
            black_box(text::encode(codec, black_box(part))?);
        }
        Ok::<(), EncodeError>(())
    })?;
    let (mut decoders, mut bytes) = (Vec::new(), 0);
    for part in &parts {
        let image: Arc<[u8]> = text::encode(codec, part)?.into();
        bytes += image.len();
        let whole = 0..image.len();
        let decoder = BytesDecoder::open(codec, image, whole, part.len())?;
        decoders.push((decoder, *part));
    }
    let mut out = BytesVector::new();
    for (decoder, part) in &mut decoders {
        out.clear();
        for vector in 0..vector_count(part.len()) {
            decoder.decode_vector(vector, &mut out)?;
        }
        if !out.as_slice().iter().eq(part.iter()) {
            let codec = codec.name().to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let decode_ns = lab.nanoseconds(|| {
        for (decoder, part) in &mut decoders {
            for vector in 0..vector_count(part.len()) {
                out.clear();
                decoder.decode_vector(vector, &mut out)?;
                black_box(&out);
            }
        }
        Ok::<(), Corrupt>(())
    })?;
    let raw_bytes = string_bytes(values);
    Ok(speed(QUIRE_CHOICE, raw_bytes, bytes, encode_ns, decode_ns))
}
