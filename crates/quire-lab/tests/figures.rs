//! Every experiment gives the figures it should, with values that can be.
#![allow(clippy::unwrap_used)]

use quire_lab::{
    Experiment, Figure, Lab, MeasureEffort, Series, SeriesOrigin, VerdictOutcome, made_up_text,
};

fn run(experiment: Experiment, text: Option<&[u8]>) -> Vec<Figure> {
    let figures = experiment
        .run(&Lab::new(MeasureEffort::Quick), text.as_slice())
        .unwrap();
    for figure in &figures {
        let stem = figure.stem;
        assert!(
            !figure.series.is_empty() && figure.positions.count() > 0,
            "{stem}"
        );
        assert!(
            figure.notes[0].contains("dependent additions per ns"),
            "{stem}"
        );
        // A claim that finds no values looks for series that are not there any more.
        for verdict in &figure.verdicts {
            assert_ne!(verdict.outcome, VerdictOutcome::NotMeasured, "{verdict:?}");
        }
        for series in &figure.series {
            assert_eq!(series.values.len(), figure.positions.count(), "{stem}");
            assert!(series.values.iter().any(Option::is_some), "{stem}");
            let mut values = series.values.iter().flatten();
            // Nothing else can be 0.
            let can_be_zero = stem.ends_with("-branch-misses");
            assert!(
                values.all(|value| value.is_finite() && (*value > 0.0 || can_be_zero)),
                "{stem}: {series:?}"
            );
        }
    }
    figures
}

fn stems(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.stem).collect()
}

fn named<'a>(figures: &'a [Figure], stem: &str) -> &'a Figure {
    figures.iter().find(|figure| figure.stem == stem).unwrap()
}

fn value(figure: &Figure, series: &str, position: &str) -> f64 {
    let place = figure
        .positions
        .names()
        .iter()
        .position(|name| name == position);
    figure.series(series).unwrap().values[place.unwrap()].unwrap()
}

#[test]
fn codecs_measure_the_figures_of_paper_2_on_codecs() {
    let figures = run(Experiment::Codecs, None);
    let expected = [
        "figure-6.2-ratio",
        "figure-6.2-compression",
        "figure-6.2-decompression",
        "figure-6.4",
        "figure-6.4-cycles",
        "figure-6.4-instruction-sets",
        "figure-6.5",
        "figure-6.5-cycles",
        "figure-6.5-instruction-sets",
        "figure-6.6",
        "figure-6.7",
        "equation-6.1",
        "fine-grained",
        "fine-grained-cycles",
        "fine-grained-cold",
        "fine-grained-codecs",
    ];
    // Counters are figures where the kernel gives them, and a note where it refuses.
    let counters = ["-ipc", "-branch-misses"];
    let is_counter = |stem: &str| counters.iter().any(|counter| stem.ends_with(counter));
    let found = stems(&figures).into_iter();
    assert_eq!(
        found.filter(|stem| !is_counter(stem)).collect::<Vec<_>>(),
        expected
    );
    for (stem, ipc) in [
        ("figure-6.4", "figure-6.4-ipc"),
        ("figure-6.5", "figure-6.5-ipc"),
    ] {
        let notes = &named(&figures, stem).notes;
        let refused = notes.iter().any(|note| note.contains("are missing: "));
        assert_ne!(refused, stems(&figures).contains(&ipc), "{stem}");
    }
    assert_eq!(named(&figures, "figure-6.4").series.len(), 5);
    assert_eq!(named(&figures, "figure-6.5").series.len(), 7);
    assert_eq!(named(&figures, "figure-6.7").series.len(), 8);
    assert_eq!(named(&figures, "fine-grained").series.len(), 7);
    check_figure_6_2(&figures);
    check_figure_6_6(named(&figures, "figure-6.6"));
    // Into cache and memory by two layouts, with a query, with pages of two sizes; and flatness.
    assert_eq!(named(&figures, "figure-6.7").verdicts.len(), 6);
}

