//! What reading rows of a table costs, in nanoseconds.
//!
//! A row costs what the scan does for it, the decoding of the fields that its conditions need, each as its column is compressed, and its part of a page:
//! one that is in a frame costs least, one that is an image is unpacked, one that is on the disk is read before, in order or anywhere. Images
//! are compressed, so less of them is read; that is how compression pays. It pays again where rows are looked up many times: a page that is
//! still in memory is not read again, and more compressed pages than plain ones are (paper 1 §4.2: the join method follows from compression).
//! How many are fetched is the formula of L. Mackert and G. Lohman, *Index Scans Using a Finite LRU Buffer* (TODS 1989).

use quire_kv::btree::LeafEstimate;
use quire_tables::{RowScanError, RowTable};

use crate::costs::{Cost, CostModel};

/// Pages for which `page_read_sequential` is given are of so many bytes.
const READ_BYTES: f64 = 16384.0;
const KIB: f64 = 1024.0;

/// What rows of one table cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prices {
    /// A row behind another.
    pub(crate) row_ns: f64,
    /// A row that is looked up by its key.
    pub(crate) lookup_ns: f64,
    /// The first row of a range, besides.
    pub(crate) range_ns: f64,
}

impl Prices {
    /// With all pages in memory, if these columns of each row are decoded.
    pub(crate) fn in_memory(table: &RowTable, costs: &CostModel, ordinals: &[usize]) -> Self {
        let fields_ns = decoding_ns(table, costs, ordinals);
        Self {
            row_ns: costs.of(Cost::Row) + fields_ns,
            lookup_ns: costs.of(Cost::Lookup) + fields_ns,
            range_ns: costs.of(Cost::RangeStart),
        }
    }

    /// With its pages where they are now.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn of(
        table: &RowTable,
        costs: &CostModel,
        ordinals: &[usize],
    ) -> Result<Self, RowScanError> {
        Self::of_look_ups(table, costs, ordinals, 1.0)
    }

    /// The same, if so many rows or ranges are looked up one after the other, anywhere in the table.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn of_look_ups(
        table: &RowTable,
        costs: &CostModel,
        ordinals: &[usize],
        look_ups: f64,
    ) -> Result<Self, RowScanError> {
        let leaves = table.leaves()?;
        let near = Self::in_memory(table, costs, ordinals);
        Ok(near.with_pages(&leaves, costs, look_ups))
    }

    /// What costs so much with all pages in memory, with the pages of these leaves where they are, for so many look-ups.
    pub(super) fn with_pages(
        self,
        leaves: &LeafEstimate,
        costs: &CostModel,
        look_ups: f64,
    ) -> Self {
        let pages = PagePrices::of(leaves, costs, look_ups);
        let row_pages = leaves.leaves / leaves.entries.max(1.0);
        // A lookup comes with a page that is in memory.
        let more_ns = pages.any_ns - costs.of(Cost::PageHit);
        Self {
            row_ns: self.row_ns + pages.next_ns * row_pages.min(1.0),
            lookup_ns: self.lookup_ns + more_ns,
            range_ns: self.range_ns + more_ns,
        }
    }
}

/// What a page costs, on the average of where they are.
struct PagePrices {
    next_ns: f64,
    any_ns: f64,
}

impl PagePrices {
    /// `any_ns` is that of each of so many look-ups.
    fn of(leaves: &LeafEstimate, costs: &CostModel, look_ups: f64) -> Self {
        let unpack_ns = costs.unpack_ns(leaves.codec) * leaves.page_bytes / KIB;
        let packed_share = leaves.image_share + leaves.disk_share;
        let hit_ns = costs.of(Cost::PageHit);
        let next_ns = costs.of(Cost::PageReadSequential) * leaves.image_bytes / READ_BYTES;
        let fetched = PageFetches::of(leaves, look_ups);
        Self {
            next_ns: hit_ns + packed_share * unpack_ns + leaves.disk_share * next_ns,
            any_ns: hit_ns
                + fetched.unpacked * unpack_ns
                + fetched.read * costs.of(Cost::PageReadRandom),
        }
    }
}

