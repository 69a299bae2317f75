//! Operations as bytes, and entries no page takes.

use std::collections::BTreeMap;

use quire_format::row_page::space;
use quire_format::row_page::{ApplyError, PAGE_BYTES_ALLOWED, PageOp, PageSetup, RowPageMut};

use crate::model::change;
use crate::random::Random;

#[test]
fn an_entry_that_is_too_long_or_outside_is_refused_and_nothing_changes() {
    for page_bytes in PAGE_BYTES_ALLOWED {
        let (key_most, entry_most) = (
            space::key_bytes_max(page_bytes),
            space::entry_bytes_max(page_bytes),
        );
        let mut frame = vec![0; page_bytes];
        let (lower, upper) = (vec![0; key_most], vec![0xFF; key_most]);
        let setup = PageSetup {
            lower: &lower,
            upper: &upper,
            ..PageSetup::default()
        };
        let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
        for first in 1..=4 {
            let key = [vec![first], vec![0; key_most - 1]].concat();
            page.insert(&key, &vec![first; entry_most - key_most], true)
                .unwrap();
        }
        assert!(
            page.page().unwrap().gap_bytes() < 4,
            "four of the longest entries fill a page"
        );
        let before = page.page().unwrap().used_bytes();
        let long_key = page.insert(&vec![1; key_most + 1], b"", false);
        assert!(matches!(long_key, Err(ApplyError::TooLong { .. })));
        let long_value = page.put(&[1], &vec![0; entry_most], false);
        assert!(matches!(long_value, Err(ApplyError::TooLong { .. })));
        assert_eq!(page.put(&upper, b"", false), Err(ApplyError::OutsideFences));
        assert_eq!(page.insert(&[], b"", false), Err(ApplyError::OutsideFences));
        assert_eq!(page.remove(&[7]), Err(ApplyError::NoSuchKey));
        assert_eq!(page.update(&[7], b"", false), Err(ApplyError::NoSuchKey));
        assert_eq!(page.page().unwrap().used_bytes(), before);
    }
}

#[test]
fn an_operation_is_read_as_it_was_written_and_the_shorter_update_is_chosen() {
    let mut random = Random(11);
    for _ in 0..2_000 {
        let lengths = [random.below(300), random.below(300), random.below(300)];
        let [key, old, mut new] = lengths.map(|length| random.bytes(length));
        if random.below(2) == 0 {
            new = old.clone();
            if let Some(byte) = new.last_mut() {
                *byte ^= 1;
            }
            let places = random.below(2).min(new.len());
            new.rotate_left(places);
        }
        let update = PageOp::update(&key, &old, &new);
        let put = PageOp::Put {
            key: &key,
            value: &new,
            overflow: false,
        };
        assert!(update.encoded_bytes() <= put.encoded_bytes());
        let mut model = BTreeMap::from([(key.clone(), (old, false))]);
        change(&mut model, &update);
        assert_eq!(model[&key].0, new);
        for op in [update, put, PageOp::Remove { key: &key }] {
            let mut bytes = vec![];
            op.encode(&mut bytes);
            assert_eq!(bytes.len(), op.encoded_bytes());
            for end in 0..bytes.len() {
                assert!(PageOp::decode(&bytes[..end]).is_err());
            }
            bytes.push(9);
            assert_eq!(PageOp::decode(&bytes), Ok((op, bytes.len() - 1)));
        }
    }
}
