//! Strings coded one at a time with a Huffman code of bytes that is kept.

use proptest::prelude::*;
use quire_codec::Corrupt;
use quire_codec::text::HuffmanTable;

/// Bits of the word of each byte, from the bytes of a table as they are documented.
fn lengths(table: &HuffmanTable) -> Vec<u32> {
    let bytes = table.to_bytes();
    assert_eq!(bytes.len(), 128);
    let pair = |byte: &u8| [u32::from(byte & 15), u32::from(byte >> 4)];
    bytes.iter().flat_map(pair).collect()
}

/// The words as bits: in the order of their lengths, then of their bytes, each the next number of its length.
fn words(lengths: &[u32]) -> Vec<String> {
    let mut order: Vec<usize> = (0..256).collect();
    order.sort_by_key(|&byte| (lengths[byte], byte));
    let mut words = vec![String::new(); 256];
    let (mut next, mut bits) = (0u64, 0);
    for byte in order {
        next <<= lengths[byte] - bits;
        bits = lengths[byte];
        words[byte] = format!("{next:0width$b}", width = bits as usize);
        next += 1;
    }
    words
}

fn naive_codes(words: &[String], text: &[u8]) -> Vec<u8> {
    let mut bits: String = text
        .iter()
        .map(|&byte| words[usize::from(byte)].as_str())
        .collect();
    while !bits.len().is_multiple_of(8) {
        bits.push('1');
    }
    let byte = |at: usize| u8::from_str_radix(&bits[8 * at..8 * at + 8], 2).unwrap();
    (0..bits.len() / 8).map(byte).collect()
}

/// Takes the word that the bits begin with until up to seven ones are left; `None` where no word fits.
fn naive_text(words: &[String], codes: &[u8]) -> Option<Vec<u8>> {
    let bits: String = codes.iter().map(|byte| format!("{byte:08b}")).collect();
    let (mut rest, mut text) = (bits.as_str(), Vec::new());
    while rest.len() > 7 || rest.contains('0') {
        let byte = (0..256).find(|&byte| rest.starts_with(&words[byte]))?;
        text.push(byte as u8);
        rest = &rest[words[byte].len()..];
    }
    Some(text)
}

/// What `codes` stand for. An error leaves the text before as it was.
fn decoded(table: &HuffmanTable, codes: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut text = b"kept".to_vec();
    let result = table.decode(codes, &mut text);
    assert_eq!(&text[..4], b"kept");
    assert!(result.is_ok() || text.len() == 4);
    assert!(text.len() - 4 <= 8 * codes.len());
    result.map(|()| text.split_off(4))
}

fn assert_laws(table: &HuffmanTable, text: &[u8]) {
    let expected = naive_codes(&words(&lengths(table)), text);
    let mut codes = b"before".to_vec();
    let is_shorter = table.encode_if_shorter(text, &mut codes);
    assert_eq!(is_shorter, expected.len() < text.len());
    assert_eq!(&codes[..6], b"before");
    if !is_shorter {
        assert_eq!(codes.len(), 6);
        // They are codes all the same.
        assert_eq!(decoded(table, &expected).unwrap(), text);
        return;
    }
    assert_eq!(codes[6..], expected);
    assert_eq!(decoded(table, &codes[6..]).unwrap(), text);
}

/// Each of 18 bytes twice as often as the next, so that words have 1 bit and more.
fn steep_sample() -> Vec<u8> {
    (0..18u8)
        .flat_map(|byte| std::iter::repeat_n(byte, 1 << (17 - byte)))
        .collect()
}

fn steep() -> HuffmanTable {
    HuffmanTable::train(&[&steep_sample()])
}

fn remarks() -> Vec<Vec<u8>> {
    let words = ["furiously", "ironic", "déjà", "deposits", "naïve", "Straße"];
    let word = |at: usize| words[at % words.len()];
    let remark = |row: usize| format!("{} {} {}", word(row), word(row / 6), word(row * 7));
    (0..400).map(|row| remark(row).into_bytes()).collect()
}

fn trained() -> HuffmanTable {
    let remarks = remarks();
    let sample: Vec<&[u8]> = remarks.iter().map(Vec::as_slice).collect();
    HuffmanTable::train(&sample)
}

