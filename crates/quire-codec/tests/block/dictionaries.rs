//! Dictionaries are learnt, used, and asked for.

use crate::laws::compress;
use crate::random::Random;
use quire_codec::block::{
    BlockCodec, BlockCodecId, BlockOptions, CodecOpenError, DICTIONARY_BYTES_MAX, ZstdDictionary,
    open,
};

/// Small records of one template.
fn records(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let mut record = || {
        format!(
            "{{\"customer\":\"Customer#{:09}\",\"status\":\"{}\",\"remark\":\"deposits sleep furiously\",\"amount\":{}}}",
            random.below(1_000_000),
            ["open", "closed", "returned"][random.below(3)],
            random.below(10_000),
        )
        .into_bytes()
    };
    (0..count)
        .map(|_| (0..4).flat_map(|_| record()).collect())
        .collect()
}

fn zstd(dictionary: Option<ZstdDictionary>) -> Box<dyn BlockCodec> {
    let level = None;
    open(BlockCodecId::Zstd, &BlockOptions { level, dictionary }).unwrap()
}

fn learnt() -> ZstdDictionary {
    let records = records(1, 500);
    let samples: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    ZstdDictionary::train(&samples, 2048).unwrap()
}

#[test]
fn a_dictionary_makes_records_smaller_and_is_needed_to_read_them() {
    let dictionary = learnt();
    assert!(dictionary.bytes().len() <= 2048);
    let again = ZstdDictionary::from_bytes(dictionary.bytes()).unwrap();
    let (mut with, mut without) = (zstd(Some(dictionary)), zstd(None));
    let mut reader = zstd(Some(again));
    let (mut bytes_with, mut bytes_without) = (0, 0);
    for record in records(2, 100) {
        let block = compress(with.as_mut(), &record);
        bytes_with += block.len();
        bytes_without += compress(without.as_mut(), &record).len();
        let mut raw = vec![0; record.len()];
        reader.decompress(&block, &mut raw).unwrap();
        assert_eq!(raw, record);
        assert!(without.decompress(&block, &mut raw).is_err() || raw != record);
    }
    assert!(
        3 * bytes_with < 2 * bytes_without,
        "{bytes_with} of {bytes_without}"
    );
}

#[test]
fn training_is_deterministic_and_declines_what_has_nothing_in_common() {
    assert_eq!(learnt(), learnt());
    let random: Vec<Vec<u8>> = (0..64).map(|seed| Random(seed).bytes(2000)).collect();
    let samples: Vec<&[u8]> = random.iter().map(Vec::as_slice).collect();
    assert_eq!(ZstdDictionary::train(&samples, 2048), None);
    assert_eq!(ZstdDictionary::train(&[], 2048), None);
    assert_eq!(ZstdDictionary::train(&[b"", b"a"], 2048), None);
    assert_eq!(ZstdDictionary::train(&[&samples[0][..100]; 9], 0), None);
}

#[test]
fn dictionaries_of_a_wrong_length_are_refused() {
    for bytes in [0, 7, DICTIONARY_BYTES_MAX + 1] {
        let refused = ZstdDictionary::from_bytes(vec![1; bytes]);
        assert_eq!(refused, Err(CodecOpenError::DictionaryLength { bytes }));
    }
}

#[test]
fn a_dictionary_with_damaged_tables_is_refused() {
    // The magic number of a dictionary with entropy tables, and no tables.
    let bytes = [&0xEC30_A437u32.to_le_bytes()[..], &[9; 60]].concat();
    let dictionary = Some(ZstdDictionary::from_bytes(bytes).unwrap());
    let level = None;
    let opened = open(BlockCodecId::Zstd, &BlockOptions { level, dictionary });
    assert_eq!(
        opened.map(|codec| codec.id()),
        Err(CodecOpenError::DictionaryRefused)
    );
}

#[test]
fn other_codecs_use_no_dictionary() {
    for id in BlockCodecId::ALL
        .into_iter()
        .filter(|id| *id != BlockCodecId::Zstd)
    {
        let options = BlockOptions {
            level: None,
            dictionary: Some(learnt()),
        };
        let refused = open(id, &options).map(|codec| codec.id());
        assert_eq!(refused, Err(CodecOpenError::NoDictionary { codec: id }));
    }
}
