//! Arbitrary bytes as the image of a page of an arbitrary shape: whatever page it gives gives the image again, the
//! same way on every instruction set.
//!
//! `cargo +nightly fuzz run transform`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_codec::transform::{LayoutColumn, TransformPageShape, TransformRowLayout, Transform, to_memory, to_storage};
use quire_codec::{Backend, limit_backend};

/// The first bytes say what the shape is, with lengths that need not fit; the rest is the image.
fn shape_and_image(bytes: &[u8]) -> Option<(Transform, TransformRowLayout, [usize; 2], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let transform = Transform::ALL[usize::from(head[0]) % Transform::ALL.len()];
    let column_count = usize::from(head[1] % 80);
    let (widths, image) = rest.split_at_checked(column_count)?;
    let column = |&byte: &u8| match byte {
        0..0x80 => LayoutColumn::Number((byte & 0x1F).into()),
        0xFE => LayoutColumn::Length1,
        0xFF => LayoutColumn::Length2,
        _ => LayoutColumn::Bytes((byte & 0x7F).into()),
    };
    let layout = TransformRowLayout::new(&widths.iter().map(column).collect::<Vec<_>>()).ok()?;
    // Small numbers, and now and then one whose product with anything overflows.
    let length = |low: u8, high: u8| match high {
        0xFF => usize::MAX / usize::from(low).max(1),
        _ => usize::from(u16::from_le_bytes([low, high & 3])),
    };
    let lengths = [length(head[2], head[3]), length(head[4], head[5])];
    Some((transform, layout, lengths, image))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((transform, layout, [lead_bytes, row_count], image)) = shape_and_image(bytes) else {
        return;
    };
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes,
        row_count,
    };
    let mut pages = Vec::new();
    for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
        limit_backend(backend);
        let mut page = vec![0; image.len()];
        if to_memory(transform, shape, image, &mut page).is_err() {
            return;
        }
        let mut again = vec![0; image.len()];
        let written = to_storage(transform, shape, &page, &mut again);
        assert!(written.is_ok() && again == image);
        pages.push(page);
    }
    assert!(pages.windows(2).all(|pair| pair[0] == pair[1]));
});
