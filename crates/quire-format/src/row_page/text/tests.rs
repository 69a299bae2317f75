//! Packed strings come back, have the bits the format says, and are left alone where a block codec does better.

use super::super::alphabet::Alphabet;
use super::super::packed::{PackedBitReader, PackedBitWriter};
use super::{Pattern, TextColumnRun, TextMode};
use crate::wire::{WireItemReader, WireItemWriter};

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| char::from(b'0' + self.below(10) as u8))
            .collect()
    }

    fn hex(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| format!("{:x}", self.below(16)))
            .collect()
    }
}

fn joined(strings: &[String]) -> (Vec<u8>, Vec<usize>) {
    (
        strings.concat().into_bytes(),
        strings.iter().map(String::len).collect(),
    )
}

/// Mode and strings as they are stored, after they were read back.
fn stored(mode: &TextMode, strings: &[u8], lengths: &[usize]) -> (Vec<u8>, Vec<u8>) {
    let (mut packed, mut written) = (PackedBitWriter::default(), WireItemWriter::default());
    mode.write(&mut written);
    mode.pack(strings, &mut packed);
    let (written, packed) = (written.finish(), packed.finish());
    assert_eq!(packed.len(), mode.packed_bits(lengths).div_ceil(8));
    let read = TextMode::read(&mut WireItemReader::unversioned(&written)).unwrap();
    assert_eq!(read, *mode);
    let mut reader = PackedBitReader::new(&packed);
    assert_eq!(read.unpack(lengths, &mut reader).unwrap(), strings);
    assert_eq!(reader.position(), mode.packed_bits(lengths));
    (written, packed)
}

fn chosen(strings: &[String], has_entropy_coding: bool) -> (TextMode, usize) {
    let (bytes, lengths) = joined(strings);
    let mode = TextMode::choose(&bytes, &lengths, has_entropy_coding);
    if mode == TextMode::Plain {
        return (mode, bytes.len());
    }
    let (written, packed) = stored(&mode, &bytes, &lengths);
    (mode, written.len() + packed.len())
}

fn strings(count: usize, mut one: impl FnMut(usize) -> String) -> Vec<String> {
    (0..count).map(&mut one).collect()
}

#[test]
fn symbols_are_the_digits_of_words() {
    // Five of three symbols in a byte, the first the lowest digit: 0 + 1·3 + 2·9 + 0·27 + 1·81; then 2 + 0·3 + 1·9 in five bits.
    let free = TextMode::Free(Alphabet::new(b"abc".to_vec()).unwrap());
    let expected = (b"\x01\x03abc".to_vec(), vec![102, 11]);
    assert_eq!(stored(&free, b"abcabcab", &[3, 0, 5]), expected);

    // The first alphabet has bits 0, 1, 1, 0, the second 0, 1.
    let one = |alphabet| TextColumnRun::Symbols {
        alphabet,
        byte_count: 1,
    };
    let pattern = TextMode::Pattern(Pattern {
        alphabets: [b"01", b"ab"]
            .map(|two| Alphabet::new(two.to_vec()).unwrap())
            .into(),
        runs: vec![one(0), TextColumnRun::Same(b"-".to_vec()), one(1), one(0)],
    });
    let expected = b"\x02\x02\x0201\x02ab\x04\0\x01\xFF\x01-\x01\x01\0\x01".to_vec();
    assert_eq!(
        stored(&pattern, b"0-a11-b0", &[4, 0, 4]),
        (expected, vec![0x26])
    );
}

/// Reads word after word, digit after digit, by the description alone.
fn unpack_slowly(symbols: &[u8], count: usize, packed: &[u8]) -> Vec<u8> {
    let bit = |at: usize| usize::from(packed[at / 8] >> (at % 8) & 1);
    let bits_of = |digits: u32| {
        let values = symbols.len().pow(digits);
        (0..).find(|bits| 1_usize << bits >= values).unwrap()
    };
    let fits = |digits: &u32| *digits == 1 || bits_of(*digits) <= 11;
    let rate = |digits: &u32| 840 * bits_of(*digits) / *digits as usize;
    let word = (1..=8).rev().filter(fits).min_by_key(rate).unwrap();
    let (mut found, mut at) = (Vec::new(), 0);
    while found.len() < count {
        let digits = word.min((count - found.len()) as u32);
        let bits = bits_of(digits);
        let mut value: usize = (0..bits).map(|number| bit(at + number) << number).sum();
        at += bits;
        for _ in 0..digits {
            found.push(symbols[value % symbols.len()]);
            value /= symbols.len();
        }
    }
    found
}

#[test]
fn every_alphabet_is_read_as_a_slow_reader_reads_it() {
    let mut random = Random(1);
    for radix in 2..=128 {
        let symbols: Vec<u8> = (0..radix).map(|code| (code * 2 % 256) as u8).collect();
        let symbols = if radix > 100 {
            (50..50 + radix as u8).collect()
        } else {
            symbols
        };
        let alphabet = Alphabet::new(symbols.clone()).unwrap();
        for count in [1, 2, 7, 8, 9, 100, 1003] {
            let text: Vec<u8> = (0..count).map(|_| symbols[random.below(radix)]).collect();
            let (_, packed) = stored(&TextMode::Free(alphabet.clone()), &text, &[count]);
            assert_eq!(
                unpack_slowly(&symbols, count, &packed),
                text,
                "{radix} {count}"
            );
        }
    }
    assert_eq!(Alphabet::new(b"a".to_vec()), None);
    assert_eq!(Alphabet::new(b"ba".to_vec()), None);
    assert_eq!(Alphabet::new((0..129).collect()), None);
}

