//! Keys and tables worked out by hand.

use crate::strings::key;
use quire_codec::ordered::OrderedCode;

#[test]
fn bytes_with_codes_of_nine_bits() {
    // 256 codes of nine bits are half of all there are, and they are the upper half: a one, then the byte.
    let table = [&[1, 0, 0][..], &[9; 256]].concat();
    let code = OrderedCode::from_bytes(&table).unwrap();
    // A is 01000001, B is 01000010: 1 01000001 1 01000010, and six zeros.
    assert_eq!(key(&code, b"AB"), [0b1010_0000, 0b1101_0000, 0b1000_0000]);
    assert_eq!(key(&code, b""), []);
    assert_eq!(key(&code, b"\0"), [0b1000_0000, 0b0000_0000]);
    assert_eq!(code.to_bytes(), table);
}

#[test]
fn a_symbol_cuts_the_interval_of_its_first_byte() {
    // 258 intervals: a is cut into [a, ab), [ab, ac) of the symbol ab, and [ac, b). The first of 512 codes given
    // out is 254, so interval i has code 254 + i.
    let table = [&[1, 1, 0, 0x02, b'a', b'b'][..], &[9; 258]].concat();
    let code = OrderedCode::from_bytes(&table).unwrap();
    // a: interval 97, code 351 = 101011111. ab: 98, 352 = 101100000. a before c: 99, 353 = 101100001.
    // c is byte 99, and two intervals later: 101, 355 = 101100011.
    assert_eq!(key(&code, b"a"), [0b1010_1111, 0b1000_0000]);
    assert_eq!(key(&code, b"ab"), [0b1011_0000, 0b0000_0000]);
    assert_eq!(
        key(&code, b"aca"),
        [0b1011_0000, 0b1101_1000, 0b1110_1011, 0b1110_0000]
    );
    assert_eq!(code.to_bytes(), table);
    let range = code.prefix_range(b"ab");
    assert_eq!(range.start, key(&code, b"ab"));
    assert_eq!(range.end, Some(key(&code, b"ac")));
    assert_eq!(code.prefix_range(b"a\xFF\xFF").end, Some(key(&code, b"b")));
    assert_eq!(code.prefix_range(b"\xFF").end, None);
    assert_eq!(code.prefix_range(b"").start, []);
}

#[test]
fn symbols_share_beginnings_in_the_table() {
    // ab, abc, b: one byte of own after two shared. abc leaves of ab: [ab, abc) and [abd, ac).
    let table = [&[1, 2, 0, 0x02, b'a', b'b', 0x21, b'c'][..], &[9; 260]].concat();
    let code = OrderedCode::from_bytes(&table).unwrap();
    assert_eq!(code.to_bytes(), table);
    // [abc, abd) is interval 99: code 512 - 260 + 99 = 351.
    assert_eq!(key(&code, b"abc"), [0b1010_1111, 0b1000_0000]);
}

#[test]
fn tables_that_are_no_code_are_corrupt() {
    let corrupt = |table: &[u8]| OrderedCode::from_bytes(table).unwrap_err().what;
    let lengths = [9; 256];
    let with = |at: usize, length: u8| {
        let mut lengths = lengths;
        lengths[at] = length;
        corrupt(&[&[1, 0, 0][..], &lengths].concat())
    };
    assert!(corrupt(&[&[2, 0, 0][..], &lengths].concat()).contains("version"));
    assert!(with(7, 0).contains("1 to 24"));
    assert!(with(7, 25).contains("1 to 24"));
    // The first code would be 255 of 512, the ninth 263, and eight bits are two of 512 from an even one.
    assert!(with(8, 8).contains("within another"));
    assert!(corrupt(&[&[1, 0, 0][..], &[8; 256]].concat()).contains("more codes"));
    assert!(corrupt(&[&[1, 0, 0][..], &[9; 257]].concat()).contains("follow"));
    assert!(corrupt(&[&[1, 0, 0][..], &[9; 255]].concat()).contains("cut short"));
    let symbols = |symbols: &[u8]| {
        let count = [1, 2, 0].as_slice();
        corrupt(&[count, symbols, &[9; 260]].concat())
    };
    assert!(symbols(b"\x02ab\x20").contains("ascend"));
    assert!(symbols(b"\x02ab\x11a").contains("ascend"));
    assert!(symbols(b"\x02ab\x02c\0").contains("zero"));
    assert!(symbols(b"\x02ab\x01c").contains("2 to 8"));
    assert!(symbols(b"\x02ab\x09cdefghijk").contains("2 to 8"));
    assert!(symbols(b"\x02ab\x31c").contains("shares more"));
    assert!(symbols(b"\x02ab\x02ac").contains("than it says"));
    assert!(corrupt(&[1, 0xFF, 0xFF]).contains("more symbols"));
}
