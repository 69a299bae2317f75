//! Measuring what work costs on this machine: some tens of milliseconds, on sample data that is always the same.
//!
//! Each measurement is the median of several, so that a thread that was not running counts for nothing. What takes a whole query to be
//! seen (a row through a scan, a batch) is not measured by itself: it is as much cheaper or dearer than the built-in cost as the work of the
//! processor that was measured is, by the median.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use hashbrown::HashTable;
use quire_codec::CodecId;
use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_codec::text::StringCodes;
use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};
use quire_store::{Disk, FileDisk};

use super::{Cost, CostModel, CostSource, KNOWN, is_cost, unpacking};
use crate::key_hash::hash_of;

/// Measurements of which the median counts.
const ROUNDS: usize = 7;
const ROWS: usize = 2_000;
const PAGE_BYTES: usize = 16 << 10;
const BLOCK_BYTES: usize = 64 << 10;
const FILE_BLOCKS: usize = 64;
/// Of 100 values so many are in a dictionary; the others are stored behind the codes.
const CODED: i64 = 95;
const KIB: f64 = 1024.0;

/// What work costs here. Temporary files are made in that folder, or where the system has its own; without any, what files cost is not measured.
#[must_use]
pub fn calibrate(directory: Option<&Path>) -> CostModel {
    let mut measured = MeasuredCosts::default();
    // What has no measurement keeps what is built in.
    measured.decoding();
    measured.keeping();
    measured.unpacking();
    measured.hashing();
    measured.comparing();
    measured.scale_others();
    measured.files(directory);
    measured.costs
}

#[derive(Default)]
struct MeasuredCosts {
    costs: CostModel,
}

/// Nanoseconds of one of `count` pieces of work.
fn median_ns(count: usize, mut work: impl FnMut()) -> f64 {
    let mut rounds = [Duration::ZERO; ROUNDS];
    for round in &mut rounds {
        let start = Instant::now();
        work();
        *round = start.elapsed();
    }
    rounds.sort_unstable();
    rounds[ROUNDS / 2].as_nanos() as f64 / count.max(1) as f64
}

/// Deterministic numbers, most of them small.
fn number(at: usize) -> i64 {
    let mixed = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (mixed % 10_000) as i64
}

fn text(at: usize) -> String {
    const WORDS: [&str; 8] = [
        "quick",
        "ironic",
        "pending",
        "final",
        "deposits",
        "furious",
        "packages",
        "carefully",
    ];
    let word = |by: usize| WORDS[(number(at * by + by) % 8) as usize];
    format!("{} {} {}", word(3), word(5), word(7))
}

/// How the fields of sample tuples are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalibrationStorage {
    Plain,
    /// As kept rows are: every field null-suppressed.
    Suppressed,
    /// As rows of tables are: the second field by the open dictionary that these have, which most of its values are in.
    Coded,
    /// The same without a dictionary, and the string in codes of a table of this codec.
    StringCodes(CodecId),
}

/// A table for the strings of the sample.
fn string_codes(codec: CodecId) -> Option<StringCodes> {
    let texts: Vec<String> = (0..ROWS).map(text).collect();
    let sample: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    StringCodes::train(codec, &sample)
}

/// Tuples of two numbers and a string.
struct CalibrationTuples {
    layout: TupleLayout,
    tuples: Vec<Vec<u8>>,
}