/// What a look-up among many finds of its page: the share of them whose page is unpacked, and of those whose page is read before.
#[derive(Clone, Copy, Debug)]
struct PageFetches {
    unpacked: f64,
    read: f64,
}

/// What frames have of the pool at least.
const FRAMES_SHARE_LEAST: f64 = 1.0 / 16.0;

impl PageFetches {
    fn of(leaves: &LeafEstimate, look_ups: f64) -> Self {
        let (pages, look_ups) = (leaves.leaves.max(1.0), look_ups.max(1.0));
        let pool_bytes = leaves.pool_bytes;
        // Nothing is known of images where all pages are in frames.
        let image_bytes = if leaves.image_bytes > 0.0 {
            leaves.image_bytes
        } else {
            leaves.page_bytes
        };
        let images = pool_bytes / image_bytes;
        // Images of pages that frames have no room for are kept before more frames are.
        let frames_bytes = if pages * leaves.page_bytes <= pool_bytes {
            pool_bytes
        } else {
            (pool_bytes - pages * image_bytes).max(pool_bytes * FRAMES_SHARE_LEAST)
        };
        let frames = frames_bytes / leaves.page_bytes.max(1.0);
        let packed_share = leaves.image_share + leaves.disk_share;
        // Those that are there now are found the first time.
        let distinct = fetches(look_ups, pages, f64::INFINITY);
        let share = |room: f64, missing_share: f64| {
            let again = fetches(look_ups, pages, room) - distinct;
            (missing_share * distinct + again.max(0.0)) / look_ups
        };
        Self {
            unpacked: share(frames, packed_share),
            read: share(images, leaves.disk_share),
        }
    }
}

/// How many pages are fetched for so many look-ups in a table of so many, of which memory has room for `room`: each is fetched again
/// when it was forgotten since.
fn fetches(look_ups: f64, pages: f64, room: f64) -> f64 {
    let distinct = |look_ups: f64| 2.0 * pages * look_ups / (2.0 * pages + look_ups);
    if pages <= room {
        return distinct(look_ups).min(pages);
    }
    // So many fill the room.
    let filling = 2.0 * pages * room / (2.0 * pages - room);
    if look_ups <= filling {
        distinct(look_ups)
    } else {
        room + (look_ups - filling) * (pages - room) / pages
    }
}

/// What decoding these columns of a row costs.
pub(crate) fn decoding_ns(table: &RowTable, costs: &CostModel, ordinals: &[usize]) -> f64 {
    let fields = ordinals.iter();
    let fields = fields.map(|ordinal| costs.of(table.layout().decoding(*ordinal).into()));
    fields.sum()
}

#[cfg(test)]
mod tests {
    use quire_codec::block::BlockCodecId;

    use super::*;

    fn leaves(image_share: f64, disk_share: f64, image_bytes: f64) -> LeafEstimate {
        LeafEstimate {
            entries: 10_000.0,
            is_exact: true,
            leaves: 100.0,
            image_share,
            disk_share,
            image_bytes,
            page_bytes: 16384.0,
            pool_bytes: 1e9,
            codec: BlockCodecId::Lz4,
        }
    }

