use crate::backends::on_every_backend;
use crate::shapes::{ROW_COUNTS, integers};
use crate::subject::{Decode, Subject};
use proptest::prelude::*;
use quire_codec::fixed::{FixedDecoder, encode, encoded_bytes};
use quire_codec::int::Element;
use quire_codec::{CodecId, Corrupt, EncodeError, ROWS_MAX, VECTOR_VALUES};

impl<E: Element> Decode<E> for FixedDecoder<E> {
    fn decode(&mut self, vector: usize, out: &mut Vec<E>) -> Result<usize, Corrupt> {
        let mut values = [E::default(); VECTOR_VALUES];
        let rows = self.decode_vector(vector, &mut values)?;
        *out = values[..rows].to_vec();
        if let Some(dictionary) = self.dictionary() {
            let mut codes = [0; VECTOR_VALUES];
            assert_eq!(self.decode_codes(vector, &mut codes), Ok(rows));
            let looked_up: Vec<E> = codes[..rows]
                .iter()
                .map(|&code| dictionary[code as usize])
                .collect();
            assert_eq!(looked_up, *out, "codes and values disagree");
        }
        Ok(rows)
    }
    fn one(&mut self, row: usize) -> Result<E, Corrupt> {
        self.value(row)
    }
}

const CODECS: [CodecId; 7] = [
    CodecId::Plain,
    CodecId::Rle,
    CodecId::Pfor,
    CodecId::PforDelta,
    CodecId::Dictionary,
    CodecId::Pdict,
    CodecId::Sparse,
];

fn check<E: Element>(codec: CodecId, values: &[E], name: &str) {
    let subject = Subject {
        name,
        encode: &|values| encode(codec, values),
        encoded_bytes: &|values| encoded_bytes(codec, values),
        open: &|image, range, rows| FixedDecoder::<E>::open(codec, image, range, rows),
    };
    on_every_backend(|_| subject.obeys_the_laws(values, values.len() as u64 + 1));
}

macro_rules! suite {
    ($module:ident, $type:ty, $physical_type:ident) => {
        mod $module {
            use super::*;

            #[test]
            fn every_codec_obeys_the_laws() {
                for row_count in ROW_COUNTS {
                    for (shape, values) in integers(row_count, 11) {
                        let values: Vec<$type> =
                            values.into_iter().map(|value| value as $type).collect();
                        for codec in CODECS {
                            let name = format!("{codec} of {row_count} rows, {shape}");
                            check(codec, &values, &name);
                        }
                        if values.windows(2).all(|pair| pair[0] == pair[1]) {
                            check(CodecId::Constant, &values, "constant");
                        }
                    }
                }
            }

            #[test]
            fn a_full_row_group_fits_and_one_more_row_does_not() {
                let values: Vec<$type> = (0..=ROWS_MAX).map(|row| row as $type).collect();
                check(CodecId::PforDelta, &values[..ROWS_MAX], "full row group");
                for codec in CODECS {
                    let refused = encode(codec, &values);
                    assert!(matches!(refused, Err(EncodeError::TooManyRows { .. })));
                }
            }

            #[test]
            fn constant_refuses_values_that_differ() {
                let refused = encode::<$type>(CodecId::Constant, &[1, 1, 2]);
                assert_eq!(refused, Err(EncodeError::NotConstant));
            }

            #[test]
            fn codecs_of_other_types_are_refused() {
                for codec in CodecId::ALL {
                    let supported = codec.supports(quire_codec::PhysicalType::$physical_type);
                    assert_eq!(
                        encode::<$type>(codec, &[5, 5]).is_ok(),
                        supported,
                        "{codec}"
                    );
                    let image = [0u8; 64].into();
                    let opened = FixedDecoder::<$type>::open(codec, image, 0..64, 2);
                    assert!(supported || opened.is_err(), "{codec}");
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(60))]
                #[test]
                fn any_values_come_back(
                    values in prop::collection::vec(
                        prop_oneof![any::<$type>(), 0..50 as $type, Just(<$type>::MAX)],
                        0..2500,
                    ),
                ) {
                    for codec in CODECS {
                        check(codec, &values, &format!("{codec}"));
                    }
                }
            }
        }
    };
}
suite!(of_8_bits, i8, Int16);
suite!(of_8_bits_unsigned, u8, Int16);
suite!(of_16_bits_unsigned, u16, Int16);
suite!(of_32_bits_unsigned, u32, Int32);
suite!(of_64_bits_unsigned, u64, Int64);
suite!(of_16_bits, i16, Int16);
suite!(of_32_bits, i32, Int32);
suite!(of_64_bits, i64, Int64);
suite!(of_128_bits, i128, Int128);

#[test]
fn any_bytes_at_all_are_read_without_a_panic() {
    let mut random = crate::random::Random(5);
    for round in 0..4000 {
        let length = random.below(200) as usize;
        let bytes: Vec<u8> = (0..length)
            .map(|_| (random.next() >> 20) as u8 & 0x1F)
            .collect();
        let row_count = [1, 7, 1024, 1030, 5000, ROWS_MAX][round % 6];
        for codec in CODECS {
            let opened =
                FixedDecoder::<i32>::open(codec, bytes.clone().into(), 0..length, row_count);
            if let Ok(mut decoder) = opened {
                let _ = decoder.decode_vector(0, &mut [0; VECTOR_VALUES]);
                let _ = decoder.value(row_count - 1);
            }
        }
    }
}
