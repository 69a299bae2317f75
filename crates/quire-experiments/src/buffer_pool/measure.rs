//! The queries, over pools of several sizes.

use quire_store::disk::DeviceProfile;

use crate::buffer_pool::times::{NeededBytes, PoolRound, PoolSide, PoolTimes};
use crate::column_tables::{
    AnswerComparison, ColumnCodecs, ColumnLayout, ColumnTablesSetup, DecompressionTarget,
    ExperimentProgress, LoadedColumns, RunConditions, tpch_query,
};
use crate::tpcd::BenchmarkFailure;

/// Sizes of pools, in percent of the values of all queried columns.
pub(crate) const PERCENTS: [u32; 4] = [10, 25, 50, 100];

/// Queries of TPC-H. The first reads the columns of the second, and three more.
const QUERIES: [(u32, &str); 2] = [(1, "Q1"), (6, "Q6")];

/// The disk of the paper's faster machine.
pub(crate) const DEVICE: DeviceProfile = DeviceProfile::RAID_12;

/// All that was measured.
#[derive(Clone, Debug)]
pub(crate) struct BufferPoolResults {
    /// The values of all queried columns, each once.
    pub(crate) column_bytes: f64,
    pub(crate) needed: NeededBytes,
    pub(crate) pools: Vec<PoolTimes>,
}

/// Loads, and measures.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers differ.
pub(crate) fn run(
    setup: &ColumnTablesSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<BufferPoolResults, BenchmarkFailure> {
    let files = setup.generate(progress)?;
    let path = setup.folder.join("buffer-pool.quire");
    let path = setup.has_files.then_some(path.as_path());
    let tables = (&files, ["lineitem"].as_slice());
    let storage = (ColumnLayout::Dsm, ColumnCodecs::Auto);
    let loaded = LoadedColumns::load_telling(path, tables, storage, progress)?;
    let mut measurement = PoolMeasurement {
        loaded,
        queries: QUERIES.map(|(number, name)| PooledQuery {
            sql: tpch_query(number, setup.scale).unwrap_or_default(),
            answers: AnswerComparison::new(name),
        }),
        rounds: setup.rounds.max(1),
    };
    let (column_bytes, needed) = measurement.needed()?;
    let mut pools = Vec::new();
    for percent in PERCENTS {
        let pool_bytes = column_bytes * f64::from(percent) / 100.0;
        let mut times = PoolTimes {
            percent,
            ..PoolTimes::default()
        };
        for side in PoolSide::BOTH {
            let what = format!("a pool of {percent} %, {}", side.name());
            let round = progress.timed(&what, || measurement.side(side, pool_bytes as usize))?;
            progress.say(&format!(
                "  a round: {:.3} s, {:.2} MB from the disk",
                round.seconds,
                round.disk_bytes / 1e6
            ));
            match side {
                PoolSide::Uncompressed => times.uncompressed = round,
                PoolSide::Compressed => times.compressed = round,
            }
        }
        pools.push(times);
    }
    Ok(BufferPoolResults {
        column_bytes,
        needed,
        pools,
    })
}

/// A query, and its answer.
struct PooledQuery {
    sql: String,
    answers: AnswerComparison,
}

struct PoolMeasurement {
    loaded: LoadedColumns,
    queries: [PooledQuery; QUERIES.len()],
    /// Those that are measured, behind one that fills the pool.
    rounds: usize,
}

impl PoolMeasurement {
    /// The length of the values of all queried columns, and what all queries need together.
    fn needed(&mut self) -> Result<(f64, NeededBytes), BenchmarkFailure> {
        let mut needed = NeededBytes::default();
        let mut column_bytes: f64 = 0.0;
        // One counts stored bytes as both do, the other each value once.
        let conditions = RunConditions {
            decompression: DecompressionTarget::Memory,
            ..RunConditions::default()
        };
        let mut session = self.loaded.open(conditions)?;
        for query in &mut self.queries {
            let run = session.run(&query.sql)?;
            query.answers.check(&run.answer)?;
            needed.stored += run.scans.segment_bytes;
            needed.values += run.scans.decoded_bytes;
            column_bytes = column_bytes.max(run.scans.decoded_bytes);
        }
        Ok((column_bytes, needed))
    }

    /// Fills a pool by one round of the queries, and measures others.
    fn side(&mut self, side: PoolSide, pool_bytes: usize) -> Result<PoolRound, BenchmarkFailure> {
        let conditions = RunConditions {
            device: Some(DEVICE),
            decompression: side.decompression(),
            pool_bytes: Some(pool_bytes),
            is_planned: true,
        };
        let mut session = self.loaded.open(conditions)?;
        let mut sum = PoolRound::default();
        for round in 0..=self.rounds {
            for query in &mut self.queries {
                let run = session.run(&query.sql)?;
                query.answers.check(&run.answer)?;
                if round > 0 {
                    sum.add(&run);
                }
            }
        }
        Ok(sum.divided_by(self.rounds))
    }
}

/// The names of the queries, for people.
pub(crate) fn query_names() -> String {
    QUERIES.map(|(_, name)| name).join(" and ")
}
