//! Arbitrary bytes as a block, as a list of gaps, and as something to compress.
//!
//! The first byte names the codec, the next two the raw length. Decoding may fail, and must do nothing worse;
//! what is compressed must come back.
//!
//! `ASAN_OPTIONS=detect_odr_violation=0 cargo +nightly fuzz run block`: libdeflate compiles one template twice, of
//! which each copy has tables of the same names.
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_lab::postings::codecs::{Carryover12, PostingsCodec, SemiStaticHuffman};
use quire_codec::block::{BlockCodecId, BlockOptions, MinimumGain, open};

const POSTINGS: [&dyn PostingsCodec; 2] = [&Carryover12, &SemiStaticHuffman];

fn block(id: BlockCodecId, raw_bytes: usize, bytes: &[u8]) {
    let Ok(mut codec) = open(id, &BlockOptions::default()) else {
        return;
    };
    let _ = codec.decompress(bytes, &mut vec![0; raw_bytes]);
    for limit in [
        MinimumGain::EIGHTH.limit(bytes.len()),
        bytes.len() + bytes.len() / 8 + 1024,
    ] {
        let mut room = vec![0; limit];
        if let Some(length) = codec.compress(bytes, &mut room, limit) {
            let mut again = vec![1; bytes.len()];
            assert_eq!(codec.decompress(&room[..length], &mut again), Ok(()));
            assert!(again == bytes);
        }
    }
}

fn gaps(codec: &dyn PostingsCodec, count: usize, bytes: &[u8]) {
    let _ = codec.decode(bytes, &mut vec![0; count]);
    let words = bytes.chunks_exact(4);
    let gaps: Vec<u32> = words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3] & 15]))
        .collect();
    let mut payload = Vec::new();
    if codec.encode(&gaps, &mut payload).is_ok() {
        let mut again = vec![1; gaps.len()];
        assert_eq!(codec.decode(&payload, &mut again), Ok(()));
        assert!(again == gaps);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [codec, low, high, bytes @ ..] = bytes else {
        return;
    };
    let count = usize::from(u16::from_le_bytes([*low, *high]));
    match BlockCodecId::from_u8(codec % 9) {
        Some(id) => block(id, count, bytes),
        None => gaps(POSTINGS[usize::from(codec % 9 == 8)], count, bytes),
    }
});
