//! The codecs of gaps keep their laws.

#![allow(clippy::unwrap_used)]

mod lists;
mod naive;
#[allow(dead_code)]
#[path = "../../../quire-codec/tests/block/random.rs"]
mod random;

use lists::{List, lists};
use proptest::prelude::*;
use quire_lab::postings::codecs::{Carryover12, GapsError, PostingsCodec, SemiStaticHuffman};
use random::Random;

const CODECS: [&dyn PostingsCodec; 2] = [&Carryover12, &SemiStaticHuffman];

fn encode(codec: &dyn PostingsCodec, gaps: &[u32]) -> Vec<u8> {
    // Behind something else, which stays.
    let mut payload = b"before".to_vec();
    codec.encode(gaps, &mut payload).unwrap();
    assert!(payload.starts_with(b"before"));
    payload.split_off(6)
}

fn naive_decode(codec: &dyn PostingsCodec, payload: &[u8], count: usize) -> Vec<u32> {
    match codec.name() {
        "carryover-12" => naive::carryover(payload, count),
        "huffman" => naive::huffman(payload, count),
        other => panic!("no naive decoder for {other}"),
    }
}

fn assert_round_trip(codec: &dyn PostingsCodec, name: &str, gaps: &[u32]) {
    let payload = encode(codec, gaps);
    let mut again = vec![77; gaps.len()];
    let result = codec.decode(&payload, &mut again);
    let what = format!("{} of {} {name}", codec.name(), gaps.len());
    assert_eq!(result, Ok(()), "{what}");
    assert!(again == gaps, "{what}");
    assert!(
        naive_decode(codec, &payload, gaps.len()) == gaps,
        "{what}, naive"
    );
}

#[test]
fn every_list_comes_back() {
    for codec in CODECS {
        for List { name, gaps } in lists() {
            assert_round_trip(codec, name, &gaps);
        }
    }
}

#[test]
fn carryover_words_worked_out_by_hand() {
    // Row f (after l: 0), five of 6 bits: 0 3 1 0 7. Row g (after f: 2), four of 7 bits: 120 2 0 0, and two bits
    // left for the next selector. Row g again (after g: 1), carried over: 100.
    let gaps = [0, 3, 1, 0, 7, 120, 2, 0, 0, 100];
    let words = [
        (3 << 6 | 1 << 12 | 7 << 24) << 2,
        1 << 30 | (120 | 2 << 7) << 2 | 2,
        100u32,
    ];
    assert_eq!(
        encode(&Carryover12, &gaps),
        words.map(u32::to_le_bytes).concat()
    );
}

#[test]
fn huffman_bits_worked_out_by_hand() {
    // Three gaps: 2 is 3 above -1 (011) with 2 bits (00010), 5 is 3 above (011) with 1 bit (00001), 9 is 4 above
    // (00100) with 2 bits (00010). The words are 10, 0 and 11.
    let payload = [
        3,
        0,
        0,
        0,
        0b0110_0010,
        0b0110_0001,
        0b0010_0000,
        0b1000_0010,
        0b1100_0000,
    ];
    assert_eq!(encode(&SemiStaticHuffman, &[5, 5, 5, 5, 2, 9, 5]), payload);
    // One gap: no words. None: no gaps.
    assert_eq!(
        encode(&SemiStaticHuffman, &[6; 1000]),
        [1, 0, 0, 0, 0b0011_1000]
    );
    assert_eq!(encode(&SemiStaticHuffman, &[]), [0; 4]);
}

/// Bits of the code words of Huffman's algorithm: what two least frequent nodes weigh together, over and over.
fn least_bits(gaps: &[u32]) -> u64 {
    let mut counts = std::collections::BTreeMap::new();
    for gap in gaps {
        *counts.entry(gap).or_insert(0u64) += 1;
    }
    let mut nodes: Vec<u64> = counts.into_values().collect();
    let mut bits = 0;
    while nodes.len() > 1 {
        nodes.sort_unstable_by(|a, b| b.cmp(a));
        let both = nodes.pop().unwrap() + nodes.pop().unwrap();
        bits += both;
        nodes.push(both);
    }
    bits
}

