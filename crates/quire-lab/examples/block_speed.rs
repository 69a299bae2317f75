//! Speed and ratio of the block codecs on pages of 16 KiB, and of the codecs of gaps on an inverted file.
//!
//! `cargo run --release -p quire-lab --example block_speed -- FILE...` cuts each file into pages, prints MB of
//! raw bytes per second each way (of the fastest rounds), the ratio, and how many pages gain an eighth;
//! copying the pages is the peer. Pages of random bytes show what giving up costs. The lines of the first
//! file are the documents of the inverted file.

use quire_codec::block::{
    BlockCodec, BlockCodecId, BlockOptions, MinimumGain, ZstdDictionary, open,
};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::{CodecId, ROWS_MAX, VECTOR_VALUES};
use quire_lab::postings::codecs::{Carryover12, PostingsCodec, SemiStaticHuffman};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;
type Named = (String, Box<dyn BlockCodec>);

const PAGE_BYTES: usize = 16_384;
/// Of each file, so that no level takes minutes.
const FILE_BYTES_MAX: usize = 1 << 20;
const ROUNDS: usize = 21;

/// MB per second of `work` over pages of these many bytes. Each page counts with its fastest round, which is
/// short enough to be spared by whatever else runs.
fn mb_per_second(page_bytes: &[usize], mut work: impl FnMut(usize)) -> f64 {
    let mut fastest = vec![f64::INFINITY; page_bytes.len()];
    for _ in 0..ROUNDS {
        for (page, fastest) in fastest.iter_mut().enumerate() {
            let start = Instant::now();
            work(page);
            *fastest = fastest.min(start.elapsed().as_secs_f64());
        }
    }
    let bytes: usize = page_bytes.iter().sum();
    bytes as f64 / fastest.iter().sum::<f64>() / 1e6
}

/// Codecs and levels to measure, with their names.
fn codecs(dictionary: &ZstdDictionary) -> Result<Vec<Named>, Failure> {
    use BlockCodecId::{Lz4, Lz4Hc, Lzjb, None as Stored, Zle, Zlib, Zstd};
    let levels = [
        (Stored, 1),
        (Zle, 1),
        (Lzjb, 1),
        (Lz4, 1),
        (Lz4Hc, 4),
        (Lz4Hc, 9),
        (Zlib, 1),
        (Zlib, 6),
        (Zlib, 9),
        (Zstd, -1),
        (Zstd, 1),
        (Zstd, 3),
        (Zstd, 9),
    ];
    let mut all = Vec::new();
    for (id, level) in levels {
        let name = match id.levels().count() {
            1 => id.to_string(),
            _ => format!("{id} {level}"),
        };
        let level = Some(level);
        let dictionary = None;
        all.push((name, open(id, &BlockOptions { level, dictionary })?));
    }
    for level in [1, 3] {
        let (level, dictionary) = (Some(level), Some(dictionary.clone()));
        let name = format!("zstd {} dictionary", level.unwrap_or(0));
        all.push((name, open(Zstd, &BlockOptions { level, dictionary })?));
    }
    Ok(all)
}

/// Prints one line for a codec. Pages that do not gain an eighth are kept as they are.
fn measure(name: &str, codec: &mut dyn BlockCodec, pages: &[&[u8]]) {
    let raw_bytes: usize = pages.iter().map(|page| page.len()).sum();
    let mut room = vec![0; PAGE_BYTES];
    let limit = |page: &[u8]| match codec.id() {
        BlockCodecId::None => page.len(),
        _ => MinimumGain::EIGHTH.limit(page.len()),
    };
    let limits: Vec<usize> = pages.iter().map(|page| limit(page)).collect();
    let mut stored: Vec<Option<Vec<u8>>> = Vec::new();
    for (page, &limit) in pages.iter().zip(&limits) {
        let length = codec.compress(page, &mut room, limit);
        stored.push(length.map(|length| room[..length].to_vec()));
    }
    let sizes = stored.iter().zip(pages);
    let stored_bytes: usize = sizes
        .map(|(block, page)| block.as_ref().map_or(page.len(), Vec::len))
        .sum();
    let page_bytes: Vec<usize> = pages.iter().map(|page| page.len()).collect();
    let compress = mb_per_second(&page_bytes, |page| {
        black_box(codec.compress(pages[page], &mut room, limits[page]));
    });
    let blocks: Vec<(&[u8], usize)> = stored
        .iter()
        .zip(pages)
        .filter_map(|(block, page)| Some((block.as_deref()?, page.len())))
        .collect();
    let decompressed: Vec<usize> = blocks.iter().map(|(_, raw_bytes)| *raw_bytes).collect();
    let decompress = mb_per_second(&decompressed, |page| {
        let (block, raw_bytes) = blocks[page];
        black_box(codec.decompress(block, &mut room[..raw_bytes]).is_ok());
    });
    let decompress = match blocks.len() {
        0 => "-".to_owned(),
        _ => format!("{decompress:.0}"),
    };
    println!(
        "{name:<18} {compress:9.0} {decompress:>9} {:8.3} {:5.0} %",
        raw_bytes as f64 / stored_bytes as f64,
        100.0 * blocks.len() as f64 / pages.len() as f64
    );
}

