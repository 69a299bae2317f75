//! The choice: smallest first, the paper's order where sizes say nothing.

use quire_codec::transform::{
    CodecFamily, LayoutColumn, Transform, TransformChoice, TransformError, TransformPageShape,
    TransformRowLayout, choose,
};

fn layout(columns: &[LayoutColumn]) -> TransformRowLayout {
    TransformRowLayout::new(columns).unwrap()
}

const TRANSFORMS: usize = Transform::ALL.len();

/// The choice for one page, given what the codec makes of it under each transform.
fn choice(
    columns: &[LayoutColumn],
    family: CodecFamily,
    sizes: [usize; TRANSFORMS],
) -> TransformChoice {
    let layout = layout(columns);
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: 3,
    };
    let page: Vec<u8> = (0..100).collect();
    let mut sizes = sizes.into_iter();
    choose(&[(shape, &page)], family, |_| sizes.next().unwrap()).unwrap()
}

const NUMBERS: [LayoutColumn; 3] = [
    LayoutColumn::Number(4),
    LayoutColumn::Number(4),
    LayoutColumn::Bytes(3),
];

#[test]
fn the_smallest_wins() {
    for family in [CodecFamily::LzOnly, CodecFamily::LzEntropy] {
        for (place, transform) in Transform::ALL.into_iter().enumerate() {
            let mut sizes = [10_000; TRANSFORMS];
            sizes[place] = 9_000;
            let choice = choice(&NUMBERS, family, sizes);
            assert_eq!(choice.transform, transform);
            assert_eq!(choice.compressed_bytes, sizes);
        }
    }
}

#[test]
fn the_papers_rule_decides_among_equals() {
    use Transform::{Rlt, Xor};
    // rows, r2c, rlt, clt, xor, xor+rlt, xor+clt: RLT and XOR within one part in 128, whichever is smaller.
    for sizes in [
        [1000, 990, 800, 900, 804, 900, 900],
        [1000, 990, 804, 900, 800, 900, 900],
        [1000, 990, 800, 900, 800, 900, 900],
    ] {
        let lz_only = choice(&NUMBERS, CodecFamily::LzOnly, sizes);
        let lz_entropy = choice(&NUMBERS, CodecFamily::LzEntropy, sizes);
        assert_eq!((lz_only.transform, lz_entropy.transform), (Rlt, Xor));
    }
    for family in [CodecFamily::LzOnly, CodecFamily::LzEntropy] {
        let all_equal = choice(&NUMBERS, family, [1000, 900, 900, 900, 900, 900, 900]);
        assert_eq!(all_equal.transform, Transform::Clt);
        let all_but_clt = choice(&NUMBERS, family, [1000, 900, 900, 950, 900, 900, 900]);
        assert_eq!(all_but_clt.transform, Transform::XorClt);
        let all_but_both = choice(&NUMBERS, family, [1000, 900, 900, 950, 900, 900, 950]);
        assert_eq!(all_but_both.transform, Transform::XorRlt);
    }
}

#[test]
fn rows_stay_rows_without_a_gain() {
    let family = CodecFamily::LzEntropy;
    let little = choice(&NUMBERS, family, [1000, 990, 990, 990, 990, 990, 990]);
    assert_eq!(little.transform, Transform::Rows);
    let nothing = choice(&NUMBERS, family, [0; TRANSFORMS]);
    assert_eq!(nothing.transform, Transform::Rows);
    let empty = choose(&[], family, |_| 1).unwrap();
    assert_eq!(empty.transform, Transform::Rows);
    assert_eq!(empty.compressed_bytes, [0; TRANSFORMS]);
}

#[test]
fn a_transform_that_does_nothing_is_not_chosen() {
    let text = [LayoutColumn::Bytes(4), LayoutColumn::Bytes(8)];
    let bytes = [LayoutColumn::Number(1), LayoutColumn::Number(1)];
    let sizes = [1000, 900, 900, 900, 900, 900, 900];
    for family in [CodecFamily::LzOnly, CodecFamily::LzEntropy] {
        assert_eq!(choice(&text, family, sizes).transform, Transform::R2c);
        // Bytes have nothing to transpose, only to combine.
        assert_eq!(choice(&bytes, family, sizes).transform, Transform::Xor);
        // Above 8 bytes there is nothing to combine, only to transpose; together with bytes there are both.
        let long = [LayoutColumn::Number(12), LayoutColumn::Number(9)];
        let xor_clt = [1000, 950, 950, 950, 950, 950, 900];
        let chosen = |columns| choice(columns, family, xor_clt).transform;
        assert_eq!(
            chosen(&[LayoutColumn::Number(1), long[0]]),
            Transform::XorClt
        );
        assert_eq!(choice(&long, family, sizes).transform, Transform::Clt);
    }
}

#[test]
fn a_wrong_shape_is_an_error() {
    let layout = layout(&NUMBERS);
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 0,
        row_count: 10,
    };
    let error = choose(&[(shape, &[0; 100])], CodecFamily::LzOnly, <[u8]>::len).unwrap_err();
    assert!(matches!(error, TransformError::PageTooShort { .. }));
}
