//! The page transforms: time per page each way, and what they are worth to zlib and LZ4.
//!
//! `cargo run --release -p quire-lab --example transform_speed [FILE]...`: figures 7, 8, 4 and 5 of Qiao et al.
//! measured again, and 9 from the texts given. Times are the best of many rounds; each sector of 4 KiB is
//! compressed by itself, as in the paper. The text of the paper names the latencies given here beside ours
//! (those with ~ are its sums) and the gains for strings; of its figures 4, 5 and 8 it names the order alone.

use quire_codec::transform::{
    CodecFamily, LayoutColumn, Transform, TransformError, TransformPageShape, TransformRowLayout,
    choose, to_memory, to_storage,
};
use quire_codec::{Backend, active_backend, limit_backend};
use quire_lab::transforms::scenario::{
    IntegerTable, Magnitude, SECTOR_BYTES, ScenarioStrings, StringTable, constant_byte_block,
    repeated_vector_block,
};
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// A page as a buffer pool would align it.
#[repr(align(4096))]
struct Aligned([u8; 16384]);

/// Microseconds of the fastest of many rounds of `work`.
fn microseconds(mut work: impl FnMut()) -> f64 {
    const CALLS: u32 = 50;
    let round = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..CALLS {
            work();
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
    };
    (0..400)
        .map(|_| round(&mut work))
        .fold(f64::INFINITY, f64::min)
}

/// Time to storage and to memory of one page under one transform.
fn latency(transform: Transform, shape: TransformPageShape<'_>, page: &Aligned) -> [f64; 2] {
    let (mut image, mut restored) = (Aligned([0; 16384]), Aligned([0; 16384]));
    let there = microseconds(|| {
        let done = to_storage(transform, shape, black_box(&page.0), &mut image.0);
        black_box((done.is_ok(), &mut image));
    });
    let back = microseconds(|| {
        let done = to_memory(transform, shape, black_box(&image.0), &mut restored.0);
        black_box((done.is_ok(), &mut restored));
    });
    assert!(restored.0 == page.0, "{transform} is not undone");
    [there, back]
}

fn latency_table(name: &str, shape: TransformPageShape<'_>, page: &Aligned, paper: [&str; 6]) {
    let backends = [Backend::Portable, Backend::Avx2, Backend::Avx512];
    println!("\n{name}\n  transform     portable           AVX2            AVX-512       paper");
    for transform in Transform::ALL {
        print!("  {transform:<9}");
        for backend in backends {
            limit_backend(backend);
            if active_backend() == backend {
                let [there, back] = latency(transform, shape, page);
                print!(" {there:7.3} {back:7.3} ");
            } else {
                print!("       –       – ");
            }
        }
        let paper = paper.get(transform as usize).copied();
        println!("  {:>8}", paper.unwrap_or_default());
    }
    limit_backend(Backend::Avx512);
}

/// Figure 7: rows of 32 fields, 15/16 of the page filled.
fn latencies() -> Result<(), TransformError> {
    println!("Figure 7: µs for a page of 16 KiB, to storage and to memory");
    let page = &mut Aligned([0; 16384]);
    let copy = &mut Aligned([0; 16384]);
    let table = IntegerTable::new(4, Magnitude::Small, 7)?;
    page.0.copy_from_slice(&table.page(0));
    let memcpy = microseconds(|| black_box(&mut copy.0).copy_from_slice(black_box(&page.0)));
    println!("  memcpy of the page: {memcpy:.3}");
    let papers = [
        (2, ["", "16.7", "~21.7", "~31.7", "~19.7", "~24.7"]),
        (4, [""; 6]),
        (8, ["", "6.6", "~11.6", "~21.6", "~9.6", "~14.6"]),
    ];
    for (field_bytes, paper) in papers {
        let layout = TransformRowLayout::new(&[LayoutColumn::Number(field_bytes); 32])?;
        let shape = TransformPageShape {
            layout: &layout,
            lead_bytes: 0,
            row_count: 15360 / layout.row_bytes(),
        };
        latency_table(
            &format!("32 fields of {field_bytes} bytes"),
            shape,
            page,
            paper,
        );
    }
    latency_table(
        "record header and 32 fields of 4 bytes",
        table.shape(),
        page,
        [""; 6],
    );
    mixed_latencies(page)
}

/// A row as tables have it: nothing beside its like.
fn mixed_latencies(page: &Aligned) -> Result<(), TransformError> {
    use LayoutColumn::{Bytes, Number};
    let fields = [
        Number(8),
        Number(4),
        Number(2),
        Number(8),
        Number(1),
        Bytes(10),
        Number(3),
        Bytes(25),
        Number(4),
    ];
    let layout = TransformRowLayout::new(&fields)?;
    let shape = TransformPageShape {
        layout: &layout,
        lead_bytes: 64,
        row_count: 15000 / layout.row_bytes(),
    };
    latency_table("mixed fields", shape, page, [""; 6]);
    Ok(())
}

/// Bytes zlib makes of a block at its default level.
fn zlib_bytes(block: &[u8]) -> usize {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    let written = encoder.write_all(block).and_then(|()| encoder.finish());
    written.map_or(block.len(), |compressed| compressed.len())
}

