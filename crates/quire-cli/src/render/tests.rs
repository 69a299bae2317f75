//! Each mode against text written by hand.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire::arrow::array::types::Int32Type;
use quire::arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, ListArray, RecordBatch,
    RecordBatchOptions, StringArray, StringViewArray, StructArray,
};
use quire::arrow::datatypes::{DataType, Field, Schema};

use super::{RenderFormat, RenderMode, renderer};

/// What the format writes for these batches.
fn rendered(format: &RenderFormat, batches: &[RecordBatch]) -> String {
    let mut out = Vec::new();
    let mut renderer = renderer(format, &batches[0].schema());
    renderer.begin(&mut out).unwrap();
    for batch in batches {
        renderer.batch(batch, &mut out).unwrap();
    }
    renderer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What the mode writes without limits.
fn plain(mode: RenderMode, batch: &RecordBatch) -> String {
    rendered(&RenderFormat::plain(mode), std::slice::from_ref(batch))
}

/// Lines of expected text; the margin up to `|` is dropped, for text with blanks in front.
fn lines(text: &str) -> String {
    let text: Vec<&str> = text
        .lines()
        .map(|line| {
            line.trim_start()
                .strip_prefix('!')
                .unwrap_or(line.trim_start())
        })
        .collect();
    text[1..].join("\n") + if text.len() > 1 { "\n" } else { "" }
}

fn columns(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn cities() -> RecordBatch {
    let prices = Decimal128Array::from(vec![Some(1250), None, Some(-5)])
        .with_precision_and_scale(10, 2)
        .unwrap();
    columns(vec![
        (
            "city",
            Arc::new(StringViewArray::from(vec![
                Some("Köln"),
                Some("東京"),
                None,
            ])),
        ),
        (
            "people",
            Arc::new(Int64Array::from(vec![
                Some(1_087_353),
                Some(13_988_129),
                Some(0),
            ])),
        ),
        ("price", Arc::new(prices)),
    ])
}

fn awkward() -> RecordBatch {
    columns(vec![
        (
            "a|b",
            Arc::new(StringArray::from(vec![
                Some("x|y"),
                Some(""),
                Some("two\nlines"),
                None,
            ])),
        ),
        (
            "say \"hi\"",
            Arc::new(StringArray::from(vec![
                "it's",
                "a,b",
                "tab\there",
                "\"q\" \\",
            ])),
        ),
    ])
}

fn no_rows() -> RecordBatch {
    cities().slice(0, 0)
}

fn numbers(count: i64) -> RecordBatch {
    columns(vec![("n", Arc::new((1..=count).collect::<Int64Array>()))])
}

#[test]
fn box_mode_shows_names_types_and_lines_numbers_up_on_the_right() {
    assert_eq!(
        plain(RenderMode::Box, &cities()),
        lines(
            "
            ┌──────┬──────────┬───────────────┐
            │ city │   people │         price │
            │ text │   bigint │ decimal(10,2) │
            ├──────┼──────────┼───────────────┤
            │ Köln │  1087353 │         12.50 │
            │ 東京 │ 13988129 │          NULL │
            │ NULL │        0 │         -0.05 │
            └──────┴──────────┴───────────────┘
            3 rows"
        )
    );
}

#[test]
fn box_mode_escapes_what_would_break_the_lines() {
    assert_eq!(
        plain(RenderMode::Box, &awkward()),
        lines(
            "
            ┌────────────┬───────────┐
            │ a|b        │ say \"hi\"  │
            │ text       │ text      │
            ├────────────┼───────────┤
            │ x|y        │ it's      │
            │            │ a,b       │
            │ two\\nlines │ tab\\there │
            │ NULL       │ \"q\" \\     │
            └────────────┴───────────┘
            4 rows"
        )
    );
}

#[test]
fn box_mode_without_rows_or_header() {
    assert_eq!(
        plain(RenderMode::Box, &no_rows()),
        lines(
            "
            ┌──────┬────────┬───────────────┐
            │ city │ people │         price │
            │ text │ bigint │ decimal(10,2) │
            ├──────┼────────┼───────────────┤
            └──────┴────────┴───────────────┘
            0 rows"
        )
    );
    let format = RenderFormat {
        header: false,
        ..RenderFormat::plain(RenderMode::Box)
    };
    assert_eq!(
        rendered(&format, &[numbers(1)]),
        lines(
            "
            ┌───┐
            │ 1 │
            └───┘
            1 row"
        )
    );
}

#[test]
fn rows_without_columns_are_only_counted() {
    let two = RecordBatchOptions::new().with_row_count(Some(2));
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema, vec![], &two).unwrap();
    assert_eq!(plain(RenderMode::Box, &batch), "2 rows\n");
    assert_eq!(plain(RenderMode::Table, &batch), "");
    assert_eq!(plain(RenderMode::Jsonlines, &batch), "{}\n{}\n");
}

#[test]
fn a_long_result_keeps_its_first_and_last_rows() {
    let format = RenderFormat {
        row_limit: Some(5),
        ..RenderFormat::plain(RenderMode::Box)
    };
    assert_eq!(
        rendered(&format, &[numbers(4), numbers(7), numbers(1)]),
        lines(
            "
            ┌────────┐
            │      n │
            │ bigint │
            ├────────┤
            │      1 │
            │      2 │
            │      3 │
            │      ⋮ │
            │      7 │
            │      1 │
            └────────┘
            12 rows (5 shown)"
        )
    );
}

#[test]
fn wide_values_are_cut_to_the_terminal() {
    let batch = columns(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        (
            "text",
            Arc::new(StringArray::from(vec![
                "abcdefghijklmnopqrstuvwxyz",
                "東京東京東京東京東京",
            ])),
        ),
    ]);
    // 30 columns less 7 for lines and blanks and 6 for the first column leave 17.
    let format = RenderFormat {
        width_limit: Some(30),
        ..RenderFormat::plain(RenderMode::Box)
    };
    assert_eq!(
        rendered(&format, &[batch]),
        lines(
            "
            ┌────────┬───────────────────┐
            │     id │ text              │
            │ bigint │ text              │
            ├────────┼───────────────────┤
            │      1 │ abcdefghijklmnop… │
            │      2 │ 東京東京東京東京… │
            └────────┴───────────────────┘
            2 rows"
        )
    );
}

