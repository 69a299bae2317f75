//! What signed and unsigned numbers of one width share, and what they do not.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../quire-codec/tests/widths/slow.rs"]
mod slow;

use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::int::Element;
use quire_codec::{CodecId, VECTOR_VALUES};
use quire_lab::super_scalar;
use quire_lab::super_scalar::{Compression, Integer, Marking, Reference, Segment, SegmentSettings};

fn bytes<E: Element>(codec: CodecId, values: &[E]) -> usize {
    fixed::encoded_bytes(codec, values).unwrap()
}

fn decoded<E: Element>(codec: CodecId, payload: &[u8], row_count: usize) -> Vec<E> {
    let mut decoder =
        FixedDecoder::<E>::open(codec, payload.into(), 0..payload.len(), row_count).unwrap();
    let mut out = [E::default(); VECTOR_VALUES];
    let vectors = 0..row_count.div_ceil(VECTOR_VALUES);
    vectors
        .flat_map(|vector| {
            let rows = decoder.decode_vector(vector, &mut out).unwrap();
            out[..rows].to_vec()
        })
        .collect()
}

macro_rules! pairs {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        mod $name {
            use super::*;

            const MIDDLE: $unsigned = 1 << (<$unsigned>::BITS - 1);

            fn around(center: $unsigned) -> Vec<$unsigned> {
                let offset = |code: &u64| center.wrapping_add(*code as $unsigned).wrapping_sub(8);
                slow::codes(4, 3000).iter().map(offset).collect()
            }

            #[test]
            fn values_on_both_sides_of_the_middle_are_narrow() {
                let (near, far) = (around(40), around(MIDDLE));
                for codec in [
                    CodecId::Pfor,
                    CodecId::PforDelta,
                    CodecId::Dictionary,
                    CodecId::Rle,
                ] {
                    // What the first values of vectors take is the same, too.
                    assert_eq!(bytes(codec, &near), bytes(codec, &far), "{codec}");
                }
                assert!(bytes(CodecId::Pfor, &far) <= 3000 / 2 + 40);
                // Those of the signed type are on both sides of its end, and not.
                let ends: Vec<$signed> = far.iter().map(|&value| value as $signed).collect();
                assert!(2 * bytes(CodecId::Pfor, &ends) > 3 * bytes(CodecId::Pfor, &far));
            }

            #[test]
            fn differences_have_a_sign() {
                let mut value = MIDDLE;
                let walk: Vec<$unsigned> = slow::codes(2, 3000)
                    .iter()
                    .map(|&code| {
                        value = value.wrapping_add(code as $unsigned).wrapping_sub(2);
                        value
                    })
                    .collect();
                assert!(bytes(CodecId::PforDelta, &walk) <= 3000 / 4 + 40);
                let bits: Vec<$signed> = walk.iter().map(|&value| value as $signed).collect();
                let payload = fixed::encode(CodecId::PforDelta, &walk).unwrap();
                assert_eq!(decoded::<$signed>(CodecId::PforDelta, &payload, 3000), bits);
            }

            #[test]
            fn a_payload_read_as_the_other_type_has_the_same_bits() {
                let values = around(MIDDLE);
                let signed: Vec<$signed> = values.iter().map(|&value| value as $signed).collect();
                for codec in [
                    CodecId::Plain,
                    CodecId::Pfor,
                    CodecId::PforDelta,
                    CodecId::Rle,
                ] {
                    let payload = fixed::encode(codec, &values).unwrap();
                    assert_eq!(decoded::<$signed>(codec, &payload, 3000), signed, "{codec}");
                    let payload = fixed::encode(codec, &signed).unwrap();
                    assert_eq!(
                        decoded::<$unsigned>(codec, &payload, 3000),
                        values,
                        "{codec}"
                    );
                }
            }

            #[test]
            fn a_dictionary_ascends_in_the_order_of_its_type() {
                let values = around(MIDDLE);
                let payload = fixed::encode(CodecId::Dictionary, &values).unwrap();
                let open = FixedDecoder::<$unsigned>::open;
                let image = payload.as_slice().into();
                let decoder = open(CodecId::Dictionary, image, 0..payload.len(), 3000).unwrap();
                let ascending: Vec<$unsigned> = (MIDDLE - 8..MIDDLE + 8).collect();
                assert_eq!(decoder.dictionary(), Some(ascending.as_slice()));
                let image = payload.as_slice().into();
                let other = FixedDecoder::<$signed>::open(
                    CodecId::Dictionary,
                    image,
                    0..payload.len(),
                    3000,
                );
                assert!(other.is_err(), "values do not ascend as signed numbers");
            }

            #[test]
            fn the_layout_of_the_paper_holds_the_same_values() {
                both_layouts(&around(MIDDLE));
                both_layouts(&around(3));
                let signed: Vec<$signed> =
                    around(0).iter().map(|&value| value as $signed).collect();
                both_layouts(&signed);
            }
        }
    };
}
pairs!(of_8_bits, u8, i8);
pairs!(of_16_bits, u16, i16);
pairs!(of_32_bits, u32, i32);
pairs!(of_64_bits, u64, i64);

/// PFOR and PFOR-DELTA of both layouts give back one column.
fn both_layouts<T: Element + Integer>(values: &[T]) {
    let base = values.iter().copied().min().unwrap();
    let zero = T::default();
    let references = [
        (CodecId::Pfor, Reference::Pfor { base }),
        (CodecId::PforDelta, Reference::PforDelta { base: zero }),
    ];
    for (codec, reference) in references {
        let settings = SegmentSettings {
            reference,
            width: 5,
            marking: Marking::Linked,
            compression: Compression::DoubleCursor,
        };
        let image = super_scalar::encode(values, &settings).unwrap();
        let mut segment = Segment::<T>::open(&image, None).unwrap();
        let mut out = [zero; VECTOR_VALUES];
        let payload = fixed::encode(codec, values).unwrap();
        let ours = decoded::<T>(codec, &payload, values.len());
        assert_eq!(ours, values, "{codec}");
        for (vector, ours) in ours.chunks(VECTOR_VALUES).enumerate() {
            let rows = segment.decode_vector(vector, &mut out).unwrap();
            assert_eq!(out[..rows], *ours, "{codec}");
        }
    }
}
