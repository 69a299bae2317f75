//! What the paper says of table 6.1 and figure 6.9, judged by our measurements.

use crate::column_tables::{CodecPair, ColumnCodecs};
use crate::tpch::measure::{TpchMachine, TpchTimes, TpchVariant, query_name};
use crate::verdict::{Verdict, VerdictCase};

const DSM: [TpchVariant; 2] = [TpchVariant::DsmPlain, TpchVariant::DsmToCache];
const PAX: [TpchVariant; 2] = [TpchVariant::PaxPlain, TpchVariant::PaxToCache];

/// All seven, in the order of the text; the third in two parts.
pub(crate) fn all(queries: &[TpchTimes]) -> Vec<Verdict> {
    vec![
        slow_disk(queries),
        fast_disk(queries),
        pax_ratio(queries),
        pax_beside_dsm(queries),
        memory_to_memory(queries),
        decompression(queries),
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

/// The speed-up by the ratio of bytes, which it is close to if the disk decides.
fn share_of_ratio(
    query: &TpchTimes,
    machine: TpchMachine,
    variants: [TpchVariant; 2],
) -> Option<f64> {
    Some(query.speed_up(machine, variants)? / query.ratio(variants)?.max(1e-9))
}

/// (i)
pub(crate) fn slow_disk(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Opteron, DSM)?;
        Some((is_close(share), share))
    });
    let statement =
        "(i) Opteron, DSM: the speed-up is the compression ratio within 20 % (the paper: 10 of 11)";
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (ii)
pub(crate) fn fast_disk(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Pentium4, DSM)?;
        Some((share < 1.0, share))
    });
    let statement = "(ii) Pentium4, DSM: the speed-up is less than the ratio, since the processor decides (the paper: 11 of 11)";
    Verdict::of_all(statement, &cases)
}

/// (iii), its first half.
pub(crate) fn pax_ratio(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let share = share_of_ratio(query, TpchMachine::Pentium4, PAX)?;
        Some((is_close(share), share))
    });
    let statement =
        "(iii) Pentium4, PAX: the speed-up is the ratio within 20 % (the paper: 10 of 11)";
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (iii), its second half.
pub(crate) fn pax_beside_dsm(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let pax = query.speed_up(TpchMachine::Pentium4, PAX)?;
        let dsm = query.speed_up(TpchMachine::Pentium4, DSM)?;
        Some((pax > dsm, pax / dsm))
    });
    let statement = "(iii) Pentium4: PAX gains more than DSM (the paper: 8 of 11)";
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

/// (v)
pub(crate) fn decompression(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let gigabytes = query.in_memory.compressed.decompression_bandwidth() / 1e9;
        Some((gigabytes > 2.0, gigabytes))
    });
    let statement =
        "(v) decompression delivers more than 2 GB/s (the paper: 10 of 11 on both machines)";
    Verdict::at_least(statement, cases.len().saturating_sub(1), &cases)
}

/// (vi): the paper's figure has no numbers.
pub(crate) fn processing(queries: &[TpchTimes]) -> Verdict {
    let cases = cases(queries, |query| {
        let CodecPair { compressed, plain } = query.in_memory;
        let alone = |seconds: f64, decode_seconds: f64| (seconds - decode_seconds).max(1e-9);
        let share = alone(compressed.seconds, compressed.decode_seconds)
            / alone(plain.seconds, plain.decode_seconds);
        Some((share <= 1.0, share))
    });
    let statement = "(vi) without decompression most queries need less of the processor over compressed tables than over others (the paper: slightly less)";
    Verdict::at_least(statement, cases.len() / 2 + 1, &cases)
}

/// (vii)
pub(crate) fn equation(queries: &[TpchTimes]) -> Verdict {
    let mut all = Vec::new();
    for machine in [TpchMachine::Pentium4, TpchMachine::Opteron] {
        for variant in DSM {
            let of_variant = cases(queries, |query| {
                let codecs: ColumnCodecs = variant.codecs()?;
                let time = query.on(machine, variant)?;
                let calculated = query.terms()?.seconds(codecs, time.device_bandwidth());
                let share = calculated / time.seconds.max(1e-9);
                Some((is_close(share), share))
            });
            all.extend(of_variant.into_iter().map(|case| VerdictCase {
                name: format!("{} on {}, {}", case.name, machine.name(), variant.name()),
                ..case
            }));
        }
    }
    let statement = "(vii) equation 6.1 gives the bandwidth of results within 20 %";
    Verdict::of_all(statement, &all)
}
