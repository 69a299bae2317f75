//! Wrong bytes are errors or other values, never a panic, and never ask for much memory.

use crate::columns::{CODECS, Random, columns};
use crate::naive;
use quire_codec::text::{BytesDecoder, encode};
use quire_codec::{BytesVector, CodecId, Corrupt, ROWS_MAX, vector_count};

/// Decodes whatever the payload decodes to, as a scan and as look-ups.
fn decode(codec: CodecId, payload: &[u8], rows: usize) -> Result<BytesVector, Corrupt> {
    let mut decoder = BytesDecoder::open(codec, payload.into(), 0..payload.len(), rows)?;
    let mut out = BytesVector::new();
    let mut failed = None;
    for vector in 0..vector_count(rows) {
        let before = out.clone();
        if let Err(error) = decoder.decode_vector(vector, &mut out) {
            assert_eq!(out, before, "{codec}: a failed vector leaves rows behind");
            failed = Some(error);
        }
        let mut codes = [0; 1024];
        if let Ok(count) = decoder.decode_codes(vector, &mut codes) {
            assert!(
                codes[..count]
                    .iter()
                    .all(|code| decoder.dictionary_value(*code).is_some())
            );
        }
    }
    for row in [0, 1, rows / 2, rows.saturating_sub(1)] {
        let _ = decoder.value(row, &mut Vec::new());
    }
    assert!(out.as_slice().is_valid());
    failed.map_or(Ok(out), Err)
}

/// Payloads of small columns, and their number of rows.
fn payloads() -> Vec<(CodecId, Vec<u8>, usize)> {
    let mut all = Vec::new();
    for column in columns()
        .iter()
        .filter(|column| column.slice().len() <= 2500)
    {
        for codec in CODECS {
            all.push((
                codec,
                encode(codec, &column.slice()).unwrap(),
                column.slice().len(),
            ));
        }
    }
    all
}

#[test]
fn a_payload_cut_short_is_an_error() {
    for (codec, payload, rows) in payloads() {
        let step = (payload.len() / 60).max(1);
        for length in (0..payload.len()).step_by(step) {
            assert!(
                decode(codec, &payload[..length], rows).is_err(),
                "{codec} cut to {length} of {}",
                payload.len()
            );
        }
        let longer = [&payload[..], b"?"].concat();
        assert!(BytesDecoder::open(codec, longer.into(), 0..payload.len() + 1, rows).is_err());
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    let mut random = Random(47);
    for (codec, payload, rows) in payloads() {
        // Headers and tables come first: half of the flips go there.
        for round in 0..120 {
            let reach = if round % 2 == 0 {
                payload.len()
            } else {
                payload.len().min(64)
            };
            let mut flipped = payload.clone();
            flipped[random.below(reach)] ^= 1 << random.below(8);
            let _ = decode(codec, &flipped, rows);
        }
    }
}

#[test]
fn overwritten_bytes_do_no_harm() {
    let mut random = Random(53);
    for (codec, payload, rows) in payloads() {
        for _ in 0..40 {
            let mut wrong = payload.clone();
            let start = random.below(wrong.len());
            let end = wrong.len().min(start + 1 + random.below(9));
            let fill = [0x00, 0xff, 0x80, random.below(256) as u8][random.below(4)];
            wrong[start..end].fill(fill);
            let _ = decode(codec, &wrong, rows);
        }
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let mut random = Random(59);
    for _ in 0..3000 {
        let length = random.below(300);
        let mut bytes = random.bytes(length);
        // Small numbers get further than large ones.
        if random.below(2) == 0 {
            bytes.iter_mut().for_each(|byte| *byte &= 7);
        }
        let rows = [0, 1, 5, 1024, 3000, ROWS_MAX][random.below(6)];
        for codec in CODECS {
            let _ = decode(codec, &bytes, rows);
        }
    }
}

#[test]
fn a_wrong_number_of_rows_is_no_panic() {
    for (codec, payload, rows) in payloads() {
        for other in [
            0,
            1,
            rows + 1,
            rows + 1024,
            ROWS_MAX,
            ROWS_MAX + 1,
            usize::MAX,
        ] {
            let opened = BytesDecoder::open(codec, payload.clone().into(), 0..payload.len(), other);
            if let Ok(mut decoder) = opened {
                let _ = decoder.decode_vector(0, &mut BytesVector::new());
                let _ = decoder.value(other.saturating_sub(1), &mut Vec::new());
            }
        }
    }
    let image: std::sync::Arc<[u8]> = std::sync::Arc::from(*b"abc");
    let (three, two) = (3, 2);
    for range in [2..4, three..two, 7..9] {
        for codec in CODECS {
            assert!(BytesDecoder::open(codec, image.clone(), range.clone(), 1).is_err());
        }
    }
}

#[test]
fn a_flipped_bit_in_a_stream_of_words_is_noticed() {
    let columns = columns();
    let column = columns
        .iter()
        .find(|column| column.name == "partial lane")
        .unwrap();
    let values = column.slice();
    let payload = encode(CodecId::Words, &values).unwrap();
    let mut changed = 0;
    for byte in payload.len() - 200..payload.len() {
        let mut flipped = payload.clone();
        flipped[byte] ^= 0x10;
        // A stream may decode to other words of the same length, but hardly ever does.
        changed += usize::from(decode(CodecId::Words, &flipped, values.len()).is_ok());
    }
    assert!(changed <= 2, "{changed} of 200 flips went unnoticed");
}

#[test]
fn few_bytes_never_stand_for_many() {
    // One million repeated 131,072 times.
    let long = vec![b'x'; 1 << 20];
    assert!(
        BytesDecoder::open(
            CodecId::Constant,
            long.clone().into(),
            0..long.len(),
            ROWS_MAX
        )
        .is_err()
    );
    let dictionary = [
        1u32.to_le_bytes().to_vec(),
        naive::section(&[naive::packed(&[2 << 20]), vec![b'x'; 2 << 20]].concat()),
        naive::packed(&vec![0; ROWS_MAX]),
    ];
    assert!(decode(CodecId::Dictionary, &dictionary.concat(), ROWS_MAX).is_err());
    // Lengths of 4 GiB a row, in one byte.
    let lengths = [&[32][..], &[0xff; 4], &[0]].concat();
    let sums = naive::packed(&[u32::MAX]);
    for codec in [CodecId::Plain, CodecId::Fsst, CodecId::Zstd] {
        let head: &[u8] = match codec {
            CodecId::Fsst => &[0],
            CodecId::Zstd => &[20],
            _ => &[],
        };
        let payload = [head, &lengths, &sums].concat();
        assert!(decode(codec, &payload, 1).is_err(), "{codec}");
    }
    // A section that claims more than it may.
    let section = [u32::MAX.to_le_bytes(), 4u32.to_le_bytes(), [0; 4]].concat();
    let payload = [&1u32.to_le_bytes()[..], &section].concat();
    assert!(decode(CodecId::Dictionary, &payload, 1).is_err());
    let payload = [&[1][..], &section].concat();
    assert!(decode(CodecId::Words, &payload, 1).is_err());
}