fn check_figure_6_2(figures: &[Figure]) {
    let ratios = named(figures, "figure-6.2-ratio");
    // The paper's schemes, Quire's choice, LZRW1, bzip2, zlib and four more.
    assert_eq!(ratios.series.len(), 9);
    // A dictionary of 3 strings is 2 bits where a string and its end are 2 bytes; comments are left as they are.
    let flags = value(ratios, "PFOR, PFOR-DELTA or PDICT", "l_returnflag");
    assert!((4.0..=8.0).contains(&flags), "{flags}");
    let schemes = ratios.series("PFOR, PFOR-DELTA or PDICT").unwrap();
    assert_eq!(
        schemes
            .values
            .iter()
            .filter(|value| value.is_none())
            .count(),
        1
    );
    // bzip2 sorts what LZRW1 only remembers.
    for column in ["l_comment", "l_shipinstruct", "l_shipmode"] {
        assert!(value(ratios, "bzip2", column) > value(ratios, "lzrw1", column));
    }
    // 50 values of quantity take 6 bits, 11 of discount 4; entry points and headers come on top.
    for (column, bits) in [("l_quantity", 6.0), ("l_discount", 4.0)] {
        let ratio = value(ratios, "PFOR, PFOR-DELTA or PDICT", column);
        assert!(
            (0.8..=1.0).contains(&(ratio * bits / 32.0)),
            "{column}: {ratio}"
        );
    }
}

fn check_figure_6_6(exceptions: &Figure) {
    // What was thrown is near what is expected, and never less than the data has.
    assert_eq!(exceptions.series.len(), 12);
    for position in ["10", "20", "30"] {
        let measured = value(exceptions, "2 bits", position);
        let expected = value(exceptions, "2 bits, exact expectation", position);
        assert!(
            (measured / expected - 1.0).abs() < 0.15,
            "{measured} {expected}"
        );
    }
}

#[test]
fn transforms_measure_all_figures_of_paper_3() {
    let figures = run(Experiment::Transforms, None);
    let expected = [
        "paper-3-figure-4",
        "paper-3-figure-5",
        "paper-3-figure-7",
        "paper-3-figure-7-fields",
        "paper-3-figure-7-leaf",
        "paper-3-figure-8a",
        "paper-3-figure-8b",
        "paper-3-figure-9",
    ];
    assert_eq!(stems(&figures), expected);
    // The paper's findings that the text states: §III for 4 and 5, §IV-A2 for 8.
    let constant = named(&figures, "paper-3-figure-4");
    assert!(value(constant, "zlib", "50") > value(constant, "lz4", "50"));
    for stem in ["paper-3-figure-8a", "paper-3-figure-8b"] {
        let ratios = named(&figures, stem);
        for codec in ["lz4", "zlib"] {
            for other in ["rows", "r2c", "rlt", "xor", "xor_rlt"] {
                assert!(
                    value(ratios, codec, "clt") > value(ratios, codec, other),
                    "{stem} {other}"
                );
            }
        }
    }
    // Sectors of random bytes cannot be smaller than the whole block is.
    for codec in ["lz4", "zlib"] {
        let sectors = value(constant, &format!("{codec}, 4 KiB"), "50");
        assert!(sectors <= value(constant, codec, "50") * 1.02, "{codec}");
    }
    for stem in [
        "paper-3-figure-7",
        "paper-3-figure-7-fields",
        "paper-3-figure-7-leaf",
    ] {
        let latencies = named(&figures, stem);
        let paper = |name: &str, position: usize| {
            let mut series = latencies.series.iter();
            let of_paper = |one: &&Series| one.origin == SeriesOrigin::Paper && one.name == name;
            series.find(of_paper).unwrap().values[position].unwrap()
        };
        assert_eq!(paper("2 bytes", 3), 16.7 + 15.0);
        assert_eq!(paper("8 bytes", 5), 6.6 + 8.0);
        assert_eq!(paper("page I/O of flash memory", 0), 100.0);
        // The paper names XOR+CLT and prints nothing of it.
        let names = latencies.positions.names();
        let place = names.iter().position(|name| name == "xor_clt").unwrap();
        assert!(names[..6].iter().all(|name| name != "xor_clt"));
        let of_paper = |one: &&Series| one.origin == SeriesOrigin::Paper && one.name == "2 bytes";
        let mut series = latencies.series.iter();
        assert_eq!(series.find(of_paper).unwrap().values[place], None);
        let measured = latencies.series.iter();
        let measured = measured.filter(|one| one.origin == SeriesOrigin::Measured);
        assert_eq!(measured.count(), 6, "{stem}");
        assert_eq!(latencies.verdicts.len(), 6, "{stem}");
    }
    // An image of a leaf costs more than the permutation of bare numbers.
    let of = |stem, transform| value(named(&figures, stem), "2 bytes, to storage", transform);
    assert!(of("paper-3-figure-7-leaf", "clt") > of("paper-3-figure-7-fields", "clt"));
    for (stem, verdicts) in [("paper-3-figure-8a", 5), ("paper-3-figure-8b", 6)] {
        assert_eq!(named(&figures, stem).verdicts.len(), verdicts, "{stem}");
    }
}

