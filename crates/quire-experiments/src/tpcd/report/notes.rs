//! What is to be known of the measurements, and why some of them come out otherwise than the paper's.

use crate::tpcd::benchmark::splits::{LOAD_PARTS, LoadSplit, QUERY_PARTS, QuerySplit};
use crate::tpcd::benchmark::{Results, pool_bytes};
use crate::tpcd::both::Both;
use crate::tpcd::{CommentCodes, Device, Setup, TpcdCompression};

/// What it was measured on, and what is to be known of all of it.
pub(crate) fn notes(setup: &Setup, results: &Results) -> Vec<String> {
    let pool = pool_bytes(setup.scale) as f64 / f64::from(1 << 20);
    let keys = if setup.has_keys {
        "primary keys and two indexes"
    } else {
        "no keys and no indexes, as in the paper"
    };
    let mut notes = vec![
        format!(
            "scale {}, pages of 4 KiB, a pool of {pool:.1} MiB and as much besides for sorts and joins (the paper: both in one), {keys}",
            setup.scale
        ),
        match setup.compression {
            TpcdCompression::Paper => {
                "compressed as in the paper: integers, decimals and lengths of strings null-suppressed, dictionaries for l_returnflag, \
                 l_linestatus and o_orderstatus, dates, region and nation as they are"
            }
            TpcdCompression::PaperAndStrings(CommentCodes::Fsst) => {
                "compressed as in the paper, and comments by FSST, which the paper calls unfair: they are many bytes, and few queries read them"
            }
            TpcdCompression::PaperAndStrings(CommentCodes::Huffman) => {
                "compressed as in the paper, and comments in a Huffman code, which the paper has and calls unfair: they are many bytes, and few \
                 queries read them"
            }
            TpcdCompression::Auto => {
                "compressed as Quire does it by itself, dates, more dictionaries and long strings included: more than the paper compresses"
            }
        }
        .to_owned(),
    ];
    notes.extend(of_machine(setup, results));
    notes.push(match results.other_plans.as_slice() {
        [] => "the plans for compressed and uncompressed tables are the same".to_owned(),
        names => format!("other plans for compressed tables: {}", names.join(", ")),
    });
    notes.push(format!(
        "queries that the tuple engine left to the batch engine: {}",
        results.left
    ));
    notes
}

fn of_machine(setup: &Setup, results: &Results) -> Vec<String> {
    if setup.device == Device::Own {
        return vec![
            "seconds of this machine, which others may be using; nothing is simulated".to_owned(),
        ];
    }
    let mut notes = vec![
        format!(
            "simulated: one processor, of whose seconds {:.1} are one of ours (queries 1 and 6 need as much processor time here as there), and \
             two disks of 6.4 MB/s and 13.2 ms, one of them for the database, read ahead while the processor computes, the other for temporary \
             files of sorts, joins and groups",
            results.slowness
        ),
        "not simulated: caches and memory of that processor; the disk of the rows that are loaded, which cost their processor time only; temporary \
         files of loads that sort, which tables without keys do not need"
            .to_owned(),
        "plans are made for the simulated machine: costs of its disks, and those of processors times the same factor (SET costs); they are added up, \
         though disk and processor work at the same time"
            .to_owned(),
    ];
    if setup.scale < 1.0 {
        notes.push(
            "below scale 1 the pool and the blocks of temporary files are smaller, and the disk's 13.2 ms are not: queries that spill take longer than in proportion"
                .to_owned(),
        );
    }
    notes
}

/// Why a total is less or more over compressed tables: its parts, and the one that does most for it.
fn difference(what: &str, [compressed, plain]: Both<LoadSplit>) -> String {
    let names = LOAD_PARTS.into_iter().chain(["waiting for the disk"]);
    let seconds = |split: &LoadSplit| split.seconds().into_iter().chain([split.waiting]);
    let both = seconds(&compressed).zip(seconds(&plain));
    let parts = names.zip(both);
    let parts: Vec<(&str, f64)> = parts
        .map(|(name, (one, other))| (name, one - other))
        .collect();
    decisive(what, &parts)
}

