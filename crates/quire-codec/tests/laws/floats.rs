use crate::shapes::{ROW_COUNTS, floats};
use crate::subject::{Decode, Subject};
use proptest::prelude::*;
use quire_codec::float::{FloatDecoder, Floating, encode, encoded_bytes};
use quire_codec::{CodecId, Corrupt, VECTOR_VALUES};

/// A float that is compared by its bits.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Exact<F: Floating>(F::Bits);

fn exact<F: Floating>(value: F) -> Exact<F> {
    Exact(bytemuck::cast(value))
}

fn loose<F: Floating>(values: &[Exact<F>]) -> Vec<F> {
    values.iter().map(|value| bytemuck::cast(value.0)).collect()
}

impl<F: Floating> Decode<Exact<F>> for FloatDecoder<F> {
    fn decode(&mut self, vector: usize, out: &mut Vec<Exact<F>>) -> Result<usize, Corrupt> {
        let mut values = [<F as bytemuck::Zeroable>::zeroed(); VECTOR_VALUES];
        let rows = self.decode_vector(vector, &mut values)?;
        *out = values[..rows].iter().map(|&value| exact(value)).collect();
        Ok(rows)
    }
    fn one(&mut self, row: usize) -> Result<Exact<F>, Corrupt> {
        self.value(row).map(exact)
    }
}

const CODECS: [CodecId; 7] = [
    CodecId::Plain,
    CodecId::Rle,
    CodecId::Alp,
    CodecId::Dictionary,
    CodecId::Pdict,
    CodecId::Sparse,
    CodecId::AlpRd,
];

fn check<F: Floating>(codec: CodecId, values: &[F], name: &str) {
    let values: Vec<Exact<F>> = values.iter().map(|&value| exact(value)).collect();
    let subject = Subject {
        name,
        encode: &|values| encode(codec, &loose::<F>(values)),
        encoded_bytes: &|values| encoded_bytes(codec, &loose::<F>(values)),
        open: &|image, range, rows| FloatDecoder::<F>::open(codec, image, range, rows),
    };
    subject.obeys_the_laws(&values, values.len() as u64 + 1);
}

macro_rules! suite {
    ($module:ident, $type:ty) => {
        mod $module {
            use super::*;

            #[test]
            fn every_codec_obeys_the_laws() {
                for row_count in ROW_COUNTS {
                    for (shape, values) in floats(row_count, 23) {
                        let values: Vec<$type> =
                            values.into_iter().map(|value| value as $type).collect();
                        for codec in CODECS {
                            let name = format!("{codec} of {row_count} rows, {shape}");
                            check(codec, &values, &name);
                        }
                    }
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(60))]
                #[test]
                fn any_bits_come_back(bits in prop::collection::vec(any::<u64>(), 0..1500)) {
                    let values: Vec<$type> =
                        bits.into_iter().map(|bits| <$type>::from_bits(bits as _)).collect();
                    for codec in CODECS {
                        check(codec, &values, &format!("{codec}"));
                    }
                }

                #[test]
                fn any_decimals_come_back(
                    digits in prop::collection::vec(-1_000_000_000i64..1_000_000_000, 0..1500),
                    places in 0..9,
                ) {
                    let values: Vec<$type> = digits
                        .into_iter()
                        .map(|digits| (digits as f64 / 10f64.powi(places)) as $type)
                        .collect();
                    check(CodecId::Alp, &values, "decimals");
                    check(CodecId::AlpRd, &values, "decimals");
                }
            }
        }
    };
}
suite!(of_64_bits, f64);
suite!(of_32_bits, f32);

#[test]
fn decimals_take_the_bits_of_their_digits() {
    let mut random = crate::random::Random(8);
    let values: Vec<f64> = (0..8192)
        .map(|_| random.below(10_000) as f64 / 100.0)
        .collect();
    let bytes = encoded_bytes(CodecId::Alp, &values).unwrap();
    // Digits below 10,000 are 14 bits; the directories are less than 2 % of that.
    assert!(
        (8192 * 14 / 8..8192 * 14 / 8 * 102 / 100).contains(&bytes),
        "{bytes}"
    );
}

#[test]
fn numbers_that_are_no_decimals_take_their_right_parts_and_a_code() {
    let mut random = crate::random::Random(9);
    // From 1 to 4: two exponents, so two left parts of 12 bits, or some more of a few bits more.
    let values: Vec<f64> = (0..8192)
        .map(|_| 1.0 + 3.0 * random.next() as f64 / u64::MAX as f64)
        .collect();
    let bytes = encoded_bytes(CodecId::AlpRd, &values).unwrap();
    // Seven left bits or more are gone: sign, exponent of eleven bits less code of one, and the rest by luck.
    assert!(bytes <= 8192 * 53 / 8 + 40, "{bytes}");
    let decimal = encoded_bytes(CodecId::Alp, &values).unwrap();
    assert!(bytes < decimal, "{bytes}, {decimal}");
}
