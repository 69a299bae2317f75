//! What fixed sizes of compressed pages cost, and what adaptive padding and advance split save (Z. Ma et al., *Leveraging Page-Level
//! Compression in MySQL*, §III and §V-D): rows of about 612 bytes, nearly all text, into leaves of 16 KiB; the image of a leaf,
//! its modification log included, has any length, or must fit into so many bytes, else the leaf is split.
//!
//! `cargo run --release -p quire-format --example target_sizes -- TEXT [ROWS [TARGET_BYTES [random|ascending]]]`

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    PAGE_BYTES_DEFAULT, PageOp, PageSetup, RowPage, RowPageMut, encode_image, space,
};

/// Mean bytes of a row in the paper.
const ROW_BYTES: usize = 612;

/// As in InnoDB: compressions after which the padding is looked at, its step, its share of the page at most, the share of failures that is
/// accepted, and how many times in a row it must be less before a step is taken back.
const PADDING_ROUND: u64 = 128;
const PADDING_STEP: usize = 128;
const PADDING_PERCENT_MAX: usize = 50;
const FAILURE_PERCENT_MAX: u64 = 5;
const PADDING_ROUNDS_DOWN: u32 = 5;

/// Operations since its last compression with which a leaf counts as just compressed.
const JUST_COMPRESSED_OPS: usize = 1;

type Failure = Box<dyn std::error::Error>;

/// splitmix64.
fn mixed(number: u64) -> u64 {
    let state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[derive(Clone, Copy)]
struct Policy {
    name: &'static str,
    target_bytes: Option<usize>,
    has_padding: bool,
    splits_in_advance: bool,
}

struct Leaf {
    frame: Vec<u8>,
    /// Of the image: header and base.
    base_bytes: usize,
    log_bytes: usize,
    log_ops: usize,
}

#[derive(Default)]
struct Counts {
    compressions: u64,
    failures: u64,
    splits_full: u64,
    splits_failed: u64,
    splits_in_advance: u64,
}

/// The padding, and what decides about it.
#[derive(Default)]
struct Padding {
    bytes: usize,
    compressions: u64,
    failures: u64,
    good_rounds: u32,
}

impl Padding {
    fn note(&mut self, has_failed: bool) {
        self.compressions += 1;
        self.failures += u64::from(has_failed);
        if self.compressions < PADDING_ROUND {
            return;
        }
        if self.failures * 100 > FAILURE_PERCENT_MAX * self.compressions {
            let most = PAGE_BYTES_DEFAULT * PADDING_PERCENT_MAX / 100;
            self.bytes = (self.bytes + PADDING_STEP).min(most);
            self.good_rounds = 0;
        } else {
            self.good_rounds += 1;
            if self.good_rounds >= PADDING_ROUNDS_DOWN {
                self.bytes = self.bytes.saturating_sub(PADDING_STEP);
                self.good_rounds = 0;
            }
        }
        (self.compressions, self.failures) = (0, 0);
    }
}

struct Table {
    policy: Policy,
    codec: Box<dyn BlockCodec>,
    leaves: BTreeMap<Vec<u8>, Leaf>,
    padding: Padding,
    counts: Counts,
}

impl Table {
    fn new(policy: Policy, codec: BlockCodecId) -> Result<Self, Failure> {
        let mut frame = vec![0; PAGE_BYTES_DEFAULT];
        RowPageMut::create(&mut frame, &PageSetup::default())?;
        let mut table = Self {
            policy,
            codec: open(codec, &BlockOptions::default())?,
            leaves: BTreeMap::new(),
            padding: Padding::default(),
            counts: Counts::default(),
        };
        table.place(Vec::new(), frame)?;
        Ok(table)
    }

    /// Compresses a leaf that was split or is new, whatever its length.
    fn place(&mut self, lower: Vec<u8>, frame: Vec<u8>) -> Result<(), Failure> {
        let base_bytes = encode_image(&RowPage::open(&frame)?, self.codec.as_mut())?.len();
        self.counts.compressions += 1;
        let leaf = Leaf {
            frame,
            base_bytes,
            log_bytes: 0,
            log_ops: 0,
        };
        self.leaves.insert(lower, leaf);
        Ok(())
    }

    fn split(&mut self, lower: &[u8], key: &[u8]) -> Result<(), Failure> {
        let mut leaf = self.leaves.remove(lower).ok_or("no such leaf")?;
        let mut right = vec![0; PAGE_BYTES_DEFAULT];
        let separator = RowPageMut::open(&mut leaf.frame)?.split(&mut right, key)?;
        self.place(lower.to_vec(), leaf.frame)?;
        self.place(separator, right)
    }

    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let op = PageOp::Put {
            key,
            value,
            overflow: false,
        };
        let op_bytes = op.encoded_bytes();
        loop {
            let policy = self.policy;
            let at = self.leaves.range_mut(..=key.to_vec()).next_back();
            let (lower, leaf) = at.ok_or("no leaf")?;
            let lower = lower.clone();
            let mut page = RowPageMut::open(&mut leaf.frame)?;
            let padded_bytes = page.page()?.used_bytes() + self.padding.bytes;
            let is_padded_full = policy.has_padding
                && padded_bytes + key.len() + value.len() > PAGE_BYTES_DEFAULT
                && page.page()?.len() > 1;
            if is_padded_full || page.insert(key, value, false).is_err() {
                self.counts.splits_full += 1;
                self.split(&lower, key)?;
                continue;
            }
            let log_room = match policy.target_bytes {
                Some(target) => target.saturating_sub(leaf.base_bytes),
                None => space::log_bytes_max(PAGE_BYTES_DEFAULT),
            };
            if leaf.log_bytes + op_bytes <= log_room {
                leaf.log_bytes += op_bytes;
                leaf.log_ops += 1;
                return Ok(());
            }
            if policy.splits_in_advance && leaf.log_ops <= JUST_COMPRESSED_OPS {
                self.counts.splits_in_advance += 1;
                return self.split(&lower, key);
            }
            return self.compress(&lower, key);
        }
    }

    /// Compresses a leaf whose log is full, or splits it if it does not fit.
    fn compress(&mut self, lower: &[u8], key: &[u8]) -> Result<(), Failure> {
        let leaf = self.leaves.get_mut(lower).ok_or("no such leaf")?;
        let page = RowPage::open(&leaf.frame)?;
        leaf.base_bytes = encode_image(&page, self.codec.as_mut())?.len();
        (leaf.log_bytes, leaf.log_ops) = (0, 0);
        let target_bytes = self.policy.target_bytes.unwrap_or(usize::MAX);
        let has_failed = leaf.base_bytes > target_bytes && page.len() > 1;
        self.counts.compressions += 1;
        self.padding.note(has_failed);
        if has_failed {
            self.counts.failures += 1;
            self.counts.splits_failed += 1;
            self.split(lower, key)?;
        }
        Ok(())
    }

    /// Bytes on storage: targets as a whole, several where a leaf takes more.
    fn stored_bytes(&self) -> usize {
        let bytes = |leaf: &Leaf| match self.policy.target_bytes {
            Some(target) => (leaf.base_bytes + leaf.log_bytes).div_ceil(target) * target,
            None => leaf.base_bytes + leaf.log_bytes,
        };
        self.leaves.values().map(bytes).sum()
    }
}

