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
    let (mut some, few) = (BytesVector::new(), [0, 1, 2, 1023]);
    for wanted in [&few[..2], &few, &[5; 9]] {
        let before = some.clone();
        if decoder.decode_rows(rows / 2048, wanted, &mut some).is_err() {
            assert_eq!(some, before, "{codec}: failed rows leave rows behind");
        }
    }
    let _ = decoder.code(rows / 2);
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
        // The versions and widths that some codecs begin with get further.
        if let (Some(first), 0) = (bytes.first_mut(), random.below(3)) {
            *first = [1, 9, 12][random.below(3)];
        }
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
        naive::sequence(&vec![0i32; ROWS_MAX]),
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
    // As many codes of phrases, at 9 bits each.
    let payload = [&[9][..], &naive::phrases(&["x"]), &lengths, &sums].concat();
    assert!(decode(CodecId::Phrases, &payload, 1).is_err());
    // A section that claims more than it may.
    let section = [u32::MAX.to_le_bytes(), 4u32.to_le_bytes(), [0; 4]].concat();
    let payload = [&1u32.to_le_bytes()[..], &section].concat();
    assert!(decode(CodecId::Dictionary, &payload, 1).is_err());
    for (codec, version) in [
        (CodecId::Words, 1),
        (CodecId::Shape, 1),
        (CodecId::Phrases, 12),
    ] {
        let payload = [&[version][..], &section].concat();
        assert!(decode(codec, &payload, 1).is_err(), "{codec}");
    }
}

/// What decoding the payload of the naive writer says after one of its bytes was changed.
fn wrong_shapes(byte: impl Fn(&[u8]) -> usize, to: u8) -> Result<BytesVector, Corrupt> {
    let (mut payload, values) = naive::shapes();
    let at = byte(&payload);
    payload[at] = to;
    decode(CodecId::Shape, &payload, values.len())
}

#[test]
fn shapes_that_contradict_themselves_are_refused() {
    let (payload, values) = naive::shapes();
    assert!(decode(CodecId::Shape, &payload, values.len()).is_ok());
    let section_end = 9 + u32::from_le_bytes(payload[1..5].try_into().unwrap()) as usize;
    let position = |bytes: &'static [u8]| {
        move |payload: &[u8]| {
            let mut windows = payload.windows(bytes.len());
            windows.position(|window| window == bytes).unwrap()
        }
    };
    // Another version, another number of shapes.
    assert!(wrong_shapes(|_| 0, 2).is_err());
    assert!(wrong_shapes(|_| 9, 1).is_err());
    // Values without a shape that have shapes themselves, and a codec that holds no strings.
    for codec in [CodecId::Shape, CodecId::Pfor, CodecId::Alp] {
        assert!(wrong_shapes(|_| section_end, codec as u8).is_err());
    }
    // Three digits for 9999, 17 digits, no width.
    let digits = position(&[1, 4, 0, 1, b'/']);
    for width in [3, 17, 0] {
        assert!(wrong_shapes(|payload| digits(payload) + 1, width).is_err());
    }
    // Two digits for 120; counted digits of which there are three.
    assert!(wrong_shapes(|payload| digits(payload) + 6, 2).is_err());
    assert!(wrong_shapes(|payload| position(&[3, 10])(payload) + 1, 2).is_err());
    // An alphabet that does not ascend, symbols that pass 64 bits.
    let symbols = position(&[4, 5, 3, b'x']);
    assert!(wrong_shapes(|payload| symbols(payload) + 3, b'y').is_err());
    assert!(wrong_shapes(|payload| symbols(payload) + 1, 33).is_err());
    // Counts of rows that the codes do not have, though they add up.
    let (payload, values) = naive::shapes();
    let (right, wrong) = (naive::packed(&[2, 2, 2]), naive::packed(&[3, 1, 2]));
    let at = section_end + 1;
    let payload = [&payload[..at], &wrong, &payload[at + right.len()..]].concat();
    assert!(decode(CodecId::Shape, &payload, values.len()).is_err());
}

#[test]
fn phrases_that_contradict_themselves_are_refused() {
    let counts = naive::lengths(&[1]);
    let with = |width: u8, phrases: &[u8], code: &[u8]| {
        let payload = [&[width][..], phrases, &counts, code].concat();
        decode(CodecId::Phrases, &payload, 1)
    };
    let three = naive::phrases(&["a", "ab", "c"]);
    let expected = with(9, &three, &[1, 0]).unwrap();
    assert_eq!(expected.as_slice().get(0), b"ab");
    assert!(with(9, &three, &[3, 0]).is_err(), "no such code");
    assert!(with(7, &three, &[1]).is_err(), "too narrow");
    assert!(with(17, &three, &[1, 0, 0]).is_err(), "too wide");
    let raw = |count: u32, rest: &[u8]| naive::section(&[&count.to_le_bytes(), rest].concat());
    for (wrong, what) in [
        (raw(2, &[0x00, 0x00, b'b', b'a']), "do not ascend"),
        (raw(2, &[0x00, 0x00, b'a', b'a']), "occur twice"),
        (raw(1, &[0x01, b'a']), "share with nothing"),
        (raw(2, &[0xf0, 0x1f, 0]), "are cut short"),
        (raw(257, &[]), "are more than there are"),
        (raw(1, &[0x00, b'a', b'b']), "are followed by others"),
    ] {
        assert!(with(9, &wrong, &[0, 0]).is_err(), "phrases that {what}");
    }
    let long = [&[0xf0, 0x1f][..], b"0123456789abcdef", b"gh"].concat();
    assert!(with(9, &raw(2, &long), &[0, 0]).is_err(), "17 bytes");
    let many: Vec<String> = (0..257).map(|number| format!("{number:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(with(8, &naive::phrases(&many), &[0]).is_err(), "too many");
}
