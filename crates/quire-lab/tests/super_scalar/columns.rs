//! Columns to encode, and everything a segment decodes to.

use proptest::prelude::*;
use quire_codec::VECTOR_VALUES;
use quire_lab::super_scalar::{
    Compression, DictionaryEncoder, GROUP_VALUES, Integer, Marking, Reference, Segment,
    SegmentSettings, SuperScalarDictionary, SuperScalarScheme,
};
use std::sync::Arc;

/// An integer and its bits as a `u64`, whatever its type.
pub trait Number: Integer {
    const BITS: usize;
    fn from_u64(bits: u64) -> Self;
    fn to_u64(self) -> u64;
}

macro_rules! number {
    ($($type:ty: $bits:ty),*) => {
        $(impl Number for $type {
            const BITS: usize = <$type>::BITS as usize;
            fn from_u64(bits: u64) -> Self {
                bits as $type
            }
            fn to_u64(self) -> u64 {
                u64::from(self as $bits)
            }
        })*
    };
}
number!(i8: u8, u8: u8, i16: u16, u16: u16, i32: u32, u32: u32, i64: u64, u64: u64);

pub const COMPRESSIONS: [Compression; 3] = [
    Compression::Naive,
    Compression::Predicated,
    Compression::DoubleCursor,
];
pub const MARKINGS: [Marking; 2] = [Marking::Linked, Marking::Escaped];
pub const SCHEMES: [SuperScalarScheme; 3] = [
    SuperScalarScheme::Pfor,
    SuperScalarScheme::PforDelta,
    SuperScalarScheme::Pdict,
];

/// Largest number of `bits` bits.
pub fn mask(bits: usize) -> u64 {
    match bits {
        0 => 0,
        _ => u64::MAX >> (64 - bits),
    }
}

/// Numbers without structure, from a seed.
pub fn random(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed ^ *seed >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// How the numbers of a column come about.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// So many bits above a base, and in so many of 100 cases any bits.
    Near { bits: usize, outliers_percent: u64 },
    /// Ascending by up to so much, with jumps in so many of 100 cases.
    Ascending { step: u64, jumps_percent: u64 },
    /// One of so many numbers, the first ones much more often.
    Few { distinct: u64 },
    /// The smallest and largest number of the type by turns.
    Extremes,
}

/// A column of some shape: `count` numbers.
pub fn column<T: Number>(shape: Shape, count: usize, seed: u64) -> Vec<T> {
    let mut seed = seed;
    let base = random(&mut seed);
    let mut last = base;
    let mut next = |row: usize| match shape {
        Shape::Near {
            bits,
            outliers_percent,
        } => {
            let outlier = random(&mut seed) % 100 < outliers_percent;
            let offset = random(&mut seed) & mask(bits);
            if outlier {
                random(&mut seed)
            } else {
                base.wrapping_add(offset)
            }
        }
        Shape::Ascending {
            step,
            jumps_percent,
        } => {
            let jump = random(&mut seed) % 100 < jumps_percent;
            let offset = random(&mut seed) % (step + 1);
            last = if jump {
                random(&mut seed)
            } else {
                last.wrapping_add(offset)
            };
            last
        }
        Shape::Few { distinct } => {
            let skewed = (random(&mut seed) % distinct) & random(&mut seed);
            base ^ skewed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
        Shape::Extremes => match row % 3 {
            0 => 0,
            1 => mask(T::BITS),
            _ => 1 << (T::BITS - 1),
        },
    };
    (0..count).map(|row| T::from_u64(next(row))).collect()
}

pub fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0..=64usize, 0..=100u64).prop_map(|(bits, outliers_percent)| Shape::Near {
            bits,
            outliers_percent
        }),
        (0..=14usize, 0..=10u64).prop_map(|(bits, outliers_percent)| Shape::Near {
            bits,
            outliers_percent
        }),
        (0..2000u64, 0..=20u64).prop_map(|(step, jumps_percent)| Shape::Ascending {
            step,
            jumps_percent
        }),
        (1..3000u64).prop_map(|distinct| Shape::Few { distinct }),
        Just(Shape::Extremes),
    ]
}

/// A column, with the parameters that suit it most of the time.
pub struct Subject<T: Integer> {
    pub values: Vec<T>,
    pub scheme: SuperScalarScheme,
    pub base: T,
    pub dictionary: Vec<T>,
    pub encoder: DictionaryEncoder<T>,
    pub reuse: bool,
}

impl<T: Number> Subject<T> {
    /// The base is one of the values or differences, the dictionary some of the values; `pick` says which.
    pub fn new(values: Vec<T>, scheme: SuperScalarScheme, pick: u64) -> Self {
        let any = |index: u64| match values.len() {
            0 => 0,
            count => values[index as usize % count].to_u64(),
        };
        let base = match scheme {
            SuperScalarScheme::PforDelta => any(pick + 1).wrapping_sub(any(pick)),
            _ => any(pick),
        };
        let step = 1 + pick as usize % 5;
        let mut dictionary: Vec<T> = values.iter().step_by(step).copied().collect();
        dictionary.sort();
        dictionary.dedup();
        dictionary.push(T::from_u64(pick));
        let shared = Arc::new(SuperScalarDictionary::new(&dictionary).unwrap());
        Self {
            values,
            scheme,
            base: T::from_u64(base),
            dictionary,
            encoder: DictionaryEncoder::new(shared),
            reuse: pick % 2 == 1,
        }
    }

    pub fn settings(
        &self,
        width: usize,
        marking: Marking,
        compression: Compression,
    ) -> SegmentSettings<'_, T> {
        let base = self.base;
        let reference = match self.scheme {
            SuperScalarScheme::Pfor => Reference::Pfor { base },
            SuperScalarScheme::PforDelta => Reference::PforDelta { base },
            SuperScalarScheme::Pdict => Reference::Pdict {
                encoder: &self.encoder,
                reuse: self.reuse,
            },
        };
        SegmentSettings {
            reference,
            width,
            marking,
            compression,
        }
    }

    pub fn open<'a>(&self, image: &'a [u8]) -> Result<Segment<'a, T>, quire_codec::Corrupt> {
        Segment::open(image, self.reuse.then(|| self.encoder.dictionary()))
    }
}

/// All values by vectors.
pub fn by_vectors<T: Integer>(segment: &mut Segment<'_, T>) -> Vec<T> {
    let mut values = Vec::new();
    let mut out = [T::default(); VECTOR_VALUES];
    for vector in 0..segment.value_count().div_ceil(VECTOR_VALUES) {
        let rows = segment.decode_vector(vector, &mut out).unwrap();
        values.extend_from_slice(&out[..rows]);
    }
    values
}

/// All values by groups.
pub fn by_groups<T: Integer>(segment: &Segment<'_, T>) -> Vec<T> {
    let mut values = Vec::new();
    let mut out = [T::default(); GROUP_VALUES];
    for group in 0..segment.value_count().div_ceil(GROUP_VALUES) {
        let rows = segment.decode_group(group, &mut out).unwrap();
        values.extend_from_slice(&out[..rows]);
    }
    values
}
