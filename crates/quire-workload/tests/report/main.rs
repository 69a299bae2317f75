//! Results as text, JSON and pages.
#![allow(clippy::unwrap_used)]

use quire_workload::SeededRandom;
use quire_workload::driver::{Arrivals, KindResult, RunOptions, WorkloadResult};
use quire_workload::measure::{GroupUse, RunMeasurement};
use quire_workload::report::{
    CompareError, ResultReadError, comparison, from_json, page, text, to_json,
};
use serde_json::Value;
use std::time::Duration;

fn kind(name: &str, latency_us: u64) -> KindResult {
    KindResult {
        name: name.to_owned(),
        finished: 1_234_567,
        rolled_back: 12_345,
        late: 3,
        tps: 0.1 + 0.2 + 20_000.0,
        latency_us_mean: latency_us as f64 + 1.0 / 3.0,
        latency_us_p50: latency_us,
        latency_us_p95: 2 * latency_us,
        latency_us_p99: 3 * latency_us,
        latency_us_p999: 4 * latency_us,
        latency_us_max: 5 * latency_us,
        retries: 7,
        errors: 1,
    }
}

fn group(user_s: f64) -> GroupUse {
    GroupUse {
        user_s,
        system_s: user_s / 2.0,
        read_bytes: Some(4_096),
        written_bytes: None,
    }
}

fn result(target: &str, latency_us: u64) -> WorkloadResult {
    WorkloadResult {
        workload: "tpc-c".to_owned(),
        target: target.to_owned(),
        scale: 0.1,
        seed: u64::MAX,
        options: RunOptions {
            users: 8,
            rate: Some(123.4),
            arrivals: Arrivals::Even,
            ..RunOptions::default()
        },
        is_cancelled: false,
        began_unix_s: 1_700_000_000,
        kinds: vec![
            kind("new order", latency_us),
            kind("payment", latency_us / 2),
        ],
        total: kind("all", latency_us),
        unstarted: 17,
        elapsed: Duration::from_micros(3_500_001),
        measurement: RunMeasurement {
            elapsed: Duration::from_secs(4),
            processors: 2,
            server: Some(group(4.0)),
            others: None,
            driver: group(1.0),
            machine_busy: Some(0.75),
        },
        size_bytes_before: 1 << 30,
        size_bytes_after: 3 << 29,
        finished_per_second: vec![10, 20, 30, 5],
    }
}

#[test]
fn a_result_comes_back_from_json_as_it_was() {
    let seed = 4;
    let mut random = SeededRandom::new(seed);
    let mut one = result("a \"target\"\n", 1_000);
    for _ in 0..100 {
        one.scale = random.fraction() * 10f64.powi(random.between(-9, 9) as i32);
        one.total.latency_us_mean = random.fraction() * 1e7;
        one.seed = random.next_u64();
        one.options.rate = random.happens(0.5).then(|| random.fraction() + 1.0);
        one.measurement.server = random.happens(0.5).then(|| group(random.fraction()));
        one.measurement.machine_busy = random.happens(0.5).then(|| random.fraction());
        let read = from_json(&to_json(&one)).unwrap();
        assert_eq!(read, one, "seed {seed}");
    }
}

#[test]
fn a_member_that_is_missing_or_wrong_is_named() {
    let text = to_json(&result("a", 10));
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut broken = document.clone();
    broken["kinds"][1]["finished"] = Value::from("many");
    let error = from_json(&broken.to_string()).unwrap_err().to_string();
    assert!(
        error.contains("`kinds[1].finished` is not a whole number"),
        "{error}"
    );
    // Each member of the document is needed, but for those that may be null.
    for name in document.as_object().unwrap().keys() {
        let mut broken = document.clone();
        broken.as_object_mut().unwrap().remove(name);
        let error = from_json(&broken.to_string()).unwrap_err().to_string();
        assert!(error.contains(name.as_str()), "{name}: {error}");
    }
    let mut newer = document;
    newer["format_version"] = Value::from(2);
    let error = from_json(&newer.to_string()).unwrap_err();
    assert!(matches!(error, ResultReadError::Version { found: 2 }));
}

#[test]
fn a_text_that_is_cut_anywhere_is_no_result() {
    let text = to_json(&result("a", 10));
    let whole = text.trim_end().len();
    for length in (0..whole).filter(|&length| text.is_char_boundary(length)) {
        assert!(from_json(&text[..length]).is_err(), "{length}");
    }
}