#[test]
fn columns_that_find_no_room_are_named_in_the_last_line() {
    let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    let batch = columns(vec![
        ("a", text("0123456789")),
        ("b", text("0123456789")),
        ("c", text("0123456789")),
        ("d", text("0123456789")),
    ]);
    let format = RenderFormat {
        width_limit: Some(32),
        ..RenderFormat::plain(RenderMode::Box)
    };
    assert_eq!(
        rendered(&format, &[batch]),
        lines(
            "
            ┌────────────┬───┬────────────┐
            │ a          │ … │ d          │
            │ text       │ … │ text       │
            ├────────────┼───┼────────────┤
            │ 0123456789 │ … │ 0123456789 │
            └────────────┴───┴────────────┘
            1 row, 4 columns (2 shown)"
        )
    );
}

#[test]
fn colour_dims_types_and_nulls_and_changes_no_width() {
    let format = RenderFormat {
        color: true,
        ..RenderFormat::plain(RenderMode::Box)
    };
    let colored = rendered(&format, &[cities()]);
    assert!(colored.contains("│ \x1b[2mNULL\x1b[0m │"));
    assert!(colored.contains("│ \x1b[2mtext\x1b[0m │"));
    let bare = colored.replace("\x1b[2m", "").replace("\x1b[0m", "");
    assert_eq!(bare, plain(RenderMode::Box, &cities()));
}

#[test]
fn table_mode_is_ascii() {
    assert_eq!(
        plain(RenderMode::Table, &cities()),
        lines(
            "
            +------+----------+-------+
            | city |   people | price |
            +------+----------+-------+
            | Köln |  1087353 | 12.50 |
            | 東京 | 13988129 |  NULL |
            | NULL |        0 | -0.05 |
            +------+----------+-------+"
        )
    );
}