    #[test]
    fn pages_cost_more_the_farther_away_they_are_and_less_the_smaller_they_are() {
        let costs = CostModel::default();
        let of = |leaves: LeafEstimate| PagePrices::of(&leaves, &costs, 1.0);
        let (near, packed) = (of(leaves(0.0, 0.0, 0.0)), of(leaves(1.0, 0.0, 8192.0)));
        let (far, half) = (of(leaves(0.0, 1.0, 8192.0)), of(leaves(0.0, 0.5, 8192.0)));
        let small = of(leaves(0.0, 1.0, 4096.0));
        assert!(near.next_ns < packed.next_ns && packed.next_ns < far.next_ns);
        assert!(near.any_ns < packed.any_ns && packed.any_ns < half.any_ns);
        assert!(half.any_ns < far.any_ns && half.next_ns < far.next_ns);
        assert!(small.next_ns < far.next_ns);
        // By the built-in costs: 16 KiB of LZ4, and half of a page from the disk.
        assert_eq!(packed.next_ns, 300.0 + 16.0 * 400.0);
        assert_eq!(far.next_ns, packed.next_ns + 10_000.0);
        // The formula has one look-up find a little less than one page.
        let read_ns = far.any_ns - packed.any_ns;
        assert!((read_ns / 80_000.0 - 1.0).abs() < 0.01, "{read_ns}");
    }

    /// Pages that are fetched when look-ups are drawn with equal chances, with the least recently used page forgotten.
    fn simulated_fetches(look_ups: usize, pages: usize, room: usize) -> usize {
        let mut kept: Vec<usize> = Vec::new();
        let (mut state, mut fetched) = (7_u64, 0);
        for _ in 0..look_ups {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let page = ((state >> 33) % pages as u64) as usize;
            match kept.iter().position(|other| *other == page) {
                Some(at) => {
                    kept.remove(at);
                }
                None => {
                    fetched += 1;
                    if kept.len() == room {
                        kept.remove(0);
                    }
                }
            }
            kept.push(page);
        }
        fetched
    }

    #[test]
    fn fetches_are_about_those_of_a_buffer_that_forgets_what_was_used_least_recently() {
        for (look_ups, pages, room) in [
            (10, 100, 50),
            (100, 100, 100),
            (1_000, 100, 100),
            (1_000, 100, 50),
            (5_000, 200, 20),
            (5_000, 200, 190),
        ] {
            let simulated = simulated_fetches(look_ups, pages, room) as f64;
            let found = fetches(look_ups as f64, pages as f64, room as f64);
            let what = format!("{look_ups} in {pages} with {room}: {found}, not {simulated}");
            assert!((found / simulated - 1.0).abs() < 0.2, "{what}");
        }
    }

    #[test]
    fn a_table_that_fits_the_pool_compressed_is_read_once_and_a_plain_one_again_and_again() {
        let costs = CostModel::default();
        // 100 pages, all of them on the disk; the pool takes 75.
        let with_images = |image_bytes: f64| LeafEstimate {
            pool_bytes: 75.0 * 16384.0,
            ..leaves(0.0, 1.0, image_bytes)
        };
        let read = |image_bytes: f64| PageFetches::of(&with_images(image_bytes), 10_000.0).read;
        let (plain, compressed) = (read(16384.0), read(8192.0));
        assert!((0.009..=0.01).contains(&compressed), "{compressed}");
        assert!((0.2..=0.3).contains(&plain), "{plain}");
        let any_ns = |leaves: &LeafEstimate| PagePrices::of(leaves, &costs, 10_000.0).any_ns;
        assert!(2.0 * any_ns(&with_images(8192.0)) < any_ns(&with_images(16384.0)));
        // In a large pool the plain table is read once, too.
        let large = LeafEstimate {
            pool_bytes: 1e9,
            ..with_images(16384.0)
        };
        assert!(PageFetches::of(&large, 10_000.0).read <= 0.01);
    }

    #[test]
    fn a_codec_that_is_slower_to_unpack_costs_more() {
        let of = |codec| {
            PagePrices::of(
                &LeafEstimate {
                    codec,
                    ..leaves(1.0, 0.0, 8192.0)
                },
                &CostModel::default(),
                1.0,
            )
        };
        let order = [
            BlockCodecId::None,
            BlockCodecId::Lz4,
            BlockCodecId::Zstd,
            BlockCodecId::Zlib,
        ];
        for pair in order.windows(2) {
            assert!(of(pair[0]).next_ns < of(pair[1]).next_ns, "{pair:?}");
        }
    }
}
