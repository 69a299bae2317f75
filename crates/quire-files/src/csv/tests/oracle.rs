//! The fast reader against a parser that looks at one character at a time.

use super::*;

/// Records of comma-separated text with doubled quotes; an empty field without quotes is `None`.
pub fn naive_records(text: &str) -> Vec<Vec<Option<String>>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut inside = false;
    let mut at_start = true;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if inside {
            if character != '"' {
                field.push(character);
            } else if characters.peek() == Some(&'"') {
                characters.next();
                field.push('"');
            } else {
                inside = false;
            }
            continue;
        }
        let line_end = character == '\n' || (character == '\r' && characters.peek() == Some(&'\n'));
        if character == ',' || line_end {
            let text = std::mem::take(&mut field);
            record.push((quoted || !text.is_empty()).then_some(text));
            quoted = false;
            at_start = true;
            if line_end {
                if character == '\r' {
                    characters.next();
                }
                records.push(std::mem::take(&mut record));
            }
        } else if character == '"' && at_start {
            inside = true;
            quoted = true;
            at_start = false;
        } else {
            field.push(character);
            at_start = false;
        }
    }
    if !at_start || !record.is_empty() {
        record.push((quoted || !field.is_empty()).then_some(field));
        records.push(record);
    }
    records
}

fn random_field(random: &mut Random, text: &mut String) {
    let pieces = [
        "a",
        "bc",
        "ü",
        "日本",
        " ",
        "x\"y",
        "0123456789abcdef",
        "'",
        "\\",
        "\r",
    ];
    match random.below(4) {
        0 => {}
        1 => {
            // A quote that is not the first character is plain.
            text.push('p');
            for _ in 0..random.below(4) {
                text.push_str(pieces[random.below(pieces.len() - 1)]);
            }
        }
        _ => {
            text.push('"');
            for _ in 0..random.below(5) {
                let special = ["\"\"", "\n", ",", "\r\n", "\"\"\"\""];
                if random.below(2) == 0 {
                    text.push_str(special[random.below(special.len())]);
                } else {
                    text.push_str(&pieces[random.below(pieces.len())].replace('"', "\"\""));
                }
            }
            text.push('"');
        }
    }
}

fn random_text(random: &mut Random, columns: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.below(30) {
        for column in 0..columns {
            if column > 0 {
                text.push(',');
            }
            random_field(random, &mut text);
        }
        text.push_str(if random.below(3) == 0 { "\r\n" } else { "\n" });
        if columns > 1 && random.below(8) == 0 {
            text.push('\n');
        }
    }
    if random.below(2) == 0 && text.ends_with('\n') {
        let line_end = if text.ends_with("\r\n") { 2 } else { 1 };
        text.truncate(text.len() - line_end);
    }
    text
}

#[test]
fn the_fast_reader_agrees_with_the_naive_one_on_random_text() {
    let mut random = Random(7);
    for case in 0..600 {
        let columns = 1 + random.below(4);
        let text = random_text(&mut random, columns);
        if text.trim_ascii().is_empty() {
            continue;
        }
        let mut expected = naive_records(&text);
        if columns > 1 {
            expected.retain(|record| record.len() > 1 || record[0].is_some());
        }
        let chunk_bytes = 1 + random.below(200);
        let options = CsvOptions {
            chunk_bytes,
            ..no_header()
        };
        let batch = read(text.as_bytes(), &options, &text_schema(columns));
        let batch = batch.unwrap_or_else(|e| panic!("case {case}: {e}\n{text}"));
        assert_eq!(
            rows(&batch),
            expected,
            "case {case}, chunks of {chunk_bytes}:\n{text}"
        );
    }
}

#[test]
fn chunks_may_end_at_any_byte() {
    let text =
        "a,\"b\nb\",c\r\n\"\",\"\"\"\",\"x,\"\"y\"\"\"\n,,\n1,\"2\r\n\",\"\"\"3\"\n\"\",é,\"ü\n\"";
    let expected = naive_records(text);
    for chunk_bytes in 1..=text.len() + 1 {
        for thread_count in [1, 3] {
            let options = CsvOptions {
                chunk_bytes,
                thread_count,
                ..no_header()
            };
            let batch = read(text.as_bytes(), &options, &text_schema(3)).unwrap();
            assert_eq!(rows(&batch), expected, "chunks of {chunk_bytes}");
        }
    }
}

