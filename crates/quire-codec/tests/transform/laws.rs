//! For any shape and any bytes, on every instruction set: the image is that of the definition, the page comes
//! back, and any image is that of a page. One test, because the choice of instruction set is that of the whole
//! process.

use crate::naive;
use proptest::collection::vec;
use proptest::prelude::*;
use quire_codec::transform::{
    LayoutColumn, Transform, TransformPageShape, TransformRowLayout, to_memory, to_storage,
};
use quire_codec::{Backend, active_backend, limit_backend};

/// Runs of equal columns, as kernels see them, of the widths they know and of others; now and then lengths of
/// variable fields.
fn columns() -> impl Strategy<Value = Vec<LayoutColumn>> {
    let width = prop_oneof![
        4 => prop_oneof![Just(1u16), Just(2), Just(4), Just(8)],
        2 => 3u16..=17,
        1 => 18u16..70,
    ];
    let column = prop_oneof![
        10 => width.clone().prop_map(LayoutColumn::Number),
        5 => width.prop_map(LayoutColumn::Bytes),
        1 => Just(LayoutColumn::Length1),
        1 => Just(LayoutColumn::Length2),
    ];
    let run = (column, prop_oneof![1usize..4, 1usize..34]);
    vec(run, 1..4).prop_map(|runs| {
        let columns = runs.into_iter();
        columns
            .flat_map(|(column, count)| vec![column; count])
            .collect()
    })
}

#[derive(Debug)]
struct Page {
    columns: Vec<LayoutColumn>,
    lead_bytes: usize,
    row_count: usize,
    bytes: Vec<u8>,
}

fn pages() -> impl Strategy<Value = Page> {
    let rows = prop_oneof![15 => 0usize..75, 1 => 230usize..500];
    (columns(), 0usize..20, rows, 0usize..40, any::<u64>()).prop_map(
        |(columns, lead_bytes, row_count, tail_bytes, mut seed)| {
            // A linear congruence: every byte and place matters, and no two rows are alike.
            let mut byte = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 56) as u8
            };
            let mut bytes: Vec<u8> = (0..lead_bytes).map(|_| byte()).collect();
            for _ in 0..row_count {
                let mut variable_bytes = 0;
                for column in &columns {
                    let length = byte() % 20;
                    match *column {
                        LayoutColumn::Number(width) | LayoutColumn::Bytes(width) => {
                            bytes.extend((0..width).map(|_| byte()));
                            continue;
                        }
                        LayoutColumn::Length1 => bytes.push(length),
                        LayoutColumn::Length2 => bytes.extend([length, u8::from(length == 13)]),
                    }
                    let high = matches!(column, LayoutColumn::Length2) && length == 13;
                    variable_bytes += usize::from(length) + if high { 256 } else { 0 };
                }
                bytes.extend((0..variable_bytes).map(|_| byte()));
            }
            bytes.extend((0..tail_bytes).map(|_| byte()));
            Page {
                columns,
                lead_bytes,
                row_count,
                bytes,
            }
        },
    )
}

fn check(page: &Page) -> Result<(), TestCaseError> {
    let layout = TransformRowLayout::new(&page.columns).unwrap();
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: page.lead_bytes,
        row_count: page.row_count,
    };
    for transform in Transform::ALL {
        let Page {
            columns,
            lead_bytes,
            row_count,
            bytes,
        } = page;
        let expected = naive::to_storage(transform, columns, *lead_bytes, *row_count, bytes);
        let mut image = vec![0x55; bytes.len()];
        let mut restored = vec![0x55; bytes.len()];
        to_storage(transform, shape, bytes, &mut image).unwrap();
        let backend = active_backend();
        prop_assert!(image == expected, "{transform} to storage, {backend:?}");
        to_memory(transform, shape, &image, &mut restored).unwrap();
        prop_assert!(restored == *bytes, "{transform} to memory, {backend:?}");
        // The page taken for an image: whatever page it gives, that page gives these bytes. The lengths of
        // variable fields are then others, and need not fit.
        if to_memory(transform, shape, bytes, &mut restored).is_err() {
            let lengths = [LayoutColumn::Length1, LayoutColumn::Length2];
            prop_assert!(columns.iter().any(|column| lengths.contains(column)));
            continue;
        }
        to_storage(transform, shape, &restored, &mut image).unwrap();
        prop_assert!(image == *bytes, "{transform} is not onto, {backend:?}");
    }
    Ok(())
}

#[test]
fn every_transform_is_as_defined_and_undone() {
    for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
        limit_backend(backend);
        if active_backend() != backend {
            println!("not tested: this processor has no {backend:?}");
            continue;
        }
        proptest!(ProptestConfig::with_cases(64), |(page in pages())| check(&page)?);
    }
}
