//! Random plans over row tables: the tuple engine's rows are those of the naive interpreter. `QUIRE_SEED` and `QUIRE_PLANS` choose them.
#![allow(clippy::unwrap_used)]

mod maker;
mod tables;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use maker::{Maker, column, scan};
use quire_exec::avm::{NativeCode, Program, ProgramCompiler, RegisterSet, TrapReason};
use quire_exec::costs::CostModel;
use quire_exec::plan::{
    Expression, Join, JoinKey, JoinKind, Plan, PlanColumn, PlanNode, PlanQuery, PlanSortKey,
    SortNode,
};
use quire_exec::tuple::{QueryOptions, TemporaryDisks, TupleQuery, TupleQueryError};
use quire_native::NativeCompiler;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::row_table::Value;
use quire_tables::{Engine, EngineOptions, RowTable};
use quire_testkit::plan::{Row, Tables, answer};
use tables::{Random, TYPES, make_table, value};

/// Compiles every program when it runs for the second time.
#[derive(Debug)]
struct Eager {
    compiler: NativeCompiler,
    compiled: AtomicUsize,
}

impl ProgramCompiler for Eager {
    fn runs_before(&self, _: usize) -> u32 {
        1
    }

    fn compile(&self, program: &Program, registers: &RegisterSet) -> Option<Box<dyn NativeCode>> {
        let code = self.compiler.compile(program, registers)?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Some(code)
    }
}

/// Of so many plans the programs of one are compiled.
const PLANS_PER_COMPILED: usize = 10;

