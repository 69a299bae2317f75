//! The benchmark: loads, queries and update functions over compressed and uncompressed tables, in turn.

pub(crate) mod splits;
mod updates;

use std::fs;
use std::path::{Path, PathBuf};

use quire_exec::costs::{Cost, calibrate};

use crate::tpcd::both::Both;
use crate::tpcd::data::{CHANGED, Files, Refresh, TABLES};
use crate::tpcd::fields::{self, TableFieldSample};
use crate::tpcd::machine::{Device, Seconds};
use crate::tpcd::queries::{TpcdQuery, queries};
use crate::tpcd::schema::WarehouseStorage;
use crate::tpcd::warehouse::{CsvAnswer, Warehouse, WarehouseOpening};
use crate::tpcd::{BenchmarkFailure, Setup, TpcdCompression, paper};
use splits::{LoadSplit, QuerySplit};

/// What was measured of one query or update function.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredQuery {
    pub(crate) name: &'static str,
    pub(crate) is_of_tpcd: bool,
    pub(crate) seconds: Both<Seconds>,
    /// With all tables in memory, by our processor; none of an update function.
    pub(crate) memory: Option<Both<f64>>,
    /// None of an update function.
    pub(crate) split: Option<Both<QuerySplit>>,
}

/// What was measured of one table.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredTable {
    pub(crate) name: &'static str,
    pub(crate) bytes: Both<u64>,
    pub(crate) load: Both<Seconds>,
    /// None of tables that are never compressed, nor of other compression than the paper's.
    pub(crate) split: Option<Both<LoadSplit>>,
}

/// All that was measured.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    pub(crate) slowness: f64,
    pub(crate) tables: Vec<MeasuredTable>,
    pub(crate) queries: Vec<MeasuredQuery>,
    /// Names of queries whose plans were not the same.
    pub(crate) other_plans: Vec<&'static str>,
    /// Queries that the tuple engine left to the batch engine.
    pub(crate) left: u64,
    /// Of the compressed tables, if their compression is the paper's.
    pub(crate) samples: Vec<TableFieldSample>,
    /// How the processor's time of UF1 splits.
    pub(crate) inserting: Option<Both<LoadSplit>>,
}

/// Everything lies in memory.
const ALL_BYTES: usize = 8 << 30;
/// The pool needs some pages to work at all.
const POOL_BYTES_MIN: usize = 1 << 20;
/// Our processor is measured by scans of this scale.
const CALIBRATION_SCALE: f64 = 0.02;

/// Measures.
///
/// # Errors
/// When a statement fails, or answers differ.
pub(crate) fn run(
    setup: &Setup,
    progress: &mut dyn FnMut(&str),
) -> Result<Results, BenchmarkFailure> {
    fs::create_dir_all(&setup.folder)?;
    let slowness = match setup.device {
        Device::Own => 1.0,
        Device::Paper => {
            progress("measuring the processor");
            slowness(&setup.folder)?
        }
    };
    progress("generating rows");
    let files = Files::generate(&setup.folder.join("csv"), setup.scale)?;
    let refresh = files.write_refresh(setup.scale)?;
    let opening = WarehouseOpening {
        device: setup.device,
        slowness,
        memory_bytes: pool_bytes(setup.scale),
        compression: setup.compression,
    };
    let run = BenchmarkRun {
        setup,
        opening,
        files,
    };
    let tables = run.load(progress)?;
    let mut results = Results {
        slowness,
        tables,
        queries: Vec::new(),
        other_plans: Vec::new(),
        left: 0,
        samples: Vec::new(),
        inserting: None,
    };
    if setup.compression == TpcdCompression::Paper {
        progress("looking at fields");
        run.sample(&mut results)?;
    }
    run.queries(&mut results, progress)?;
    run.updates(&refresh, &mut results, progress)?;
    Ok(results)
}

/// The paper's pool for a database of this scale.
pub(crate) fn pool_bytes(scale: f64) -> usize {
    ((paper::POOL_BYTES * scale) as usize).max(POOL_BYTES_MIN)
}

