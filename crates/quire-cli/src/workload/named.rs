//! Workloads by their names.

use quire_workload::Workload;
use quire_workload::workloads::KeyDistribution;
use quire_workload::workloads::baidu::{BaiduRead, BaiduReadOptions, BaiduWrite, HotKeyPlaces};
use quire_workload::workloads::calling_circle::CallingCircle;
use quire_workload::workloads::order_entry::{OrderEntry, OrderEntryWeights};
use quire_workload::workloads::stress_test::StressTest;
use quire_workload::workloads::sysbench::{Sysbench, SysbenchOptions, SysbenchTest, TableShape};
use quire_workload::workloads::tpc_b::TpcB;
use quire_workload::workloads::tpc_c::{TpcC, TpcCScale};

use super::arguments::{DistributionName, WorkloadArguments, WorkloadName};

/// Rows of a table of sysbench or of paper 4 at scale 1.
const ROWS: f64 = 100_000.0;

/// How often the rows of paper 4 are read, unless another distribution is named.
const BAIDU_EXPONENT: f64 = 0.9;

/// The workload that is asked for. Each call gives one of its own: users of a run share what has to be distinct.
pub(super) fn workload(arguments: &WorkloadArguments) -> Box<dyn Workload> {
    let (scale, seed) = (arguments.scale, arguments.seed);
    let whole = |factor: f64| ((scale * factor).round() as u32).max(1);
    match arguments.workload {
        WorkloadName::OrderEntry => {
            let workload = OrderEntry::new(scale, seed);
            if arguments.paper_weights {
                Box::new(workload.weighted(OrderEntryWeights::Paper))
            } else {
                Box::new(workload)
            }
        }
        WorkloadName::CallingCircle => Box::new(CallingCircle::new(scale, seed)),
        WorkloadName::StressTest => Box::new(StressTest::new(seed)),
        WorkloadName::SysbenchPointSelect => sysbench(arguments, SysbenchTest::PointSelect),
        WorkloadName::SysbenchReadOnly => sysbench(arguments, SysbenchTest::ReadOnly),
        WorkloadName::SysbenchWriteOnly => sysbench(arguments, SysbenchTest::WriteOnly),
        WorkloadName::SysbenchReadWrite => sysbench(arguments, SysbenchTest::ReadWrite),
        WorkloadName::BaiduRead => Box::new(BaiduRead::new(BaiduReadOptions {
            rows: whole(ROWS),
            exponent: match arguments.distribution {
                Some(DistributionName::Zipf(exponent)) => exponent,
                Some(DistributionName::Uniform) => 0.0,
                _ => BAIDU_EXPONENT,
            },
            places: HotKeyPlaces::Scattered,
            seed,
        })),
        WorkloadName::BaiduWrite => Box::new(BaiduWrite {
            users: arguments.users,
            rows_of_table: whole(ROWS),
            seed,
        }),
        WorkloadName::TpcC => Box::new(TpcC::new(TpcCScale::full(whole(1.0)), seed)),
        WorkloadName::TpcB => Box::new(TpcB::new(whole(1.0), seed)),
    }
}

fn sysbench(arguments: &WorkloadArguments, test: SysbenchTest) -> Box<dyn Workload> {
    let options = SysbenchOptions::new(test, arguments.seed);
    Box::new(Sysbench::new(SysbenchOptions {
        shape: if arguments.wide {
            TableShape::Wide
        } else {
            TableShape::Narrow
        },
        tables: arguments.tables,
        rows: ((arguments.scale * ROWS).round() as u32).max(1),
        distribution: match arguments.distribution {
            None => options.distribution,
            Some(DistributionName::Uniform) => KeyDistribution::Uniform,
            Some(DistributionName::Special) => KeyDistribution::Special,
            Some(DistributionName::Zipf(exponent)) => KeyDistribution::Zipf { exponent },
        },
        ..options
    }))
}
