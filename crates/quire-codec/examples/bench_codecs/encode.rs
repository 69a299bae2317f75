//! Choosing a codec for a column and encoding it, against copying the column.

use super::columns::{ROWS, column, few, narrow, with_exceptions};
use super::measure::{Measured, measure};
use super::{Bar, line};
use quire_codec::choose::{ChooseOptions, choose};
use quire_codec::int::Element;
use quire_codec::{CodecId, RowGroupValues, fixed};
use std::error::Error;
use std::hint::black_box;

fn choose_and_encode<E: Element>(
    values: &[E],
    wrapped: &RowGroupValues<'_>,
) -> (CodecId, Measured) {
    let options = ChooseOptions::default();
    let codec = choose(wrapped, &options).codec;
    let mut copy = values.to_vec();
    let measured = measure(
        ROWS,
        || {
            let codec = choose(black_box(wrapped), &options).codec;
            black_box(fixed::encode(codec, values).is_ok());
        },
        || {
            copy.copy_from_slice(black_box(values));
            black_box(&mut copy);
        },
    );
    (codec, measured)
}

fn column_of_32(name: &str, values: &[i32], least: f64) {
    let (codec, measured) = choose_and_encode(values, &RowGroupValues::Int32(values));
    let name = format!("{name}: {codec}");
    line(&name, &measured, 4.0, "memcpy", &[Bar::Gigabytes(least)]);
}

fn column_of_64(name: &str, values: &[i64], least: f64) {
    let (codec, measured) = choose_and_encode(values, &RowGroupValues::Int64(values));
    let name = format!("{name}: {codec}");
    line(&name, &measured, 8.0, "memcpy", &[Bar::Gigabytes(least)]);
}

pub fn columns() -> Result<(), Box<dyn Error>> {
    column_of_32(
        "i32 of 12 bits",
        &column(|random| (random >> 52) as i32),
        1.5,
    );
    column_of_32("i32, 2 % exceptions", &with_exceptions(10, 2), 1.5);
    column_of_64(
        "i64 of 24 bits",
        &column(|random| (random >> 40) as i64),
        1.5,
    );
    column_of_32("i32, 200 values", &narrow(&few(200)), 1.0);
    column_of_64("i64, 200 values", &few(200), 1.0);
    column_of_64("i64, 1,000 values", &few(1000), 1.0);
    Ok(())
}
