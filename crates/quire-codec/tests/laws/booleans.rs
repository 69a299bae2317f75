use crate::shapes::{ROW_COUNTS, bits};
use crate::subject::{Decode, Subject};
use quire_codec::boolean::{BooleanDecoder, encode, encoded_bytes, to_words};
use quire_codec::{CodecId, Corrupt, EncodeError, VECTOR_VALUES};

impl Decode<bool> for BooleanDecoder {
    fn decode(&mut self, vector: usize, out: &mut Vec<bool>) -> Result<usize, Corrupt> {
        let mut values = [false; VECTOR_VALUES];
        let rows = self.decode_vector(vector, &mut values)?;
        *out = values[..rows].to_vec();
        let mut words = [0; 16];
        self.decode_words(vector, &mut words)?;
        let set: u32 = words.iter().map(|word| word.count_ones()).sum();
        let expected = out.iter().filter(|value| **value).count();
        assert_eq!(set as usize, expected, "bits beyond the rows are clear");
        Ok(rows)
    }
    fn one(&mut self, row: usize) -> Result<bool, Corrupt> {
        self.value(row)
    }
}

fn check(codec: CodecId, values: &[bool], name: &str) {
    let subject = Subject {
        name,
        encode: &|values| encode(codec, &to_words(values), values.len()),
        encoded_bytes: &|values| encoded_bytes(codec, &to_words(values), values.len()),
        open: &|image, range, rows| BooleanDecoder::open(codec, image, range, rows),
    };
    subject.obeys_the_laws(values, values.len() as u64 + 1);
}

#[test]
fn every_codec_obeys_the_laws() {
    for row_count in ROW_COUNTS {
        for (shape, values) in bits(row_count, 3) {
            for codec in [CodecId::Plain, CodecId::Rle] {
                check(
                    codec,
                    &values,
                    &format!("{codec} of {row_count} rows, {shape}"),
                );
            }
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                check(CodecId::Constant, &values, "constant");
            }
        }
    }
}

#[test]
fn bits_beyond_the_rows_are_ignored() {
    let dirty = encode(CodecId::Rle, &[u64::MAX; 2], 70).unwrap();
    let clean = encode(CodecId::Rle, &[u64::MAX, 0x3F], 70).unwrap();
    assert_eq!(dirty, clean);
}

#[test]
fn scattered_and_clustered_bits_cost_less_than_a_bitmap() {
    let size =
        |values: &[bool]| encoded_bytes(CodecId::Rle, &to_words(values), values.len()).unwrap();
    let bitmap = 4096 / 8;
    let few: Vec<bool> = (0..4096).map(|row| row % 200 == 9).collect();
    let runs: Vec<bool> = (0..4096).map(|row| row / 100 % 2 == 0).collect();
    assert!(size(&few) < bitmap / 5);
    assert!(size(&runs) < bitmap / 5);
    let half: Vec<bool> = (0..4096).map(|row| row % 2 == 0).collect();
    assert_eq!(size(&half), bitmap + 4, "a bitmap and one byte a vector");
}

#[test]
fn too_few_words_are_refused() {
    let refused = encode(CodecId::Plain, &[0], 65);
    assert!(matches!(
        refused,
        Err(EncodeError::ValidityLength { expected: 2, .. })
    ));
}
