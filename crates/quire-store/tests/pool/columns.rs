//! Leaves that are stored by columns.

use std::sync::Arc;

use quire_codec::block::BlockCodecId;
use quire_codec::transform::LayoutColumn;
use quire_codec::transform::Transform;
use quire_format::row_page::{PageImage, PageTransform, RowPageShape};
use quire_format::volume::{IMAGE_HEADER_BYTES, ImageHeader, ImageKind};
use quire_store::pool::{PageCodec, PageTarget, Pool, PoolOptions};
use quire_store::{Disk, MemDisk, OpenMode, PageId, PageKind, Volume};

use crate::support::{
    Entries, PAGE_BYTES, Random, codec, entries, flush, page_of, put, stored_entries, volume,
    volume_options,
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

#[test]
fn a_device_that_compresses_gets_the_transform_of_the_papers_rule() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = Pool::new(&volume, PoolOptions::default());
    for device in [BlockCodecId::Lz4, BlockCodecId::Zlib, BlockCodecId::Zstd] {
        let chosen = pool.by_columns_for_device(PageCodec::NONE, shape(), device);
        assert_eq!(pool.transform(chosen), None, "{device}");
        // Two bytes of each number are the same in a whole column, which CLT brings together.
        let clt = PageTransform::Columns(Transform::Clt);
        let mut random = Random(5);
        for number in 0..12 {
            let content = page(&mut random, number < 8);
            let frame = pool.add(page_of(&content), chosen).unwrap();
            flush(&volume, &pool);
            let image = volume.read(frame.page()).unwrap();
            let image = PageImage::open(&image).unwrap();
            assert_eq!(image.codec(), BlockCodecId::None);
            assert!(number < 8 || image.transform() == clt, "{device}");
            assert_eq!(stored_entries(&volume.pin(), frame.page()), content);
        }
        assert_eq!(pool.transform(chosen), Some(clt), "{device}");
    }
    // Nothing to be found: rows stay rows, whatever is measured.
    let noise = pool.by_columns_for_device(PageCodec::NONE, shape(), BlockCodecId::Zstd);
    let other_shape = RowPageShape::new(&[LayoutColumn::Number(2); 16], 0, &[], &[]).unwrap();
    let noise_of_words = pool.by_columns_for_device(noise, other_shape, BlockCodecId::Zstd);
    assert_ne!(noise, noise_of_words);
    let mut random = Random(9);
    for _ in 0..8 {
        let row = |random: &mut Random| (0..32).map(|_| random.below(256) as u8).collect();
        let content: Entries = (0..60_u8)
            .map(|key| (vec![key], row(&mut random)))
            .collect();
        pool.add(page_of(&content), noise_of_words).unwrap();
        flush(&volume, &pool);
    }
    assert_eq!(pool.transform(noise_of_words), Some(PageTransform::ROWS));
}

/// Pages that have an image of whole blocks at the beginning of a block, anywhere in the file.
fn pages_at_blocks(disk: &MemDisk) -> Vec<PageId> {
    let mut bytes = vec![0; disk.len().unwrap() as usize];
    disk.read_at(&mut bytes, 0).unwrap();
    let headers = bytes.chunks(PAGE_BYTES).map(ImageHeader::decode);
    let headers = headers.filter_map(Result::ok);
    let whole = headers.filter(|header| header.image_bytes().is_multiple_of(PAGE_BYTES));
    let pages = whole.filter_map(|header| match header.kind {
        ImageKind::Page(page, PageKind::Row) => Some(page),
        _ => None,
    });
    pages.collect()
}

#[test]
fn pages_that_are_not_compressed_take_whole_pages_at_blocks_of_the_file() {
    let disk = Arc::new(MemDisk::new());
    let volume = volume(disk.clone());
    let pool = Pool::new(&volume, PoolOptions::default());
    let mut random = Random(6);
    let mut expected = Vec::new();
    for round in 0..12 {
        let codec = pool.by_columns_for_device(PageCodec::NONE, shape(), BlockCodecId::Zlib);
        let codec = pool.with_target(codec, 3, PageTarget::new(PAGE_BYTES));
        // Between them are images of other lengths, of pages of another tree.
        let other = pool.add(page_of(&page(&mut random, true)), PageCodec::NONE);
        let frame = pool
            .add(page_of(&page(&mut random, round < 6)), codec)
            .unwrap();
        flush(&volume, &pool);
        frame.apply(&put(&[7, 7], b"of another shape"), 3).unwrap();
        flush(&volume, &pool);
        assert!(!frame.wants_split());
        expected.push((frame.page(), entries(&frame), true));
        let other = other.unwrap();
        expected.push((other.page(), entries(&other), false));
    }
    let at_blocks = pages_at_blocks(&disk);
    drop((pool, volume));
    // Everything is read again from the log.
    let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options()).unwrap();
    for (page, content, is_whole) in &expected {
        assert_eq!(&stored_entries(&volume.pin(), *page), content);
        let image_bytes = volume.read(*page).unwrap().len() + IMAGE_HEADER_BYTES;
        assert_eq!(image_bytes == PAGE_BYTES, *is_whole);
        assert_eq!(at_blocks.contains(page), *is_whole);
    }
    assert!(volume.check().findings.is_empty());
}
