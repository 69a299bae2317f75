//! One load and one query, with the bytes of one row at every station between the line of a CSV file and the disk.
//!
//! It is the first thing to read after `ARCHITECTURE.md`, and it cannot go stale: the text it prints is compared with
//! `life_of_a_row.txt` beside it. When a station changes on purpose, run it with `UPDATE_SNAPSHOT=1`, read the
//! difference, and explain it in the commit.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{Database, Outcome};
use quire_format::segment::SegmentReader;
use quire_format::volume::{IMAGE_HEADER_BYTES, MAGIC};
use quire_store::{CATALOG_PAGE, MemDisk, OpenMode, PageId, Volume};
use quire_tables::{ColumnTable, Engine, ScanOptions};

/// The row we follow, counted from 0, and how many there are.
const ROW: usize = 6;
const ROWS: usize = 100;
const BYTES_SHOWN_MAX: usize = 48;

/// What the stations have said so far.
struct Story(String);

impl Story {
    fn station(&mut self, name: &str, why: &str) {
        writeln!(self.0, "\n## {name}\n\n{why}\n").unwrap();
    }

    fn line(&mut self, line: impl std::fmt::Display) {
        writeln!(self.0, "    {line}").unwrap();
    }

    fn bytes(&mut self, what: &str, bytes: &[u8]) {
        let shown: Vec<String> = bytes
            .iter()
            .take(BYTES_SHOWN_MAX)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let rest = bytes.len().saturating_sub(BYTES_SHOWN_MAX);
        let ending = if rest > 0 {
            format!(" … and {rest} more")
        } else {
            String::new()
        };
        self.line(format!(
            "{what} ({} bytes): {}{ending}",
            bytes.len(),
            shown.join(" ")
        ));
    }
}

fn csv_line(row: usize) -> String {
    let state = ["open", "paid", "shipped"][row % 3];
    format!(
        "{},2024-03-{:02},{}.{:02},{state}",
        row + 1,
        row % 28 + 1,
        10 + row * 37 % 50,
        row * 13 % 100
    )
}

#[test]
fn life_of_a_row() {
    let folder = std::env::temp_dir().join(format!("quire-life-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("shop.quire");
    let mut story = Story("# The life of a row, as the program prints it\n".to_owned());
    load(&mut story, &folder, &file);
    let bytes = std::fs::read(&file).unwrap();
    let volume = Volume::open(
        Arc::new(MemDisk::from_bytes(bytes.clone())),
        OpenMode::ReadOnly,
    )
    .unwrap();
    let engine = Engine::open(volume.clone()).unwrap();
    let table = engine.snapshot().table("orders").unwrap().unwrap();
    row_group(&mut story, &table);
    segments(&mut story, &table, &volume);
    images(&mut story, &table, &volume, &bytes);
    scan(&mut story, &table);
    query(&mut story, &file);
    std::fs::remove_dir_all(&folder).unwrap();
    compare(&story.0);
}

fn load(story: &mut Story, folder: &Path, file: &Path) {
    let source = folder.join("orders.csv");
    let lines: Vec<String> = (0..ROWS).map(csv_line).collect();
    std::fs::write(
        &source,
        format!("id,day,price,state\n{}\n", lines.join("\n")),
    )
    .unwrap();
    let create =
        "CREATE TABLE orders (id INTEGER NOT NULL, day DATE, price DECIMAL(10,2), state TEXT)";
    story.station(
        "Down 1: the file",
        "A line of text. We follow this one of a hundred.",
    );
    story.line(&lines[ROW]);
    story.bytes("as bytes", lines[ROW].as_bytes());
    story.station(
        "Down 2: the statements",
        "`quire` parses them; COPY reads the fields as the types of the columns.",
    );
    story.line(create);
    story.line("COPY orders FROM 'orders.csv'");
    let mut connection = Database::open(file).unwrap().connect();
    connection.execute(create).unwrap();
    let copied = connection
        .execute(&format!("COPY orders FROM '{}'", source.display()))
        .unwrap();
    let Outcome::Done(done) = copied else {
        panic!("COPY returns no rows")
    };
    story.line(format!("→ {}", done.tag));
}

fn row_group(story: &mut Story, table: &Arc<ColumnTable>) {
    story.station(
        "Down 3: the row group",
        "`engine` cuts the rows into columns, takes the smallest and largest value of each, and lets `codec` choose.\n\
         A price is the integer of its cents, a day the number of days since 1970.",
    );
    let group = table.row_group(0).unwrap();
    story.line(format!(
        "{} rows, {} zone(s) per column",
        group.row_count,
        group.group_count()
    ));
    for (definition, chunk) in table.definition().columns.iter().zip(&group.columns) {
        story.line(format!(
            "{:<6} {:<14} {:?} by {}: {} bytes raw, {} expected, {} encoded; from {:?} to {:?}",
            definition.name,
            definition.sql_type.to_string(),
            chunk.physical_type,
            chunk.codec.name(),
            chunk.raw_bytes,
            chunk.estimated_bytes,
            chunk.encoded_bytes,
            chunk.zone.min,
            chunk.zone.max,
        ));
    }
}

fn segments(story: &mut Story, table: &Arc<ColumnTable>, volume: &Volume) {
    story.station(
        "Down 4: the segments",
        "`format` puts header, validity and payload together. The row can be read alone: \"value\" decodes one.",
    );
    let group = table.row_group(0).unwrap();
    for (definition, chunk) in table.definition().columns.iter().zip(&group.columns) {
        let image = volume.read(chunk.pages[0]).unwrap();
        story.bytes(&definition.name, &image);
        let value = SegmentReader::open(image).unwrap().value(ROW).unwrap();
        story.line(format!("{:<6} value {ROW}: {value:?}", ""));
    }
}

fn images(story: &mut Story, table: &Arc<ColumnTable>, volume: &Volume, file: &[u8]) {
    story.station(
        "Down 5: the page images and the file",
        "`store` writes each page behind a header that says what it is, and commits them with one record.",
    );
    story.bytes("first bytes of the file", &file[..MAGIC.len() + 4]);
    let price = table.row_group(0).unwrap().columns[2].pages[0];
    for (name, page) in [("catalog", CATALOG_PAGE), ("price", price)] {
        let header = image_header(volume, page, file);
        story.line(format!("{name} is page {}", page.get()));
        // Magic, kind, version, length and page; the sequence and two checksums follow.
        story.bytes("header of its image", header);
    }
}

/// The header in front of the payload of a page, in the file.
fn image_header<'a>(volume: &Volume, page: PageId, file: &'a [u8]) -> &'a [u8] {
    let payload = volume.read(page).unwrap();
    let at = file
        .windows(payload.len())
        .rposition(|window| window == &*payload)
        .unwrap();
    &file[at - IMAGE_HEADER_BYTES..at]
}

