//! What the paper says of figure 6.1, judged by our measurements.

use quire_lab::{Verdict, VerdictCase};

use crate::buffer_pool::times::{NeededBytes, PoolSide, PoolTimes};

/// Pools that have room for the compressed columns or most of them, and not for the values.
const SMALL_PERCENTS: [u32; 2] = [25, 50];

/// All of them.
pub(crate) fn all(pools: &[PoolTimes], needed: &NeededBytes) -> Vec<Verdict> {
    vec![
        reads_less(pools),
        moves_less(pools, needed),
        is_faster(pools),
    ]
}

fn cases<'p>(
    pools: impl IntoIterator<Item = &'p PoolTimes>,
    judge: impl Fn(&PoolTimes) -> (bool, f64),
) -> Vec<VerdictCase> {
    let cases = pools.into_iter().map(|pool| {
        let (holds, value) = judge(pool);
        VerdictCase::new(format!("a pool of {} %", pool.percent), holds, value)
    });
    cases.collect()
}

/// The value of compressed pages by that of uncompressed ones.
fn share(compressed: f64, uncompressed: f64) -> f64 {
    compressed / uncompressed.max(1e-9)
}

/// Introduction of chapter 6, and §6.2.1.
pub(crate) fn reads_less(pools: &[PoolTimes]) -> Verdict {
    let small = pools.iter();
    let small = small.filter(|pool| SMALL_PERCENTS.contains(&pool.percent));
    let cases = cases(small, |pool| {
        let (right, left) = (pool.compressed.disk_bytes, pool.uncompressed.disk_bytes);
        (right < left, share(right, left))
    });
    let claim = "(i) a pool of uncompressed pages \"can cache less data (causing more I/O)\": with 25 and 50 % of the values compressed pages need fewer bytes from the disk";
    Verdict::of_all(claim, &cases)
}

/// Introduction of chapter 6.
pub(crate) fn moves_less(pools: &[PoolTimes], needed: &NeededBytes) -> Verdict {
    let cases = cases(pools, |pool| {
        let sum = |side: PoolSide| pool.of(side).traffic(side, needed).sum();
        let (right, left) = (sum(PoolSide::Compressed), sum(PoolSide::Uncompressed));
        (right < left, share(right, left))
    });
    let claim = "(ii) uncompressed pages move data \"three times in and out of the CPU cache\": compressed ones move fewer bytes between memory and processor, with every pool";
    Verdict::of_all(claim, &cases)
}

/// §6.2.8.
pub(crate) fn is_faster(pools: &[PoolTimes]) -> Verdict {
    let cases = cases(pools, |pool| {
        let (right, left) = (pool.compressed.seconds, pool.uncompressed.seconds);
        (right < left, share(right, left))
    });
    let claim = "(iii) \"RAM-cache decompression is much more efficient than RAM-RAM decompression\": the queries take less time with compressed pages, with every pool";
    Verdict::of_all(claim, &cases)
}
