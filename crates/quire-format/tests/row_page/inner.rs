//! Inner pages and their children.

use std::collections::BTreeMap;

use quire_format::row_page::{
    ApplyError, ChildPointer, PAGE_BYTES_ALLOWED, PageSetup, RowPage, RowPageMut,
};
use quire_format::volume::PageId;

use crate::random::Random;

pub fn page_id(number: u64) -> PageId {
    PageId::new(number).unwrap()
}

#[test]
fn inner_pages_find_the_child_of_every_key() {
    for page_bytes in PAGE_BYTES_ALLOWED {
        let mut frame = vec![0; page_bytes];
        let setup = PageSetup {
            level: 1,
            lower: b"b",
            ..PageSetup::default()
        };
        let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
        let child = |number| ChildPointer::new(page_id(number));
        let refused = page.insert(b"c", child(17).as_bytes(), false);
        assert_eq!(refused, Err(ApplyError::FirstChild));
        page.insert(b"b", child(16).as_bytes(), false).unwrap();
        let mut model = BTreeMap::from([(b"b".to_vec(), 16)]);
        let mut random = Random(page_bytes as u64);
        let pending = loop {
            let length = 1 + random.below(12);
            let key = [b"c".to_vec(), random.bytes(length)].concat();
            let number = random.next() >> (24 + random.below(40)) | 1;
            match page.put(&key, child(number).as_bytes(), false) {
                Ok(_) => drop(model.insert(key, number)),
                Err(ApplyError::Full { .. }) => break key,
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(page.remove(b"b"), Err(ApplyError::FirstChild));
        assert_eq!(page.put(&pending, b"", false), Err(ApplyError::NotAChild));
        assert_eq!(
            page.put(&pending, &[1, 0], false),
            Err(ApplyError::NotAChild)
        );
        assert_eq!(page.put(&pending, &[1], true), Err(ApplyError::NotAChild));
        let mut right = vec![0; page_bytes];
        let separator = page.split(&mut right, &pending).unwrap();
        assert!(
            model.contains_key(&separator),
            "an inner separator is one of the keys"
        );
        let (left, right) = (
            RowPage::open(&frame).unwrap(),
            RowPage::open(&right).unwrap(),
        );
        assert_eq!(right.entry(0).unwrap().key(), separator);
        for _ in 0..1_000 {
            let key = [b"c".to_vec(), random.bytes(5)].concat();
            let page = if key < separator { left } else { right };
            let expected = model.range(..=key.clone()).next_back().unwrap();
            let (index, found) = page.child(&key).unwrap();
            assert_eq!(found, page_id(*expected.1));
            assert_eq!(page.entry(index).unwrap().key(), *expected.0);
        }
    }
}

#[test]
fn every_child_pointer_is_read_back() {
    for number in (0..40)
        .map(|bit| 1_u64 << bit)
        .flat_map(|power| [power, power + 1, power - 1])
    {
        let Some(page) = PageId::new(number) else {
            continue;
        };
        let pointer = ChildPointer::new(page);
        assert_eq!(pointer.as_bytes().len(), number.ilog2() as usize / 8 + 1);
        assert_eq!(ChildPointer::page(pointer.as_bytes()), Ok(page));
    }
}