/// No line is wider than 100 columns.
fn assert_narrow(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn a_text_is_at_most_100_columns_wide_whatever_the_result_is() {
    for latency_us in [0, 1, 1_000, 40_000_000, 17_000_000_000] {
        for name in ["a", &"long name of a target ".repeat(20), &"x".repeat(500)] {
            let mut one = result(name, latency_us);
            one.kinds[0].name = name.to_owned();
            one.total.finished = 86_400_000_000;
            one.measurement.driver.read_bytes = Some(u64::MAX);
            assert_narrow(&text(&one));
            let results = [one, result("b", 5), result(name, 7)];
            assert_narrow(&comparison(&results, "b").unwrap());
        }
    }
}

#[test]
fn a_text_has_the_numbers_with_their_units() {
    let shown = text(&result("database 5", 1_500));
    for part in [
        "tpc-c on database 5, scale 0.1",
        "8 users, 123.4 transactions per second meant, even, 5 s warm-up; 3.5 s measured",
        "latency in µs, from the intended start to the end",
        "1,234,567  20,000  1,500  1,500  3,000  4,500  6,000  7,500",
        "size 1.0 GiB before, 1.5 GiB after",
        "17 transactions that were meant to begin",
        // 4 s and 2 s of 4 s on two processors.
        "4.0       2.0    50.0      25.0  4.0 KiB        -",
        "75.0 % busy",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    // All rows of the table end in the same column.
    let table = shown
        .lines()
        .skip_while(|line| !line.starts_with("transaction"));
    let widths: Vec<usize> = table.take(4).map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{shown}");
    assert!(!shown.contains("driver's process"));

    let mut closed = result("database 5", 1_500);
    closed.options.rate = None;
    closed.measurement.server = None;
    let shown = text(&closed);
    assert!(
        shown.contains("closed loop") && shown.contains("service time"),
        "{shown}"
    );
    assert!(
        shown.contains("The database runs in the driver's process"),
        "{shown}"
    );
}

#[test]
fn a_comparison_has_the_multiples_of_the_base() {
    let (mut slow, base) = (result("slow", 3_000), result("base", 1_000));
    slow.total.tps = base.total.tps / 4.0;
    slow.size_bytes_after = 2 * base.size_bytes_after;
    slow.scale = 0.2;
    let compared = comparison(&[slow.clone(), base.clone(), base.clone()], "base").unwrap();
    let line = |name: &str| -> Vec<String> {
        let mut lines = compared.lines().filter(|line| line.starts_with(name));
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("{name} in\n{compared}"));
        line.split("  ")
            .filter(|cell| !cell.is_empty())
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    // 4 + 2 + 1 + 0.5 s of 8 s of two processors.
    assert_eq!(
        line("slow  "),
        [
            "slow", "5,000", "0.25", "3,000", "9,000", "3.00", "93.8", "3.0 GiB", "2.00"
        ]
    );
    assert_eq!(
        line("base  "),
        [
            "base", "20,000", "1.00", "1,000", "3,000", "1.00", "93.8", "1.5 GiB", "1.00"
        ]
    );
    assert!(compared.contains("base (2)"), "{compared}");
    assert!(compared.contains("base differs: scale 0.1"), "{compared}");

    let error = comparison(&[slow.clone(), base.clone()], "other").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no result is of other; the targets are slow, base"
    );
    slow.workload = "bank".to_owned();
    let error = comparison(&[slow, base], "base").unwrap_err();
    assert!(matches!(error, CompareError::Workloads { .. }), "{error}");
    assert_eq!(comparison(&[], "base"), Err(CompareError::NoResults));
}

#[test]
fn a_page_has_a_figure_of_each_kind_and_needs_nothing_from_elsewhere() {
    let mut other = result("other <b>", 300);
    other.measurement.server = None;
    other.kinds.pop();
    other.total.finished = 0;
    let page = page(&[result("one", 100), other]).unwrap();
    for stem in [
        "throughput",
        "latency",
        "latency-p50",
        "latency-p95",
        "latency-p99",
        "latency-p999",
        "latency-max",
        "size",
        "processor-time",
    ] {
        assert_eq!(
            page.matches(&format!("<article id=\"{stem}\">")).count(),
            1,
            "{stem}"
        );
    }
    assert_eq!(page.matches("<svg ").count(), 9);
    assert!(page.contains("other &lt;b&gt;") && !page.contains("<b>"));
    assert!(page.contains("prefers-color-scheme:dark"));
    for word in ["<script", "<link", "<img", "src=", "url(", "@import", "NaN"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(
        !page
            .replace("http://www.w3.org/2000/svg", "")
            .contains("http")
    );
    // Seconds that were measured whole: 3 of 3.5.
    assert!(page.contains("<tr><th>3</th><td>30.0</td>"));
    assert!(!page.contains("<tr><th>4</th>"));
    assert!(matches!(
        quire_workload::report::page(&[]),
        Err(CompareError::NoResults)
    ));
}