impl CalibrationTuples {
    fn new(storage: CalibrationStorage) -> Option<Self> {
        let column = |column_type: TupleType, compression: TupleCompression| TupleColumn {
            column_type,
            nullable: false,
            compression,
        };
        let numbers = match storage {
            CalibrationStorage::Plain => TupleCompression::None,
            _ => TupleCompression::NullSuppressed,
        };
        let coded = if storage == CalibrationStorage::Coded {
            let entries: Vec<TupleValue<'_>> = (0..CODED).map(TupleValue::Integer).collect();
            let dictionary = TupleDictionary::new(TupleType::Int64, 7, &entries).ok()?;
            TupleCompression::OpenDictionary(dictionary.into())
        } else {
            numbers.clone()
        };
        let texts = if let CalibrationStorage::StringCodes(codec) = storage {
            TupleCompression::StringCodes(string_codes(codec)?.into())
        } else {
            numbers.clone()
        };
        let layout = TupleLayout::new(&[
            column(TupleType::Int64, numbers),
            column(TupleType::Int64, coded),
            column(TupleType::Text, texts),
        ]);
        let mut sample = Self {
            layout: layout.ok()?,
            tuples: Vec::with_capacity(ROWS),
        };
        for at in 0..ROWS {
            let mut tuple = Vec::new();
            sample.encode(at, &text(at), &mut tuple)?;
            sample.tuples.push(tuple);
        }
        Some(sample)
    }

    fn encode(&self, at: usize, text: &str, tuple: &mut Vec<u8>) -> Option<()> {
        let values = [
            TupleValue::Integer(number(at)),
            TupleValue::Integer(number(at) % 100),
            TupleValue::Bytes(text.as_bytes()),
        ];
        self.layout.encode(&values, tuple).ok()
    }

    fn field_ns(&self, column: usize) -> f64 {
        let mut text = Vec::new();
        median_ns(ROWS, || {
            for tuple in &self.tuples {
                let field = black_box(self.layout.field(tuple, column));
                if let Ok(TupleValue::Coded(coded)) = field {
                    text.clear();
                    let _ = black_box(coded.append_to(&mut text));
                    black_box(&text);
                }
            }
        })
    }

    fn encode_ns(&self) -> f64 {
        let texts: Vec<String> = (0..ROWS).map(text).collect();
        let mut tuples = Vec::with_capacity(ROWS * 64);
        median_ns(ROWS, || {
            tuples.clear();
            for (at, text) in texts.iter().enumerate() {
                black_box(self.encode(at, text, &mut tuples));
            }
        })
    }

    /// Tuples one behind the other.
    fn bytes(&self, byte_count: usize) -> Vec<u8> {
        let all = self.tuples.iter().flatten().copied().cycle();
        all.take(byte_count).collect()
    }
}

impl MeasuredCosts {
    fn note(&mut self, cost: Cost, ns: f64) {
        if is_cost(ns) {
            self.costs.note(cost, ns, CostSource::Measured);
        }
    }

    fn decoding(&mut self) {
        if let Some(plain) = CalibrationTuples::new(CalibrationStorage::Plain) {
            self.note(Cost::DecodePlain, plain.field_ns(0));
            self.note(Cost::DecodePlainText, plain.field_ns(2));
        }
        if let Some(coded) = CalibrationTuples::new(CalibrationStorage::Coded) {
            self.note(Cost::DecodeSuppressed, coded.field_ns(0));
            self.note(Cost::DecodeDictionary, coded.field_ns(1));
            self.note(Cost::DecodeSuppressedText, coded.field_ns(2));
        }
        for (codec, cost) in [
            (CodecId::Fsst, Cost::DecodeFsstText),
            (CodecId::Huffman, Cost::DecodeHuffmanText),
        ] {
            let storage = CalibrationStorage::StringCodes(codec);
            if let Some(coded) = CalibrationTuples::new(storage) {
                self.note(cost, coded.field_ns(2));
            }
        }
    }

    fn keeping(&mut self) {
        let plain = CalibrationTuples::new(CalibrationStorage::Plain);
        let suppressed = CalibrationTuples::new(CalibrationStorage::Suppressed);
        if let (Some(plain), Some(suppressed)) = (plain, suppressed) {
            let plain_ns = plain.encode_ns();
            self.note(Cost::KeepRow, plain_ns);
            // Three fields; less than nothing is not believed.
            let more_ns = (suppressed.encode_ns() - plain_ns) / 3.0;
            self.note(Cost::Suppress, more_ns.max(0.1));
        }
    }