#[test]
fn remarks_take_less_than_two_thirds_and_come_back() {
    let table = trained();
    let (mut coded, mut whole) = (0, 0);
    for remark in remarks() {
        assert_laws(&table, &remark);
        let mut codes = Vec::new();
        table.encode_if_shorter(&remark, &mut codes);
        coded += codes.len();
        whole += remark.len();
    }
    assert!(3 * coded < 2 * whole, "{coded} of {whole}");
}

#[test]
fn odd_strings_come_back() {
    let long = "ironic déjà ".repeat(6_000).into_bytes();
    let zeros = vec![0; 65_536];
    let all: Vec<u8> = (0..=255).collect();
    let one_symbol = HuffmanTable::train(&[b"aaaaaaaaaaaaaaaa"]);
    let no_symbol = [HuffmanTable::train(&[]), HuffmanTable::train(&[b""])];
    let uniform = HuffmanTable::train(&[&all]);
    for table in [
        &trained(),
        &steep(),
        &one_symbol,
        &no_symbol[0],
        &no_symbol[1],
        &uniform,
    ] {
        for text in [
            &b""[..],
            b"i",
            b"\xFF",
            b"a",
            "é".as_bytes(),
            &long,
            &zeros,
            &all,
        ] {
            assert_laws(table, text);
        }
        // Of every length, so that every number of bits is left for the last loads.
        for length in 0..100 {
            assert_laws(table, &long[..length]);
            assert_laws(table, &zeros[..length]);
            assert_laws(table, &vec![b'a'; length]);
        }
    }
    assert_eq!(lengths(&one_symbol)[usize::from(b'a')], 1);
    for table in no_symbol.iter().chain([&uniform]) {
        assert_eq!(lengths(table), [8; 256]);
    }
}

/// The steep code has words that no look-up of 12 bits finds.
#[test]
fn words_of_every_length_come_back() {
    let table = steep();
    let lengths = lengths(&table);
    assert_eq!(lengths.iter().min(), Some(&1));
    assert!(lengths.contains(&12) && lengths.contains(&13) && lengths.contains(&15));
    for byte in 0..=255u8 {
        for count in 1..12 {
            let text = [vec![byte; count], vec![0; 20], vec![byte; count]].concat();
            assert_laws(&table, &text);
        }
    }
}

/// Weights as documented: 256 for each occurrence and 1 besides.
fn weights(sample: &[u8]) -> Vec<u64> {
    let mut weights = vec![1; 256];
    for &byte in sample {
        weights[usize::from(byte)] += 256;
    }
    weights
}

/// The least total of word lengths times weights: the two lightest nodes are joined until one is left, each sum counts once.
/// And the longest word of the tree that this makes.
fn best_total(weights: &[u64]) -> (u64, u32) {
    let mut nodes: Vec<(u64, u32)> = weights.iter().map(|&weight| (weight, 0)).collect();
    let mut total = 0;
    while nodes.len() > 1 {
        nodes.sort_by(|a, b| b.cmp(a));
        let (left, right) = (nodes.pop().unwrap(), nodes.pop().unwrap());
        total += left.0 + right.0;
        nodes.push((left.0 + right.0, 1 + left.1.max(right.1)));
    }
    (total, nodes[0].1)
}

fn total(table: &HuffmanTable, weights: &[u64]) -> u64 {
    let lengths = lengths(table);
    let pairs = weights.iter().zip(lengths);
    pairs.map(|(weight, bits)| weight * u64::from(bits)).sum()
}

#[test]
fn no_code_is_shorter_where_the_limit_does_not_bind() {
    let remark = remarks().concat();
    for sample in [&b""[..], b"a", b"abracadabra", &remark] {
        let weights = weights(sample);
        let (best, longest) = best_total(&weights);
        assert!(longest <= 15, "{longest}");
        assert_eq!(total(&HuffmanTable::train(&[sample]), &weights), best);
    }
}

#[test]
fn a_code_that_the_limit_changes_is_close_to_the_best() {
    let weights = weights(&steep_sample());
    let (best, longest) = best_total(&weights);
    assert!(longest > 15, "{longest}");
    let total = total(&steep(), &weights);
    assert!(
        total >= best && total <= best + best / 50,
        "{total}, {best}"
    );
}

/// Lengths of a table that has words of 1 bit for "a", 8 for "b" and 9 for all other bytes.
fn flat() -> Vec<u8> {
    let bits = |byte: u8| match byte {
        b'a' => 1,
        b'b' => 8,
        _ => 9,
    };
    (0..128)
        .map(|pair| bits(2 * pair) | bits(2 * pair + 1) << 4)
        .collect()
}

