//! A level of pages that split, merge and rebalance says what an ordered map says, on pages of every length, and
//! images with their logs say what the pages say.

use std::collections::BTreeMap;

use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_format::row_page::space::{self, Advice};
use quire_format::row_page::{
    Applied, ApplyError, DivideError, KeySearch, PAGE_BYTES_ALLOWED, PageAppendError, PageImage,
    PageOp, PageSetup, RowPage, RowPageMut, append_op, apply, encode_image,
};

use crate::random::{Keys, Random};

pub type Value = (Vec<u8>, bool);

/// Leaves side by side, their images, and the map they have to agree with.
struct Level {
    page_bytes: usize,
    pages: Vec<Vec<u8>>,
    images: Vec<Option<Vec<u8>>>,
    model: BTreeMap<Vec<u8>, Value>,
    lsn: u64,
    codec: Box<dyn BlockCodec>,
    splits: usize,
    merges: usize,
    rebalances: usize,
    encodings: usize,
}

impl Level {
    fn new(page_bytes: usize, codec: BlockCodecId) -> Self {
        let mut page = vec![0xEE; page_bytes];
        RowPageMut::create(
            &mut page,
            &PageSetup {
                layout: 9,
                ..PageSetup::default()
            },
        )
        .unwrap();
        Self {
            page_bytes,
            pages: vec![page],
            images: vec![None],
            model: BTreeMap::new(),
            lsn: 0,
            codec: open(codec, &BlockOptions::default()).unwrap(),
            splits: 0,
            merges: 0,
            rebalances: 0,
            encodings: 0,
        }
    }

    fn locate(&self, key: &[u8]) -> usize {
        let below = |page: &Vec<u8>| RowPage::trusted(page).unwrap().lower_fence() <= key;
        self.pages.partition_point(below) - 1
    }

    /// Applies to page, image and map; splits once at most.
    fn apply(&mut self, op: &PageOp<'_>) {
        self.lsn += 1;
        let mut at = self.locate(op.key());
        let mut page = RowPageMut::trusted(&mut self.pages[at]).unwrap();
        let mut applied = apply(&mut page, op);
        if let Err(ApplyError::Full {
            needed_bytes,
            free_bytes,
        }) = applied
        {
            assert!(needed_bytes > free_bytes);
            let mut right = vec![0xDD; self.page_bytes];
            let separator = page.split(&mut right, op.key()).unwrap();
            self.pages.insert(at + 1, right);
            self.images[at] = None;
            self.images.insert(at + 1, None);
            self.splits += 1;
            at += usize::from(op.key() >= separator.as_slice());
            page = RowPageMut::trusted(&mut self.pages[at]).unwrap();
            applied = apply(&mut page, op);
        }
        let expected = change(&mut self.model, op);
        assert_eq!(applied.ok(), expected, "{op:?}");
        if expected.is_none() {
            return;
        }
        page.set_lsn(self.lsn).unwrap();
        self.log(at, op);
        if expected == Some(Applied::Removed) {
            self.look_at_neighbours(at.saturating_sub(1));
        }
    }

    /// Appends to the image, or makes a new one when there is none or its log is full.
    fn log(&mut self, at: usize, op: &PageOp<'_>) {
        if let Some(image) = &mut self.images[at] {
            let base = image[28..28 + PageImage::open(image).unwrap().base_bytes()].to_vec();
            match append_op(image, op, self.lsn) {
                Ok(()) => return assert_eq!(image[28..28 + base.len()], base),
                Err(PageAppendError::LogFull {
                    log_bytes,
                    op_bytes,
                    limit,
                }) => {
                    assert!(log_bytes + op_bytes > limit && limit == self.page_bytes / 8);
                }
                Err(error) => panic!("{error}"),
            }
        }
        let page = RowPage::open(&self.pages[at]).unwrap();
        self.images[at] = Some(encode_image(&page, self.codec.as_mut()).unwrap());
        self.encodings += 1;
    }