#[test]
fn strings_of_the_user_are_used() {
    let text = made_up_text(5, 20_000);
    let figures = run(Experiment::Transforms, Some(text.as_bytes()));
    let strings = named(&figures, "paper-3-figure-9");
    assert!(strings.notes[1].contains("the text named"));
    let lab = Lab::new(MeasureEffort::Quick);
    assert!(Experiment::Transforms.run(&lab, &[b""]).is_err());
}

#[test]
fn each_column_is_a_piece_of_one_of_the_texts() {
    let lab = Lab::new(MeasureEffort::Quick);
    let ratio = |texts: &[&[u8]]| {
        let figures = Experiment::Transforms.run(&lab, texts).unwrap();
        let strings = named(&figures, "paper-3-figure-9");
        (
            value(strings, "zlib, columns", "fixed"),
            strings.notes[1].clone(),
        )
    };
    // One text is a single byte again and again, so pages of it alone are nothing but repetitions.
    let (dull, prose) = (vec![b'x'; 20_000], made_up_text(5, 20_000));
    let (only_dull, _) = ratio(&[&dull]);
    let (both, note) = ratio(&[&dull, prose.as_bytes()]);
    let (only_prose, _) = ratio(&[prose.as_bytes()]);
    assert!(note.contains("the 2 texts named"), "{note}");
    assert!(
        only_dull > both && both > only_prose,
        "{only_dull} {both} {only_prose}"
    );
    assert!(Experiment::Transforms.run(&lab, &[&dull, b""]).is_err());
}

#[test]
fn postings_measure_table_6_2_and_the_query() {
    let text = made_up_text(6, 30_000);
    let figures = run(Experiment::Postings, Some(text.as_bytes()));
    let expected = [
        "table-6.2-ratio",
        "table-6.2-bits",
        "table-6.2-compression",
        "table-6.2-decompression",
        "table-6.2-values",
        "retrieval-memory",
        "retrieval-device-350",
        "retrieval-equation-6.1",
        "retrieval-density",
        "retrieval-result",
    ];
    assert_eq!(stems(&figures), expected);
    let ratios = named(&figures, "table-6.2-ratio");
    let bits = named(&figures, "table-6.2-bits");
    for codec in ["PFOR-DELTA", "carryover-12", "huffman", "quire pfor_delta"] {
        for collection in ["this text", "like INEX", "like TREC latimes"] {
            let product = value(ratios, collection, codec) * value(bits, collection, codec);
            assert!((product - 32.0).abs() < 1e-9);
        }
    }
    assert_eq!(value(ratios, "TREC fbis", "carryover-12"), 4.26);
    // No device makes the uncompressed list faster than it delivers.
    let device = named(&figures, "retrieval-device-350");
    assert!(value(device, "like TREC fbis", "uncompressed") <= 350.0);
    assert_eq!(value(device, "TREC fbis", "PFOR-DELTA"), 504.0);
    let equation = named(&figures, "retrieval-equation-6.1");
    let agreement = equation.notes.last().unwrap();
    // Six collections, five lists, seven devices.
    assert!(agreement.contains("of 210 measurements"), "{agreement}");
    let lab = Lab::new(MeasureEffort::Quick);
    assert!(Experiment::Postings.run(&lab, &[b" ,\n."]).is_err());
}

#[test]
fn document_numbers_are_measured_apart() {
    let figures = run(Experiment::DocumentNumbers, None);
    let expected = [
        "document-numbers-ratio",
        "document-numbers-bits",
        "document-numbers-compression",
        "document-numbers-decompression",
        "document-numbers-values",
        "document-numbers-bandwidth",
        "document-numbers-equation-6.1",
        "document-numbers-result",
    ];
    assert_eq!(stems(&figures), expected);
    let ratios = named(&figures, "document-numbers-ratio");
    assert!(value(ratios, "a made-up text", "PFOR-DELTA") > 1.0);
}

#[test]
fn made_up_text_is_the_same_for_the_same_seed() {
    assert_eq!(made_up_text(1, 5_000), made_up_text(1, 5_000));
    assert_ne!(made_up_text(1, 5_000), made_up_text(2, 5_000));
    assert!(made_up_text(1, 5_000).len() >= 5_000);
}

