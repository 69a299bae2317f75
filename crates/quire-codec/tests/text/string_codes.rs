//! Tables of both kinds behind one type.

use quire_codec::CodecId;
use quire_codec::text::{FsstTable, HuffmanTable, StringCodes};

fn sample() -> Vec<String> {
    (0..300)
        .map(|row| {
            format!(
                "{} ironic deposits nag {row}",
                ["furiously", "quickly"][row % 2]
            )
        })
        .collect()
}

#[test]
fn a_table_does_what_the_one_within_does() {
    let sample = sample();
    let sample: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
    let (fsst, huffman) = (FsstTable::train(&sample), HuffmanTable::train(&sample));
    let codes = |encode: &dyn Fn(&[u8], &mut Vec<u8>) -> bool, text: &[u8]| {
        let mut codes = Vec::new();
        encode(text, &mut codes).then_some(codes)
    };
    for text in sample.iter().copied().chain([&b""[..], b"\x00", b"x"]) {
        for (codec, table, expected) in [
            (
                CodecId::Fsst,
                StringCodes::from(fsst.clone()),
                codes(&|text, codes| fsst.encode_if_shorter(text, codes), text),
            ),
            (
                CodecId::Huffman,
                StringCodes::from(huffman.clone()),
                codes(&|text, codes| huffman.encode_if_shorter(text, codes), text),
            ),
        ] {
            assert_eq!(table.codec(), codec);
            assert_eq!(StringCodes::train(codec, &sample).as_ref(), Some(&table));
            let found = codes(&|text, codes| table.encode_if_shorter(text, codes), text);
            assert_eq!(found, expected);
            if let Some(found) = found {
                assert_eq!(table.text(&found).to_vec().unwrap(), text);
                let mut target = b"kept".to_vec();
                table.text(&found).append_to(&mut target).unwrap();
                assert_eq!(target, [b"kept", text].concat());
            }
        }
    }
}

#[test]
fn the_bytes_of_a_table_are_read_with_its_codec() {
    let sample = sample();
    let sample: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
    for codec in CodecId::ALL {
        let has_tables = matches!(codec, CodecId::Fsst | CodecId::Huffman);
        let table = StringCodes::train(codec, &sample);
        assert_eq!(table.is_some(), has_tables, "{codec}");
        match table {
            Some(table) => {
                let bytes = table.to_bytes();
                assert_eq!(StringCodes::from_bytes(codec, &bytes).unwrap(), table);
                assert!(StringCodes::from_bytes(codec, &bytes[1..]).is_err());
            }
            None => {
                let error = StringCodes::from_bytes(codec, &[0])
                    .unwrap_err()
                    .to_string();
                assert!(error.contains(codec.name()), "{error}");
            }
        }
    }
}