    fn unpacking(&mut self) {
        let Some(sample) = CalibrationTuples::new(CalibrationStorage::Plain) else {
            return;
        };
        let page = sample.bytes(PAGE_BYTES);
        for codec in BlockCodecId::ALL {
            // It has the decompressor of another, and compresses for long.
            if codec == BlockCodecId::Lz4Hc {
                continue;
            }
            if let Some(ns) = unpack_ns(codec, &page) {
                self.note(unpacking(codec), ns);
            }
        }
    }

    fn hashing(&mut self) {
        let keys: Vec<[u8; 9]> = (0..ROWS as u64).map(key_of).collect();
        let mut table: HashTable<(u64, usize)> = HashTable::new();
        let insert_ns = median_ns(ROWS, || {
            table = HashTable::new();
            for (at, key) in keys.iter().enumerate() {
                let hash = hash_of(key);
                let found = table.find(hash, |(_, other)| keys[*other] == *key);
                if found.is_none() {
                    table.insert_unique(hash, (hash, at), |(hash, _)| *hash);
                }
            }
        });
        self.note(Cost::HashInsert, insert_ns);
        let probe_ns = median_ns(ROWS, || {
            for key in &keys {
                black_box(table.find(hash_of(key), |(_, other)| keys[*other] == *key));
            }
        });
        self.note(Cost::HashProbe, probe_ns);
    }

    fn comparing(&mut self) {
        let keys: Vec<[u8; 9]> = (0..ROWS).map(|at| key_of(number(at) as u64)).collect();
        let comparisons = ROWS as f64 * (ROWS as f64).log2();
        let mut sorted = keys.clone();
        let all_ns = median_ns(1, || {
            sorted.copy_from_slice(&keys);
            sorted.sort_unstable();
            black_box(&sorted);
        });
        self.note(Cost::Compare, all_ns / comparisons);
    }

    /// Everything that was not measured, by what the processor was like.
    fn scale_others(&mut self) {
        let ratios = KNOWN.iter().filter_map(|known| {
            let is_measured = self.costs.sources[known.cost as usize] == CostSource::Measured;
            is_measured.then(|| self.costs.of(known.cost) / known.default_ns)
        });
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        let Some(ratio) = ratios.get(ratios.len() / 2).copied() else {
            return;
        };
        for known in &KNOWN {
            let is_measured = self.costs.sources[known.cost as usize] == CostSource::Measured;
            let is_of_a_disk = matches!(
                known.cost,
                Cost::PageReadSequential
                    | Cost::PageReadRandom
                    | Cost::SpillWrite
                    | Cost::SpillRead
                    | Cost::SpillSeek
            );
            if !is_measured && !is_of_a_disk {
                self.note(known.cost, known.default_ns * ratio);
            }
        }
    }

    fn files(&mut self, directory: Option<&Path>) {
        let Some(sample) = CalibrationTuples::new(CalibrationStorage::Plain) else {
            return;
        };
        let block = sample.bytes(BLOCK_BYTES);
        let block_kib = BLOCK_BYTES as f64 / KIB;
        if let Some((pack_ns, unpack_ns)) = packing_ns(&block) {
            self.note(Cost::SpillPack, pack_ns / block_kib);
            self.note(Cost::SpillUnpack, unpack_ns / block_kib);
        }
        if let Some(disk) = FileDisk::temporary(directory).ok()
            && let Some(file) = FileTimes::of(&disk, &block)
        {
            self.note(Cost::SpillWrite, file.write_block_ns / block_kib);
            self.note(Cost::SpillRead, file.read_block_ns / block_kib);
            self.note(Cost::PageReadSequential, file.next_page_ns);
            self.note(Cost::PageReadRandom, file.any_page_ns);
        }
    }
}