#[test]
fn every_window_position_of_a_mark_is_seen() {
    // Fields whose lengths move each delimiter through all positions of a 64-byte window.
    for length in 0..200 {
        for quoted in [false, true] {
            let body = "v".repeat(length);
            let field = if quoted {
                format!("\"{body},\"\"\n\"")
            } else {
                body
            };
            let text = format!("{field},x\ny,{field}\nz,z\n");
            let batch = read(text.as_bytes(), &no_header(), &text_schema(2)).unwrap();
            assert_eq!(rows(&batch), naive_records(&text), "length {length}");
        }
    }
}

#[test]
fn backslash_escapes_and_other_quotes_are_read() {
    let options = CsvOptions {
        escape: Some(b'\\'),
        quote: Some(b'\''),
        ..no_header()
    };
    let text = br"'it\'s','a\\b','a\nb','x',y\z";
    let expected: Vec<_> = ["it's", r"a\b", r"a\nb", "x", r"y\z"]
        .map(|s| Some(s.to_owned()))
        .into();
    for chunk_bytes in 1..40 {
        let options = CsvOptions {
            chunk_bytes,
            ..options.clone()
        };
        let batch = read(text, &options, &text_schema(5)).unwrap();
        assert_eq!(
            rows(&batch),
            std::slice::from_ref(&expected),
            "chunks of {chunk_bytes}"
        );
    }
}

#[test]
fn without_quoting_every_character_is_plain() {
    let options = CsvOptions {
        quote: None,
        delimiter: Delimiter::None,
        ..no_header()
    };
    let batch = read(b"\"a,b\n\n\"\"\nc\"\r\n", &options, &text_schema(1)).unwrap();
    let expected = [Some("\"a,b"), None, Some("\"\""), Some("c\"")];
    let expected: Vec<_> = expected.map(|text| vec![text.map(str::to_owned)]).into();
    assert_eq!(rows(&batch), expected);
}

#[test]
fn a_line_that_is_one_field_may_begin_with_a_quoted_word() {
    let options = CsvOptions {
        delimiter: Delimiter::None,
        ..no_header()
    };
    let text = b"\"Rommel?\"_\"Who?\"\n\"a\"\n\"b\nc\"\r\n\"d\" e\r\n";
    let expected = ["\"Rommel?\"_\"Who?\"", "a", "b\nc", "\"d\" e"];
    let expected = expected.map(|text| vec![Some(text.to_owned())]);
    for chunk_bytes in 1..text.len() {
        let options = CsvOptions {
            chunk_bytes,
            ..options.clone()
        };
        assert_eq!(
            rows(&read(text, &options, &text_schema(1)).unwrap()),
            expected
        );
    }
    let error = read(b"\"a\nb\" c\n", &options, &text_schema(1))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 1, column 1 \"c0\": text follows the closing quote"),
        "{error}"
    );
}

#[test]
fn projected_columns_come_in_the_order_asked_for() {
    let text = b"1,2,3\n4,5,6\n";
    let declared = schema(&[
        ("a", DataType::Int64),
        ("b", DataType::Int32),
        ("c", DataType::Int16),
    ]);
    let read = |projection: &[usize]| {
        let file = open(text, &no_header(), Some(&declared)).unwrap();
        let reader = file
            .read(&declared, Some(projection), &CopyControl::default())
            .unwrap();
        reader.map(Result::unwrap).collect::<Vec<_>>()
    };
    let batches = read(&[2, 0]);
    assert_eq!(batches[0].schema().field(0).name(), "c");
    let expected: Vec<Vec<_>> = [["3", "1"], ["6", "4"]]
        .map(|r| r.map(|v| Some(v.to_owned())).into())
        .into();
    assert_eq!(rows(&batches[0]), expected);
    let counted = read(&[]);
    assert_eq!((counted[0].num_columns(), counted[0].num_rows()), (0, 2));
}

#[test]
fn long_files_come_in_order_in_several_batches() {
    let text: String = (0..300_000).map(|n| format!("{n}\n")).collect();
    let declared = schema(&[("n", DataType::Int64)]);
    let options = CsvOptions {
        chunk_bytes: 700_000,
        ..no_header()
    };
    let file = open(text.as_bytes(), &options, Some(&declared)).unwrap();
    let reader = file.read(&declared, None, &CopyControl::default()).unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert!(batches.len() > 4 && batches.iter().all(|b| b.num_rows() < 66_600));
    let all = concat_batches(&declared, &batches).unwrap();
    use arrow::array::AsArray;
    let values = all
        .column(0)
        .as_primitive::<arrow::datatypes::Int64Type>()
        .values();
    assert!(values.iter().copied().eq(0..300_000));
}
