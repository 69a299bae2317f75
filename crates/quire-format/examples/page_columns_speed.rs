//! Microseconds to make an image of a leaf and to restore the leaf, and bytes of the image, for each transform:
//! `cargo run --release -p quire-format --example page_columns_speed`. Leaves of 16 KiB, of two tables, with null-suppressed tuples: *numbers*
//! has 32 numbers of 12 to 14 bits and a string of 32 letters a row, *digits* a number of 17 bits and two texts of groups of
//! 11 digits with dashes between them, ten and five, as sysbench has them. Best of many rounds.

use std::hint::black_box;
use std::time::Instant;

use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    PAGE_BYTES_DEFAULT, PageImage, PageSetup, PageTransform, RowPage, RowPageMut, encode_image_as,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};

const ROUNDS: usize = 400;

type Failure = Box<dyn std::error::Error>;

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn layout(types: &[TupleType]) -> Result<TupleLayout, Failure> {
    let column = |column_type: &TupleType| TupleColumn {
        column_type: *column_type,
        nullable: false,
        compression: TupleCompression::NullSuppressed,
    };
    let columns: Vec<_> = types.iter().map(column).collect();
    Ok(TupleLayout::new(&columns)?)
}

/// A leaf full of rows, of which `row` calculates one at a time.
fn leaf(
    layout: &TupleLayout,
    mut row: impl FnMut(&mut Random) -> (Vec<i64>, Vec<Vec<u8>>),
) -> Result<Vec<u8>, Failure> {
    let mut frame = vec![0; PAGE_BYTES_DEFAULT];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default())?;
    let (mut random, mut tuple) = (Random(1), Vec::new());
    for number in 0_u64.. {
        let (numbers, texts) = row(&mut random);
        let mut values: Vec<_> = numbers.into_iter().map(TupleValue::Integer).collect();
        values.extend(texts.iter().map(|text| TupleValue::Bytes(text)));
        tuple.clear();
        layout.encode(&values, &mut tuple)?;
        if page.insert(&number.to_be_bytes(), &tuple, false).is_err() {
            break;
        }
    }
    Ok(frame)
}

fn numbers(random: &mut Random) -> (Vec<i64>, Vec<Vec<u8>>) {
    let letters = [(); 32].map(|()| b'a' + random.below(16) as u8);
    let number = |at: i64| 1000 * at + 8000 + random.below(4000 + 200 * at as u64) as i64;
    ((0..32).map(number).collect(), vec![letters.to_vec()])
}

fn digits(random: &mut Random) -> (Vec<i64>, Vec<Vec<u8>>) {
    let number = random.below(100_000) as i64;
    let mut groups = |count: usize| {
        let digit = |at: usize| match at % 12 {
            11 => b'-',
            _ => b'0' + random.below(10) as u8,
        };
        (0..12 * count - 1).map(digit).collect()
    };
    (vec![number], vec![groups(10), groups(5)])
}

fn best_us(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(best)
}

fn measure(name: &str, layout: &TupleLayout, frame: &[u8]) -> Result<(), Failure> {
    let (shape, page) = (layout.page_shape()?, RowPage::open(frame)?);
    println!("{name}: {} rows in a leaf", page.len());
    println!(
        "{:10} {:11} {:>8} {:>10} {:>10}",
        "codec", "", "bytes", "image, µs", "leaf, µs"
    );
    for id in [BlockCodecId::None, BlockCodecId::Lz4, BlockCodecId::Zstd] {
        let mut codec: Box<dyn BlockCodec> = open(id, &BlockOptions::default())?;
        for transform in PageTransform::ALL {
            let image = encode_image_as(&page, transform, &shape, codec.as_mut())?;
            let there = best_us(|| {
                black_box(encode_image_as(&page, transform, &shape, codec.as_mut())?);
                Ok(())
            })?;
            let opened = PageImage::open(&image)?;
            let mut codec = open(opened.codec(), &BlockOptions::default())?;
            let mut restored = vec![0; PAGE_BYTES_DEFAULT];
            let back = best_us(|| Ok(opened.decode(codec.as_mut(), &mut restored)?))?;
            println!(
                "{:10} {:11} {:8} {there:10.1} {back:10.1}",
                id.name(),
                transform.name(),
                image.len()
            );
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut types = vec![TupleType::Int32; 32];
    types.push(TupleType::Text);
    let table = layout(&types)?;
    measure("numbers", &table, &leaf(&table, numbers)?)?;
    let table = layout(&[TupleType::Int32, TupleType::Text, TupleType::Text])?;
    measure("digits", &table, &leaf(&table, digits)?)
}