    fn look_at_neighbours(&mut self, at: usize) {
        let [left, right] = match &mut self.pages[at..] {
            [left, right, ..] => [left, right],
            _ => return,
        };
        let mut left = RowPageMut::trusted(left).unwrap();
        let other = RowPage::trusted(right).unwrap();
        match space::advise(&left.page().unwrap(), &other, usize::MAX).unwrap() {
            Advice::Leave => return,
            Advice::Merge => {
                left.merge(&other).unwrap();
                let used_bytes = left.page().unwrap().used_bytes();
                assert!(4 * used_bytes <= 3 * self.page_bytes, "room for growth");
                self.pages.remove(at + 1);
                self.images.remove(at + 1);
                self.merges += 1;
            }
            Advice::Rebalance => {
                let mut right = RowPageMut::trusted(right).unwrap();
                match left.rebalance(&mut right) {
                    Ok(separator) => assert_eq!(left.page().unwrap().upper_fence(), separator),
                    Err(DivideError::NoSeparator { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                self.images[at + 1] = None;
                self.rebalances += 1;
            }
        }
        self.images[at] = None;
    }

    fn check(&self) {
        let mut expected = self.model.iter();
        let mut fence = Vec::new();
        for bytes in &self.pages {
            let page = RowPage::open(bytes).unwrap();
            assert_eq!((page.lower_fence(), page.layout()), (fence.as_slice(), 9));
            fence = page.upper_fence().to_vec();
            for (index, entry) in page.entries().enumerate() {
                let entry = entry.unwrap();
                let (key, value) = expected.next().unwrap();
                assert_eq!(
                    (&entry.key(), entry.value, entry.overflow),
                    (key, &value.0[..], value.1)
                );
                assert_eq!(page.find(key).unwrap(), KeySearch::Found(index));
                assert_eq!(page.get(key).unwrap(), Some(entry));
            }
            let mut backwards: Vec<_> = page.entries().rev().map(Result::unwrap).collect();
            backwards.reverse();
            assert_eq!(
                backwards,
                page.entries().map(Result::unwrap).collect::<Vec<_>>()
            );
        }
        assert!(expected.next().is_none() && fence.is_empty());
        (0..self.pages.len()).for_each(|at| self.check_image(at));
    }

    fn check_image(&self, at: usize) {
        let Some(bytes) = &self.images[at] else {
            return;
        };
        let image = PageImage::open(bytes).unwrap();
        let mut codec = open(image.codec(), &BlockOptions::default()).unwrap();
        let mut restored = vec![0xCC; self.page_bytes];
        image.decode(codec.as_mut(), &mut restored).unwrap();
        let (restored, page) = (
            RowPage::open(&restored).unwrap(),
            RowPage::open(&self.pages[at]).unwrap(),
        );
        let head = |page: &RowPage<'_>| (page.lsn(), page.layout(), page.used_bytes());
        assert_eq!(head(&restored), head(&page));
        assert_eq!(restored.lower_fence(), page.lower_fence());
        assert_eq!(restored.upper_fence(), page.upper_fence());
        assert!(restored.entries().eq(page.entries()));
        self.look_up(&image, codec.as_mut(), &page);
    }

    /// Keys that are looked up in the image have what they have in the page; keys that are not there have nothing.
    fn look_up(&self, image: &PageImage<'_>, codec: &mut dyn BlockCodec, page: &RowPage<'_>) {
        let mut scratch = vec![0xBB; 100];
        let rows = image.rows(codec, &mut scratch).unwrap().unwrap();
        assert_eq!(rows.level(), page.level());
        let keys = page.entries().map(|entry| entry.unwrap().key());
        let edges = [page.lower_fence(), page.upper_fence(), b"", &[0xFF; 9]];
        for key in keys.chain(edges.map(<[u8]>::to_vec)) {
            for other in [key.as_slice(), &[&key[..], b"\0"].concat(), {
                &key[..key.len().saturating_sub(1)]
            }] {
                let expected = page.get(other).unwrap().map(|entry| entry.value);
                assert_eq!(rows.value(other).unwrap().as_deref(), expected);
                assert_eq!(rows.covers(other), page.covers(other));
            }
        }
    }

    /// What must hold around keys that are not there.
    fn probe(&self, key: &[u8]) {
        let page = RowPage::trusted(&self.pages[self.locate(key)]).unwrap();
        assert!(page.covers(key));
        let at = page.lower_bound(key).unwrap();
        let below = |entry: Result<quire_format::row_page::PageEntryRef<'_>, _>| {
            entry.unwrap().key().as_slice() < key
        };
        assert_eq!(
            at,
            page.entries()
                .take_while(|entry| below(entry.clone()))
                .count()
        );
        assert_eq!(
            page.get(key).unwrap().is_some(),
            self.model.contains_key(key)
        );
    }
}

/// The meaning of an operation; `None` where there is no such entry.
pub fn change(model: &mut BTreeMap<Vec<u8>, Value>, op: &PageOp<'_>) -> Option<Applied> {
    match *op {
        PageOp::Put {
            key,
            value,
            overflow,
        } => {
            let old = model.insert(key.to_vec(), (value.to_vec(), overflow));
            Some(if old.is_some() {
                Applied::Updated
            } else {
                Applied::Inserted
            })
        }
        PageOp::Patch {
            key,
            keep_prefix_bytes,
            keep_suffix_bytes,
            middle,
        } => {
            let (value, _) = model.get_mut(key)?;
            let last = value.len() - keep_suffix_bytes;
            value.splice(keep_prefix_bytes..last, middle.iter().copied());
            Some(Applied::Updated)
        }
        PageOp::Remove { key } => model.remove(key).map(|_| Applied::Removed),
    }
}

fn value_bytes(random: &mut Random, key_bytes: usize, page_bytes: usize) -> usize {
    let most = space::entry_bytes_max(page_bytes) - key_bytes;
    match random.below(40) {
        0 => most,
        1..=4 => random.below(most),
        5..=8 => 0,
        _ => random.below(80),
    }
}

/// One random change; `growth` of 10 are puts.
fn step(level: &mut Level, random: &mut Random, keys: Keys, growth: usize) {
    let page_bytes = level.page_bytes;
    let mut key = keys.any(random, page_bytes);
    if random.below(2) == 0 {
        let next = level.model.range(key.clone()..).next();
        key = next.map_or(key, |(next, _)| next.clone());
    }
    let length = value_bytes(random, key.len(), page_bytes);
    let value = random.bytes(length);
    let overflow = random.below(20) == 0;
    if random.below(10) < growth {
        level.apply(&PageOp::Put {
            key: &key,
            value: &value,
            overflow,
        });
        return;
    }
    match (random.below(3), level.model.get(&key).cloned()) {
        (0, Some((old, _))) => {
            let keep_prefix_bytes = random.below(old.len() + 1);
            let keep_suffix_bytes = random.below(old.len() - keep_prefix_bytes + 1);
            let same = old.len() - keep_prefix_bytes - keep_suffix_bytes;
            let kept_and_key = keep_prefix_bytes + keep_suffix_bytes + key.len();
            let most = space::entry_bytes_max(page_bytes) - kept_and_key;
            let length = if random.below(2) == 0 {
                same
            } else {
                random.below(60).min(most)
            };
            let middle = random.bytes(length);
            level.apply(&PageOp::Patch {
                key: &key,
                keep_prefix_bytes,
                keep_suffix_bytes,
                middle: &middle,
            });
        }
        _ => level.apply(&PageOp::Remove { key: &key }),
    }
    if random.below(16) == 0 {
        level.probe(&key);
    }
}

#[test]
fn a_level_of_pages_says_what_an_ordered_map_says() {
    let codecs = [BlockCodecId::Lz4, BlockCodecId::None, BlockCodecId::Zstd];
    for page_bytes in PAGE_BYTES_ALLOWED {
        for (keys, codec) in Keys::ALL.into_iter().zip(codecs) {
            let mut random = Random(page_bytes as u64 + codec as u64);
            let mut level = Level::new(page_bytes, codec);
            // Growth, churn, shrinking to nothing.
            for (steps, growth) in [(3_000, 8), (2_000, 5), (6_000, 1)] {
                for count in 0..steps {
                    step(&mut level, &mut random, keys, growth);
                    if count % 500 == 0 {
                        level.check();
                    }
                }
                level.check();
            }
            while let Some(key) = level.model.keys().next().cloned() {
                level.apply(&PageOp::Remove { key: &key });
            }
            level.check();
            let counts = (level.splits, level.merges, level.encodings);
            assert!(
                counts.0 > 1 && counts.1 > 1 && counts.2 > 8,
                "{keys:?} {page_bytes}: {counts:?}"
            );
            assert!(level.rebalances < 3_000, "{}", level.rebalances);
            assert_eq!(level.pages.len(), 1, "an empty level is one page");
        }
    }
}

#[test]
fn ascending_insertions_leave_full_pages_behind() {
    let mut level = Level::new(16 << 10, BlockCodecId::None);
    for number in 0..20_000_u64 {
        level.apply(&PageOp::Put {
            key: &number.to_be_bytes(),
            value: &[7; 50],
            overflow: false,
        });
    }
    level.check();
    let (last, full) = level.pages.split_last().unwrap();
    assert!(RowPage::open(last).unwrap().len() > 8);
    // Nine tenths, of which the prefix that came with the upper fence has saved some.
    for page in full {
        let page = RowPage::open(page).unwrap();
        assert!(
            page.used_bytes() * 100 > page.page_bytes() * 80,
            "{}",
            page.used_bytes()
        );
    }
}

#[test]
fn an_image_asks_to_be_encoded_again_before_its_log_is_full() {
    let mut level = Level::new(4 << 10, BlockCodecId::Lz4);
    level.apply(&PageOp::Put {
        key: b"key",
        value: &[1; 100],
        overflow: false,
    });
    let mut image = level.images[0].clone().unwrap();
    let patch = PageOp::Patch {
        key: b"key",
        keep_prefix_bytes: 0,
        keep_suffix_bytes: 99,
        middle: b"x",
    };
    let mut asked = PageImage::open(&image).unwrap().should_recompress();
    while append_op(&mut image, &patch, 1).is_ok() {
        assert!(
            !asked,
            "there was room for another operation of that length"
        );
        asked = PageImage::open(&image).unwrap().should_recompress();
    }
    assert!(asked);
    assert!(PageImage::open(&image).unwrap().log_bytes() <= space::log_bytes_max(4 << 10));
}