fn scan(story: &mut Story, table: &Arc<ColumnTable>) {
    story.station(
        "Up 1: the scan",
        "`engine` reads two of the four columns, a vector at a time, and gives Arrow arrays.",
    );
    let options = ScanOptions {
        projection: vec![0, 2],
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let batch = reader.next().unwrap().unwrap();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let formatter = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
        story.line(format!(
            "{} {}: {}",
            field.name(),
            field.data_type(),
            formatter.value(ROW)
        ));
    }
    let statistics = scan.statistics();
    story.line(format!(
        "{} rows, {} vectors decoded, {} groups scanned, {} pruned",
        statistics.rows,
        statistics.vectors_decoded,
        statistics.groups_scanned,
        statistics.groups_pruned
    ));
}

fn query(story: &mut Story, file: &Path) {
    let sql = "SELECT id, day, price * 2 AS twice, state FROM orders WHERE id = 7";
    story.station(
        "Up 2: the answer",
        "`quire` plans the query, filters inside the scan, and computes on the rest.",
    );
    story.line(sql);
    let mut connection = Database::open(file).unwrap().connect();
    let Outcome::Rows(mut rows) = connection.execute(sql).unwrap() else {
        panic!("a query returns rows")
    };
    while let Some(batch) = rows.next_batch().unwrap() {
        for row in 0..batch.num_rows() {
            let options = FormatOptions::default();
            let value = |column| {
                ArrayFormatter::try_new(column, &options)
                    .unwrap()
                    .value(row)
                    .to_string()
            };
            let fields: Vec<String> = batch
                .columns()
                .iter()
                .map(|column| value(column.as_ref()))
                .collect();
            story.line(format!("→ {}", fields.join(", ")));
        }
    }
}

fn compare(story: &str) {
    let path = "tests/life_of_a_row.txt";
    if std::env::var_os("UPDATE_SNAPSHOT").is_some() {
        std::fs::write(path, story).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    for (at, (found, wanted)) in story.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            found,
            wanted,
            "line {} of life_of_a_row.txt; UPDATE_SNAPSHOT=1 writes it anew",
            at + 1
        );
    }
    assert_eq!(
        story.lines().count(),
        expected.lines().count(),
        "UPDATE_SNAPSHOT=1 writes life_of_a_row.txt anew"
    );
}
