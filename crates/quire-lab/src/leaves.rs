//! Leaves of Quire's B+tree, as the two ways to fill a table leave them.

use crate::LabError;
use crate::random::LabRandom;
use quire_codec::block::BlockCodec;
use quire_format::row_page::{
    ApplyError, BuildOptions, LevelBuilder, PAGE_BYTES_DEFAULT, PageSetup, PageTransform, RowPage,
    RowPageMut, RowPageShape, encode_image, encode_image_as,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};
use std::collections::BTreeMap;

/// How full leaves are that are built in order, in percent: 15/16 as in paper 3, §IV-A1.
pub(crate) const FILL_PERCENT: u8 = 94;

/// How the rows of a table are tuples, and how their values lie in a leaf.
pub(crate) struct LeafFormat {
    pub(crate) layout: TupleLayout,
    pub(crate) shape: RowPageShape,
}

impl LeafFormat {
    /// Of columns that have a value in every row.
    pub(crate) fn new(
        types: impl IntoIterator<Item = TupleType>,
        compression: &TupleCompression,
    ) -> Result<Self, LabError> {
        let column = |column_type| TupleColumn {
            column_type,
            nullable: false,
            compression: compression.clone(),
        };
        let columns: Vec<TupleColumn> = types.into_iter().map(column).collect();
        let layout = TupleLayout::new(&columns).map_err(of_pages)?;
        let shape = layout.page_shape().map_err(of_pages)?;
        Ok(Self { layout, shape })
    }

    /// The image of a leaf.
    pub(crate) fn image(
        &self,
        page: &RowPage<'_>,
        transform: PageTransform,
        codec: &mut dyn BlockCodec,
    ) -> Result<Vec<u8>, LabError> {
        Ok(match transform {
            PageTransform::ROWS => encode_image(page, codec)?,
            _ => encode_image_as(page, transform, &self.shape, codec)?,
        })
    }
}

/// Leaves of rows in the order of their keys, one after the other filled to [`FILL_PERCENT`]. `tuple` writes the next row.
pub(crate) fn built_in_order(
    rows: u64,
    mut tuple: impl FnMut(&mut Vec<u8>) -> Result<(), LabError>,
) -> Result<Vec<Vec<u8>>, LabError> {
    let mut builder = LevelBuilder::new(BuildOptions {
        page_bytes: PAGE_BYTES_DEFAULT,
        level: 0,
        layout: 1,
        lsn: 1,
        fill_percent: FILL_PERCENT,
    })
    .map_err(of_pages)?;
    let (mut pages, mut row) = (Vec::new(), Vec::new());
    for key in 0..rows {
        row.clear();
        tuple(&mut row)?;
        let built = builder
            .push(&key.to_be_bytes(), &row, false)
            .map_err(of_pages)?;
        pages.extend(built.map(|page| page.bytes));
    }
    let last = builder.finish().map_err(of_pages)?;
    pages.extend(last.into_iter().map(|page| page.bytes));
    Ok(pages)
}

/// Leaves of the same rows after they were inserted under these keys: full ones have been split.
pub(crate) fn inserted(
    keys: Vec<u64>,
    mut tuple: impl FnMut(&mut Vec<u8>) -> Result<(), LabError>,
) -> Result<Vec<Vec<u8>>, LabError> {
    let mut first = vec![0; PAGE_BYTES_DEFAULT];
    let setup = PageSetup {
        layout: 1,
        lsn: 1,
        ..PageSetup::default()
    };
    RowPageMut::create(&mut first, &setup).map_err(of_pages)?;
    // By the least key that may be in each.
    let mut leaves = BTreeMap::from([(Vec::new(), first)]);
    let mut row = Vec::new();
    for key in keys {
        row.clear();
        tuple(&mut row)?;
        insert(&mut leaves, &key.to_be_bytes(), &row)?;
    }
    Ok(leaves.into_values().collect())
}

fn insert(leaves: &mut BTreeMap<Vec<u8>, Vec<u8>>, key: &[u8], row: &[u8]) -> Result<(), LabError> {
    // A split leaves room for a row on either side of it.
    for _ in 0..2 {
        let leaf = leaves.range_mut(..=key.to_vec()).next_back();
        let Some((_, leaf)) = leaf else { break };
        let mut page = RowPageMut::trusted(leaf)?;
        match page.insert(key, row, false) {
            Ok(_) => return Ok(()),
            Err(ApplyError::Full { .. }) => {}
            Err(error) => return Err(of_pages(error)),
        }
        let mut right = vec![0; PAGE_BYTES_DEFAULT];
        let separator = page.split(&mut right, key).map_err(of_pages)?;
        leaves.insert(separator, right);
    }
    Err(LabError::Pages("a row does not fit a leaf".to_owned()))
}

/// The numbers from 0 in random order (Fisher and Yates).
pub(crate) fn shuffled(count: u64, random: &mut LabRandom) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, random.below(last as u64 + 1) as usize);
    }
    numbers
}

/// Which share of the leaves has something in it, in percent.
pub(crate) fn fill_percent(leaves: &[Vec<u8>]) -> Result<f64, LabError> {
    let mut used_bytes = 0;
    for leaf in leaves {
        used_bytes += RowPage::trusted(leaf)?.used_bytes();
    }
    Ok(100.0 * used_bytes as f64 / (leaves.len() * PAGE_BYTES_DEFAULT).max(1) as f64)
}

pub(crate) fn of_pages(error: impl std::error::Error) -> LabError {
    LabError::Pages(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(leaves: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LabError> {
        let mut keys = Vec::new();
        for leaf in leaves {
            for entry in RowPage::trusted(leaf)?.entries() {
                keys.push(entry?.key());
            }
        }
        Ok(keys)
    }

    #[test]
    fn rows_inserted_at_random_are_all_there_in_order_and_leave_room() -> Result<(), LabError> {
        let mut number = 0_u8;
        let mut tuple = |row: &mut Vec<u8>| {
            number = number.wrapping_add(1);
            row.extend([number; 150]);
            Ok(())
        };
        let built = built_in_order(4_000, &mut tuple)?;
        let inserted = inserted(shuffled(4_000, &mut LabRandom(5)), &mut tuple)?;
        let expected = (0..4_000_u64).map(|key| key.to_be_bytes().to_vec());
        let expected: Vec<Vec<u8>> = expected.collect();
        for leaves in [&built, &inserted] {
            assert_eq!(keys(leaves)?, expected);
        }
        assert!(fill_percent(&built)? > 90.0);
        // Splits in the middle: 50 % right after, ln 2 on the average (A. Yao, On Random 2-3 Trees).
        let fill = fill_percent(&inserted)?;
        assert!((55.0..85.0).contains(&fill), "{fill}");
        Ok(())
    }
}
