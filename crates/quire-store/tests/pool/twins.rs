//! Pools whose frames hold their images (paper 4, §III): where pages are, what that takes, and how often they are found.
//!
//! What is compared with the naive model. Which frame or image goes is decided by S3-FIFO and CLOCK, and in InnoDB by lists in the order of
//! use, so single pages differ. Where all pages are used alike, any order finds as many, so rates are compared with two such lists and with the
//! paper's equations 4 and 5. Where a page was before each access tells what must be counted, and where it may be afterwards.

use std::collections::VecDeque;
use std::sync::Arc;

use quire_store::pool::{PageCodec, Pool, PoolOptions, PoolPolicy, PoolStats, Residence};
use quire_store::{MemDisk, PageId, Volume};

use crate::support::{
    Entries, PAGE_BYTES, Random, codec, flush, lz4, page_of, pool_of, put, random_pages, volume,
};

const PAGES: usize = 600;
/// What an image takes besides its bytes, and a frame besides its page.
const IMAGE_EXTRA_BYTES: u64 = 96;
const FRAME_BYTES: usize = PAGE_BYTES + 400;

fn pool_of_twins(volume: &Volume, budget_bytes: usize, uncompressed_percent: u8) -> Pool {
    let options = PoolOptions {
        budget_bytes,
        policy: PoolPolicy::Twins {
            uncompressed_percent,
        },
        compression_threads: 0,
        ..PoolOptions::default()
    };
    Pool::new(volume, options)
}

fn image_cost_bytes(volume: &Volume, page: PageId) -> u64 {
    let image_bytes = volume.pin().payload_bytes(page).unwrap();
    u64::from(image_bytes) + IMAGE_EXTRA_BYTES
}

/// Frames and images of these pages, by where the pool says that they are.
#[derive(Debug, Default, PartialEq)]
struct Places {
    frames: Vec<PageId>,
    images: Vec<PageId>,
}

impl Places {
    fn of(pool: &Pool, pages: &[PageId]) -> Self {
        let mut places = Self::default();
        for page in pages {
            match pool.residence(*page) {
                Residence::Frame => places.frames.push(*page),
                Residence::Image { .. } => places.images.push(*page),
                Residence::Disk { .. } => {}
            }
        }
        places
    }
}

/// Every byte that the pool says it uses is that of a frame, its twin, or an image without a frame; together they keep to the budget.
fn verify_bytes(volume: &Volume, stats: &PoolStats, places: &Places) {
    let costs = |pages: &[PageId]| -> u64 {
        let costs = pages.iter().map(|page| image_cost_bytes(volume, *page));
        costs.sum()
    };
    assert_eq!(stats.hot_bytes, (places.frames.len() * FRAME_BYTES) as u64);
    assert_eq!(
        stats.twin_bytes,
        costs(&places.frames),
        "every frame has one"
    );
    assert_eq!(stats.warm_bytes, costs(&places.images));
    assert!(stats.hot_bytes <= stats.hot_target_bytes, "{stats:?}");
    let all_bytes = stats.hot_bytes + stats.twin_bytes + stats.warm_bytes;
    assert!(all_bytes <= stats.budget_bytes, "{stats:?}");
}

/// Which of the counters an access must have added to.
fn counts(stats: &PoolStats) -> [u64; 3] {
    [stats.leaf_hot_hits, stats.leaf_warm_hits, stats.leaf_misses]
}

#[test]
fn each_access_is_what_the_place_of_its_page_says() {
    for (percent, seed) in [(5, 1), (10, 2), (40, 3), (100, 4)] {
        let volume = volume(Arc::new(MemDisk::new()));
        let pages = random_pages(&volume, &pool_of(&volume, 40), PAGES / 4);
        let pool = pool_of_twins(&volume, 40 * FRAME_BYTES, percent);
        let mut random = Random(seed);
        for step in 0..3_000 {
            // Half of the accesses go to an eighth of the pages.
            let some = [pages.len(), pages.len() / 8][random.below(2)];
            let page = pages[random.below(some)];
            let (before, place) = (Places::of(&pool, &pages), pool.residence(page));
            let mut expected = counts(&pool.stats());
            expected[match place {
                Residence::Frame => 0,
                Residence::Image { .. } => 1,
                Residence::Disk { .. } => 2,
            }] += 1;
            pool.get(page, lz4()).unwrap();
            let stats = pool.stats();
            assert_eq!(
                counts(&stats),
                expected,
                "seed {seed}, step {step}: {place:?}"
            );
            let after = Places::of(&pool, &pages);
            verify_bytes(&volume, &stats, &after);
            // An image outlives its frame, as long as there is room for images.
            let has_gone = |page: &&PageId| !after.frames.contains(page);
            for gone in before.frames.iter().filter(has_gone) {
                let is_there = after.images.contains(gone);
                assert!(is_there || percent == 100, "seed {seed}, step {step}");
            }
        }
        assert_eq!(pool.stats().policy.to_string(), format!("twins:{percent}"));
    }
}

/// Two lists in the order of use, the newest in front: of pages that have a frame, and of those that have only an image.
struct TwinLists {
    frames: VecDeque<PageId>,
    images: VecDeque<PageId>,
    frames_max: usize,
    /// Of frames and of others.
    images_max: usize,
    /// Accesses that found a frame, and only an image.
    hits: [u64; 2],
}

