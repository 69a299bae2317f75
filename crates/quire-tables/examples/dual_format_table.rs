//! The table of paper 3, §IV-B, as a row table in a file: 32 numbers, each within a tenth of the centre of its column, and 32 bytes of
//! words, which are drawn from a text. Prints the bytes of the file.
//!
//! `cargo run --release -p quire-tables --example dual_format_table -- FILE TEXT [ROWS [CODEC [LEVEL [TRANSFORM [PAGE_BYTES]]]]]`,
//! TRANSFORM being `rows` … `packed`, or `auto`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use quire_format::row_page::PageTransform;
use quire_kv::btree::{TreeBuilder, TreeOptions};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{Durability, FileDisk, Volume, VolumeOptions};
use quire_tables::SqlType;
use quire_tables::row_table::{
    EncodedRow, FieldStorage, RowColumn, RowLayout, RowLayoutSpec, RowSection, TupleValue,
};

const NUMBER_COLUMNS: usize = 32;
const STRING_BYTES: usize = 32;
const FLUSH_ROWS: u64 = 100_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Settings {
    file: PathBuf,
    text: Vec<u8>,
    rows: u64,
    codec: PageCodec,
    transform: Option<PageTransform>,
    page_bytes: usize,
}

impl Settings {
    fn of_arguments() -> Result<Self, Failure> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let argument = |at: usize, default: &str| {
            let given = arguments.get(at).map(String::as_str);
            given.unwrap_or(default).to_owned()
        };
        let [Some(file), Some(text)] = [0, 1].map(|at| arguments.get(at)) else {
            return Err("name a file to write and a text to draw words from".into());
        };
        let codec = argument(3, "zstd");
        let codec = quire_tables::BlockCodecId::from_name(&codec).ok_or("unknown codec")?;
        let level = arguments.get(4).map(|level| level.parse()).transpose()?;
        Ok(Self {
            file: file.into(),
            text: std::fs::read(text)?,
            rows: argument(2, "2000000").parse()?,
            codec: PageCodec::new(codec, level)?,
            transform: PageTransform::from_name(&argument(5, "auto")),
            page_bytes: argument(6, "16384").parse()?,
        })
    }
}

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

fn layout(page_bytes: usize) -> Result<RowLayout, Failure> {
    let column = |sql_type| RowColumn {
        sql_type,
        nullable: false,
        storage: FieldStorage::NullSuppressed,
        key_code: None,
        dropped: false,
    };
    let mut columns = vec![column(SqlType::Integer); NUMBER_COLUMNS];
    columns.push(column(SqlType::Char(STRING_BYTES as u32)));
    Ok(RowLayout::new(&RowLayoutSpec {
        sections: vec![RowSection {
            columns,
            missing: Vec::new(),
        }],
        primary_key: Vec::new(),
        page_bytes,
    })?)
}

fn flush(volume: &Volume, pool: &Pool) -> Result<(), Failure> {
    let (flush, ()) = pool.prepare_flush(|| ())?;
    flush.commit(volume.begin()?, Durability::Synced)?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let settings = Settings::of_arguments()?;
    let words = settings.text.split(|byte| !byte.is_ascii_alphabetic());
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let _ = std::fs::remove_file(&settings.file);
    let disk = FileDisk::open_or_create(&settings.file)?;
    let volume = Volume::create(Arc::new(disk), VolumeOptions::default())?;
    let pool = Pool::new(&volume, PoolOptions::default());
    let layout = layout(settings.page_bytes)?;
    let codec = match layout.page_shape() {
        Some(shape) => pool.by_columns(settings.codec, shape, settings.transform),
        None => settings.codec,
    };
    let codec = pool.with_dictionaries(codec, 1);
    let options = TreeOptions {
        page_bytes: settings.page_bytes,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(&pool, codec, options, 1)?;
    let mut random = Random(42);
    let centres = [(); NUMBER_COLUMNS].map(|()| 256 + random.below((1 << 16) - 256));
    let (mut row, mut string) = (EncodedRow::default(), Vec::new());
    let start = Instant::now();
    for number in 0..settings.rows {
        string.clear();
        while string.len() < STRING_BYTES {
            if !string.is_empty() {
                string.push(b' ');
            }
            string.extend_from_slice(words[random.below(words.len() as u64) as usize]);
        }
        let number_of = |centre: u64| {
            let least = centre * 9 / 10;
            TupleValue::Integer((least + random.below(centre * 11 / 10 + 1 - least)) as i64)
        };
        let mut values: Vec<TupleValue<'_>> = centres.map(number_of).to_vec();
        values.push(TupleValue::Bytes(&string[..STRING_BYTES]));
        layout.encode_row(&values, number, &mut row)?;
        builder.push(&row.key, &row.tuple, &pool.begin_change())?;
        if number % FLUSH_ROWS == FLUSH_ROWS - 1 {
            flush(&volume, &pool)?;
        }
    }
    let tree = builder.finish(&pool.begin_change())?;
    flush(&volume, &pool)?;
    volume.checkpoint()?;
    let seconds = start.elapsed().as_secs_f64();
    let report = tree.check();
    let transform = pool.transform(codec).map(PageTransform::name);
    let pin = volume.pin();
    let images = pin.pages().into_iter();
    let image_bytes = images.filter_map(|page| pin.payload_bytes(page));
    let image_bytes: u64 = image_bytes.map(u64::from).sum();
    println!(
        "{} rows, {} leaves of {} bytes, {transform:?}, {} findings: {image_bytes} bytes of images, {} of the file, in {seconds:.0} s",
        settings.rows,
        report.leaf_count,
        settings.page_bytes,
        report.findings.len(),
        std::fs::metadata(&settings.file)?.len(),
    );
    Ok(())
}
