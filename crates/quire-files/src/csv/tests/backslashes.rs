//! PostgreSQL's text format: a backslash makes the next character plain, or stands for another one with it.

use super::*;

fn text_format(chunk_bytes: usize) -> CsvOptions {
    CsvOptions {
        delimiter: Delimiter::Byte(b'\t'),
        quote: None,
        backslashes: true,
        null_string: "\\N".to_owned(),
        chunk_bytes,
        ..no_header()
    }
}

/// The value that a field stands for; nothing for NULL. Knows the escapes that the random text has.
fn naive_value(field: &str) -> Option<String> {
    if field == "\\N" {
        return None;
    }
    let mut value = String::new();
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '\\' => match characters.next().unwrap() {
                't' => '\t',
                'n' => '\n',
                // The random text has `\x41` and `\101` only.
                'x' => {
                    assert_eq!(
                        (characters.next(), characters.next()),
                        (Some('4'), Some('1'))
                    );
                    'A'
                }
                '1' => {
                    assert_eq!(
                        (characters.next(), characters.next()),
                        (Some('0'), Some('1'))
                    );
                    'A'
                }
                other => other,
            },
            plain => plain,
        });
    }
    Some(value)
}

fn naive_records(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                field.push('\\');
                field.push(characters.next().unwrap());
            }
            '\t' => record.push(naive_value(&std::mem::take(&mut field))),
            '\n' => {
                record.push(naive_value(&std::mem::take(&mut field)));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    records
}

#[test]
fn the_fast_reader_agrees_with_a_naive_one_on_random_text() {
    let pieces = [
        "a",
        "\\\\",
        "\\\n",
        "\\\t",
        "\\t",
        "\\n",
        "\\x41",
        "\\101",
        "\\.",
        "ü",
        "\"",
        "'",
        "0123456789abcdef",
        "\\N",
    ];
    let mut random = Random(11);
    for case in 0..600 {
        let columns = 1 + random.below(3);
        let mut text = String::new();
        for _ in 0..1 + random.below(40) {
            for column in 0..columns {
                text.push_str(if column > 0 { "\t" } else { "" });
                for _ in 0..random.below(5) {
                    text.push_str(pieces[random.below(pieces.len())]);
                }
            }
            text.push('\n');
        }
        let chunk_bytes = 1 + random.below(200);
        let batch = read(
            text.as_bytes(),
            &text_format(chunk_bytes),
            &text_schema(columns),
        );
        let batch = batch.unwrap_or_else(|e| panic!("case {case}: {e}\n{text}"));
        assert_eq!(
            rows(&batch),
            naive_records(&text),
            "case {case}, chunks of {chunk_bytes}:\n{text}"
        );
    }
}

#[test]
fn every_window_position_of_a_backslash_is_seen() {
    for length in 0..140 {
        let text = format!("{}\\\\\\\t\\\n\tx\ny\t\\N\n", "a".repeat(length));
        let batch = read(text.as_bytes(), &text_format(1 << 20), &text_schema(2)).unwrap();
        assert_eq!(rows(&batch), naive_records(&text), "{length}");
    }
}

#[test]
fn escapes_stand_for_bytes() {
    let value = |field: &str| {
        let batch = read(
            format!("{field}\n").as_bytes(),
            &text_format(64),
            &text_schema(1),
        );
        rows(&batch.unwrap())[0][0].clone()
    };
    assert_eq!(value("\\b\\f\\v\\r").unwrap(), "\u{8}\u{c}\u{b}\r");
    assert_eq!(
        value("\\xc3\\xBC\\x4z\\xg\\7\\18").unwrap(),
        "ü\u{4}zxg\u{7}\u{1}8"
    );
    assert_eq!(value("\\\\N").unwrap(), "\\N");
    assert_eq!(value("").unwrap(), "");
    assert_eq!(value("\\N"), None);
    assert_eq!(value("\u{feff}a").unwrap(), "\u{feff}a");
}

#[test]
fn a_header_is_skipped_whatever_it_says() {
    let options = CsvOptions {
        header: CsvFlag::Yes,
        ..text_format(64)
    };
    for header in ["c0\tc1", "c1\tc0", "x", "a\\\nb\tc\td"] {
        let text = format!("{header}\n1\t2\n");
        let batch = read(text.as_bytes(), &options, &text_schema(2)).unwrap();
        let row = ["1", "2"].map(|value| Some(value.to_owned())).to_vec();
        assert_eq!(rows(&batch), [row], "{header}");
    }
}

#[test]
fn blank_lines_are_records() {
    let batch = read(b"\n\nx\n\n", &text_format(64), &text_schema(1)).unwrap();
    let values = ["", "", "x", ""].map(|value| vec![Some(value.to_owned())]);
    assert_eq!(rows(&batch), values);
    let error = read(b"a\tb\n\n", &text_format(64), &text_schema(2)).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn what_is_no_text_is_an_error_with_its_place() {
    for (text, expected) in [
        (b"a\tb\nc\t\\xff\n".as_slice(), "UTF-8"),
        (b"a\tb\nc\t\\000\n", "zero"),
        (b"a\tb\nc\td\\", "line 2"),
        (b"a\tb\nc\\\td\n", "line 2"),
    ] {
        let error = read(text, &text_format(64), &text_schema(2)).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("line 2") && error.contains(expected),
            "{error}"
        );
    }
}
