//! Which workload has this name, at this scale?

use super::baidu::{BaiduRead, BaiduReadOptions, BaiduWrite, HotKeyPlaces};
use super::key_distribution::zipf_exponent_of_share;
use super::sysbench::{Sysbench, SysbenchOptions, SysbenchTest};
use super::tpc_b::{AccountRule, TpcB};
use super::tpc_c::{TpcC, TpcCScale};
use crate::Workload;

/// Names that [`standard`] knows, with what a scale of 1 is.
pub const STANDARD_SCALES: [(&str, &str); 9] = [
    (
        "tpc-c",
        "a warehouse of 100,000 items, with 30,000 customers",
    ),
    ("tpc-b", "a branch of 100,000 accounts"),
    ("pgbench", "a branch of 100,000 accounts"),
    ("sysbench-point-select", "10,000 rows of one table"),
    ("sysbench-read-only", "10,000 rows of one table"),
    ("sysbench-write-only", "10,000 rows of one table"),
    ("sysbench-read-write", "10,000 rows of one table"),
    ("baidu-read", "1,000 rows"),
    ("baidu-write", "1,000 rows for each table of 16 users"),
];

/// The workload of that name with its own options; others are set in its structure. The scale is at least 1.
pub fn standard(name: &str, scale: u32, seed: u64) -> Option<Box<dyn Workload>> {
    let scale = scale.max(1);
    let sysbench = |test| -> Option<Box<dyn Workload>> {
        Some(Box::new(Sysbench::new(SysbenchOptions {
            rows: scale.saturating_mul(10_000),
            ..SysbenchOptions::new(test, seed)
        })))
    };
    match name {
        "tpc-c" => Some(Box::new(TpcC::new(TpcCScale::full(scale), seed))),
        "tpc-b" => Some(Box::new(TpcB::new(scale, seed))),
        "pgbench" => Some(Box::new(TpcB {
            rule: AccountRule::Pgbench,
            ..TpcB::new(scale, seed)
        })),
        "sysbench-point-select" => sysbench(SysbenchTest::PointSelect),
        "sysbench-read-only" => sysbench(SysbenchTest::ReadOnly),
        "sysbench-write-only" => sysbench(SysbenchTest::WriteOnly),
        "sysbench-read-write" => sysbench(SysbenchTest::ReadWrite),
        "baidu-read" => Some(Box::new(baidu_read(scale.saturating_mul(1_000), seed))),
        "baidu-write" => Some(Box::new(BaiduWrite {
            users: 16,
            rows_of_table: scale.saturating_mul(1_000),
            seed,
        })),
        _ => None,
    }
}

/// With keys so uneven that a cache of 1/11 of the rows would have the hits of paper 4, table VI.
fn baidu_read(rows: u32, seed: u64) -> BaiduRead {
    let rows_wide = u64::from(rows);
    BaiduRead::new(BaiduReadOptions {
        rows,
        exponent: zipf_exponent_of_share(rows_wide, rows_wide / 11, 0.815),
        places: HotKeyPlaces::Adjacent,
        seed,
    })
}

#[cfg(test)]
mod tests {
    use super::{STANDARD_SCALES, standard};

    #[test]
    fn each_name_is_that_of_its_workload() {
        for (name, _) in STANDARD_SCALES {
            let workload = standard(name, 1, 1).unwrap();
            assert_eq!(workload.name(), name);
            assert!(!workload.tables().is_empty() && !workload.about().is_empty());
        }
        assert!(standard("tpc-h", 1, 1).is_none());
    }
}