#[test]
fn pages_by_columns_are_the_better_the_more_they_move() {
    let figures = run(Experiment::DualFormat, None);
    let expected = [
        "paper-3-figure-11",
        "paper-3-figure-11-full",
        "paper-3-figure-11-size",
    ];
    assert_eq!(stems(&figures), expected);
    let full = &figures[1];
    assert_eq!(full.series.len(), 11);
    assert_eq!(full.verdicts.len(), 2);
    let names = ["LZ4 drive", "zlib drive", "zlib of images"];
    let names = names.map(|way| (full, format!("plain tuples, {way}")));
    let aged = &figures[0];
    let drives = ["LZ4 drive", "zlib drive"].map(|way| (aged, way.to_owned()));
    for (ratios, name) in names.into_iter().chain(drives) {
        let ratio = |transform| value(ratios, &name, transform);
        // The paper's order (§IV-B): rows, columns, CLT; numbers of 12 to 14 bits in that many bits are smaller still.
        assert!(ratio("rows") < ratio("r2c"), "{name}");
        assert!(ratio("r2c") < ratio("clt"), "{name}");
        assert!(ratio("clt") < ratio("packed"), "{name}");
    }
}

#[test]
fn a_drive_is_beside_page_compression_with_hole_punching() {
    let figures = run(Experiment::DualFormat, None);
    let aged = &figures[0];
    assert_eq!(aged.verdicts.len(), 5);
    assert!(aged.notes.iter().any(|note| note.contains("% full")));
    for codec in ["LZ4", "zlib"] {
        let punched = aged.series(&format!("page compression, {codec}")).unwrap();
        // A page of 16 KiB takes one to four sectors, and there are no columns.
        let ratio = punched.values[0].unwrap();
        assert!((1.0..=4.0).contains(&ratio), "{ratio}");
        assert!(punched.values[1..].iter().all(Option::is_none));
        assert!(value(aged, &format!("{codec} drive"), "clt") > ratio);
    }
    // The free space of pages that are not full compresses to almost nothing.
    let full = "zlib drive, leaves built in order";
    for transform in ["rows", "clt"] {
        assert!(value(aged, "zlib drive", transform) > value(aged, full, transform));
    }
    let lab = Lab::new(MeasureEffort::Quick);
    assert!(Experiment::DualFormat.run(&lab, &[b"12 34"]).is_err());
}

#[test]
fn length_decoding_measures_both_ways() {
    let figures = run(Experiment::LengthDecoding, None);
    assert_eq!(
        stems(&figures),
        ["length-decoding", "whole-tuples", "uncompressed-tuples"]
    );
    // Relation R has a universal table, lineitem has too many length codes for one.
    let universal = figures[1].series("decoding, universal table").unwrap();
    let has = universal.values.iter().map(Option::is_some);
    assert_eq!(has.collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(value(&figures[0], "the paper's ratio", "fields of Q1"), 3.0);
}

#[test]
fn the_page_model_has_both_codecs_on_the_papers_device() {
    let figures = run(Experiment::PageModel, None);
    let expected = ["paper-4-table-7", "paper-4-figure-3", "paper-4-figure-4"];
    assert_eq!(stems(&figures), expected);
    let printed = |pages| value(&figures[0], "the paper", pages);
    let printed = ["uncompressed", "lz4hc", "zlib"].map(printed);
    assert_eq!(printed, [94.85, 62.28, 102.36]);
    for whose in ["the paper's codec", "this machine's codec"] {
        for codec in ["lz4hc", "zlib"] {
            let series = format!("{codec}, {whose}");
            // With larger data fewer pages are hit.
            let accesses = |size| value(&figures[1], &series, size);
            assert!(accesses("4") > accesses("32"), "{series}");
        }
        let series = format!("lz4hc, {whose}");
        let ms = |record| value(&figures[2], &series, record);
        assert!(ms("64") > ms("8192"), "{series}");
    }
    // The verdicts on the paper's own numbers do not depend on this machine.
    for verdict in figures.iter().flat_map(|figure| &figure.verdicts) {
        if verdict.claim.contains("with the paper's codec") {
            assert_eq!(verdict.outcome, VerdictOutcome::Holds, "{verdict:?}");
        }
    }
    let lab = Lab::new(MeasureEffort::Quick);
    assert!(Experiment::PageModel.run(&lab, &[b""]).is_err());
}

#[test]
fn iterator_models_measure_both() {
    let figures = run(Experiment::IteratorModels, None);
    assert_eq!(stems(&figures), ["iterator-models"]);
    assert!(value(&figures[0], "extended", "compressed tuples") > 0.0);
}