fn measure_pages(title: &str, bytes: &[u8]) -> Result<(), Failure> {
    let pages: Vec<&[u8]> = bytes.chunks_exact(PAGE_BYTES).collect();
    println!(
        "\n{title}, {} pages\n{:<18}  compress decompress  ratio  gain",
        pages.len(),
        ""
    );
    let mut room = vec![0; PAGE_BYTES];
    let page_bytes: Vec<usize> = pages.iter().map(|page| page.len()).collect();
    let copy = mb_per_second(&page_bytes, |page| {
        room.copy_from_slice(black_box(pages[page]));
        black_box(&mut room);
    });
    println!("{:<18} {copy:9.0} {copy:9.0}", "memcpy");
    let start = Instant::now();
    let dictionary = ZstdDictionary::train(&pages, 32 << 10);
    let seconds = start.elapsed().as_secs_f64();
    let state = if dictionary.is_some() {
        ""
    } else {
        ", of no use"
    };
    println!("dictionary of 32 KiB trained in {seconds:.2} s{state}");
    // Without a dictionary of use, the lines that want one are measured with the first page as dictionary.
    let fallback = pages.first().copied().unwrap_or(&[0; PAGE_BYTES]);
    let dictionary = match dictionary {
        Some(dictionary) => dictionary,
        None => ZstdDictionary::from_bytes(fallback)?,
    };
    for (name, mut codec) in codecs(&dictionary)? {
        measure(&name, codec.as_mut(), &pages);
    }
    Ok(())
}

/// The gaps, less one, of the lists of all words of `text`, whose lines are the documents. One list is behind
/// the other, and each begins with its first document number.
fn inverted_file(text: &str) -> Vec<u32> {
    let mut lists: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (document, line) in (1u32..).zip(text.lines()) {
        for word in line.split(|letter: char| !letter.is_alphanumeric()) {
            let list = lists.entry(word).or_default();
            if !word.is_empty() && list.last() != Some(&document) {
                list.push(document);
            }
        }
    }
    let mut gaps = Vec::new();
    for list in lists.values() {
        let mut before = 0;
        for &document in list {
            gaps.push(document - before - 1);
            before = document;
        }
    }
    gaps
}

fn measure_postings(text: &str) -> Result<(), Failure> {
    let mut gaps = inverted_file(text);
    gaps.truncate(ROWS_MAX);
    let raw_bytes = size_of_val(&gaps[..]);
    println!(
        "\ninverted file, {} gaps of 4 bytes\n{:<18}  compress decompress  ratio",
        gaps.len(),
        ""
    );
    let line = |name: &str, compress: f64, decompress: f64, bytes: usize| {
        let ratio = raw_bytes as f64 / bytes as f64;
        println!("{name:<18} {compress:9.0} {decompress:9.0} {ratio:8.3}");
    };
    let codecs: [&dyn PostingsCodec; 2] = [&Carryover12, &SemiStaticHuffman];
    for codec in codecs {
        let mut payload = Vec::new();
        codec.encode(&gaps, &mut payload)?;
        let mut again = vec![0; gaps.len()];
        let decompress = mb_per_second(&[raw_bytes], |_| {
            black_box(codec.decode(&payload, &mut again).is_ok());
        });
        assert_eq!(again, gaps);
        let bytes = payload.len();
        let compress = mb_per_second(&[raw_bytes], |_| {
            payload.clear();
            black_box(codec.encode(&gaps, &mut payload).is_ok());
        });
        line(codec.name(), compress, decompress, bytes);
    }
    // PFOR of the gaps: PFOR-DELTA of the lists, without the running sum that no codec here includes.
    let numbers: Vec<i32> = gaps.iter().map(|&gap| gap as i32).collect();
    let image: Arc<[u8]> = fixed::encode(CodecId::Pfor, &numbers)?.into();
    let range = 0..image.len();
    let mut decoder =
        FixedDecoder::<i32>::open(CodecId::Pfor, image.clone(), range, numbers.len())?;
    let mut out = [0i32; VECTOR_VALUES];
    let decompress = mb_per_second(&[raw_bytes], |_| {
        for vector in 0..quire_codec::vector_count(numbers.len()) {
            black_box(decoder.decode_vector(vector, &mut out).is_ok());
        }
    });
    let compress = mb_per_second(&[raw_bytes], |_| {
        black_box(fixed::encode(CodecId::Pfor, &numbers).is_ok());
    });
    line("pfor", compress, decompress, image.len());
    Ok(())
}

fn main() -> Result<(), Failure> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        let mut bytes = std::fs::read(file)?;
        bytes.truncate(FILE_BYTES_MAX);
        measure_pages(file, &bytes)?;
    }
    let mut state = 88_172_645_463_325_252u64;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(64 * PAGE_BYTES)
    .collect();
    measure_pages("random bytes", &random)?;
    match files.first() {
        Some(file) => measure_postings(&String::from_utf8_lossy(&std::fs::read(file)?)),
        None => Ok(()),
    }
}