#[test]
fn what_programs_write_takes_little_more_than_its_entropy() {
    let mut random = Random(2);
    let groups = strings(80, |_| [(); 10].map(|()| random.digits(11)).join("-"));
    let digests = strings(60, |_| random.hex(64));
    let uuids = strings(100, |_| {
        let variant = b"89ab"[random.below(4)] as char;
        let [a, b, c, d, e] = [8, 4, 3, 3, 12].map(|count| random.hex(count));
        format!("{a}-{b}-4{c}-{variant}{d}-{e}")
    });
    let plates = strings(200, |_| {
        let letters = [(); 3].map(|()| char::from(b'A' + random.below(26) as u8));
        format!("{} {}", String::from_iter(letters), random.digits(4))
    });
    let numbers = strings(300, |_| {
        let count = 5 + random.below(9);
        random.digits(count)
    });
    let digit = 10_f64.log2();
    let number_digits: usize = numbers.iter().map(String::len).sum();
    for (what, strings, entropy_bits) in [
        ("groups", &groups, 80.0 * 110.0 * digit),
        ("digests", &digests, 60.0 * 64.0 * 4.0),
        ("uuids", &uuids, 100.0 * (30.0 * 4.0 + 2.0)),
        (
            "plates",
            &plates,
            200.0 * (3.0 * 26_f64.log2() + 4.0 * digit),
        ),
        ("numbers", &numbers, number_digits as f64 * digit),
    ] {
        for has_entropy_coding in [false, true] {
            let (mode, bytes) = chosen(strings, has_entropy_coding);
            assert_ne!(mode, TextMode::Plain, "{what}");
            assert_eq!(matches!(mode, TextMode::Free(_)), what == "numbers");
            let ratio = 8.0 * bytes as f64 / entropy_bits;
            assert!((1.0..1.12).contains(&ratio), "{what}: {ratio}");
        }
    }
}

#[test]
fn empty_strings_have_no_place_in_a_pattern() {
    let mut random = Random(3);
    let sparse = strings(200, |number| match number % 3 {
        0 => String::new(),
        _ => random.digits(12),
    });
    assert!(matches!(chosen(&sparse, true).0, TextMode::Pattern(_)));
    assert_eq!(
        chosen(&[String::new(), String::new()], true).0,
        TextMode::Plain
    );
    assert_eq!(chosen(&[], true).0, TextMode::Plain);
    assert_eq!(
        chosen(&strings(50, |_| "same".into()), true).0,
        TextMode::Plain
    );
}

#[test]
fn what_a_block_codec_shortens_further_is_left_to_it() {
    let words = "a leaf of the tree is told by its keys what rows it has and who may ask for them in which order ";
    let words: Vec<&str> = words.split_inclusive(' ').collect();
    let mut random = Random(4);
    let prose = strings(80, |_| {
        (0..20).map(|_| words[random.below(words.len())]).collect()
    });
    let digests: Vec<String> = strings(5, |_| random.hex(64));
    let repeated = strings(200, |_| digests[random.below(5)].clone());
    let skewed = strings(200, |_| {
        let rare = |random: &mut Random| random.below(40) == 0;
        (0..40)
            .map(|_| {
                if rare(&mut random) {
                    random.digits(1)
                } else {
                    "0".into()
                }
            })
            .collect()
    });
    for has_entropy_coding in [false, true] {
        assert_eq!(chosen(&prose, has_entropy_coding).0, TextMode::Plain);
        assert_eq!(chosen(&repeated, has_entropy_coding).0, TextMode::Plain);
        assert_eq!(chosen(&skewed, has_entropy_coding).0, TextMode::Plain);
    }
}

#[test]
fn wrong_modes_and_words_are_errors() {
    let mut random = Random(5);
    let (bytes, lengths) = joined(&strings(40, |_| {
        format!("{}-{}", random.digits(9), random.hex(3))
    }));
    let mode = TextMode::choose(&bytes, &lengths, true);
    let (written, packed) = stored(&mode, &bytes, &lengths);
    let mut refused = 0;
    for _ in 0..4000 {
        let (mut written, mut packed) = (written.clone(), packed.clone());
        match random.below(4) {
            0 => written.truncate(random.below(written.len())),
            1 => packed.truncate(random.below(packed.len())),
            kind => {
                let bytes = if kind == 2 { &mut written } else { &mut packed };
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        let read = TextMode::read(&mut WireItemReader::unversioned(&written));
        let found = read.and_then(|mode| mode.unpack(&lengths, &mut PackedBitReader::new(&packed)));
        refused += usize::from(found.is_err());
    }
    assert!(refused > 400, "{refused}");
    for wrong in [
        &[3_u8][..],
        &[1, 1, b'a'],
        &[2, 9],
        &[2, 1, 2, b'a', b'b', 1, 1, 4],
    ] {
        assert!(
            TextMode::read(&mut WireItemReader::unversioned(wrong)).is_err(),
            "{wrong:?}"
        );
    }
    let lengths = [13, 12];
    assert!(
        mode.unpack(&lengths, &mut PackedBitReader::new(&packed))
            .is_err()
    );
}
