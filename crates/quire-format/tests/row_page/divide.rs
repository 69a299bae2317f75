//! Where pages are divided, and what does not go together.

use quire_format::row_page::space::{self, Advice};
use quire_format::row_page::{ApplyError, DivideError, PageSetup, RowPage, RowPageMut};

use crate::random::Random;

#[test]
fn random_insertions_split_in_the_middle() {
    let mut frame = vec![0; 8 << 10];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default()).unwrap();
    let mut random = Random(5);
    let key = loop {
        let key = random.next().to_be_bytes();
        match page.insert(&key, &[1; 30], false) {
            Ok(_) => {}
            Err(ApplyError::Full { .. }) => break key,
            Err(error) => panic!("{error}"),
        }
    };
    let mut right = vec![0; 8 << 10];
    page.split(&mut right, &key).unwrap();
    let (left, right) = (
        page.page().unwrap().len(),
        RowPage::open(&right).unwrap().len(),
    );
    assert!(
        left.abs_diff(right) * 6 < left + right,
        "{left} and {right}"
    );
}

fn leaf(entries: &[&[u8]], setup: &PageSetup<'_>) -> Vec<u8> {
    let mut frame = vec![0; 4 << 10];
    let mut page = RowPageMut::create(&mut frame, setup).unwrap();
    for key in entries {
        page.insert(key, &[0; 400], false).unwrap();
    }
    frame
}

#[test]
fn a_separator_is_the_shortest_key_between_two_entries() {
    let keys: [&[u8]; 8] = [
        b"alpha",
        b"bravo 1",
        b"bravo 2",
        b"bravo 3",
        b"bravo 3 and more",
        b"charlie",
        b"delta 1",
        b"delta 2",
    ];
    let mut frame = leaf(&keys, &PageSetup::default());
    let mut left = RowPageMut::trusted(&mut frame).unwrap();
    let mut right = vec![0; 4 << 10];
    let separator = left.split(&mut right, b"bravo").unwrap();
    let right = RowPage::open(&right).unwrap();
    let last = left
        .page()
        .unwrap()
        .entries()
        .next_back()
        .unwrap()
        .unwrap()
        .key();
    let first = right.entry(0).unwrap().key();
    // By definition: greater than the left, at most the right, and no shorter beginning of it is.
    assert!(last < separator && separator <= first && first.starts_with(&separator));
    assert!(first[..separator.len() - 1] <= last[..]);
    assert_eq!(
        (left.page().unwrap().upper_fence(), right.lower_fence()),
        (&separator[..], &separator[..])
    );
}

#[test]
fn new_fences_lengthen_the_prefix_and_merging_restores_it() {
    let keys: Vec<Vec<u8>> = (0..8)
        .map(|at| format!("customer/{at}/orders").into_bytes())
        .collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let setup = PageSetup {
        lower: b"customer",
        upper: b"customes",
        ..PageSetup::default()
    };
    let mut frame = leaf(&keys, &setup);
    let mut left = RowPageMut::open(&mut frame).unwrap();
    assert_eq!(left.page().unwrap().prefix(), b"custome");
    let mut right = vec![0; 4 << 10];
    left.split_at(b"customer/4", &mut right).unwrap();
    let mut rightmost = vec![0; 4 << 10];
    RowPageMut::open(&mut right)
        .unwrap()
        .split_at(b"customer/6/", &mut rightmost)
        .unwrap();
    let middle = RowPage::open(&right).unwrap();
    assert_eq!(
        (middle.prefix(), middle.len()),
        (b"customer/".as_slice(), 2)
    );
    assert_eq!(middle.entry(0).unwrap().suffix, b"4/orders");
    left.merge(&middle).unwrap();
    left.merge(&RowPage::open(&rightmost).unwrap()).unwrap();
    let found: Vec<_> = left
        .page()
        .unwrap()
        .entries()
        .map(|entry| entry.unwrap().key())
        .collect();
    assert_eq!(found, keys);
    assert_eq!(RowPage::open(&frame).unwrap().prefix(), b"custome");
}

#[test]
fn pages_that_do_not_meet_are_not_merged_and_full_ones_neither() {
    let setup = |lower, upper| PageSetup {
        lower,
        upper,
        ..PageSetup::default()
    };
    let mut one = leaf(&[b"a1", b"a2", b"a3", b"a4", b"a5"], &setup(b"a", b"b"));
    let two = leaf(&[b"b1", b"b2", b"b3", b"b4", b"b5"], &setup(b"b", b"c"));
    let three = leaf(&[b"c1"], &setup(b"c", b""));
    let mut left = RowPageMut::trusted(&mut one).unwrap();
    let far = left.merge(&RowPage::open(&three).unwrap());
    assert_eq!(far, Err(DivideError::NotNeighbours));
    let full = left.merge(&RowPage::open(&two).unwrap());
    assert!(matches!(
        full,
        Err(DivideError::TooLarge {
            bytes: 4097..,
            page_bytes: 4096
        })
    ));
    let mut right = vec![0; 4 << 10];
    for separator in [b"a1", b"a0", b"a9"] {
        let split = left.split_at(separator, &mut right);
        assert_eq!(
            split,
            Err(DivideError::Separator),
            "nothing would be on one side"
        );
    }
    assert_eq!(left.page().unwrap().len(), 5);
}

#[test]
fn neighbours_are_merged_when_one_is_nearly_empty_and_both_leave_room() {
    let setup = |lower, upper, layout| PageSetup {
        lower,
        upper,
        layout,
        ..PageSetup::default()
    };
    let keys: [&[u8]; 9] = [
        b"b1", b"b2", b"b3", b"b4", b"b5", b"b6", b"b7", b"b8", b"b9",
    ];
    let advice = |left_count: usize, right_count: usize, layout| {
        let left: Vec<Vec<u8>> = keys.iter().map(|key| [b"a", *key].concat()).collect();
        let left: Vec<&[u8]> = left.iter().map(Vec::as_slice).collect();
        let left = leaf(&left[..left_count], &setup(b"a", b"b", 0));
        let right = leaf(&keys[..right_count], &setup(b"b", b"c", layout));
        let (left, right) = (
            RowPage::open(&left).unwrap(),
            RowPage::open(&right).unwrap(),
        );
        space::advise(&left, &right, usize::MAX).unwrap()
    };
    // An entry takes a tenth of the page: two are less than a quarter, seven less than three quarters.
    for (left, right, expected) in [
        (9, 9, Advice::Leave),
        (3, 3, Advice::Leave),
        (0, 0, Advice::Merge),
        (2, 5, Advice::Merge),
        (5, 2, Advice::Merge),
        (2, 6, Advice::Rebalance),
        (9, 0, Advice::Rebalance),
    ] {
        assert_eq!(advice(left, right, 0), expected, "{left} and {right}");
        assert_eq!(advice(left, right, 1), Advice::Leave, "another layout");
    }
}
