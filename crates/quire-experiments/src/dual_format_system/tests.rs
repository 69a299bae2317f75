use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_device::DataSetCodec;
use quire_format::row_page::PAGE_BYTES_DEFAULT;
use quire_lab::VerdictOutcome::{Fails, Holds};
use quire_lab::{EvaluatedWords, Figure, Verdict};
use quire_store::Disk;

use super::database::{DatabaseSize, EvaluatedContent, connect, measured, open_drive};
use super::measure::DualFormatResults;
use super::scenarios::{EvaluatedDatabase, EvaluatedStorage, KeyOrder, PAGE_BYTES, PageScenario};
use super::*;
use crate::tpcd::warehouse::CsvAnswer;

const BLOCK_BYTES: usize = 4096;

/// A folder that is gone at the end, and what to measure in it.
struct TestSetup(DualFormatSetup);

impl TestSetup {
    fn new(name: &str, rows: u64) -> Self {
        let name = format!("quire-dual-format-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Self(DualFormatSetup {
            rows,
            words: EvaluatedWords::of(None).expect("words"),
            folder,
            keeps_files: false,
        })
    }

    fn path(&self) -> PathBuf {
        self.0.folder.join("one.quire")
    }
}

impl Drop for TestSetup {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0.folder);
    }
}

/// What is on a disk, block by block, without those of zeros.
fn blocks(disk: &dyn Disk) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(disk.len().expect("a length")).expect("a length")];
    disk.read_at(&mut bytes, 0).expect("bytes");
    let blocks = bytes.chunks(BLOCK_BYTES).map(<[u8]>::to_vec);
    blocks
        .filter(|block| block.iter().any(|byte| *byte != 0))
        .collect()
}

