//! Row pages, operations and images that nobody wrote: an error, or a page in which everything holds; and a page that
//! is believed without being checked does no harm either.

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    ChildPointer, PageImage, PageOp, PageSetup, RowPage, RowPageMut, append_op, apply, encode_image,
};
use quire_format::volume::PageId;

const PAGE_BYTES: usize = 4 << 10;

/// Two thirds full, with fences, a prefix, dead bytes, an empty record and a value in overflow pages.
fn leaf() -> Vec<u8> {
    let mut frame = vec![0; PAGE_BYTES];
    let setup = PageSetup {
        lower: b"key",
        upper: b"kez",
        lsn: 77,
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
    page.insert(b"key", b"", false).unwrap();
    for number in 0..60_u8 {
        let key = [b"key".as_slice(), &[number * 3 % 61, number]].concat();
        page.insert(&key, &[number; 30], number == 9).unwrap();
    }
    for number in [4, 5, 6] {
        page.remove(&[b"key".as_slice(), &[number * 3 % 61, number]].concat())
            .unwrap();
    }
    frame
}

fn inner() -> Vec<u8> {
    let mut frame = vec![0; PAGE_BYTES];
    let setup = PageSetup {
        level: 1,
        upper: b"m",
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
    for number in 0..50_u8 {
        let child = ChildPointer::new(PageId::new(1 << (number % 40)).unwrap());
        let key = if number == 0 { vec![] } else { vec![number, 7] };
        page.insert(&key, child.as_bytes(), false).unwrap();
    }
    frame
}

/// Everything a reader and a writer can do, whatever is in the bytes; errors are welcome.
fn use_in_every_way(bytes: &[u8]) {
    let Ok(page) = RowPage::trusted(bytes) else {
        return;
    };
    for key in [
        b"".as_slice(),
        b"key",
        b"key\x20\x20",
        b"kez",
        &[20, 7],
        &[255; 600],
    ] {
        let _ = (
            page.find(key),
            page.get(key),
            page.child(key),
            page.covers(key),
        );
    }
    let entries = page
        .entries()
        .chain(page.entries().rev())
        .filter_map(Result::ok);
    let _ = entries
        .map(|entry| entry.key().len() + entry.value.len())
        .sum::<usize>();
    let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default()).unwrap();
    if let Ok(image) = encode_image(&page, codec.as_mut()) {
        let image = PageImage::open(&image).unwrap();
        let mut codec = open(image.codec(), &BlockOptions::default()).unwrap();
        let _ = image.decode(codec.as_mut(), &mut vec![0; bytes.len()]);
    }
    let changed = &mut bytes.to_vec();
    change_in_every_way(changed);
    divide_in_every_way(&mut changed.clone());
    divide_in_every_way(&mut bytes.to_vec());
}

fn change_in_every_way(bytes: &mut [u8]) {
    let ops = [
        PageOp::Put {
            key: b"key\x21",
            value: &[1; 200],
            overflow: false,
        },
        PageOp::Put {
            key: b"key\x1b\x09",
            value: &[1; 40],
            overflow: false,
        },
        PageOp::Put {
            key: b"key\x1b\x09",
            value: b"",
            overflow: true,
        },
        PageOp::Put {
            key: &[9, 7],
            value: &[200],
            overflow: false,
        },
        PageOp::Patch {
            key: b"key\x03\x01",
            keep_prefix_bytes: 1,
            keep_suffix_bytes: 2,
            middle: b"x",
        },
        PageOp::Remove {
            key: b"key\x06\x02",
        },
        PageOp::Remove { key: &[8, 7] },
    ];
    for op in ops {
        if let Ok(mut page) = RowPageMut::trusted(bytes) {
            let _ = (apply(&mut page, &op), page.set_lsn(1), page.compact());
        }
    }
}

fn divide_in_every_way(bytes: &mut [u8]) {
    let mut right = vec![0; bytes.len()];
    let neighbour = bytes.to_vec();
    let Ok(mut page) = RowPageMut::trusted(bytes) else {
        return;
    };
    if page.split(&mut right, b"key\x11").is_ok() {
        let mut right = RowPageMut::trusted(&mut right).unwrap();
        let _ = page.rebalance(&mut right);
        let _ = right.page().map(|right| page.merge(&right));
    }
    let _ = RowPage::trusted(&neighbour).map(|right| page.merge(&right));
}

/// A page that passes has to stay sound whatever is done to it.
fn check(bytes: &[u8]) -> bool {
    use_in_every_way(bytes);
    let Ok(page) = RowPage::open(bytes) else {
        return false;
    };
    let entries: Vec<_> = page.entries().map(|entry| entry.unwrap().key()).collect();
    assert!(entries.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(entries.iter().all(|key| page.covers(key)));
    let mut changed = bytes.to_vec();
    let mut page = RowPageMut::trusted(&mut changed).unwrap();
    page.compact().unwrap();
    for key in entries.iter().skip(1) {
        page.remove(key).unwrap();
    }
    RowPage::open(&changed).unwrap();
    true
}

#[test]
fn a_flipped_bit_is_found_or_harmless() {
    for page in [leaf(), inner()] {
        assert!(check(&page));
        let slots_end = 36 + 10 * RowPage::open(&page).unwrap().len();
        let mut accepted = 0;
        for bit in (0..8 * PAGE_BYTES).filter(|bit| *bit < 8 * slots_end || bit % 5 == 0) {
            let mut damaged = page.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let is_sound = check(&damaged);
            accepted += usize::from(is_sound && bit < 8 * slots_end);
        }
        // Of header and slots: the hint, LSN, layout, the overflow flags of a leaf's slots, and the level of an inner page are free.
        assert!(accepted <= 16 + 64 + 32 + 7 + slots_end / 10, "{accepted}");
    }
}

#[test]
fn damage_in_many_places_does_no_harm() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize
    };
    for page in [leaf(), inner()] {
        for round in 0..6_000 {
            let mut damaged = page.clone();
            for _ in 0..1 + round % 5 {
                let end = if random() % 3 == 0 {
                    PAGE_BYTES
                } else {
                    36 + 80
                };
                damaged[random() % end] = random() as u8;
            }
            check(&damaged);
        }
    }
}