/// How many times slower the paper's processor was, by the scans of queries 1 and 6.
fn slowness(folder: &Path) -> Result<f64, BenchmarkFailure> {
    let folder = folder.join("processor");
    let files = Files::generate(&folder, CALIBRATION_SCALE)?;
    let path = folder.join("plain.quire");
    remove(&path)?;
    let opening = WarehouseOpening {
        device: Device::Own,
        slowness: 1.0,
        memory_bytes: pool_bytes(CALIBRATION_SCALE),
        compression: TpcdCompression::Paper,
    };
    let mut warehouse = Warehouse::open(&path, opening)?;
    warehouse.load(&files, WarehouseStorage::Plain, false)?;
    let mut seconds = 0.0;
    for query in queries(false).filter(|query| ["Q1", "Q6"].contains(&query.name)) {
        let sql = query.sql(CALIBRATION_SCALE);
        let planning = best(&mut warehouse, &format!("EXPLAIN {sql}"))?;
        seconds += best(&mut warehouse, &sql)? - planning;
    }
    drop(warehouse);
    fs::remove_dir_all(&folder)?;
    Ok(paper::SCANS_CPU_SECONDS * CALIBRATION_SCALE / seconds.max(1e-6))
}

/// Processor seconds, the least of some runs.
fn best(warehouse: &mut Warehouse, sql: &str) -> Result<f64, BenchmarkFailure> {
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        best = best.min(warehouse.measured(sql)?.1.processor);
    }
    Ok(best)
}

fn remove(path: &Path) -> Result<(), BenchmarkFailure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// A run of the benchmark.
struct BenchmarkRun<'s> {
    setup: &'s Setup,
    opening: WarehouseOpening,
    files: Files,
}