/// By hand: a is 0, b 1000 0000, c 355 in nine bits, and FF nine ones.
#[test]
fn a_table_is_where_the_document_says() {
    let table = HuffmanTable::from_bytes(&flat()).unwrap();
    assert_eq!(table.to_bytes(), flat());
    for (text, expected) in [
        (&b"aaaaaab"[..], &[0b0000_0010, 0b0000_0011][..]),
        (b"aaac", &[0b0001_0110, 0b0011_1111]),
        (b"aaaaaaa\xFFaaaaaaaa", &[0b0000_0001, 0b1111_1111, 0]),
        (b"aa", &[0b0011_1111]),
    ] {
        let mut codes = Vec::new();
        assert!(table.encode_if_shorter(text, &mut codes));
        assert_eq!(codes, expected);
        assert_eq!(decoded(&table, &codes).unwrap(), text);
    }
    for text in [&b"b"[..], b"ac", b""] {
        let mut codes = Vec::new();
        assert!(!table.encode_if_shorter(text, &mut codes));
        assert!(codes.is_empty());
    }
}

#[test]
fn wrong_codes_are_errors() {
    let table = HuffmanTable::from_bytes(&flat()).unwrap();
    for wrong in [
        &[0b1111_1111][..],
        &[0b0111_1110],
        &[0, 0b0111_1110],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0xFF],
    ] {
        let error = decoded(&table, wrong).unwrap_err().to_string();
        assert!(error.contains("bits at the end are no word"), "{error}");
    }
}

#[test]
fn wrong_tables_are_errors_or_other_tables() {
    let bytes = trained().to_bytes();
    for length in 0..bytes.len() {
        assert!(HuffmanTable::from_bytes(&bytes[..length]).is_err());
    }
    assert!(HuffmanTable::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    // 256 words of 8 bits are a code, of 7 too many, of 9 too few; and none has no bits.
    assert!(HuffmanTable::from_bytes(&[0x88; 128]).is_ok());
    for pair in [0x77, 0x99, 0x00] {
        let error = HuffmanTable::from_bytes(&[pair; 128]).unwrap_err();
        assert!(error.to_string().contains("no Huffman code"), "{error}");
    }
    // A single other length is never a code; two can be.
    for bit in 0..8 * bytes.len() {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(HuffmanTable::from_bytes(&wrong).is_err(), "{bit}");
    }
    let mut swapped = bytes.clone();
    swapped.rotate_left(5);
    let table = HuffmanTable::from_bytes(&swapped).unwrap();
    assert_eq!(table.to_bytes(), swapped);
    assert_laws(&table, "furiously ironic déjà".as_bytes());
}

proptest! {
    #[test]
    fn whatever_the_table_strings_come_back(
        sample in prop::collection::vec("[a-e\u{e9}\u{4e2d}]{0,40}", 0..40),
        skewed in prop::collection::vec(0u32..40, 0..60),
        texts in prop::collection::vec("\\PC{0,60}", 1..8),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let values: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
        // Frequencies of powers of two make words of very different lengths.
        let skewed: Vec<u8> = skewed
            .iter()
            .enumerate()
            .flat_map(|(byte, power)| std::iter::repeat_n(byte as u8, 1 << (power % 14)))
            .collect();
        for table in [HuffmanTable::train(&values), HuffmanTable::train(&[&skewed])] {
            prop_assert_eq!(&HuffmanTable::from_bytes(&table.to_bytes()).unwrap(), &table);
            let lengths = lengths(&table);
            // Every bit pattern is a word, or several, and the beginning of one.
            let sum: u64 = lengths.iter().map(|bits| 1 << (15 - bits)).sum();
            prop_assert_eq!(sum, 1 << 15);
            values.iter().for_each(|value| assert_laws(&table, value));
            texts.iter().for_each(|text| assert_laws(&table, text.as_bytes()));
            assert_laws(&table, &bytes);
            // Any bytes as codes are what they stand for, or an error.
            let words = words(&lengths);
            for length in [bytes.len(), bytes.len() / 2, bytes.len().min(7)] {
                let codes = &bytes[..length];
                prop_assert_eq!(decoded(&table, codes).ok(), naive_text(&words, codes));
            }
        }
    }
}