/// `parts`: how many seconds more each of them takes over compressed tables.
fn decisive(what: &str, parts: &[(&str, f64)]) -> String {
    let total: f64 = parts.iter().map(|(_, more)| more).sum();
    let direction = total.signum();
    let most = parts
        .iter()
        .max_by(|(_, one), (_, other)| (one * direction).total_cmp(&(other * direction)));
    let shown: Vec<String> = parts
        .iter()
        .map(|(name, more)| format!("{name} {more:+.3} s"))
        .collect();
    let word = if total < 0.0 { "less" } else { "more" };
    let (name, more) = most.copied().unwrap_or_default();
    format!(
        "{what} takes {:.3} s {word} over compressed tables ({}); what decides is {name}, with {more:+.3} s",
        total.abs(),
        shown.join(", ")
    )
}

fn sum(splits: impl Iterator<Item = Both<LoadSplit>>) -> Option<Both<LoadSplit>> {
    let add = |one: LoadSplit, other: LoadSplit| LoadSplit {
        files: one.files + other.files,
        parsing: one.parsing + other.parsing,
        tuples: one.tuples + other.tuples,
        rest: one.rest + other.rest,
        waiting: one.waiting + other.waiting,
    };
    splits.reduce(|[packed, plain], [more_packed, more_plain]| {
        [add(packed, more_packed), add(plain, more_plain)]
    })
}

/// Why loads take longer or not so long.
pub(crate) fn loads(results: &Results) -> Option<String> {
    let split = sum(results.tables.iter().filter_map(|table| table.split))?;
    Some(format!(
        "{}; in the paper parsing a character at a time and compressing tuples are nearly all of a load",
        difference("loading", split)
    ))
}

/// Why UF1 takes longer or not so long.
pub(crate) fn inserting(results: &Results) -> Option<String> {
    let split = results.inserting?;
    Some(difference("UF1", split))
}

/// Why queries need more or not so much of the processor.
pub(crate) fn computing(results: &Results) -> Option<String> {
    let queries = results.queries.iter().filter(|query| query.is_of_tpcd);
    let splits: Vec<_> = queries.filter_map(|query| query.split).collect();
    let more = |part: usize| -> f64 {
        let seconds = |split: &QuerySplit| split.seconds().get(part).copied().unwrap_or_default();
        let each = splits
            .iter()
            .map(|[compressed, plain]| seconds(compressed) - seconds(plain));
        each.sum()
    };
    let parts = QUERY_PARTS.into_iter().enumerate();
    let parts: Vec<(&str, f64)> = parts.map(|(part, name)| (name, more(part))).collect();
    let reason = decisive("what the processor does in queries", &parts);
    (!splits.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_what_does_most_in_the_direction_of_the_whole() {
        let plain = LoadSplit {
            files: 2.0,
            parsing: 4.0,
            tuples: 1.0,
            rest: 8.0,
            waiting: 9.0,
        };
        let less = LoadSplit {
            files: 1.0,
            parsing: 4.0,
            tuples: 3.0,
            rest: 5.0,
            waiting: 9.0,
        };
        let text = difference("loading", [less, plain]);
        assert!(text.contains("loading takes 2.000 s less"), "{text}");
        assert!(text.contains("making tuples +2.000 s"), "{text}");
        assert!(
            text.ends_with("pages and the rest, with -3.000 s"),
            "{text}"
        );
        let text = difference("loading", [plain, less]);
        assert!(text.contains("2.000 s more"), "{text}");
        let dear = LoadSplit {
            tuples: 5.0,
            ..plain
        };
        let text = difference("UF1", [dear, plain]);
        assert!(text.ends_with("making tuples, with +4.000 s"), "{text}");
        // The processor has more to do, and the disk less.
        let late = LoadSplit {
            waiting: 1.0,
            ..dear
        };
        let text = difference("loading", [late, plain]);
        assert!(text.contains("4.000 s less"), "{text}");
        assert!(
            text.ends_with("waiting for the disk, with -8.000 s"),
            "{text}"
        );
    }

    #[test]
    fn fewer_pages_can_decide_although_decoding_takes_longer() {
        let parts = [("pages", -5.0), ("decoding", 2.0), ("operators", 0.0)];
        let text = decisive("it", &parts);
        assert!(text.starts_with("it takes 3.000 s less"), "{text}");
        assert!(text.ends_with("pages, with -5.000 s"), "{text}");
    }
}