#[test]
fn markdown_escapes_bars_and_line_ends_and_always_has_a_header() {
    let format = RenderFormat {
        header: false,
        row_limit: Some(2),
        ..RenderFormat::plain(RenderMode::Markdown)
    };
    assert_eq!(
        rendered(&format, &[awkward()]),
        lines(
            "
            | a\\|b         | say \"hi\"  |
            | ------------ | --------- |
            | x\\|y         | it's      |
            |              | a,b       |
            | two<br>lines | tab\\there |
            | NULL         | \"q\" \\     |"
        )
    );
    assert_eq!(
        plain(RenderMode::Markdown, &numbers(1)),
        "|   n |\n| --: |\n|   1 |\n"
    );
}

#[test]
fn csv_quotes_what_it_must_and_tells_null_from_empty() {
    assert_eq!(
        plain(RenderMode::Csv, &awkward()),
        "a|b,\"say \"\"hi\"\"\"\nx|y,it's\n\"\",\"a,b\"\n\"two\nlines\",tab\there\n,\"\"\"q\"\" \\\"\n"
    );
    assert_eq!(
        plain(RenderMode::Csv, &cities()),
        "city,people,price\nKöln,1087353,12.50\n東京,13988129,\n,0,-0.05\n"
    );
    assert_eq!(plain(RenderMode::Csv, &no_rows()), "city,people,price\n");
}

#[test]
fn a_value_that_looks_like_null_is_quoted() {
    let batch = columns(vec![(
        "a",
        Arc::new(StringArray::from(vec![Some("-"), None, Some("")])),
    )]);
    let format = RenderFormat {
        null_text: Some("-".to_owned()),
        header: false,
        ..RenderFormat::plain(RenderMode::Csv)
    };
    assert_eq!(rendered(&format, &[batch]), "\"-\"\n-\n\n");
}

#[test]
fn tsv_is_postgresqls_text_format() {
    assert_eq!(
        plain(RenderMode::Tsv, &awkward()),
        "a|b\tsay \"hi\"\nx|y\tit's\n\ta,b\ntwo\\nlines\ttab\\there\n\\N\t\"q\" \\\\\n"
    );
}

#[test]
fn json_is_one_array_over_all_batches() {
    assert_eq!(
        rendered(
            &RenderFormat::plain(RenderMode::Json),
            &[cities(), numbers_named_like_cities()]
        ),
        "[{\"city\":\"Köln\",\"people\":1087353,\"price\":12.50},\n\
         {\"city\":\"東京\",\"people\":13988129,\"price\":null},\n\
         {\"city\":null,\"people\":0,\"price\":-0.05},\n\
         {\"city\":\"Köln\",\"people\":1087353,\"price\":12.50}]\n"
    );
    assert_eq!(plain(RenderMode::Json, &no_rows()), "[]\n");
}

fn numbers_named_like_cities() -> RecordBatch {
    cities().slice(0, 1)
}

#[test]
fn jsonlines_has_an_object_a_line() {
    assert_eq!(
        plain(RenderMode::Jsonlines, &awkward()),
        "{\"a|b\":\"x|y\",\"say \\\"hi\\\"\":\"it's\"}\n\
         {\"a|b\":\"\",\"say \\\"hi\\\"\":\"a,b\"}\n\
         {\"a|b\":\"two\\nlines\",\"say \\\"hi\\\"\":\"tab\\there\"}\n\
         {\"a|b\":null,\"say \\\"hi\\\"\":\"\\\"q\\\" \\\\\"}\n"
    );
    assert_eq!(plain(RenderMode::Jsonlines, &no_rows()), "");
}

#[test]
fn json_nests_lists_and_rows_and_has_no_nan() {
    let list =
        ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    let name: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let row = StructArray::from(vec![(
        Arc::new(Field::new("name", DataType::Utf8, true)),
        name,
    )]);
    let batch = columns(vec![
        ("l", Arc::new(list)),
        ("r", Arc::new(row)),
        ("f", Arc::new(Float64Array::from(vec![f64::NAN, 1e300]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None]))),
    ]);
    assert_eq!(
        plain(RenderMode::Jsonlines, &batch),
        "{\"l\":[1,null],\"r\":{\"name\":\"x\"},\"f\":\"NaN\",\"b\":true}\n\
         {\"l\":null,\"r\":{\"name\":\"y\"},\"f\":1e+300,\"b\":null}\n"
    );
}