#[test]
fn huffman_words_are_the_shortest() {
    for List { name, gaps } in lists().iter().filter(|list| list.gaps.len() <= 5000) {
        let different = gaps.iter().collect::<std::collections::BTreeSet<_>>();
        if different.len() > 600 {
            continue;
        }
        let mut next = 0;
        let mut prelude = 0;
        for &&gap in &different {
            let above = u64::from(gap) + 1 - next;
            prelude += 2 * above.ilog2() + 1 + if different.len() > 1 { 5 } else { 0 };
            next = u64::from(gap) + 1;
        }
        let expected = 4 + (u64::from(prelude) + least_bits(gaps)).div_ceil(8);
        let payload = encode(&SemiStaticHuffman, gaps);
        assert_eq!(payload.len() as u64, expected, "{name} of {}", gaps.len());
    }
}

#[test]
fn gaps_that_are_too_large_are_refused() {
    let mut payload = Vec::new();
    let (gap, index, largest) = (1 << 28, 2, (1 << 28) - 1);
    let refused = Carryover12.encode(&[1, 2, gap], &mut payload);
    assert_eq!(
        refused,
        Err(GapsError::TooLarge {
            gap,
            index,
            largest
        })
    );
    assert_eq!(payload, []);
    assert_round_trip(
        &SemiStaticHuffman,
        "full range",
        &[u32::MAX, 0, 7, u32::MAX, 1 << 31],
    );
}

#[test]
fn a_list_cut_short_or_going_on_is_an_error() {
    for codec in CODECS {
        for List { name, gaps } in lists().iter().filter(|list| list.gaps.len() <= 100) {
            let payload = encode(codec, gaps);
            let mut out = vec![0; gaps.len()];
            for length in 0..payload.len() {
                let cut = codec.decode(&payload[..length], &mut out);
                assert!(cut.is_err(), "{} {name} cut to {length}", codec.name());
            }
            for extra in [&[0][..], &[0; 4], &[255; 4]] {
                let longer = [&payload[..], extra].concat();
                assert!(
                    codec.decode(&longer, &mut out).is_err(),
                    "{} {name}",
                    codec.name()
                );
            }
        }
    }
}

#[test]
fn damage_does_no_harm() {
    let mut random = Random(47);
    for codec in CODECS {
        for List { gaps, .. } in lists().iter().filter(|list| list.gaps.len() <= 1000) {
            let payload = encode(codec, gaps);
            for _ in 0..50.min(payload.len()) {
                let mut wrong = payload.clone();
                wrong[random.below(payload.len())] ^= 1 << random.below(8);
                let mut out =
                    vec![0; [gaps.len(), gaps.len() + 1, gaps.len() / 2, 3000][random.below(4)]];
                if let Err(error) = codec.decode(&wrong, &mut out) {
                    assert!(error.offset <= wrong.len());
                }
            }
        }
    }
}

#[test]
fn a_code_that_is_none_is_an_error() {
    // Two gaps with words of one and two bits: a pattern stands for nothing. And three of one bit: too many.
    let two = [2, 0, 0, 0, 0b1000_0110, 0b0010_0000];
    assert!(SemiStaticHuffman.decode(&two, &mut [0; 2]).is_err());
    let three = [3, 0, 0, 0, 0b1000_0110, 0b0001_1000, 0b0100_0000];
    assert!(SemiStaticHuffman.decode(&three, &mut [0; 3]).is_err());
    // More different gaps than gaps, and more than there are bytes for.
    assert!(
        SemiStaticHuffman
            .decode(&[2, 0, 0, 0, 255], &mut [0; 1])
            .is_err()
    );
    assert!(
        SemiStaticHuffman
            .decode(&[255, 255, 0, 0, 255], &mut vec![0; 1 << 16])
            .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_list_comes_back(gaps in proptest::collection::vec((0u32..29, any::<u32>()), 0..400)) {
        let gaps: Vec<u32> = gaps.iter().map(|&(width, number)| (u64::from(number) % (1 << width)) as u32).collect();
        for codec in CODECS {
            assert_round_trip(codec, "any", &gaps);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(payload in proptest::collection::vec(any::<u8>(), 0..200), count in 0usize..500) {
        let mut small = payload.clone();
        small.iter_mut().take(4).zip([31, 0, 0, 0]).for_each(|(byte, mask)| *byte &= mask);
        for codec in CODECS {
            let _ = codec.decode(&payload, &mut vec![0; count]);
            let _ = codec.decode(&small, &mut vec![0; count]);
        }
    }
}