/// Every row of a database, and what was inserted.
fn assert_rows_are(disk: Arc<dyn Disk>, content: &EvaluatedContent, order: KeyOrder) {
    let mut connection = connect(disk, 1 << 20).expect("a database");
    let answer = CsvAnswer::of(&mut connection, "SELECT * FROM t ORDER BY id").expect("rows");
    let mut rows = content.rows(order);
    rows.sort_unstable_by_key(|(key, _)| *key);
    let text = answer.text();
    let mut lines = text.lines().skip(1);
    for (key, row) in rows {
        let numbers = row.numbers.map(|number| number.to_string()).join(",");
        let expected = format!("{key},{numbers},{}", row.string);
        assert_eq!(lines.next().map(str::trim_end), Some(expected.trim_end()));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn what_the_drive_says_is_what_its_codec_makes_of_every_block_and_rows_are_those_inserted() {
    let setup = TestSetup::new("drive", 1_200);
    let content = EvaluatedContent::new(&setup.0);
    let [plain, packed] = [PageScenario::ROWS, PageScenario::PACKED_TUPLES];
    let clt = PageScenario::ALL[3];
    assert_eq!(clt.name, "clt");
    let order = KeyOrder::Random;
    for (codec, scenario) in [
        (BlockCodecId::Zlib, plain),
        (BlockCodecId::Zlib, clt),
        (BlockCodecId::Lz4, packed),
    ] {
        let database = EvaluatedDatabase::at_random(EvaluatedStorage::Drive(codec), scenario);
        let path = setup.path();
        let size = measured(&database, &content, &path).expect("a database");
        let drive = size.drive.expect("a drive");
        let device = open_drive(&path, DataSetCodec::of(codec)).expect("the drive");
        let blocks = blocks(&*device.disk);
        assert_eq!(drive.logical_bytes(), (blocks.len() * BLOCK_BYTES) as u64);
        let mut compressor = open(codec, &BlockOptions::default()).expect("a codec");
        let mut room = vec![0; BLOCK_BYTES];
        let stored = blocks.iter().map(|block| {
            let compressed = compressor.compress(block, &mut room, BLOCK_BYTES - 1);
            compressed.unwrap_or(BLOCK_BYTES) as u64
        });
        assert_eq!(drive.stored_bytes(), stored.sum::<u64>());
        assert_eq!(size.stored_bytes, drive.stored_bytes());
        // Blocks of zeros that are in use are holes of the data set; those that are free have been discarded.
        assert!(
            size.contents.used_bytes >= drive.logical_bytes(),
            "{size:?}"
        );
        assert!(size.file_bytes >= size.stored_bytes);
        assert!(
            (50.0..90.0).contains(&size.contents.fill_percent()),
            "{size:?}"
        );
        assert_rows_are(device.disk, &content, order);
        fs::remove_file(path).expect("a file");
    }
}

#[test]
fn page_compression_takes_whole_blocks_and_quires_images_the_bytes_in_use() {
    let setup = TestSetup::new("images", 1_200);
    let content = EvaluatedContent::new(&setup.0);
    let storage = EvaluatedStorage::Images(BlockCodecId::Lz4);
    let database = EvaluatedDatabase::at_random(storage, PageScenario::ROWS);
    let size = measured(&database, &content, &setup.path()).expect("a database");
    let contents = &size.contents;
    assert!(size.drive.is_none());
    assert_eq!(size.stored_bytes, contents.used_bytes);
    assert!(size.file_bytes >= contents.used_bytes);
    assert_eq!(contents.hole_punched_bytes % BLOCK_BYTES as u64, 0);
    // A leaf of 175 bytes a row has at least three blocks of four: 1.3 is the ratio of LZ4.
    let leaf_bytes = contents.leaf_count * PAGE_BYTES;
    assert!(contents.hole_punched_bytes > leaf_bytes / 2, "{size:?}");
    // 8 bytes of a key are mostly prefix, 160 are values, and slots and heads are added.
    let row_bytes = contents.leaf_used_bytes as f64 / 1_200.0;
    assert!((160.0..200.0).contains(&row_bytes), "{row_bytes}");
    assert_eq!(PAGE_BYTES, PAGE_BYTES_DEFAULT as u64);
}

/// Results in which each database takes what `stored` says.
fn results(stored: impl Fn(&EvaluatedDatabase) -> f64) -> DualFormatResults {
    let size = |database: &EvaluatedDatabase| DatabaseSize {
        contents: contents::DatabaseContents {
            used_bytes: 1_000_000,
            hole_punched_bytes: 600_000,
            leaf_count: 1,
            leaf_used_bytes: PAGE_BYTES / 2,
        },
        stored_bytes: (1e6 / stored(database)) as u64,
        drive: None,
        file_bytes: 1_000_000,
    };
    let databases = EvaluatedDatabase::all().into_iter();
    DualFormatResults {
        rows: 1,
        databases: databases.map(|one| (one, size(&one))).collect(),
    }
}

fn verdicts(figures: &[Figure]) -> &[Verdict] {
    &figures[0].verdicts
}

#[test]
fn the_papers_own_ratios_fulfil_what_it_says_and_others_do_not() {
    let paper = quire_lab::ratios_of_the_paper();
    let ratio = |database: &EvaluatedDatabase, packed: f64| {
        let place = PageScenario::ALL
            .iter()
            .position(|one| *one == database.scenario);
        let ratio = place.and_then(|place| paper.get(place));
        match database.order {
            KeyOrder::Ascending => 1.5,
            KeyOrder::Random => ratio.copied().unwrap_or(packed),
        }
    };
    let good = report::figures(&results(|database| ratio(database, 3.5)));
    assert_eq!(verdicts(&good).len(), 6);
    for verdict in verdicts(&good) {
        assert_eq!(verdict.outcome, Holds, "{}", verdict.text());
    }
    // Transforms gain nothing, packed neither, and full pages compress better.
    let flat = report::figures(&results(|database| match database.order {
        KeyOrder::Ascending => 2.0,
        KeyOrder::Random => 1.5,
    }));
    for verdict in verdicts(&flat) {
        assert_eq!(verdict.outcome, Fails, "{}", verdict.text());
    }
}

#[test]
fn figures_have_a_value_of_every_database() {
    let setup = TestSetup::new("figures", 300);
    let mut told = Vec::new();
    let figures = figures(&setup.0, &mut |text| told.push(text.to_owned())).expect("figures");
    assert_eq!(fs::read_dir(&setup.0.folder).expect("a folder").count(), 0);
    let stems: Vec<&str> = figures.iter().map(|figure| figure.stem).collect();
    assert_eq!(
        stems,
        [
            "paper-3-figure-11-system",
            "paper-3-figure-11-system-stored",
            "paper-3-figure-11-system-files",
            "paper-3-figure-11-system-fill"
        ]
    );
    let databases = EvaluatedDatabase::all().len();
    for figure in &figures {
        assert_eq!(figure.positions.count(), PageScenario::ALL.len());
        let values = figure.series.iter().flat_map(|series| &series.values);
        let values: Vec<f64> = values.copied().flatten().collect();
        assert!(values.iter().all(|value| *value > 0.0));
        // The bars of page compression, and the paper's six.
        let more = if figure.stem == stems[0] { 2 + 6 } else { 0 };
        assert_eq!(values.len(), databases + more, "{}", figure.stem);
    }
    assert_eq!(verdicts(&figures).len(), 6);
    assert_eq!(told.len(), 2 * databases);
}
