//! Levels built from sorted entries.

use std::collections::BTreeMap;

use quire_format::row_page::{
    BuildOptions, ChildPointer, LevelBuilder, PAGE_BYTES_ALLOWED, PageBuildError, RowPage,
};

use crate::inner::page_id;
use crate::random::{Keys, Random};

#[test]
fn a_built_level_says_what_went_in_and_is_as_full_as_asked() {
    for page_bytes in PAGE_BYTES_ALLOWED {
        for (keys, fill_percent) in Keys::ALL.into_iter().zip([100, 70, 90]) {
            let mut random = Random(page_bytes as u64);
            let mut model = BTreeMap::new();
            for _ in 0..3_000 {
                let key = keys.any(&mut random, page_bytes);
                let length = random.below(100);
                model.insert(key, random.bytes(length));
            }
            let options = BuildOptions {
                page_bytes,
                level: 0,
                layout: 3,
                lsn: 4,
                fill_percent,
            };
            let mut builder = LevelBuilder::new(options).unwrap();
            let mut pages = Vec::new();
            for (key, value) in &model {
                pages.extend(builder.push(key, value, value.len() == 7).unwrap());
            }
            pages.extend(builder.finish().unwrap());
            let mut entries = model.iter();
            let mut fence = Vec::new();
            for built in &pages {
                let page = RowPage::open(&built.bytes).unwrap();
                assert_eq!(
                    (page.lower_fence(), &built.lower_fence),
                    (&fence[..], &fence)
                );
                assert_eq!((page.layout(), page.lsn()), (3, 4));
                fence = page.upper_fence().to_vec();
                for entry in page.entries() {
                    let entry = entry.unwrap();
                    let (key, value) = entries.next().unwrap();
                    let overflow = value.len() == 7;
                    assert_eq!(
                        (&entry.key(), entry.value, entry.overflow),
                        (key, &value[..], overflow)
                    );
                }
                let percent = page.used_bytes() * 100 / page_bytes;
                assert!(percent <= fill_percent.into() || fence.is_empty());
                // The entry that would have come next has at most a sixteenth of the page; fences add to it.
                assert!(
                    matches!(keys, Keys::Long)
                        || fence.is_empty()
                        || percent + 12 >= fill_percent.into()
                );
            }
            assert!(entries.next().is_none() && fence.is_empty());
            assert!(pages.len() > 1 || page_bytes > 8192);
        }
    }
}

#[test]
fn a_level_of_nothing_is_an_empty_page_and_disorder_is_refused() {
    let options = BuildOptions {
        page_bytes: 4096,
        level: 0,
        layout: 0,
        lsn: 0,
        fill_percent: 100,
    };
    let pages = LevelBuilder::new(options).unwrap().finish().unwrap();
    assert_eq!(pages.len(), 1);
    assert!(RowPage::open(&pages[0].bytes).unwrap().is_empty());
    let mut builder = LevelBuilder::new(options).unwrap();
    builder.push(b"b", b"", false).unwrap();
    for key in [b"b", b"a"] {
        assert_eq!(
            builder.push(key, b"", false),
            Err(PageBuildError::NotAscending)
        );
    }
    let odd = BuildOptions {
        page_bytes: 5000,
        ..options
    };
    assert!(LevelBuilder::new(odd).is_err());
}

#[test]
fn an_inner_level_is_built_on_the_fences_of_the_level_below() {
    let options = BuildOptions {
        page_bytes: 4096,
        level: 0,
        layout: 0,
        lsn: 0,
        fill_percent: 80,
    };
    let mut builder = LevelBuilder::new(options).unwrap();
    let mut leaves = Vec::new();
    for number in 0..60_000_u32 {
        leaves.extend(
            builder
                .push(format!("key {number:08}").as_bytes(), b"v", false)
                .unwrap(),
        );
    }
    leaves.extend(builder.finish().unwrap());
    let mut builder = LevelBuilder::new(BuildOptions {
        level: 1,
        ..options
    })
    .unwrap();
    let mut inner = Vec::new();
    for (number, leaf) in leaves.iter().enumerate() {
        let child = ChildPointer::new(page_id(16 + number as u64));
        inner.extend(
            builder
                .push(&leaf.lower_fence, child.as_bytes(), false)
                .unwrap(),
        );
    }
    inner.extend(builder.finish().unwrap());
    assert!(inner.len() > 1);
    for number in (0..60_000_u32).step_by(37) {
        let key = format!("key {number:08}").into_bytes();
        let above = inner.partition_point(|page| page.lower_fence <= key) - 1;
        let (_, child) = RowPage::open(&inner[above].bytes)
            .unwrap()
            .child(&key)
            .unwrap();
        let leaf = RowPage::open(&leaves[child.get() as usize - 16].bytes).unwrap();
        assert!(leaf.get(&key).unwrap().is_some());
    }
}
