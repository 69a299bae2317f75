//! Long values: small blocks of zstd with a dictionary of their segment.

use crate::columns::{Column, Random, sentence};
use crate::naive;
use quire_codec::choose::SearchEffort;
use quire_codec::text::{BytesDecoder, candidates, encode};
use quire_codec::{BytesVector, CodecId, Corrupt, vector_count};

/// Orders as an application writes them: the same names over and over, and values that differ.
fn documents(rows: usize, seed: u64) -> Column {
    let mut random = Random(seed);
    let document = |row| {
        let mut text = format!("{{\"orderId\":{},\"customer\":{{", 1_000_000 + row);
        for field in ["firstName", "lastName", "street", "city"] {
            let value = sentence(&mut random, 12);
            let value = String::from_utf8_lossy(&value);
            text.push_str(&format!("\"{field}\":\"{value}\","));
        }
        text.push_str("\"country\":\"NL\"},\"items\":[");
        for _ in 0..random.below(5) {
            let (article, price) = (random.below(50_000), random.below(9_999));
            text.push_str(&format!(
                "{{\"article\":\"SKU-{article:06}\",\"quantity\":{},\"unitPrice\":{price}}},",
                random.below(9)
            ));
        }
        let status = ["NEW", "PAID", "SHIPPED", "CANCELLED"][random.below(4)];
        text.push_str(&format!(
            "null],\"status\":\"{status}\",\"shipped\":false}}"
        ));
        text.into_bytes()
    };
    Column::new("documents", (0..rows).map(document))
}

fn decode(payload: &[u8], rows: usize) -> Result<BytesVector, Corrupt> {
    let codec = CodecId::Zstd;
    let mut decoder = BytesDecoder::open(codec, payload.into(), 0..payload.len(), rows)?;
    let mut out = BytesVector::new();
    for vector in 0..vector_count(rows) {
        decoder.decode_vector(vector, &mut out)?;
    }
    Ok(out)
}

/// What large blocks take: zstd at level 3 on each MiB, without the table of lengths.
fn large_blocks_bytes(text: &[u8]) -> usize {
    let blocks = text.chunks(1 << 20);
    blocks
        .map(|block| zstd::bulk::compress(block, 3).unwrap().len())
        .sum()
}

#[test]
fn documents_are_in_small_blocks_that_are_as_small() {
    let column = documents(12_000, 5);
    let values = column.slice();
    let payload = encode(CodecId::Zstd, &values).unwrap();
    assert!((12..=15).contains(&payload[0]), "{}", payload[0]);
    let text: Vec<u8> = values.iter().flatten().copied().collect();
    let lengths: Vec<u32> = values.iter().map(|value| value.len() as u32).collect();
    let beside = naive::lengths(&lengths).len();
    let large = large_blocks_bytes(&text);
    assert!(payload.len() - beside <= large / 100 * 104, "{large}");
    let out = decode(&payload, values.len()).unwrap();
    assert!(out.as_slice().iter().eq(values.iter()));
    // One value at a time, in no order.
    let image = payload.as_slice().into();
    let mut decoder =
        BytesDecoder::open(CodecId::Zstd, image, 0..payload.len(), values.len()).unwrap();
    for row in (0..values.len()).map(|row| row * 7_919 % values.len()) {
        let mut value = Vec::new();
        decoder.value(row, &mut value).unwrap();
        assert_eq!(value, values.get(row), "row {row}");
    }
    assert_eq!(encode(CodecId::Zstd, &values).unwrap(), payload, "again");
}

#[test]
fn the_size_announced_is_that_written() {
    let column = documents(4_000, 6);
    let candidates = candidates(&column.slice(), SearchEffort::Thorough);
    let of_zstd = candidates.iter().find(|one| one.codec == CodecId::Zstd);
    let payload = encode(CodecId::Zstd, &column.slice()).unwrap();
    assert!((12..=15).contains(&payload[0]));
    assert_eq!(of_zstd.unwrap().estimated_bytes, payload.len());
}

#[test]
fn short_values_and_short_columns_are_in_large_blocks() {
    let mut random = Random(9);
    let remarks = (0..40_000).map(|_| sentence(&mut random, 60));
    let noise = Random(4).bytes(1 << 20);
    let columns = [
        Column::new("short values", remarks.collect::<Vec<_>>()),
        documents(900, 7),
        Column::new("noise", noise.chunks(400).map(<[u8]>::to_vec)),
    ];
    for column in columns {
        let payload = encode(CodecId::Zstd, &column.slice()).unwrap();
        assert_eq!(payload[0], 20, "{}", column.name);
    }
}

/// A dictionary, and 4 KiB of it twice and three bytes more, in blocks of 4 KiB: the second is stored.
fn written_by_hand() -> (Vec<u8>, Vec<Vec<u8>>) {
    let dictionary = Random(8).bytes(5000);
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
    compressor.include_magicbytes(false).unwrap();
    compressor.include_contentsize(false).unwrap();
    let values = vec![dictionary[..4000].to_vec(), dictionary[4000..4999].to_vec()];
    let text = values.concat();
    let block = compressor.compress(&text[..4096]).unwrap();
    assert!(block.len() < 40, "it repeats the dictionary");
    let payload = [
        vec![12],
        naive::section(&dictionary),
        naive::lengths(&[4000, 999]),
        naive::packed(&[block.len() as u32, 903]),
        block,
        text[4096..].to_vec(),
    ];
    (payload.concat(), values)
}

#[test]
fn small_blocks_refer_to_the_dictionary() {
    let (payload, values) = written_by_hand();
    let out = decode(&payload, 2).unwrap();
    assert!(out.as_slice().iter().eq(values.iter().map(Vec::as_slice)));
    // The same without the dictionary is refused, and so are sizes of blocks that there are not.
    let mut without = vec![12];
    without.extend(naive::section(&[0; 8]));
    without.extend(&payload[1 + naive::section(&Random(8).bytes(5000)).len()..]);
    assert!(decode(&without, 2).is_err());
    for log2 in [0, 11, 21, 255] {
        let other = [&[log2], &payload[1..]].concat();
        assert!(decode(&other, 2).is_err(), "{log2}");
    }
}

#[test]
fn damage_is_an_error_or_other_text() {
    let (by_hand, _) = written_by_hand();
    let column = documents(2_500, 3);
    let written = encode(CodecId::Zstd, &column.slice()).unwrap();
    assert!((12..=15).contains(&written[0]));
    for (payload, rows) in [(by_hand, 2), (written, 2_500)] {
        for cut in (0..payload.len()).step_by(payload.len() / 200 + 1) {
            assert!(decode(&payload[..cut], rows).is_err(), "cut to {cut}");
        }
        let mut random = Random(payload.len() as u64);
        for round in 0..150 {
            let mut damaged = payload.clone();
            let reach = [16, damaged.len()][round % 2];
            damaged[random.below(reach)] ^= 1 << random.below(8);
            // Any text will do; a panic will not.
            let _ = decode(&damaged, rows);
        }
        let mut long = payload.clone();
        long[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(decode(&long, rows).is_err(), "a dictionary of 4 GiB");
    }
}
