//! Bytes on storage, worked out by hand from §III of the paper. If one of these fails, images that exist can no
//! longer be read.

use quire_codec::transform::{
    LayoutColumn, Transform, TransformPageShape, TransformRowLayout, to_memory, to_storage,
};

/// Both ways.
fn golden(transform: Transform, shape: TransformPageShape<'_>, page: &[u8], image: &[u8]) {
    let mut written = vec![0; page.len()];
    to_storage(transform, shape, page, &mut written).unwrap();
    assert_eq!(written, image, "{transform} to storage");
    let mut read = vec![0; page.len()];
    to_memory(transform, shape, image, &mut read).unwrap();
    assert_eq!(read, page, "{transform} to memory");
}

/// A 4-byte number, a 2-byte number and 3 bytes of text each. The high digit of each byte is its row, the low digit its place.
const FIVE_ROWS: [[u8; 9]; 5] = [
    [0x11, 0x12, 0x13, 0x14, 0x1A, 0x1B, b'a', b'b', b'c'],
    [0x21, 0x22, 0x23, 0x24, 0x2A, 0x2B, b'd', b'e', b'f'],
    [0x31, 0x32, 0x33, 0x34, 0x3A, 0x3B, b'g', b'h', b'i'],
    [0x41, 0x42, 0x43, 0x44, 0x4A, 0x4B, b'j', b'k', b'l'],
    [0x51, 0x52, 0x53, 0x54, 0x5A, 0x5B, b'm', b'n', b'o'],
];

/// Five rows between a header and a tail.
#[test]
fn every_transform_by_hand() {
    use LayoutColumn::{Bytes, Number};
    let layout = TransformRowLayout::new(&[Number(4), Number(2), Bytes(3)]).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 2,
        row_count: 5,
    };
    let lead = [0xFE, 0xED];
    let tail = [0xCA, 0xFE, 0x00];
    let page = [&lead[..], FIVE_ROWS.as_flattened(), &tail].concat();
    let case = |transform, four_bytes: [u8; 20], two_bytes: [u8; 10]| {
        let text = b"abcdefghijklmno";
        let image = [&lead[..], &four_bytes, &two_bytes, text, &tail].concat();
        golden(transform, shape, &page, &image);
    };
    golden(Transform::Rows, shape, &page, &page);
    case(
        Transform::R2c,
        [
            0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42,
            0x43, 0x44, 0x51, 0x52, 0x53, 0x54,
        ],
        [0x1A, 0x1B, 0x2A, 0x2B, 0x3A, 0x3B, 0x4A, 0x4B, 0x5A, 0x5B],
    );
    // A register holds four values of 4 bytes, and the fifth is alone; of 2 bytes it would hold eight.
    case(
        Transform::Rlt,
        [
            0x11, 0x21, 0x31, 0x41, 0x12, 0x22, 0x32, 0x42, 0x13, 0x23, 0x33, 0x43, 0x14, 0x24,
            0x34, 0x44, 0x51, 0x52, 0x53, 0x54,
        ],
        [0x1A, 0x2A, 0x3A, 0x4A, 0x5A, 0x1B, 0x2B, 0x3B, 0x4B, 0x5B],
    );
    case(
        Transform::Clt,
        [
            0x11, 0x21, 0x31, 0x41, 0x51, 0x12, 0x22, 0x32, 0x42, 0x52, 0x13, 0x23, 0x33, 0x43,
            0x53, 0x14, 0x24, 0x34, 0x44, 0x54,
        ],
        [0x1A, 0x2A, 0x3A, 0x4A, 0x5A, 0x1B, 0x2B, 0x3B, 0x4B, 0x5B],
    );
    // 1 ⊕ 2 = 3, 2 ⊕ 3 = 1, 3 ⊕ 4 = 7, 4 ⊕ 5 = 1; the low digits cancel.
    case(
        Transform::Xor,
        [
            0x11, 0x12, 0x13, 0x14, 0x30, 0x30, 0x30, 0x30, 0x10, 0x10, 0x10, 0x10, 0x70, 0x70,
            0x70, 0x70, 0x51, 0x52, 0x53, 0x54,
        ],
        [0x1A, 0x1B, 0x30, 0x30, 0x10, 0x10, 0x70, 0x70, 0x10, 0x10],
    );
    case(
        Transform::XorRlt,
        [
            0x11, 0x30, 0x10, 0x70, 0x12, 0x30, 0x10, 0x70, 0x13, 0x30, 0x10, 0x70, 0x14, 0x30,
            0x10, 0x70, 0x51, 0x52, 0x53, 0x54,
        ],
        [0x1A, 0x30, 0x10, 0x70, 0x10, 0x1B, 0x30, 0x10, 0x70, 0x10],
    );
    case(
        Transform::XorClt,
        [
            0x11, 0x30, 0x10, 0x70, 0x51, 0x12, 0x30, 0x10, 0x70, 0x52, 0x13, 0x30, 0x10, 0x70,
            0x53, 0x14, 0x30, 0x10, 0x70, 0x54,
        ],
        [0x1A, 0x30, 0x10, 0x70, 0x10, 0x1B, 0x30, 0x10, 0x70, 0x10],
    );
}