impl TwinLists {
    fn access(&mut self, page: PageId) {
        for (list, hits) in [&mut self.frames, &mut self.images]
            .into_iter()
            .zip(&mut self.hits)
        {
            if let Some(at) = list.iter().position(|one| *one == page) {
                list.remove(at);
                *hits += 1;
                break;
            }
        }
        self.frames.push_front(page);
        if self.frames.len() > self.frames_max {
            self.images.extend(self.frames.pop_back());
            let newest = self.images.pop_back();
            newest
                .into_iter()
                .for_each(|page| self.images.push_front(page));
        }
        while self.frames.len() + self.images.len() > self.images_max {
            self.images.pop_back();
        }
    }
}

/// Hit rates of pages that are all used alike, with frames for `percent` of a budget of an `x`th of the pages.
#[test]
fn rates_are_those_of_two_lists_and_of_the_papers_equations() {
    for (x, percent) in [(4.0, 10), (4.0, 40), (11.0, 10), (2.0, 25)] {
        let volume = volume(Arc::new(MemDisk::new()));
        let pages = random_pages(&volume, &pool_of(&volume, 40), PAGES);
        let data_bytes = (PAGES * FRAME_BYTES) as f64;
        let budget_bytes = (data_bytes / x) as usize;
        let image_bytes = image_cost_bytes(&volume, pages[0]) as f64;
        let frame_share = f64::from(percent) / 100.0;
        let mut lists = TwinLists {
            frames: VecDeque::new(),
            images: VecDeque::new(),
            frames_max: (budget_bytes as f64 * frame_share) as usize / FRAME_BYTES,
            images_max: (budget_bytes as f64 * (1.0 - frame_share) / image_bytes) as usize,
            hits: [0; 2],
        };
        let pool = pool_of_twins(&volume, budget_bytes, percent);
        let mut random = Random(percent.into());
        let (mut warmed_up, accesses) = ([0; 2], 20_000);
        let mut before = PoolStats::default();
        for access in 0..2 * accesses {
            if access == accesses {
                (warmed_up, before) = (lists.hits, pool.stats());
            }
            let page = pages[random.below(PAGES)];
            pool.get(page, lz4()).unwrap();
            lists.access(page);
        }
        let stats = pool.stats();
        let rate = |count: u64| count as f64 / f64::from(accesses);
        let found = [
            rate(stats.leaf_hot_hits - before.leaf_hot_hits),
            rate(stats.leaf_warm_hits - before.leaf_warm_hits),
        ];
        let [frame_hits, image_hits] = lists.hits;
        let in_lists = [
            rate(frame_hits - warmed_up[0]),
            rate(image_hits - warmed_up[1]),
        ];
        // Equations 4 and 5, where R is the share of compressed pages and r their ratio; of all pages no more than all are found.
        let (compressed_share, ratio) = (1.0 - frame_share, image_bytes / FRAME_BYTES as f64);
        let hot = (1.0 - compressed_share) / x;
        let warm = ((1.0 + ratio) * compressed_share - ratio) / (x * ratio);
        let by_the_paper = [hot, warm.min(1.0 - hot)];
        for (expected, name) in [(in_lists, "lists"), (by_the_paper, "equations")] {
            for (found, expected) in found.into_iter().zip(expected) {
                let difference = (found - expected).abs();
                assert!(
                    difference < 0.02,
                    "x {x}, {percent} %, {name}: {found} {expected}"
                );
            }
        }
    }
}

/// The image that a flush has written becomes the twin, and the next flush appends to it without reading.
#[test]
fn a_changed_page_has_the_twin_that_the_flush_has_written() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of_twins(&volume, 40 * FRAME_BYTES, 50);
    let frame = pool.add(page_of(&Entries::new()), lz4()).unwrap();
    assert_eq!(
        pool.stats().twin_bytes,
        0,
        "there is no image before the first flush"
    );
    for lsn in 1..=3 {
        frame.apply(&put(&[lsn as u8], b"value"), lsn).unwrap();
        let reads = volume.disk_traffic().reads;
        flush(&volume, &pool);
        assert_eq!(volume.disk_traffic().reads, reads);
        let stats = pool.stats();
        assert_eq!(stats.twin_bytes, image_cost_bytes(&volume, frame.page()));
        assert_eq!((stats.warm_bytes, stats.appended_images), (0, lsn - 1));
    }
    frame.write(|frame| frame.free()).unwrap();
    flush(&volume, &pool);
    assert_eq!(pool.stats().twin_bytes, 0);
}

#[test]
fn pages_without_a_codec_have_no_twin() {
    let volume = volume(Arc::new(MemDisk::new()));
    let none: PageCodec = codec(quire_codec::block::BlockCodecId::None);
    let pool = pool_of_twins(&volume, 40 * FRAME_BYTES, 100);
    let add = |_| pool.add(page_of(&Entries::new()), none).unwrap().page();
    let pages: Vec<_> = (0..60).map(add).collect();
    flush(&volume, &pool);
    for page in &pages {
        pool.get(*page, none).unwrap();
    }
    let stats = pool.stats();
    assert_eq!((stats.twin_bytes, stats.warm_bytes), (0, 0));
    assert_eq!(
        stats.hot_bytes,
        40 * FRAME_BYTES as u64,
        "all of the budget"
    );
}