impl BenchmarkRun<'_> {
    fn path(&self, storage: WarehouseStorage) -> PathBuf {
        self.setup.folder.join(format!("{}.quire", storage.name()))
    }

    fn open(&self, storage: WarehouseStorage) -> Result<Warehouse, BenchmarkFailure> {
        Warehouse::open(&self.path(storage), self.opening)
    }

    fn open_both(&self) -> Result<Both<Warehouse>, BenchmarkFailure> {
        let [compressed, plain] = WarehouseStorage::BOTH.map(|storage| self.open(storage));
        Ok([compressed?, plain?])
    }

    fn load(&self, progress: &mut dyn FnMut(&str)) -> Result<Vec<MeasuredTable>, BenchmarkFailure> {
        let (mut loads, mut sizes) = (Vec::new(), Vec::new());
        for storage in WarehouseStorage::BOTH {
            progress(&format!("loading {} tables", storage.name()));
            remove(&self.path(storage))?;
            let mut warehouse = self.open(storage)?;
            loads.push(warehouse.load(&self.files, storage, self.setup.has_keys)?);
            let bytes = TABLES.map(|table| warehouse.stored_bytes(table));
            sizes.push(bytes.into_iter().collect::<Result<Vec<_>, _>>()?);
        }
        let seconds = |at: usize, storage: usize| {
            let load = loads.get(storage).and_then(|loads| loads.get(at));
            load.map(|(_, seconds)| *seconds).unwrap_or_default()
        };
        let bytes = |at: usize, storage: usize| {
            let size = sizes.get(storage).and_then(|sizes| sizes.get(at));
            size.copied().unwrap_or_default()
        };
        let table = |(at, name)| MeasuredTable {
            name,
            bytes: [bytes(at, 0), bytes(at, 1)],
            load: [seconds(at, 0), seconds(at, 1)],
            split: None,
        };
        Ok(TABLES.into_iter().enumerate().map(table).collect())
    }

    /// The same with all in memory, on this machine.
    fn in_memory(&self) -> BenchmarkRun<'_> {
        BenchmarkRun {
            setup: self.setup,
            opening: WarehouseOpening {
                device: Device::Own,
                slowness: 1.0,
                memory_bytes: ALL_BYTES,
                compression: self.opening.compression,
            },
            files: self.files.clone(),
        }
    }

    /// What compression does to fields, and how loads split.
    fn sample(&self, results: &mut Results) -> Result<(), BenchmarkFailure> {
        let mut warehouse = self.in_memory().open(WarehouseStorage::Plain)?;
        results.samples = fields::sampled(&mut warehouse)?;
        let slowness = results.slowness;
        for table in &mut results.tables {
            let mut samples = results.samples.iter();
            let Some(sample) = samples.find(|sample| sample.name == table.name) else {
                continue;
            };
            let path = self.files.path(table.name).display().to_string();
            let sql = format!("SELECT * FROM '{}'", path.replace('\'', "''"));
            let parsing = warehouse.batches(&sql, |_| ())?.processor * slowness;
            table.split = Some(splits::of_load(&table.load, parsing, sample, slowness));
        }
        Ok(())
    }

    /// Runs all queries in the pool of the paper, then with all in memory.
    fn queries(
        &self,
        results: &mut Results,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), BenchmarkFailure> {
        let mut answers = Vec::new();
        let mut both = self.open_both()?;
        let costs = calibrate(None);
        let field_ns = [Cost::DecodeSuppressed, Cost::DecodePlain].map(|cost| costs.of(cost));
        for query in queries(self.setup.with_tpch) {
            progress(query.name);
            let (answer, seconds) = self.query(&query, &mut both)?;
            if !self.has_same_plans(&query, &mut both)? {
                results.other_plans.push(query.name);
            }
            answers.push(answer);
            results.queries.push(MeasuredQuery {
                name: query.name,
                is_of_tpcd: query.is_of_tpcd(),
                seconds,
                memory: None,
                split: Some(self.split(&query, &mut both, field_ns)?),
            });
        }
        for warehouse in &mut both {
            results.left += warehouse.queries_left()?;
        }
        drop(both);
        let in_memory = self.in_memory();
        let mut both = in_memory.open_both()?;
        let measured = results.queries.iter_mut().zip(&answers);
        for (query, (measured, answer)) in queries(self.setup.with_tpch).zip(measured) {
            progress(&format!("{} in memory", query.name));
            let (found, _) = in_memory.query(&query, &mut both)?;
            // Now they are in memory.
            let (_, seconds) = in_memory.query(&query, &mut both)?;
            same(query.name, answer, &found)?;
            measured.memory = Some(seconds.map(|seconds| seconds.processor));
        }
        Ok(())
    }

    /// The answer of a query, which is that of both, and the middle of the times.
    fn query(
        &self,
        query: &TpcdQuery,
        both: &mut Both<Warehouse>,
    ) -> Result<(CsvAnswer, Both<Seconds>), BenchmarkFailure> {
        let sql = query.sql(self.setup.scale);
        let mut times = [Vec::new(), Vec::new()];
        let mut first: Option<CsvAnswer> = None;
        for _ in 0..self.setup.rounds.max(1) {
            for ((warehouse, times), storage) in
                both.iter_mut().zip(&mut times).zip(WarehouseStorage::BOTH)
            {
                let (answer, seconds) = warehouse.measured(&sql)?;
                times.push(seconds);
                if times.len() == 1 {
                    self.write_answer(query, storage, &answer)?;
                }
                match &first {
                    Some(first) => same(query.name, first, &answer)?,
                    None => first = Some(answer),
                }
            }
        }
        Ok((first.unwrap_or_default(), times.map(median)))
    }

    /// Where the processor's time goes.
    fn split(
        &self,
        query: &TpcdQuery,
        both: &mut Both<Warehouse>,
        field_ns: Both<f64>,
    ) -> Result<Both<QuerySplit>, BenchmarkFailure> {
        let sql = format!("EXPLAIN ANALYZE {}", query.sql(self.setup.scale));
        let mut splits = Both::<QuerySplit>::default();
        let asked = both.iter_mut().zip(field_ns);
        for (split, (warehouse, field_ns)) in splits.iter_mut().zip(asked) {
            let analysis = warehouse.execute(&sql)?.text();
            let found = QuerySplit::of(&analysis, field_ns, self.opening.slowness);
            *split = found.ok_or(BenchmarkFailure::Analysis { query: query.name })?;
        }
        Ok(splits)
    }

    /// The answers of the pool of the paper, and of a large one, are kept apart.
    fn write_answer(
        &self,
        query: &TpcdQuery,
        storage: WarehouseStorage,
        answer: &CsvAnswer,
    ) -> Result<(), BenchmarkFailure> {
        let pool = match self.opening.memory_bytes {
            ALL_BYTES => "memory",
            _ => "pool",
        };
        let folder = self
            .setup
            .folder
            .join("answers")
            .join(format!("{}-{pool}", storage.name()));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.csv", query.name));
        Ok(fs::write(path, answer.text())?)
    }

    /// Whether the iterators are the same. How many rows are expected of them follows from pages, of which compressed tables have fewer.
    fn has_same_plans(
        &self,
        query: &TpcdQuery,
        both: &mut Both<Warehouse>,
    ) -> Result<bool, BenchmarkFailure> {
        let sql = format!("EXPLAIN {}", query.sql(self.setup.scale));
        let plan = |warehouse: &mut Warehouse| -> Result<String, BenchmarkFailure> {
            let mut text = warehouse.execute(&sql)?.text();
            text.retain(|letter| !letter.is_ascii_digit());
            Ok(text)
        };
        let [compressed, plain] = both;
        Ok(plan(compressed)? == plan(plain)?)
    }

    fn updates(
        &self,
        refresh: &[Refresh; 2],
        results: &mut Results,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), BenchmarkFailure> {
        let mut times = Vec::new();
        for storage in WarehouseStorage::BOTH {
            progress(&format!("update functions on {} tables", storage.name()));
            let warehouse = self.open(storage)?;
            times.push(updates::run(warehouse, &self.files, refresh)?);
        }
        if let Ok(times) = <Both<[Seconds; 2]>>::try_from(times) {
            let [compressed, plain] = &times;
            for (name, (compressed, plain)) in
                ["UF1", "UF2"].into_iter().zip(compressed.iter().zip(plain))
            {
                results.queries.push(MeasuredQuery {
                    name,
                    is_of_tpcd: true,
                    seconds: [*compressed, *plain],
                    memory: None,
                    split: None,
                });
            }
            results.inserting = inserting(results, refresh, times);
        }
        Ok(())
    }
}

