//! Arbitrary bytes as a row page, as an image of one, and as operations on one: reading may fail, what passes is
//! sound, and a page that is believed unchecked does no harm.
//!
//! `cargo +nightly fuzz run row_page`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_codec::block::{BlockOptions, open};
use quire_format::row_page::{
    PAGE_BYTES_ALLOWED, PageImage, PageOp, PageSetup, RowPage, RowPageMut, apply,
};

/// Carries out operations until one does not decode. A sound page stays sound.
fn change(page: &mut [u8], mut log: &[u8]) {
    let was_sound = RowPage::open(page).is_ok();
    let mut right = vec![0; page.len()];
    let Ok(mut changed) = RowPageMut::trusted(page) else {
        return;
    };
    while let Ok((op, op_bytes)) = PageOp::decode(log) {
        if apply(&mut changed, &op).is_err() && changed.split(&mut right, op.key()).is_ok() {
            assert!(!was_sound || RowPage::open(&right).is_ok());
        }
        log = &log[op_bytes..];
    }
    assert!(!was_sound || RowPage::open(page).is_ok());
}

/// The bytes at the start and at the end of a page, with zeros between them, so that short inputs reach far.
fn as_page(bytes: &[u8], page_bytes: usize) -> Vec<u8> {
    let mut page = vec![0; page_bytes];
    let (first, last) = bytes.split_at(bytes.len().min(page_bytes) / 2);
    let last = &last[..last.len().min(page_bytes - first.len())];
    page[..first.len()].copy_from_slice(first);
    page[page_bytes - last.len()..].copy_from_slice(last);
    page
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    let page_bytes = PAGE_BYTES_ALLOWED[usize::from(choice) % 5];
    let (content, log) = bytes.split_at(bytes.len() / 2);
    change(&mut as_page(content, page_bytes), log);
    let mut page = vec![0; page_bytes];
    if RowPageMut::create(
        &mut page,
        &PageSetup {
            level: choice / 128,
            ..PageSetup::default()
        },
    )
    .is_ok()
    {
        change(&mut page, bytes);
    }
    let Ok(image) = PageImage::open(bytes) else {
        return;
    };
    let Ok(mut codec) = open(image.codec(), &BlockOptions::default()) else {
        return;
    };
    let mut page = vec![0; image.page_bytes()];
    let mut scratch = Vec::new();
    let rows = image.rows(codec.as_mut(), &mut scratch).ok().flatten();
    let _ = rows.map(|rows| rows.value(content));
    if image.decode(codec.as_mut(), &mut page).is_ok() {
        let page = RowPage::open(&page).expect("what passes is sound");
        for entry in page.entries().filter_map(Result::ok) {
            let found = rows.map(|rows| rows.value(&entry.key()));
            assert!(found.is_none_or(|found| found.as_ref().is_ok_and(|found| {
                found.as_deref() == Some(entry.value)
            })));
        }
    }
});