/// Bytes zstd makes of a block at its default level.
fn zstd_bytes(block: &[u8]) -> usize {
    zstd::bulk::compress(block, 3).map_or(block.len(), |compressed| compressed.len())
}

/// Bytes LZ4 makes of a block.
fn lz4_bytes(block: &[u8]) -> usize {
    lz4_flex::block::compress(block).len()
}

/// The sum over the sectors of an image; a sector that does not shrink is stored as it is.
fn sectors(image: &[u8], compressed: fn(&[u8]) -> usize) -> usize {
    let sectors = image.chunks(SECTOR_BYTES);
    sectors
        .map(|sector| compressed(sector).min(sector.len()))
        .sum()
}

/// Compression ratios of sample pages under the first transforms, and what would be chosen.
fn ratio_table(
    sample: &[(TransformPageShape<'_>, &[u8])],
    transform_count: usize,
) -> Result<(), TransformError> {
    let total: usize = sample.iter().map(|(_, page)| page.len()).sum();
    let measured = |family, codec| choose(sample, family, |image| sectors(image, codec));
    let choices = [
        measured(CodecFamily::LzOnly, lz4_bytes)?,
        measured(CodecFamily::LzEntropy, zlib_bytes)?,
        measured(CodecFamily::LzEntropy, zstd_bytes)?,
    ];
    println!("  transform       LZ4     zlib     zstd");
    for (place, transform) in Transform::ALL.into_iter().take(transform_count).enumerate() {
        print!("  {transform:<9}");
        for choice in &choices {
            print!(
                " {:8.3}",
                total as f64 / choice.compressed_bytes[place] as f64
            );
        }
        println!();
    }
    let [lz4, zlib, zstd] = choices.map(|choice| choice.transform);
    println!("  chosen    {lz4:>8} {zlib:>8} {zstd:>8}");
    Ok(())
}

/// Figure 8: integer pages under the six scenarios.
fn integers(name: &str, magnitude: Magnitude) -> Result<(), TransformError> {
    let table = IntegerTable::new(4, magnitude, 1)?;
    let pages: Vec<Vec<u8>> = (0..64).map(|number| table.page(number)).collect();
    let sample: Vec<_> = pages
        .iter()
        .map(|page| (table.shape(), page.as_slice()))
        .collect();
    println!("\nFigure 8, {name}");
    ratio_table(&sample, Transform::ALL.len())
}

/// Figure 9: string pages as rows and as columns.
fn strings(texts: &[&[u8]]) -> Result<(), TransformError> {
    for (name, strings) in [
        ("fixed", ScenarioStrings::Fixed),
        ("variable", ScenarioStrings::Variable),
        ("mixed", ScenarioStrings::Mixed),
    ] {
        let table = StringTable::new(strings, texts, 9)?;
        let pages: Vec<_> = (0..64).map(|number| table.page(number)).collect();
        let sample: Vec<_> = pages
            .iter()
            .map(|(shape, page)| (*shape, page.as_slice()))
            .collect();
        println!("\nFigure 9, {name} length (the paper: up to +27 % LZ4, +35 % zlib)");
        // Rows and R2C: nothing else is done to text.
        ratio_table(&sample, 2)?;
        let aligned = &mut Aligned([0; 16384]);
        for (shape, page) in pages.iter().take(1) {
            aligned.0.copy_from_slice(page);
            let [there, back] = latency(Transform::R2c, *shape, aligned);
            println!("  r2c of a page: {there:.3} µs to storage, {back:.3} µs to memory");
        }
    }
    Ok(())
}

/// Figures 4 and 5: what each family of codecs gains from.
fn redundancy() {
    let ratio = |block: &[u8]| {
        let length = block.len() as f64;
        let (lz4, zlib) = (lz4_bytes(block), zlib_bytes(block));
        (length / lz4 as f64, length / zlib as f64)
    };
    println!(
        "\nFigure 4: random bytes with so many in a hundred constant\n  percent    LZ4     zlib"
    );
    for percent in [10, 20, 30, 40, 50, 60] {
        let (lz4, zlib) = ratio(&constant_byte_block(percent, 1 << 16, 4));
        println!("  {percent:7} {lz4:6.3} {zlib:8.3}");
    }
    println!("\nFigure 5: constant vectors and random ones in turns\n  length     LZ4     zlib");
    for vector_bytes in [2, 4, 6, 8, 12, 16, 20, 24] {
        let (lz4, zlib) = ratio(&repeated_vector_block(vector_bytes, 1 << 16, 5));
        println!("  {vector_bytes:6} {lz4:7.3} {zlib:8.3}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<Vec<u8>> = std::env::args()
        .skip(1)
        .map(std::fs::read)
        .collect::<Result<_, _>>()?;
    latencies()?;
    integers("small integers", Magnitude::Small)?;
    integers("large integers", Magnitude::Large)?;
    redundancy();
    let texts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    if texts.iter().any(|text| text.is_empty()) {
        return Err("a file is empty; give texts of some length".into());
    }
    if !texts.is_empty() {
        strings(&texts)?;
    }
    Ok(())
}