/// How the processor's time of UF1 splits. Its rows are parsed as those of loads are.
fn inserting(
    results: &Results,
    refresh: &[Refresh; 2],
    times: Both<[Seconds; 2]>,
) -> Option<Both<LoadSplit>> {
    let mut parsing = 0.0;
    let mut tuples = [Vec::new(), Vec::new()];
    for ((name, _, _), refresh) in CHANGED.into_iter().zip(refresh) {
        let rows = u64::try_from(refresh.inserted.rows).ok()?;
        let sample = results.samples.iter().find(|sample| sample.name == name)?;
        let table = results.tables.iter().find(|table| table.name == name)?;
        let [load, _] = table.split?;
        parsing += load.parsing * rows as f64 / sample.row_count.max(1) as f64;
        for (tuples, ns) in tuples.iter_mut().zip(sample.tuple_ns) {
            tuples.push((rows, ns));
        }
    }
    let [packed, plain] = tuples;
    let [[packed_seconds, _], [plain_seconds, _]] = times;
    let split =
        |seconds: &Seconds, tuples| LoadSplit::of(seconds, parsing, tuples, results.slowness);
    Some([split(&packed_seconds, packed), split(&plain_seconds, plain)])
}

fn same(name: &'static str, one: &CsvAnswer, other: &CsvAnswer) -> Result<(), BenchmarkFailure> {
    if one.has_rows_of(other) {
        Ok(())
    } else {
        Err(BenchmarkFailure::Answers { query: name })
    }
}

/// The round in the middle, by its time.
fn median(mut rounds: Vec<Seconds>) -> Seconds {
    rounds.sort_by(|one, other| one.time.total_cmp(&other.time));
    let middle = rounds.get(rounds.len().saturating_sub(1) / 2);
    middle.copied().unwrap_or_default()
}
