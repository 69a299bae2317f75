//! Microseconds to make an image of a leaf and to restore the leaf, and bytes of the image, for each transform:
//! `cargo run --release -p quire-format --example page_columns_speed`. Leaves of 16 KiB with 32 numbers of 12 to 14 bits and a string
//! of 32 letters a row; null-suppressed tuples; best of many rounds.

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

fn layout() -> Result<TupleLayout, Failure> {
    let column = |column_type| TupleColumn {
        column_type,
        nullable: false,
        compression: TupleCompression::NullSuppressed,
    };
    let mut columns = vec![column(TupleType::Int32); 32];
    columns.push(column(TupleType::Text));
    Ok(TupleLayout::new(&columns)?)
}

fn leaf(layout: &TupleLayout) -> Result<Vec<u8>, Failure> {
    let mut frame = vec![0; PAGE_BYTES_DEFAULT];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default())?;
    let (mut random, mut tuple) = (Random(1), Vec::new());
    for number in 0_u64.. {
        let letters = [(); 32].map(|()| b'a' + random.below(16) as u8);
        let mut values: Vec<_> = (0..32_i64)
            .map(|at| {
                TupleValue::Integer(1000 * at + 8000 + random.below(4000 + 200 * at as u64) as i64)
            })
            .collect();
        values.push(TupleValue::Bytes(&letters));
        tuple.clear();
        layout.encode(&values, &mut tuple)?;
        if page.insert(&number.to_be_bytes(), &tuple, false).is_err() {
            break;
        }
    }
    Ok(frame)
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

fn main() -> Result<(), Failure> {
    let layout = layout()?;
    let (shape, frame) = (layout.page_shape()?, leaf(&layout)?);
    let page = RowPage::open(&frame)?;
    println!("{} rows in a leaf", page.len());
    println!(
        "{:10} {:8} {:>8} {:>10} {:>10}",
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
                "{:10} {:8} {:8} {there:10.1} {back:10.1}",
                id.name(),
                transform.name(),
                image.len()
            );
        }
    }
    Ok(())
}
