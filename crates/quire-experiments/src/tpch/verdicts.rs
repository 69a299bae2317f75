//! What the paper says of table 6.1 and figure 6.9, judged by our measurements.

use quire_lab::{Verdict, VerdictCase};

use crate::column_tables::{CodecPair, ColumnLayout};
use crate::tpch::machine::TpchMachine;
use crate::tpch::times::{TpchTimes, TpchVariant, query_name};

/// Decompression that the paper aims at, in GB/s.
const DECOMPRESSION_GB_S: f64 = 2.0;

/// All seven, in the order of the text; the third in two parts, the fifth for each processor.
pub(crate) fn all(queries: &[TpchTimes]) -> Vec<Verdict> {
    vec![
        slow_disk(queries),
        fast_disk(queries),
        pax_ratio(queries),
        pax_beside_dsm(queries),
        memory_to_memory(queries),
        decompression(queries),
        decompression_on(queries, TpchMachine::Pentium4),
        decompression_on(queries, TpchMachine::Opteron),
        processing(queries),
        equation(queries),
    ]
}

/// A case for each query that was measured.
fn cases(
    queries: &[TpchTimes],
    judge: impl Fn(&TpchTimes) -> Option<(bool, f64)>,
) -> Vec<VerdictCase> {
    let cases = queries.iter().filter_map(|query| {
        let (holds, value) = judge(query)?;
        Some(VerdictCase {
            name: query_name(query.number).to_owned(),
            holds,
            value,
        })
    });
    cases.collect()
}

fn is_close(share: f64) -> bool {
    (0.8..=1.2).contains(&share)
}

/// How much faster a machine is with compression.
fn gain(query: &TpchTimes, machine: TpchMachine, layout: ColumnLayout) -> Option<f64> {
    query.speed_up(machine, TpchVariant::plain_and_compressed(layout))
}

/// The speed-up by the ratio of bytes, which it is close to if the disk decides.
fn share_of_ratio(query: &TpchTimes, machine: TpchMachine, layout: ColumnLayout) -> Option<f64> {
    Some(gain(query, machine, layout)? / query.ratio(layout)?.max(1e-9))
}

/// (i)
pub(crate) fn slow_disk(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Opteron, ColumnLayout::Dsm)?;
        Some((is_close(share), share))
    });
    let statement = "(i) Opteron, DSM: the speed-up by the compression ratio is 1 within 20 % (the paper: 10 of 11, Q15 0.74)";
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (ii)
pub(crate) fn fast_disk(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Pentium4, ColumnLayout::Dsm)?;
        Some((share < 1.0, share))
    });
    let statement = "(ii) Pentium4, DSM: the speed-up is less than the ratio, since the processor decides (the paper: 11 of 11, Q1 0.30 of it; Q7 and Q15 lose)";
    Verdict::of_all(statement, &cases)
}

/// (iii), its first half.
pub(crate) fn pax_ratio(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Pentium4, ColumnLayout::Pax)?;
        Some((is_close(share), share))
    });
    let statement = "(iii) Pentium4, PAX: the speed-up by the ratio of blocks is 1 within 20 % (the paper: 10 of 11, Q15 0.58)";
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (iii), its second half.
pub(crate) fn pax_beside_dsm(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let pax = gain(query, TpchMachine::Pentium4, ColumnLayout::Pax)?;
        let dsm = gain(query, TpchMachine::Pentium4, ColumnLayout::Dsm)?;
        Some((pax > dsm, pax / dsm))
    });
    let statement =
        "(iii) Pentium4: PAX gains more than DSM (the paper: 8 of 11; not Q4, Q6 and Q18)";
    Verdict::at_least(statement, cases.len() * 8 / 11, &cases)
}

/// (iv)
pub(crate) fn memory_to_memory(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let pair = [TpchVariant::DsmToMemory, TpchVariant::DsmToCache];
        let slower = query.speed_up(TpchMachine::Pentium4, pair)?;
        Some((slower > 1.0, slower))
    });
    let statement = "(iv) Pentium4, DSM: M⇒M is slower than M⇒C (the paper: 11 of 11)";
    Verdict::of_all(statement, &cases)
}

/// (v), on our processor.
pub(crate) fn decompression(queries: &[TpchTimes]) -> Verdict {
    let statement = "(v) our processor decompresses more than 2 GB/s (the paper: 10 of 11 on each of its own, all but Q7)";
    judged_decompression(queries, statement, |query| {
        let in_memory = query.in_memory(ColumnLayout::Dsm)?;
        Some(in_memory.compressed.decompression_bandwidth())
    })
}

/// (v), as fast as the paper's processor would be.
pub(crate) fn decompression_on(queries: &[TpchTimes], machine: TpchMachine) -> Verdict {
    let name = machine.name();
    let statement = format!(
        "(v) {name}, by its slowness: decompression of more than 2 GB/s (the paper: 10 of 11, all but Q7)"
    );
    judged_decompression(queries, &statement, |query| {
        query.decompression_bandwidth(machine, ColumnLayout::Dsm)
    })
}

fn judged_decompression(
    queries: &[TpchTimes],
    statement: &str,
    bandwidth: impl Fn(&TpchTimes) -> Option<f64>,
) -> Verdict {
    let cases = cases(queries, |query| {
        let gigabytes = bandwidth(query)? / 1e9;
        Some((gigabytes > DECOMPRESSION_GB_S, gigabytes))
    });
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (vi): the paper's figure has no numbers. A query is left out if its decompression took as long as all of it, as far as clocks can tell: nothing is left to
/// compare.
pub(crate) fn processing(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let CodecPair { compressed, plain } = query.in_memory(ColumnLayout::Dsm)?;
        let alone = |seconds: f64, decode_seconds: f64| {
            let seconds = seconds - decode_seconds;
            (seconds > 0.0).then_some(seconds)
        };
        let share = alone(compressed.seconds, compressed.decode_seconds)?
            / alone(plain.seconds, plain.decode_seconds)?;
        Some((share <= 1.0, share))
    });
    let statement = "(vi) without decompression (of uncompressed tables: without copying) most queries need less of the processor over compressed tables (the paper: slightly less)";
    Verdict::at_least(statement, cases.len() / 2 + 1, &cases)
}

/// (vii)
pub(crate) fn equation(queries: &[TpchTimes]) -> Verdict {
    let mut all = Vec::new();
    for machine in TpchMachine::ALL {
        for layout in [ColumnLayout::Dsm, ColumnLayout::Pax] {
            for variant in TpchVariant::plain_and_compressed(layout) {
                let of_variant = cases(queries, |query| {
                    let time = query.on(machine, variant)?;
                    let terms = query.terms(machine, layout)?;
                    let calculated = terms.seconds(variant.codecs(), time.device_bandwidth());
                    let share = calculated / time.seconds.max(1e-9);
                    Some((is_close(share), share))
                });
                all.extend(of_variant.into_iter().map(|case| VerdictCase {
                    name: format!("{} on {}, {}", case.name, machine.name(), variant.name()),
                    ..case
                }));
            }
        }
    }
    let statement = "(vii) equation 6.1 gives the bandwidth of results within 20 %";
    Verdict::of_all(statement, &all)
}