fn key_of(number: u64) -> [u8; 9] {
    let mut key = [1; 9];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Nanoseconds for a KiB of a page.
fn unpack_ns(codec: BlockCodecId, page: &[u8]) -> Option<f64> {
    let mut codec = open(codec, &BlockOptions::default()).ok()?;
    let mut packed = vec![0; 2 * page.len()];
    let limit = packed.len();
    let packed_bytes = codec.compress(page, &mut packed, limit)?;
    let packed = packed.get(..packed_bytes)?;
    let mut unpacked = vec![0; page.len()];
    let ns = median_ns(1, || {
        let _ = black_box(codec.decompress(packed, &mut unpacked));
    });
    Some(ns * KIB / page.len() as f64)
}

/// Nanoseconds for compressing and decompressing a block of a temporary file.
fn packing_ns(block: &[u8]) -> Option<(f64, f64)> {
    let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default()).ok()?;
    let mut packed = vec![0; 2 * block.len()];
    let limit = packed.len();
    let pack_ns = median_ns(1, || {
        black_box(codec.compress(block, &mut packed, limit));
    });
    let unpack_ns = unpack_ns(BlockCodecId::Lz4, block)? * block.len() as f64 / KIB;
    Some((pack_ns, unpack_ns))
}

/// What a file took.
struct FileTimes {
    write_block_ns: f64,
    read_block_ns: f64,
    next_page_ns: f64,
    any_page_ns: f64,
}

impl FileTimes {
    fn of(disk: &FileDisk, block: &[u8]) -> Option<Self> {
        let mut is_well = true;
        let write_block_ns = median_ns(FILE_BLOCKS, || {
            for at in 0..FILE_BLOCKS {
                is_well &= disk.write_at(block, (at * block.len()) as u64).is_ok();
            }
        });
        let mut read = vec![0; block.len()];
        let read_block_ns = median_ns(FILE_BLOCKS, || {
            for at in 0..FILE_BLOCKS {
                is_well &= disk.read_at(&mut read, (at * block.len()) as u64).is_ok();
            }
        });
        let page = read.get_mut(..PAGE_BYTES)?;
        let page_count = FILE_BLOCKS * block.len() / PAGE_BYTES;
        let mut pages_ns = |place: &dyn Fn(usize) -> usize| {
            median_ns(page_count, || {
                for at in 0..page_count {
                    is_well &= disk.read_at(page, (place(at) * PAGE_BYTES) as u64).is_ok();
                }
            })
        };
        let next_page_ns = pages_ns(&|at| at);
        let any_page_ns = pages_ns(&|at| at * 89 % page_count);
        is_well.then_some(Self {
            write_block_ns,
            read_block_ns,
            next_page_ns,
            any_page_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn codes_are_timed_of_the_dictionary_that_rows_have() {
        let coded = CalibrationTuples::new(CalibrationStorage::Coded).unwrap();
        let suppressed = CalibrationTuples::new(CalibrationStorage::Suppressed).unwrap();
        for (at, (one, other)) in coded.tuples.iter().zip(&suppressed.tuples).enumerate() {
            // A value without a code is there all the same, as in no closed dictionary.
            let value = TupleValue::Integer(number(at) % 100);
            assert_eq!(coded.layout.field(one, 1).unwrap(), value);
            assert_eq!(suppressed.layout.field(other, 1).unwrap(), value);
        }
        let without_code = (0..ROWS).filter(|at| number(*at) % 100 >= CODED);
        assert!((1..ROWS / 10).contains(&without_code.count()));
    }

    #[test]
    fn everything_is_measured_and_can_be_kept() {
        let costs = calibrate(None);
        for shown in costs.shown() {
            assert!(is_cost(shown.ns), "{}", shown.name);
        }
        assert_eq!(
            CostModel::from_text(&costs.to_text("m"), "m").map(|read| read.ns),
            Some(costs.ns)
        );
    }
}