#[test]
fn line_mode_lines_values_up_below_each_other() {
    assert_eq!(
        plain(RenderMode::Line, &cities().slice(1, 2)),
        lines(
            "
            !  city = 東京
            !people = 13988129
            ! price = NULL
            !
            !  city = NULL
            !people = 0
            ! price = -0.05"
        )
    );
    let two_lines = awkward().slice(2, 1);
    assert_eq!(
        plain(RenderMode::Line, &two_lines),
        lines(
            "
            !     a|b = two
            !           lines
            !say \"hi\" = tab\\there"
        )
    );
}

#[test]
fn insert_mode_writes_statements() {
    let format = RenderFormat {
        insert_table: "My table".to_owned(),
        ..RenderFormat::plain(RenderMode::Insert)
    };
    assert_eq!(
        rendered(&format, &[cities()]),
        "INSERT INTO \"My table\" (city, people, price) VALUES ('Köln', 1087353, 12.50);\n\
         INSERT INTO \"My table\" (city, people, price) VALUES ('東京', 13988129, NULL);\n\
         INSERT INTO \"My table\" (city, people, price) VALUES (NULL, 0, -0.05);\n"
    );
    let infinite = columns(vec![(
        "f",
        Arc::new(Float64Array::from(vec![f64::INFINITY])),
    )]);
    assert_eq!(
        plain(RenderMode::Insert, &infinite),
        "INSERT INTO t (f) VALUES ('Infinity');\n"
    );
}

#[test]
fn names_may_repeat() {
    let one: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let schema = Arc::new(Schema::new(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("a", DataType::Int64, true),
    ]));
    let batch = RecordBatch::try_new(schema, vec![one.clone(), one]).unwrap();
    assert_eq!(plain(RenderMode::Csv, &batch), "a,a\n1,1\n");
    assert_eq!(
        plain(RenderMode::Jsonlines, &batch),
        "{\"a\":1,\"a_1\":1}\n"
    );
    assert_eq!(plain(RenderMode::Line, &batch), "a = 1\na = 1\n");
}

#[test]
fn plans_keep_their_lines_in_box_mode() {
    let lines = vec!["logical_plan:", "  Projection: 1", "    EmptyRelation"];
    let batch = columns(vec![("QUERY PLAN", Arc::new(StringArray::from(lines)))]);
    assert_eq!(
        plain(RenderMode::Box, &batch),
        "logical_plan:\n  Projection: 1\n    EmptyRelation\n"
    );
    assert!(plain(RenderMode::Csv, &batch).starts_with("QUERY PLAN\n"));
}

#[test]
fn the_csv_of_any_text_reads_back() {
    let pieces = ["", "a", "\"", ",", "\n", "\r\n", " ", "é", "\\"];
    let mut state = 3_u64;
    for _ in 0..300 {
        let mut text = || {
            let mut text = String::new();
            for _ in 0..4 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(pieces[(state >> 40) as usize % pieces.len()]);
            }
            text
        };
        let (left, right) = (text(), text());
        let batch = columns(vec![
            ("l", Arc::new(StringArray::from(vec![left.as_str()]))),
            ("r", Arc::new(StringArray::from(vec![right.as_str()]))),
        ]);
        let format = RenderFormat {
            header: false,
            ..RenderFormat::plain(RenderMode::Csv)
        };
        assert_eq!(fields(&rendered(&format, &[batch])), [left, right]);
    }
}

/// A reader of one CSV record, written from RFC 4180.
fn fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = record.strip_suffix('\n').unwrap().chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' if is_quoted && rest.next_if_eq(&'"').is_some() => {
                fields.last_mut().unwrap().push('"')
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}
