//! What reading rows of a table costs, in nanoseconds.
//!
//! A row costs what the scan does for it, the decoding of the fields that its conditions need, each as its column is compressed, and its part of a page:
//! one that is in a frame costs least, one that is an image is unpacked, one that is on the disk is read before, in order or anywhere. Images
//! are compressed, so less of them is read; that is how compression pays.

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
        let leaves = table.leaves()?;
        let mut prices = Self::in_memory(table, costs, ordinals);
        let pages = PagePrices::of(&leaves, costs);
        let row_pages = leaves.leaves / leaves.entries.max(1.0);
        prices.row_ns += pages.next_ns * row_pages.min(1.0);
        // A lookup comes with a page that is in memory.
        prices.lookup_ns += pages.any_ns - costs.of(Cost::PageHit);
        prices.range_ns += pages.any_ns - costs.of(Cost::PageHit);
        Ok(prices)
    }
}

/// What a page costs, on the average of where they are.
struct PagePrices {
    next_ns: f64,
    any_ns: f64,
}

impl PagePrices {
    fn of(leaves: &LeafEstimate, costs: &CostModel) -> Self {
        let unpack_ns = costs.unpack_ns(leaves.codec) * leaves.page_bytes / KIB;
        let packed_share = leaves.image_share + leaves.disk_share;
        let here_ns = costs.of(Cost::PageHit) + packed_share * unpack_ns;
        let next_ns = costs.of(Cost::PageReadSequential) * leaves.image_bytes / READ_BYTES;
        Self {
            next_ns: here_ns + leaves.disk_share * next_ns,
            any_ns: here_ns + leaves.disk_share * costs.of(Cost::PageReadRandom),
        }
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
            codec: BlockCodecId::Lz4,
        }
    }

    #[test]
    fn pages_cost_more_the_farther_away_they_are_and_less_the_smaller_they_are() {
        let costs = CostModel::default();
        let of = |leaves: LeafEstimate| PagePrices::of(&leaves, &costs);
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
        assert_eq!(far.any_ns, packed.any_ns + 80_000.0);
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