/// The sequence of figure 6: two constant bytes and two random ones in turns; the constants come together.
#[test]
fn the_papers_example_of_shuffling() {
    let layout = TransformRowLayout::new(&[LayoutColumn::Number(4)]).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: 3,
    };
    let page = [0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6];
    let image = [0, 0, 0, 0, 0, 0, 1, 3, 5, 2, 4, 6];
    golden(Transform::Rlt, shape, &page, &image);
    golden(Transform::Clt, shape, &page, &image);
}

/// Widths that do not divide a register: five values of 3 bytes fill 15 of its bytes; a value of 9 is alone.
#[test]
fn other_widths_by_hand() {
    let layout =
        TransformRowLayout::new(&[LayoutColumn::Number(3), LayoutColumn::Number(9)]).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: 6,
    };
    let row = |n: u8| {
        [
            n,
            0xA0,
            0xB0 + n,
            0,
            n,
            0,
            n,
            0,
            n,
            0,
            n,
            0, //
        ]
    };
    let page = [row(1), row(2), row(3), row(4), row(5), row(6)].concat();
    let alone: Vec<u8> = (1..=6).flat_map(|n| [0, n, 0, n, 0, n, 0, n, 0]).collect();
    let transposed = [
        1, 2, 3, 4, 5, 0xA0, 0xA0, 0xA0, 0xA0, 0xA0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 6, 0xA0, 0xB6,
    ];
    golden(
        Transform::Rlt,
        shape,
        &page,
        &[&transposed[..], &alone].concat(),
    );
    let combined = [
        1, 0xA0, 0xB1, 3, 0, 3, 1, 0, 1, 7, 0, 7, 1, 0, 1, 6, 0xA0, 0xB6,
    ];
    golden(
        Transform::Xor,
        shape,
        &page,
        &[&combined[..], &alone].concat(),
    );
    let planes: Vec<u8> = (0..9)
        .flat_map(|byte| (1..=6).map(move |n| if byte % 2 == 1 { n } else { 0 }))
        .collect();
    let whole = [
        1, 2, 3, 4, 5, 6, 0xA0, 0xA0, 0xA0, 0xA0, 0xA0, 0xA0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6,
    ];
    golden(
        Transform::Clt,
        shape,
        &page,
        &[&whole[..], &planes].concat(),
    );
    let combined = [
        1, 3, 1, 7, 1, 6, 0xA0, 0, 0, 0, 0, 0xA0, 0xB1, 3, 1, 7, 1, 0xB6,
    ];
    golden(
        Transform::XorClt,
        shape,
        &page,
        &[&combined[..], &planes].concat(),
    );
}

/// Variable fields lie behind the columns, one field after the other; their lengths stay as they are.
#[test]
fn variable_fields_by_hand() {
    let columns = [
        LayoutColumn::Length1,
        LayoutColumn::Number(2),
        LayoutColumn::Length2,
    ];
    let layout = TransformRowLayout::new(&columns).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 1,
        row_count: 3,
    };
    let page = b"<\x02\x11\x12\x03\0abABC\0\x21\x22\x01\0D\x01\x31\x32\0\0c>>";
    let lengths = [b"\x02\0\x01".as_slice(), b"\x03\0\x01\0\0\0"];
    let case = |transform, numbers: [u8; 6]| {
        let image = [
            b"<".as_slice(),
            lengths[0],
            &numbers,
            lengths[1],
            b"abcABCD>>",
        ]
        .concat();
        golden(transform, shape, page, &image);
    };
    golden(Transform::Rows, shape, page, page);
    case(Transform::R2c, [0x11, 0x12, 0x21, 0x22, 0x31, 0x32]);
    case(Transform::Rlt, [0x11, 0x21, 0x31, 0x12, 0x22, 0x32]);
    case(Transform::Clt, [0x11, 0x21, 0x31, 0x12, 0x22, 0x32]);
    case(Transform::Xor, [0x11, 0x12, 0x30, 0x30, 0x10, 0x10]);
    case(Transform::XorRlt, [0x11, 0x30, 0x10, 0x12, 0x30, 0x10]);
    case(Transform::XorClt, [0x11, 0x30, 0x10, 0x12, 0x30, 0x10]);
}

/// The numbers stored with an image, and the names of SQL.
#[test]
fn stored_numbers_and_names() {
    let expected = [
        (0, "rows"),
        (1, "r2c"),
        (2, "rlt"),
        (3, "clt"),
        (4, "xor"),
        (5, "xor_rlt"),
        (8, "xor_clt"),
    ];
    for (transform, (number, name)) in Transform::ALL.into_iter().zip(expected) {
        assert_eq!((transform as u8, transform.name()), (number, name));
        assert_eq!(Transform::from_u8(number), Some(transform));
        assert_eq!(Transform::from_name(&name.to_uppercase()), Some(transform));
        assert_eq!(transform.to_string(), name);
    }
    // 6 and 7 are those of pages that are packed.
    for number in [6, 7, 9, 255] {
        assert_eq!(Transform::from_u8(number), None);
    }
    assert_eq!(Transform::from_name("xor+rlt"), None);
}
