//! Leaves that are stored by columns.

use std::sync::Arc;

use quire_codec::block::BlockCodecId;
use quire_codec::transform::LayoutColumn;
use quire_format::row_page::{PageImage, PageTransform, RowPageShape};
use quire_store::MemDisk;
use quire_store::pool::{PageCodec, Pool, PoolOptions};

use crate::support::{
    Entries, Random, codec, entries, flush, page_of, put, stored_entries, volume,
};

/// Pages of 60 rows of 8 numbers of 4 bytes, which are narrow in the first pages and equal in the others.
fn page(random: &mut Random, is_narrow: bool) -> Entries {
    let number = |random: &mut Random| {
        if is_narrow {
            70_000 + random.below(700) as u32
        } else {
            9
        }
    };
    let row = |random: &mut Random| (0..8).flat_map(|_| number(random).to_le_bytes()).collect();
    (0..60_u8).map(|key| (vec![key], row(random))).collect()
}

fn shape() -> RowPageShape {
    RowPageShape::new(&[LayoutColumn::Number(4); 8], 0, &[], &[]).unwrap()
}

fn stored_as(pool: &Pool, volume: &quire_store::Volume, codec: PageCodec) -> Vec<PageTransform> {
    let mut random = Random(5);
    let mut transforms = Vec::new();
    for number in 0..12 {
        let content = page(&mut random, number < 8);
        let frame = pool.add(page_of(&content), codec).unwrap();
        flush(volume, pool);
        frame.apply(&put(&[7, 7], b"of another shape"), 3).unwrap();
        flush(volume, pool);
        let image = volume.read(frame.page()).unwrap();
        transforms.push(PageImage::open(&image).unwrap().transform());
        assert_eq!(stored_entries(&volume.pin(), frame.page()), entries(&frame));
        assert_eq!(entries(&frame).len(), content.len() + 1);
    }
    transforms
}

#[test]
fn leaves_are_stored_with_the_transform_that_was_asked_for() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = Pool::new(&volume, PoolOptions::default());
    for transform in PageTransform::ALL {
        let codec = pool.by_columns(codec(BlockCodecId::Lz4), shape(), Some(transform));
        assert_eq!(pool.transform(codec), Some(transform));
        assert_eq!(stored_as(&pool, &volume, codec), [transform; 12]);
    }
}

#[test]
fn the_first_leaves_decide_where_nobody_asked() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = Pool::new(&volume, PoolOptions::default());
    let auto = pool.by_columns(codec(BlockCodecId::Zstd), shape(), None);
    assert_eq!(pool.transform(auto), None);
    let transforms = stored_as(&pool, &volume, auto);
    // Ten bits of 32 that are noise: nothing else comes near.
    assert_eq!(transforms, [PageTransform::Packed; 12]);
    assert_eq!(pool.transform(auto), Some(PageTransform::Packed));
    assert_eq!(
        pool.by_columns(codec(BlockCodecId::Zstd), shape(), None),
        auto
    );

    let uncompressed = pool.by_columns(PageCodec::NONE, shape(), None);
    let rows = [PageTransform::ROWS; 12];
    assert_eq!(stored_as(&pool, &volume, uncompressed), rows);
}