fn tuple_answer(
    query: &PlanQuery,
    tables: &dyn Fn(&str) -> Option<Arc<RowTable>>,
    parameters: &[Value],
    options: &QueryOptions,
    compiler: Option<&Arc<Eager>>,
) -> Result<Vec<Row>, TupleQueryError> {
    let mut running = TupleQuery::with_options(query, tables, parameters, options)?;
    if let Some(compiler) = compiler {
        running.compile_with(Arc::clone(compiler) as Arc<dyn ProgramCompiler>);
    }
    let mut rows = Vec::new();
    while running.next_row()? {
        let columns = query.plan.columns.iter().enumerate();
        let value = |(slot, column): (usize, &PlanColumn)| {
            running.value(slot).into_value(column.is_text()).unwrap()
        };
        rows.push(columns.map(value).collect());
    }
    Ok(rows)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Whether an explanation names a way.
type IsWay = fn(&str) -> bool;

/// Ways to run plans, and whether an explanation names them.
const WAYS: [(&str, IsWay); 8] = [
    ("index", |text| text.contains("_index")),
    ("lookup", |text| text.contains("looking up")),
    ("hash", |text| text.contains("join by hashing")),
    ("merge", |text| text.contains("join in order")),
    ("sort-merge", is_sorted_for_a_join),
    ("shared", |text| text.contains("made once")),
    ("blocks, restarted", |text| {
        text.contains("again for each block")
    }),
    ("blocks, stored", |text| text.contains("for later blocks")),
];

/// How much further in than an operator its inputs are. What is left of a long line is further in than that.
const INPUT_INDENT: usize = 2;

fn is_sorted_for_a_join(text: &str) -> bool {
    let (mut operators, mut indent_of_last) = (Vec::new(), 0);
    for line in text.lines() {
        let operator = line.trim_start();
        let indent = line.len() - operator.len();
        if indent > indent_of_last + INPUT_INDENT {
            continue;
        }
        indent_of_last = indent;
        // Keys are computed in between.
        if operator != "filter" {
            operators.push(operator);
        }
    }
    let mut pairs = operators.windows(2);
    pairs.any(|pair| pair[0].starts_with("join in order") && pair[1].starts_with("sort by"))
}

/// Costs by which each way to join is the cheapest now and then.
fn random_costs(random: &mut Random) -> CostModel {
    let settings: &[(&str, &str)] = match random.below(3) {
        0 => &[
            ("spill_write", "1e6"),
            ("spill_read", "1"),
            ("spill_pack", "1e9"),
        ],
        1 => &[("hash_insert", "1e6"), ("hash_probe", "1e6")],
        _ => &[],
    };
    let mut costs = CostModel::default();
    for (name, ns) in settings {
        costs.set(name, ns).unwrap();
    }
    costs
}

fn random_query(random: &mut Random, seed: u64) -> PlanQuery {
    let depth = random.below(5);
    let query = PlanQuery {
        parameter_count: TYPES.len(),
        values: Vec::new(),
        plan: Maker { random }.plan(depth),
    };
    query
        .check()
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{query}"));
    query
}

#[test]
fn random_plans_have_the_rows_of_the_naive_interpreter() {
    let first = number("QUIRE_SEED", 0);
    let mut row_count = 0;
    let eager = Arc::new(Eager {
        compiler: NativeCompiler::new().unwrap(),
        compiled: AtomicUsize::new(0),
    });
    let mut way_counts = [0; WAYS.len()];
    for seed in first..first + number("QUIRE_PLANS", 4_000) {
        let mut random = Random(seed);
        let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
        let engine = Engine::open_with(volume, EngineOptions::default()).unwrap();
        let mut naive = Tables::new();
        for name in ["s", "t"] {
            naive.insert(name.to_owned(), make_table(&engine, &mut random, name));
        }
        let snapshot = engine.snapshot();
        let tables = |name: &str| snapshot.row_table(name).unwrap();
        for number in 0..20 {
            let compiler = (number % PLANS_PER_COMPILED == 0).then_some(&eager);
            let query = random_query(&mut random, seed);
            let parameters = TYPES.map(|sql_type| {
                if random.one_in(5) {
                    Value::Null
                } else {
                    value(&mut random, sql_type)
                }
            });
            let mut expected = answer(&query, &naive, &parameters)
                .unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{query}"));
            let options = QueryOptions {
                memory_bytes: random.of(&[0, 3_000, 6_000, 12_000, 1 << 30]),
                costs: random_costs(&mut random),
                ..QueryOptions::default()
            };
            let mut found = tuple_answer(&query, &tables, &parameters, &options, compiler)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{query}"));
            let is_ordered = matches!(query.plan.node, PlanNode::Sort(_) | PlanNode::Limit { .. });
            if !is_ordered {
                expected.sort();
                found.sort();
            }
            assert_eq!(found, expected, "seed {seed}\n{query}\n{naive:?}");
            row_count += expected.len();
            let explained = TupleQuery::unstarted(&query, &tables, &options).unwrap();
            let programs = explained.explanation(true).to_string();
            let text = explained.explanation(false).to_string() + &programs;
            for ((_, is_way), count) in WAYS.iter().zip(&mut way_counts) {
                *count += usize::from(is_way(&text));
            }
        }
    }
    let names = WAYS.iter().map(|(name, _)| *name);
    let counts: Vec<_> = names.zip(way_counts).collect();
    assert!(
        counts.iter().all(|(_, count)| *count > 50),
        "{counts:?}: some ways are not tried"
    );
    let compiled_count = eager.compiled.load(Ordering::Relaxed);
    assert!(compiled_count > 100, "{compiled_count} programs");
    assert!(row_count > 10_000, "{row_count} rows say little");
}

/// A sort, groups, a join of all rows of a table, and rows that two places read.
fn keeping_plans() -> [Plan; 4] {
    let rows = || scan("s");
    let key = PlanSortKey {
        expression: column(&rows(), 0),
        is_descending: true,
        nulls_first: true,
    };
    let nothing = Expression::Constant(Value::Text("".into()));
    let text = Expression::Concatenate(Box::new([column(&rows(), 2), nothing]));
    // What is computed is looked up in no key.
    let joined = Join {
        kind: JoinKind::Left,
        left: rows(),
        right: rows(),
        keys: vec![JoinKey {
            left: text.clone(),
            right: text,
        }],
        nulls_match: true,
        residual: None,
        is_null_aware: false,
    };
    let plan = Arc::new(rows());
    let sorted = SortNode {
        input: rows(),
        keys: vec![key],
        fetch: None,
    };
    [
        Plan::sort(sorted),
        rows().distinct(),
        Plan::join(joined, ""),
        Plan::union_all(vec![
            Plan::shared(1, Arc::clone(&plan)),
            Plan::shared(1, plan),
        ]),
    ]
}

/// What keeps rows spills them when there is no room: without a place for files that is an error, and no rows are lost.
#[test]
fn a_query_without_room_needs_a_place_for_files() {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open_with(volume, EngineOptions::default()).unwrap();
    let mut random = Random(7);
    let row_count = (0..).find_map(|number| {
        let rows = make_table(&engine, &mut random, &format!("s{number}"));
        (rows.len() > 10).then_some((number, rows.len()))
    });
    let (number, row_count) = row_count.unwrap();
    let snapshot = engine.snapshot();
    let tables = |_: &str| snapshot.row_table(&format!("s{number}")).unwrap();
    for plan in keeping_plans() {
        let query = PlanQuery {
            parameter_count: 0,
            values: Vec::new(),
            plan,
        };
        let answer = |memory_bytes, directory: &str| {
            let options = QueryOptions {
                memory_bytes,
                temporary_disks: TemporaryDisks::in_directory(directory),
                ..QueryOptions::default()
            };
            tuple_answer(&query, &tables, &[], &options, None)
        };
        let in_memory = answer(1 << 30, "/no directory").unwrap();
        assert!(in_memory.len() >= row_count);
        let here = std::env::temp_dir();
        let mut spilled = answer(0, &here.to_string_lossy()).unwrap();
        let mut expected = in_memory;
        spilled.sort();
        expected.sort();
        assert_eq!(spilled, expected, "{query}");
        match answer(0, "/no directory") {
            Err(TupleQueryError::Trap(trap)) => {
                let reason = trap.into_reason();
                assert!(matches!(reason, TrapReason::TemporaryFile(_)), "{reason}");
            }
            other => panic!("{other:?}: it was not spilled\n{query}"),
        }
    }
}
