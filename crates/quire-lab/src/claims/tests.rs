//! Claims judged on figures that are made up: on the paper's own numbers where it prints some, and on others that contradict it.

use super::{PACKED_TUPLES, judge};
use crate::figure::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin};
use crate::verdict::Verdict;
use crate::verdict::VerdictOutcome::{self, Deviates, Fails, Holds, NotMeasured};

fn figure(stem: &'static str, positions: Positions, series: &[(&str, &[f64])]) -> Figure {
    Figure {
        stem,
        title: String::new(),
        paper: Paper::SuperScalarCompression,
        number: "",
        chart: Chart::Lines,
        x: Axis::linear("", "%"),
        y: Axis::linear("", ""),
        positions,
        series: series
            .iter()
            .map(|(name, values)| Series::new(*name, SeriesOrigin::Measured, values.to_vec()))
            .collect(),
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

fn outcomes(mut figure: Figure) -> Vec<VerdictOutcome> {
    judge(std::slice::from_mut(&mut figure));
    let verdicts = figure.verdicts.into_iter();
    verdicts.map(|verdict| verdict.outcome).collect()
}

fn by_labels(
    stem: &'static str,
    labels: &[&str],
    series: &[(&str, &[f64])],
) -> Vec<VerdictOutcome> {
    outcomes(figure(
        stem,
        Positions::labels(labels.iter().copied()),
        series,
    ))
}

fn by_rates(stem: &'static str, rates: &[f64], series: &[(&str, &[f64])]) -> Vec<VerdictOutcome> {
    outcomes(figure(stem, Positions::Numbers(rates.to_vec()), series))
}

#[test]
fn a_figure_without_the_series_is_not_judged() {
    for stem in ["length-decoding", "iterator-models", "paper-3-figure-5"] {
        assert_eq!(by_labels(stem, &["a"], &[]), [NotMeasured], "{stem}");
    }
    assert_eq!(by_rates("figure-6.6", &[10.0], &[]), [NotMeasured; 2]);
    assert!(by_labels("no-claim-of-this", &["a"], &[]).is_empty());
}

#[test]
fn what_the_paper_prints_is_not_judged_as_ours() {
    let mut figure = figure("iterator-models", Positions::labels(["a"]), &[]);
    for name in ["classic", "extended"] {
        figure.series.push(Series::paper(name, vec![Some(2.0)]));
    }
    assert_eq!(outcomes(figure), [NotMeasured]);
}

#[test]
fn naive_decoding_is_judged_for_fields_of_queries_alone() {
    let labels = ["first field", "fields of Q6", "fields of Q1"];
    let of = |ratios: [f64; 3]| by_labels("length-decoding", &labels, &[("ratio", &ratios)]);
    assert_eq!(of([1.0, 3.0, 3.0]), [Holds]);
    assert_eq!(of([3.0, 3.0, 1.5]), [Fails]);
}

#[test]
fn tuples_without_compression_are_judged_beside_fixed_places() {
    let of = |layout: f64| {
        let series: [(&str, &[f64]); 2] = [
            ("fixed places", &[10.0]),
            ("Quire, the same bytes", &[layout]),
        ];
        by_labels("uncompressed-tuples", &["a decimal"], &series)
    };
    assert_eq!(of(10.5), [Holds]);
    assert_eq!(of(12.0), [Fails]);
}

#[test]
fn tuples_and_iterators_are_judged_by_the_ratio_of_their_times() {
    let labels = ["R, all fields", "R, last field"];
    let of = |encoding: f64| {
        let decoding = "decoding, a table for each length byte";
        let series: [(&str, &[f64]); 2] =
            [("encoding", &[encoding, 1.0]), (decoding, &[74.0, 10.0])];
        by_labels("whole-tuples", &labels, &series)
    };
    assert_eq!(of(227.0), [Holds]);
    assert_eq!(of(90.0), [Fails]);
    let of = |extended: f64| {
        let series: [(&str, &[f64]); 2] = [("classic", &[90.0]), ("extended", &[extended])];
        by_labels("iterator-models", &["tuples"], &series)
    };
    assert_eq!(of(60.0), [Holds]);
    assert_eq!(of(95.0), [Fails]);
}

#[test]
fn decompression_is_judged_over_all_rates() {
    let rates = [0.0, 10.0, 50.0, 100.0];
    let of = |patched: [f64; 4], naive: [f64; 4]| {
        let series: [(&str, &[f64]); 4] = [
            ("NAIVE PFOR", &naive),
            ("PFOR", &patched),
            ("NAIVE PDICT", &naive),
            ("PDICT", &patched),
        ];
        by_rates("figure-6.4", &rates, &series)
    };
    // As the paper draws it.
    let (patched, naive) = ([5.0, 4.0, 3.0, 2.0], [4.0, 2.0, 1.0, 1.5]);
    assert_eq!(of(patched, naive), [Holds; 4]);
    // Slower than NAIVE at one rate, and under the aim.
    let slow = [5.0, 1.8, 1.7, 1.6];
    assert_eq!(of(slow, naive), [Fails, Holds, Holds, Fails]);
    // NAIVE without mispredicted branches, as on Itanium; patched decompression that gets faster.
    assert_eq!(
        of([5.0, 4.0, 3.0, 4.0], [4.0, 3.0, 2.0, 2.0]),
        [Holds, Fails, Fails, Holds]
    );
}

#[test]
fn compression_and_general_codecs_are_judged_by_the_aims() {
    let of = |cursors: [f64; 3]| {
        let series: [(&str, &[f64]); 2] = [("PFOR PRED", &[1.5; 3]), ("PFOR DC", &cursors)];
        by_rates("figure-6.5", &[0.0, 50.0, 100.0], &series)
    };
    // Faster, the same, and somewhat slower.
    assert_eq!(of([2.0, 1.5, 1.2]), [Holds, Holds]);
    assert_eq!(of([1.5, 1.2, 0.9]), [Fails, Fails]);
    let of = |schemes: f64| {
        let series: [(&str, &[f64]); 2] = [
            ("PFOR, PFOR-DELTA or PDICT", &[schemes]),
            ("lzrw1", &[500.0]),
        ];
        by_labels("figure-6.2-decompression", &["l_shipdate"], &series)
    };
    assert_eq!(of(2_000.0), [Holds, Holds]);
    assert_eq!(of(1_900.0), [Fails, Fails]);
}

#[test]
fn compulsory_exceptions_deviate_with_the_exact_expectation() {
    let of = |two_bits: f64| {
        let series: [(&str, &[f64]); 4] = [
            ("1 bit", &[47.0]),
            ("1 bit, exact expectation", &[45.7]),
            ("2 bits", &[two_bits]),
            ("2 bits, exact expectation", &[25.8]),
        ];
        by_rates("figure-6.6", &[10.0], &series)
    };
    assert_eq!(of(22.0), [Holds, Holds]);
    assert_eq!(of(25.8), [Holds, Deviates]);
}

#[test]
fn cache_and_memory_are_judged_each_way_and_flatness_by_the_extremes() {
    let of = |cache: f64, memory: [f64; 2]| {
        let cache = [cache; 2];
        let series: [(&str, &[f64]); 8] = [
            ("PFOR into cache", &cache),
            ("PFOR into memory", &memory),
            ("PFOR into cache, then summed", &cache),
            ("PFOR into memory, then summed", &memory),
            ("PFOR into pages of 128 KiB, then summed", &memory),
            ("PFOR into pages of 1 MiB, then summed", &memory),
            ("Quire pfor into cache", &cache),
            ("Quire pfor into memory", &memory),
        ];
        by_rates("figure-6.7", &[0.0, 30.0], &series)
    };
    assert_eq!(of(4.0, [2.0, 1.9]), [Holds; 6]);
    assert_eq!(of(3.0, [4.0, 2.0]), [Fails; 6]);
}

#[test]
fn one_value_costs_an_access_to_memory_at_most() {
    let of = |cycles: f64| {
        let series: [(&str, &[f64]); 2] = [("PFOR", &[20.0, cycles]), ("PDICT", &[20.0, 30.0])];
        by_rates("fine-grained-cycles", &[0.0, 30.0], &series)
    };
    assert_eq!(of(200.0), [Holds]);
    assert_eq!(of(410.0), [Fails]);
}

#[test]
fn table_6_2_holds_on_the_papers_own_values() {
    let codecs = ["PFOR-DELTA", "carryover-12", "huffman"];
    let ratios: [(&str, &[f64]); 2] =
        [("INEX", &[1.75, 2.12, 2.45]), ("fbis", &[3.47, 4.26, 5.11])];
    assert_eq!(by_labels("table-6.2-ratio", &codecs, &ratios), [Holds]);
    let worse: [(&str, &[f64]); 1] = [("fbis", &[3.0, 4.26, 5.11])];
    assert_eq!(by_labels("table-6.2-ratio", &codecs, &worse), [Fails]);
    let speeds: [(&str, &[f64]); 2] = [
        ("INEX", &[3053.0, 524.0, 82.0]),
        ("fr94", &[3196.0, 689.0, 154.0]),
    ];
    assert_eq!(
        by_labels("table-6.2-decompression", &codecs, &speeds),
        [Holds]
    );
    let worse: [(&str, &[f64]); 1] = [("fr94", &[2000.0, 689.0, 154.0])];
    assert_eq!(
        by_labels("table-6.2-decompression", &codecs, &worse),
        [Fails]
    );
}

#[test]
fn the_retrieval_query_is_judged_by_the_uncompressed_list() {
    let lists = ["uncompressed", "PFOR-DELTA", "carryover-12", "huffman"];
    let of = |query: [f64; 4]| {
        by_labels(
            "retrieval-device-350",
            &lists,
            &[("like TREC fbis", &query)],
        )
    };
    // The paper's.
    assert_eq!(of([350.0, 504.0, 325.0, 128.0]), [Holds, Holds]);
    assert_eq!(of([350.0, 340.0, 360.0, 128.0]), [Fails, Deviates]);
    let of = |measured: f64| {
        let series: [(&str, &[f64]); 2] = [
            ("PFOR-DELTA", &[measured]),
            ("PFOR-DELTA, equation 6.1", &[500.0]),
        ];
        let mut figure = figure(
            "retrieval-equation-6.1",
            Positions::Numbers(vec![350.0]),
            &series,
        );
        figure.series[1].origin = SeriesOrigin::Calculated;
        outcomes(figure)
    };
    assert_eq!(of(410.0), [Holds]);
    assert_eq!(of(390.0), [Fails]);
}

#[test]
fn blocks_of_paper_3_are_judged_by_lz4_and_zlib() {
    let of = |zlib: f64| {
        let series: [(&str, &[f64]); 2] = [("lz4", &[1.1, 1.3]), ("zlib", &[1.2, zlib])];
        by_rates("paper-3-figure-4", &[10.0, 60.0], &series)
    };
    assert_eq!(of(1.5), [Holds]);
    assert_eq!(of(1.2), [Fails]);
    let of = |lz4: f64| {
        let series: [(&str, &[f64]); 2] = [("lz4", &[1.0, lz4]), ("zlib", &[1.3, 1.7])];
        by_rates("paper-3-figure-5", &[2.0, 24.0], &series)
    };
    assert_eq!(of(1.8), [Holds]);
    assert_eq!(of(1.2), [Fails]);
}

#[test]
fn transforms_are_judged_by_the_papers_order() {
    let transforms = ["rows", "r2c", "rlt", "clt", "xor", "xor_rlt"];
    let of = |lz4: [f64; 6], zlib: [f64; 6]| {
        let series: [(&str, &[f64]); 2] = [("lz4", &lz4), ("zlib", &zlib)];
        by_labels("paper-3-figure-8a", &transforms, &series)
    };
    let lz4 = [1.0, 1.01, 1.4, 2.0, 1.2, 1.5];
    let zlib = [1.0, 1.01, 1.4, 2.0, 1.5, 1.6];
    assert_eq!(of(lz4, zlib), [Holds; 5]);
    // Under zlib RLT is ahead of XOR, and of all but CLT.
    let rlt_first = [1.0, 1.01, 1.7, 2.0, 1.5, 1.6];
    assert_eq!(of(lz4, rlt_first), [Holds, Holds, Fails, Holds, Fails]);
    let clt_behind = [1.0, 1.01, 1.4, 1.3, 1.2, 1.5];
    assert_eq!(of(clt_behind, zlib), [Holds, Holds, Holds, Fails, Holds]);
    let columns_gain = [1.0, 1.2, 1.4, 2.0, 1.5, 1.6];
    assert_eq!(of(lz4, columns_gain), [Fails, Holds, Holds, Holds, Holds]);
}

#[test]
fn verdicts_on_two_ratios_name_both() {
    let series: [(&str, &[f64]); 1] = [("zlib", &[1.5, 1.25])];
    let labels = Positions::labels(["xor", "rlt"]);
    let mut figures = [figure("paper-3-figure-8a", labels, &series)];
    judge(&mut figures);
    let texts: Vec<String> = figures[0].verdicts.iter().map(Verdict::text).collect();
    let expected = "holds: XOR is ahead of RLT under zlib: zlib: xor 1.50, rlt 1.25";
    assert!(texts.contains(&expected.to_owned()), "{texts:?}");
}

#[test]
fn small_integers_are_judged_beside_large_ones() {
    let of = |small: f64| {
        let figure = |stem, clt| {
            let labels = Positions::labels(["rows", "clt"]);
            figure(stem, labels, &[("lz4", &[1.0, clt])])
        };
        let mut figures = [
            figure("paper-3-figure-8a", 1.4),
            figure("paper-3-figure-8b", small),
        ];
        judge(&mut figures);
        let verdict = figures[1].verdicts.last().unwrap();
        (verdict.outcome, verdict.finding.clone())
    };
    let finding = "lz4, clt: small % 100.00, large % 40.00".to_owned();
    assert_eq!(of(2.0), (Holds, finding));
    assert_eq!(of(1.3).0, Fails);
}

#[test]
fn conversions_are_judged_by_the_papers_times() {
    let transforms = ["rows", "r2c", "rlt", "clt", "xor", "xor_rlt"];
    let of = |stem: &'static str, times: [[f64; 6]; 4]| {
        let [short_to, short_from, long_to, long_from] = &times;
        let series: [(&str, &[f64]); 4] = [
            ("2 bytes, to storage", short_to),
            ("2 bytes, to memory", short_from),
            ("8 bytes, to storage", long_to),
            ("8 bytes, to memory", long_from),
        ];
        by_labels(stem, &transforms, &series)
    };
    // Figure 7 of the paper: 16.7 and 6.6 µs, and what each takes longer.
    let paper = |r2c: f64| [1.0, r2c, r2c + 5.0, r2c + 15.0, r2c + 3.0, r2c + 8.0];
    let (short, long) = (paper(16.7), paper(6.6));
    for stem in [
        "paper-3-figure-7",
        "paper-3-figure-7-fields",
        "paper-3-figure-7-leaf",
    ] {
        assert_eq!(of(stem, [short, short, long, long]), [Holds; 6]);
    }
    // Everything takes as long, and twice as long to storage.
    let flat = |us: f64| [us; 6];
    let expected = [Deviates, Deviates, Fails, Fails, Holds, Fails];
    let times = [flat(80.0), flat(40.0), flat(80.0), flat(40.0)];
    assert_eq!(of("paper-3-figure-7", times), expected);
}

#[test]
fn the_drive_is_judged_by_its_transforms_and_beside_page_compression() {
    let transforms = ["rows", "r2c", "rlt", "clt", "xor", "xor_rlt"];
    let full = |table: [f64; 6]| {
        let series: [(&str, &[f64]); 1] = [("plain tuples, zlib drive", &table)];
        by_labels("paper-3-figure-11-full", &transforms, &series)
    };
    // The paper: 2.08, and how much better the others are.
    let gains = [1.0, 1.206, 1.305, 1.449, 1.375, 1.408];
    let paper = gains.map(|gain| 2.08 * gain);
    assert_eq!(full(paper), [Holds, Holds]);
    assert_eq!(full([2.0, 1.9, 2.1, 2.2, 2.1, 2.3]), [Fails, Fails]);
    let aged = |drive: [f64; 6], pages: f64, full: f64| {
        let (pages, full) = ([pages; 6], drive.map(|ratio| ratio * full));
        let series: [(&str, &[f64]); 4] = [
            ("zlib drive", &drive),
            ("zlib drive, leaves built in order", &full),
            ("page compression, LZ4", &pages),
            ("page compression, zlib", &pages),
        ];
        by_labels("paper-3-figure-11", &transforms, &series)
    };
    assert_eq!(aged(paper, 1.9, 0.8), [Holds; 5]);
    let system = |packed: f64| {
        let drive = [&paper[..], &[packed]].concat();
        let positions = [&transforms[..], &[PACKED_TUPLES]].concat();
        by_labels(
            "paper-3-figure-11-system",
            &positions,
            &[("zlib drive", &drive)],
        )
    };
    // The last is our own bar, of 3.33 here.
    assert_eq!(system(3.4)[5..], [Holds]);
    assert_eq!(system(3.2)[5..], [Fails]);
    let xor_behind = [2.0, 2.3, 2.6, 2.9, 2.5, 2.7];
    assert_eq!(
        aged(xor_behind, 2.2, 1.1),
        [Holds, Holds, Fails, Fails, Fails]
    );
}

#[test]
fn strings_are_judged_by_columns_and_rows() {
    let of = |columns: f64| {
        let series: [(&str, &[f64]); 4] = [
            ("lz4, rows", &[1.0]),
            ("lz4, columns", &[1.27]),
            ("zlib, rows", &[1.5]),
            ("zlib, columns", &[columns]),
        ];
        by_labels("paper-3-figure-9", &["fixed"], &series)
    };
    assert_eq!(of(2.0), [Holds, Holds, NotMeasured]);
    assert_eq!(of(1.4), [Fails, Holds, NotMeasured]);
    assert_eq!(of(1.2), [Fails, Fails, NotMeasured]);
    let lengths = |variable: f64| {
        let series: [(&str, &[f64]); 1] = [("zlib, columns", &[1.8, variable])];
        by_labels("paper-3-figure-9", &["fixed", "variable"], &series)
    };
    assert_eq!(lengths(1.7), [NotMeasured, NotMeasured, Holds]);
    assert_eq!(lengths(1.9), [NotMeasured, NotMeasured, Fails]);
}

/// Values as the model has them with the paper's numbers; the last two series of figure 3 are this machine's.
#[test]
fn page_access_is_judged_by_where_uncompressed_pages_pass() {
    let sizes = [4.0, 16.0, 20.0, 32.0];
    let uncompressed = [2_671.0, 2_137.0, 2_109.0, 2_068.0];
    let paper_zlib = [4_061.0, 2_155.0, 2_090.0, 1_998.0];
    let paper_lz4hc = [9_815.0, 3_661.0, 3_517.0, 3_314.0];
    let of = |zlib: [f64; 4], lz4hc: [f64; 4]| {
        let series: [(&str, &[f64]); 5] = [
            ("uncompressed", &uncompressed),
            ("zlib, the paper's codec", &paper_zlib),
            ("lz4hc, the paper's codec", &paper_lz4hc),
            ("zlib, this machine's codec", &zlib),
            ("lz4hc, this machine's codec", &lz4hc),
        ];
        by_rates("paper-4-figure-3", &sizes, &series)
    };
    assert_eq!(of(paper_zlib, paper_lz4hc), [Holds; 4]);
    // Faster than the paper's everywhere, and ahead of lz4hc with the least data.
    let fast_zlib = [9_900.0, 3_000.0, 2_900.0, 2_800.0];
    let expected = [Holds, Deviates, Holds, Deviates];
    assert_eq!(of(fast_zlib, paper_lz4hc), expected);
    // Hits do not explain that zlib is ahead with the most data.
    let fast_zlib = [9_800.0, 3_000.0, 2_900.0, 3_400.0];
    let expected = [Holds, Deviates, Holds, Fails];
    assert_eq!(of(fast_zlib, paper_lz4hc), expected);
    // Passed too early, and too late without being faster everywhere; lz4hc behind uncompressed pages.
    let early = [4_000.0, 2_100.0, 2_000.0, 1_900.0];
    let late = [4_000.0, 2_200.0, 2_110.0, 1_900.0];
    let slow = [9_815.0, 3_661.0, 2_200.0, 2_060.0];
    for zlib in [early, late] {
        assert_eq!(of(zlib, slow), [Holds, Fails, Holds, Fails]);
    }
    let nothing = by_rates("paper-4-figure-3", &sizes, &[]);
    assert_eq!(nothing, [NotMeasured; 4]);
}

#[test]
fn the_papers_codecs_are_judged_as_this_machines() {
    let sizes = [16.0, 20.0];
    let of = |zlib: [f64; 2], lz4hc: [f64; 2]| {
        let series: [(&str, &[f64]); 3] = [
            ("uncompressed", &[2_137.0, 2_109.0]),
            ("zlib, the paper's codec", &zlib),
            ("lz4hc, the paper's codec", &lz4hc),
        ];
        by_rates("paper-4-figure-3", &sizes, &series)
    };
    let holds = of([2_155.0, 2_090.0], [3_661.0, 3_517.0]);
    assert_eq!(holds, [Holds, NotMeasured, Holds, NotMeasured]);
    let fails = of([2_155.0, 2_110.0], [3_661.0, 2_109.0]);
    assert_eq!(fails, [Fails, NotMeasured, Fails, NotMeasured]);
}

#[test]
fn compression_is_judged_by_records_as_long_as_a_page() {
    let of = |here: f64| {
        let series: [(&str, &[f64]); 3] = [
            ("lz4hc, the paper's codec", &[23.2, 4.5]),
            ("lz4hc, this machine's codec", &[23.2, here]),
            ("write of the page to the SSD", &[0.195, 0.195]),
        ];
        by_rates("paper-4-figure-4", &[64.0, 8_192.0], &series)
    };
    assert_eq!(of(0.2), [Holds, Holds]);
    assert_eq!(of(0.19), [Holds, Fails]);
    let short_records: [(&str, &[f64]); 1] = [("lz4hc, the paper's codec", &[23.2])];
    let outcomes = by_rates("paper-4-figure-4", &[64.0], &short_records);
    assert_eq!(outcomes, [NotMeasured; 2]);
}

#[test]
fn table_vii_is_judged_by_the_equations() {
    let positions = ["uncompressed", "lz4hc", "zlib"];
    let of = |here: [f64; 3]| {
        let series: [(&str, &[f64]); 2] = [
            ("equations 1 and 2", &[94.85, 62.28, 102.36]),
            ("equations 1 and 2, this machine's codecs", &here),
        ];
        by_labels("paper-4-table-7", &positions, &series)
    };
    assert_eq!(of([92.35, 50.0, 55.0]), [Holds, Holds]);
    assert_eq!(of([92.35, 56.0, 55.0]), [Holds, Fails]);
    assert_eq!(of([49.0, 50.0, 55.0]), [Holds, Fails]);
}