fn fill(table: &mut Table, text: &[u8], rows: u64, is_random: bool) -> Result<Duration, Failure> {
    let start = Instant::now();
    for number in 0..rows {
        let key = if is_random { mixed(number) } else { number };
        let bytes = ROW_BYTES / 2 + mixed(!number) as usize % ROW_BYTES;
        let from = mixed(number ^ rows) as usize % (text.len() - 2 * ROW_BYTES);
        let value = text.get(from..from + bytes).ok_or("text")?;
        table.insert(&key.to_be_bytes(), value)?;
    }
    Ok(start.elapsed())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| {
        let given = arguments.get(at).map(String::as_str);
        given.unwrap_or(default).to_owned()
    };
    let text = std::fs::read(arguments.first().ok_or("name a text")?)?;
    let rows: u64 = argument(1, "50000").parse()?;
    let target: usize = argument(2, "8192").parse()?;
    let is_random = argument(3, "random") == "random";
    let policy = |name, target_bytes, has_padding, splits_in_advance| Policy {
        name,
        target_bytes,
        has_padding,
        splits_in_advance,
    };
    let policies = [
        policy("any length", None, false, false),
        policy("fixed", Some(target), false, false),
        policy("padding", Some(target), true, false),
        policy("advance", Some(target), false, true),
        policy("both", Some(target), true, true),
    ];
    println!(
        "codec   sizes       compressions failed failed,%  splits: full failed advance  leaves  stored,%  rows/s"
    );
    for codec in [BlockCodecId::Lz4Hc, BlockCodecId::Zlib, BlockCodecId::Zstd] {
        for policy in policies {
            let mut table = Table::new(policy, codec)?;
            let elapsed = fill(&mut table, &text, rows, is_random)?;
            let counts = &table.counts;
            let raw_bytes = rows as f64 * (ROW_BYTES + 8) as f64;
            println!(
                "{:7} {:10} {:13} {:6} {:8.1} {:13} {:6} {:7} {:7} {:9.1} {:7.0}",
                codec.name(),
                policy.name,
                counts.compressions,
                counts.failures,
                100.0 * counts.failures as f64 / counts.compressions as f64,
                counts.splits_full,
                counts.splits_failed,
                counts.splits_in_advance,
                table.leaves.len(),
                100.0 * table.stored_bytes() as f64 / raw_bytes,
                rows as f64 / elapsed.as_secs_f64(),
            );
        }
    }
    Ok(())
}
