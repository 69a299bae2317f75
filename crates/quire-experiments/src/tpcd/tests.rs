//! The benchmark at a small scale.

use std::fs;
use std::path::PathBuf;

use quire_lab::{Figure, Verdict, VerdictOutcome};

use super::data::Files;
use super::machine::Seconds;
use super::schema::WarehouseStorage;
use super::warehouse::{Warehouse, WarehouseOpening};
use super::{Device, Setup, TpcdCompression, figures, paper};

const SCALE: f64 = 0.002;

/// A folder that is gone at the end.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let name = format!("quire-experiments-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn opening(device: Device, compression: TpcdCompression) -> WarehouseOpening {
    WarehouseOpening {
        device,
        slowness: 1.0,
        memory_bytes: 1 << 20,
        compression,
    }
}

fn loaded(folder: &TestFolder, storage: WarehouseStorage, opening: WarehouseOpening) -> Warehouse {
    let files = Files::generate(&folder.0.join("csv"), SCALE).expect("rows");
    let name = format!("{}-{:?}.quire", storage.name(), opening.compression);
    let path = folder.0.join(name);
    let mut warehouse = Warehouse::open(&path, opening).expect("a database");
    warehouse.load(&files, storage, false).expect("a load");
    warehouse
}

#[test]
fn the_paper_compresses_more_than_nothing_and_less_than_quire_does_by_itself() {
    let folder = TestFolder::new("compression");
    let bytes = |storage, compression| {
        let mut warehouse = loaded(&folder, storage, opening(Device::Own, compression));
        ["lineitem", "orders", "nation"].map(|table| warehouse.stored_bytes(table).expect("bytes"))
    };
    let plain = bytes(WarehouseStorage::Plain, TpcdCompression::Paper);
    let papers = bytes(WarehouseStorage::Compressed, TpcdCompression::Paper);
    let own = bytes(WarehouseStorage::Compressed, TpcdCompression::Auto);
    for table in 0..2 {
        assert!(own[table] < papers[table], "{own:?}, {papers:?}");
        assert!(papers[table] < plain[table], "{papers:?}, {plain:?}");
    }
    assert_eq!((own[2], papers[2]), (plain[2], plain[2]));
}

#[test]
fn what_a_sort_spills_takes_the_time_of_the_second_disk() {
    let folder = TestFolder::new("temporaries");
    let sort = |device| -> Seconds {
        let opening = opening(device, TpcdCompression::Paper);
        let mut warehouse = loaded(&folder, WarehouseStorage::Plain, opening);
        let sql = "SELECT l_comment, l_shipinstruct FROM lineitem ORDER BY l_comment";
        let (_, seconds) = warehouse.measured(sql).expect("rows");
        fs::remove_file(folder.0.join("uncompressed-Paper.quire")).expect("a file");
        seconds
    };
    let papers = sort(Device::Paper);
    let (profile, _) = paper::disk();
    let written_seconds = papers.spilled_kib * 1024.0 / profile.write_bytes_per_second as f64;
    assert!(papers.spilled_kib > 100.0, "{papers:?}");
    assert!(papers.time > written_seconds, "{papers:?}");
    assert_eq!(sort(Device::Own).spilled_kib, 0.0);
}

fn figure<'a>(figures: &'a [Figure], stem: &str) -> &'a Figure {
    let found = figures.iter().find(|figure| figure.stem == stem);
    found.expect("a figure")
}

#[test]
fn all_figures_have_their_rows_and_judge_what_the_paper_says() {
    let folder = TestFolder::new("figures");
    let setup = Setup {
        scale: SCALE,
        device: Device::Paper,
        compression: TpcdCompression::Paper,
        with_tpch: false,
        has_keys: false,
        rounds: 1,
        folder: folder.0.clone(),
    };
    let figures = figures(&setup, &mut |_| ()).expect("figures");
    for (stem, rows) in [
        ("tpcd-sizes", 9),
        ("tpcd-load", 9),
        ("tpcd-load-utilization", 9),
        ("tpcd-load-processor", 7),
        ("tpcd-times", 20),
        ("tpcd-utilization", 20),
        ("tpcd-split", 18),
        ("tpcd-temporaries", 20),
        // 61 columns without those of region and nation, seven, and without dates, four.
        ("tpcd-fields", 50),
    ] {
        assert_eq!(figure(&figures, stem).positions.count(), rows, "{stem}");
    }
    let percents = figure(&figures, "tpcd-utilization").series.iter();
    for value in percents.flat_map(|series| series.values.iter().flatten()) {
        assert!((0.0..=100.01).contains(value), "{value}");
    }
    let has = |stem: &str, words: &str| {
        let figure = figure(&figures, stem);
        let verdicts = figure.verdicts.iter().map(Verdict::text);
        let remarks: Vec<String> = verdicts.chain(figure.notes.iter().cloned()).collect();
        assert!(
            remarks.iter().any(|remark| remark.contains(words)),
            "{words} in {remarks:#?}"
        );
    };
    for words in [
        "never loses",
        "half of the time or less",
        "save less than 20 %",
        "UF1 takes about twice",
        "UF2 takes about 0.60",
        "two disks of 6.4 MB/s",
        "not simulated",
        "plans are made for the simulated machine",
    ] {
        has("tpcd-ratios", words);
    }
    has("tpcd-load", "1.2 to 1.5 times as long");
    has("tpcd-fields", "about half of their bytes");
    for (stem, claim) in [("tpcd-ratios", "UF1 "), ("tpcd-load", "loading ")] {
        let mut verdicts = figure(&figures, stem).verdicts.iter();
        let verdict = verdicts.find(|one| one.claim.starts_with(claim));
        let verdict = verdict.expect("a verdict");
        let has_reason = verdict.text().contains("what decides is");
        let holds = verdict.outcome == VerdictOutcome::Holds;
        assert_ne!(has_reason, holds, "{verdict:?}");
    }
}
