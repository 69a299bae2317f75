//! Strings coded one at a time with an FSST table that is kept.

use proptest::prelude::*;
use quire_codec::Corrupt;
use quire_codec::text::FsstTable;

/// The symbols of a table, from its bytes as they are documented.
fn symbols(table: &FsstTable) -> Vec<Vec<u8>> {
    let bytes = table.to_bytes();
    let (lengths, mut rest) = bytes[1..].split_at(usize::from(bytes[0]));
    let symbol = |length: &u8| {
        let (symbol, behind) = rest.split_at(usize::from(*length));
        rest = behind;
        symbol.to_vec()
    };
    lengths.iter().map(symbol).collect()
}

/// The longest symbol at each place, by looking at all of them; an escape where there is none.
fn naive_codes(symbols: &[Vec<u8>], text: &[u8]) -> Vec<u8> {
    let (mut codes, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let fitting = symbols.iter().enumerate();
        let fitting = fitting.filter(|(_, symbol)| text[at..].starts_with(symbol));
        // Of two that are equal, the first.
        let longest = fitting.min_by_key(|(_, symbol)| usize::MAX - symbol.len());
        match longest {
            Some((code, symbol)) => {
                codes.push(code as u8);
                at += symbol.len();
            }
            None => {
                codes.extend([255, text[at]]);
                at += 1;
            }
        }
    }
    codes
}

fn naive_text(symbols: &[Vec<u8>], codes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut codes = codes.iter();
    while let Some(&code) = codes.next() {
        match code {
            255 => text.push(*codes.next()?),
            code => text.extend_from_slice(symbols.get(usize::from(code))?),
        }
    }
    Some(text)
}

fn assert_laws(table: &FsstTable, text: &[u8]) {
    let expected = naive_codes(&symbols(table), text);
    let mut codes = b"before".to_vec();
    let is_shorter = table.encode_if_shorter(text, &mut codes);
    assert_eq!(is_shorter, expected.len() < text.len());
    assert_eq!(&codes[..6], b"before");
    if !is_shorter {
        assert_eq!(codes.len(), 6);
        return;
    }
    assert_eq!(codes[6..], expected);
    let mut target = b"kept".to_vec();
    table.decode(&codes[6..], &mut target).unwrap();
    assert_eq!(target, [b"kept", text].concat());
}

/// What `codes` stand for. An error leaves the text before as it was.
fn decoded(table: &FsstTable, codes: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut text = b"kept".to_vec();
    let result = table.decode(codes, &mut text);
    assert_eq!(&text[..4], b"kept");
    assert!(result.is_ok() || text.len() == 4);
    result.map(|()| text.split_off(4))
}

fn remarks() -> Vec<Vec<u8>> {
    let words = ["furiously", "ironic", "déjà", "deposits", "naïve", "Straße"];
    let word = |at: usize| words[at % words.len()];
    let remark = |row: usize| format!("{} {} {}", word(row), word(row / 6), word(row * 7));
    (0..400).map(|row| remark(row).into_bytes()).collect()
}

fn trained() -> FsstTable {
    let remarks = remarks();
    let sample: Vec<&[u8]> = remarks.iter().map(Vec::as_slice).collect();
    FsstTable::train(&sample)
}

#[test]
fn remarks_become_at_most_half_as_long_and_come_back() {
    let table = trained();
    let (mut coded, mut whole) = (0, 0);
    for remark in remarks() {
        assert_laws(&table, &remark);
        let mut codes = Vec::new();
        table.encode_if_shorter(&remark, &mut codes);
        coded += codes.len();
        whole += remark.len();
    }
    assert!(2 * coded < whole, "{coded} of {whole}");
}

#[test]
fn odd_strings_come_back() {
    let table = trained();
    let long = "ironic déjà ".repeat(6_000).into_bytes();
    let zeros = vec![0; 65_536];
    for text in [&b""[..], b"i", b"\xFF", "é".as_bytes(), &long, &zeros] {
        assert_laws(&table, text);
    }
    for table in [FsstTable::train(&[]), FsstTable::train(&[b""])] {
        assert!(symbols(&table).is_empty());
        assert_laws(&table, &long);
    }
}

/// Symbols "ab", "abc" and "d" by hand: codes 0 to 2.
#[test]
fn a_table_is_where_the_document_says() {
    let bytes = [&[3, 2, 3, 1][..], b"ab", b"abc", b"d"].concat();
    let table = FsstTable::from_bytes(&bytes).unwrap();
    assert_eq!(table.to_bytes(), bytes);
    let mut codes = Vec::new();
    assert!(table.encode_if_shorter(b"abcabxd", &mut codes));
    assert_eq!(codes, [1, 0, 255, b'x', 2]);
    assert_eq!(decoded(&table, &codes).unwrap(), b"abcabxd");
    // No shorter than the string: "ab" with a byte that no symbol has.
    codes.clear();
    assert!(!table.encode_if_shorter(b"abx", &mut codes));
    assert!(codes.is_empty());
}

#[test]
fn wrong_codes_are_errors() {
    let table = FsstTable::from_bytes(&[1, 1, b'x']).unwrap();
    assert_eq!(decoded(&table, &[0, 0]).unwrap(), b"xx");
    for (wrong, what) in [
        (&[0, 1][..], "code 1 has no symbol"),
        (&[254], "code 254 has no symbol"),
        (&[0, 255], "escape without a byte"),
    ] {
        let error = decoded(&table, wrong).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn wrong_tables_are_errors_or_other_tables() {
    let bytes = trained().to_bytes();
    for length in 0..bytes.len() {
        assert!(FsstTable::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    assert!(FsstTable::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    assert!(FsstTable::from_bytes(&[1, 0]).is_err());
    assert!(FsstTable::from_bytes(&[&[1, 9][..], &[7; 9]].concat()).is_err());
    for bit in 0..8 * bytes.len() {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        if let Ok(table) = FsstTable::from_bytes(&wrong) {
            assert_eq!(table.to_bytes(), wrong);
            assert_laws(&table, "furiously ironic déjà".as_bytes());
        }
    }
}

proptest! {
    #[test]
    fn whatever_the_table_strings_come_back(
        sample in prop::collection::vec("[a-e\u{e9}\u{4e2d}]{0,40}", 0..40),
        texts in prop::collection::vec("\\PC{0,60}", 1..8),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let values: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
        let table = FsstTable::train(&values);
        prop_assert_eq!(&FsstTable::from_bytes(&table.to_bytes()).unwrap(), &table);
        values.iter().for_each(|value| assert_laws(&table, value));
        texts.iter().for_each(|text| assert_laws(&table, text.as_bytes()));
        assert_laws(&table, &bytes);
        // Any bytes as codes are what they stand for, or an error.
        prop_assert_eq!(decoded(&table, &bytes).ok(), naive_text(&symbols(&table), &bytes));
    }
}