#[test]
fn a_page_of_another_length_is_refused() {
    let page = leaf();
    for length in (0..PAGE_BYTES).step_by(13) {
        assert!(RowPage::open(&page[..length]).is_err());
        assert!(RowPageMut::create(&mut vec![0; length], &PageSetup::default()).is_err());
    }
    let longer = [page.clone(), page].concat();
    assert!(RowPage::open(&longer).is_err(), "fences are at the end");
}

fn image(codec: BlockCodecId) -> Vec<u8> {
    let mut frame = leaf();
    let mut page = RowPageMut::open(&mut frame).unwrap();
    let mut codec = open(codec, &BlockOptions::default()).unwrap();
    let mut image = encode_image(&page.page().unwrap(), codec.as_mut()).unwrap();
    let ops = [
        PageOp::Put {
            key: b"keya",
            value: b"new",
            overflow: false,
        },
        PageOp::Patch {
            key: b"keya",
            keep_prefix_bytes: 1,
            keep_suffix_bytes: 1,
            middle: b"",
        },
        PageOp::Remove { key: b"key" },
    ];
    for (lsn, op) in (78..).zip(ops) {
        apply(&mut page, &op).unwrap();
        append_op(&mut image, &op, lsn).unwrap();
    }
    image
}

/// Whether it is an image; if so, what it gives is a page.
fn decodes(bytes: &[u8]) -> bool {
    let Ok(image) = PageImage::open(bytes) else {
        return false;
    };
    let mut codec = open(image.codec(), &BlockOptions::default()).unwrap();
    if let Ok(Some(rows)) = image.rows(codec.as_mut(), &mut Vec::new()) {
        for key in [b"key".as_slice(), b"keya", b"key\x06\x02", b"", &[0xFF; 9]] {
            let _ = (rows.value(key), rows.covers(key));
        }
    }
    let mut page = vec![0; image.page_bytes()];
    if image.decode(codec.as_mut(), &mut page).is_err() {
        return false;
    }
    RowPage::open(&page).unwrap();
    true
}

#[test]
fn a_damaged_image_is_an_error_or_a_page() {
    for codec in BlockCodecId::ALL {
        let image = image(codec);
        assert!(decodes(&image));
        for length in 0..image.len() {
            assert!(!decodes(&image[..length]), "{codec} cut to {length}");
        }
        assert!(!decodes(&[image.clone(), vec![0]].concat()));
        for bit in 0..8 * image.len() {
            let mut damaged = image.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = decodes(&damaged);
            let _ = append_op(&mut damaged, &PageOp::Remove { key: b"keya" }, 99);
        }
    }
}

#[test]
fn an_image_is_decoded_with_its_codec_to_its_length_only() {
    let image = image(BlockCodecId::Lz4);
    let image = PageImage::open(&image).unwrap();
    let mut lz4 = open(BlockCodecId::Lz4, &BlockOptions::default()).unwrap();
    let mut zstd = open(BlockCodecId::Zstd, &BlockOptions::default()).unwrap();
    assert!(
        image
            .decode(lz4.as_mut(), &mut vec![0; 2 * PAGE_BYTES])
            .is_err()
    );
    assert!(
        image
            .decode(zstd.as_mut(), &mut vec![0; PAGE_BYTES])
            .is_err()
    );
    assert!(image.decode(lz4.as_mut(), &mut vec![0; PAGE_BYTES]).is_ok());
    assert_eq!((image.lsn(), image.codec()), (80, BlockCodecId::Lz4));
}
