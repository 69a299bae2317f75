//! Lengths that do not fit each other are errors, whichever side they come from.

use quire_codec::transform::{
    LayoutColumn, Transform, TransformError, TransformPageShape, TransformRowLayout, to_memory,
    to_storage,
};

fn both_ways(shape: TransformPageShape<'_>, from: usize, to: usize) -> TransformError {
    let (page, mut image) = (vec![1; from], vec![2; to]);
    let mut errors = Transform::ALL.into_iter().flat_map(|transform| {
        [
            to_storage(transform, shape, &page, &mut image).unwrap_err(),
            to_memory(transform, shape, &page, &mut image).unwrap_err(),
        ]
    });
    let first = errors.next().unwrap();
    assert!(errors.all(|error| error == first));
    assert!(
        image.iter().all(|&byte| byte == 2),
        "written in spite of it"
    );
    first
}

#[test]
fn rows_that_leave_the_page() {
    let layout =
        TransformRowLayout::new(&[LayoutColumn::Number(4), LayoutColumn::Bytes(7)]).unwrap();
    for (lead_bytes, row_count, page_bytes) in [
        (0, 10, 109),
        (3, 10, 112),
        (1, 0, 0),
        (usize::MAX, 1, 4096),
        (8, usize::MAX, 4096),
        (8, usize::MAX / 11, 4096),
        (usize::MAX, usize::MAX, 0),
    ] {
        let shape = TransformPageShape {
            layout: &layout,
            lead_bytes,
            row_count,
        };
        let expected = TransformError::PageTooShort {
            lead_bytes,
            row_count,
            row_bytes: 11,
            page_bytes,
        };
        assert_eq!(both_ways(shape, page_bytes, page_bytes), expected);
    }
}

/// The columns fit, the fields their lengths promise do not: in a page at the row that leaves it, in an image as
/// a whole.
#[test]
fn variable_fields_that_leave_the_page() {
    let layout =
        TransformRowLayout::new(&[LayoutColumn::Length2, LayoutColumn::Number(1)]).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 1,
        row_count: 2,
    };
    let leaves = |row, page_bytes| Err(TransformError::RowTooLong { row, page_bytes });
    let page = b"<\x02\0nxy\x03\0mxyz";
    let image = b"<\x02\0\x03\0nmxyxyz";
    for transform in [Transform::R2c, Transform::Rlt, Transform::Clt] {
        for length in 7..page.len() {
            let mut buffer = vec![0; length];
            // The first row is whole in each of these; the second is not.
            let of_page = to_storage(transform, shape, &page[..length], &mut buffer);
            assert_eq!(of_page, leaves(1, length), "{length} bytes");
            let of_image = to_memory(transform, shape, &image[..length], &mut buffer);
            assert_eq!(of_image, leaves(1, length), "{length} bytes");
            assert!(
                buffer.iter().all(|&byte| byte == 0),
                "written in spite of it"
            );
        }
        let mut buffer = vec![0; page.len()];
        to_memory(transform, shape, image, &mut buffer).unwrap();
        assert_eq!(buffer, page);
    }
    let many = vec![0xFF; 64];
    let mut buffer = vec![0; 64];
    for row_count in [2, 20] {
        let shape = TransformPageShape { row_count, ..shape };
        let too_long = to_memory(Transform::R2c, shape, &many, &mut buffer);
        assert_eq!(too_long, leaves(row_count - 1, 64));
        let too_long = to_storage(Transform::R2c, shape, &many, &mut buffer);
        assert_eq!(too_long, leaves(1, 64));
    }
}

#[test]
fn buffers_of_another_length() {
    let layout = TransformRowLayout::new(&[LayoutColumn::Number(4)]).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: 4,
    };
    for buffer_bytes in [0, 16, 63, 65] {
        let expected = TransformError::BufferLength {
            page_bytes: 64,
            buffer_bytes,
        };
        assert_eq!(both_ways(shape, 64, buffer_bytes), expected);
    }
}

#[test]
fn pages_without_rows() {
    let layout = TransformRowLayout::new(&[LayoutColumn::Number(4)]).unwrap();
    for length in [0, 5] {
        let shape = TransformPageShape {
            layout: &layout,
            lead_bytes: length,
            row_count: 0,
        };
        for transform in Transform::ALL {
            let (page, mut image) = (vec![7; length], vec![0; length]);
            to_storage(transform, shape, &page, &mut image).unwrap();
            assert_eq!(image, page);
        }
    }
}

#[test]
fn layouts_that_no_table_has() {
    assert_eq!(TransformRowLayout::new(&[]), Err(TransformError::NoColumns));
    assert_eq!(
        TransformRowLayout::new(&[LayoutColumn::Number(1), LayoutColumn::Bytes(0)]),
        Err(TransformError::EmptyColumn { column: 1 })
    );
    let limit = TransformRowLayout::COLUMNS_MAX;
    let lengths = TransformRowLayout::LENGTHS_MAX;
    assert!(TransformRowLayout::new(&vec![LayoutColumn::Length2; lengths]).is_ok());
    assert_eq!(
        TransformRowLayout::new(&vec![LayoutColumn::Length1; lengths + 1]),
        Err(TransformError::TooManyColumns {
            column_count: lengths + 1,
            limit: lengths
        })
    );
    let widest = TransformRowLayout::new(&vec![LayoutColumn::Bytes(u16::MAX); limit]).unwrap();
    assert_eq!(widest.row_bytes(), 4096 * 65_535);
    assert_eq!(
        TransformRowLayout::new(&vec![LayoutColumn::Number(1); limit + 1]),
        Err(TransformError::TooManyColumns {
            column_count: limit + 1,
            limit
        })
    );
}
