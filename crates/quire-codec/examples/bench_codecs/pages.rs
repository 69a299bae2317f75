//! Page transforms, each way, against copying the page.

use super::measure::measure;
use super::{Bar, line};
use quire_codec::transform::{
    LayoutColumn, Transform, TransformPageShape, TransformRowLayout, to_memory, to_storage,
};
use std::error::Error;
use std::hint::black_box;

const PAGE_BYTES: usize = 16_384;
const CALLS: usize = 20;

/// A page as a buffer pool would align it.
#[repr(align(4096))]
struct Page([u8; PAGE_BYTES]);

/// Rows of 32 numbers of four bytes, 15/16 of a page.
pub fn transforms() -> Result<(), Box<dyn Error>> {
    let layout = TransformRowLayout::new(&[LayoutColumn::Number(4); 32])?;
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: PAGE_BYTES / 16 * 15 / layout.row_bytes(),
    };
    let page = Page(std::array::from_fn(|index| (index * 7 + index / 13) as u8));
    for (transform, most) in [(Transform::R2c, 3000.0), (Transform::XorRlt, 4000.0)] {
        let bars = [Bar::Nanoseconds(most)];
        let (mut image, mut restored) = (Page([0; PAGE_BYTES]), Page([0; PAGE_BYTES]));
        let mut copy = Page([0; PAGE_BYTES]);
        let mut copies = || {
            for _ in 0..CALLS {
                black_box(&mut copy.0).copy_from_slice(black_box(&page.0));
            }
        };
        let there = measure(
            CALLS,
            || {
                for _ in 0..CALLS {
                    let done = to_storage(transform, shape, black_box(&page.0), &mut image.0);
                    black_box((done.is_ok(), &mut image));
                }
            },
            &mut copies,
        );
        let back = measure(
            CALLS,
            || {
                for _ in 0..CALLS {
                    let done = to_memory(transform, shape, black_box(&image.0), &mut restored.0);
                    black_box((done.is_ok(), &mut restored));
                }
            },
            &mut copies,
        );
        assert!(restored.0 == page.0, "{transform} is not undone");
        let bytes = PAGE_BYTES as f64;
        line(
            &format!("{transform} to storage"),
            &there,
            bytes,
            "memcpy of the page",
            &bars,
        );
        line(
            &format!("{transform} to memory"),
            &back,
            bytes,
            "memcpy of the page",
            &bars,
        );
    }
    Ok(())
}
