//! Every way a file can be wrong, with the whole message.

use super::*;
use std::sync::atomic::AtomicBool;

fn message(text: &[u8], options: &CsvOptions, declared: &SchemaRef) -> String {
    let messages: Vec<String> = [1, 3, 7, 1 << 20]
        .into_iter()
        .map(|chunk_bytes| {
            let options = CsvOptions {
                chunk_bytes,
                ..options.clone()
            };
            read(text, &options, declared)
                .map(|b| b.num_rows())
                .unwrap_err()
                .to_string()
        })
        .collect();
    assert!(
        messages.iter().all(|m| *m == messages[0]),
        "depends on chunks: {messages:#?}"
    );
    messages[0].clone()
}

fn numbers() -> SchemaRef {
    schema(&[
        ("id", DataType::Int32),
        ("price", DataType::Decimal128(6, 2)),
    ])
}

#[test]
fn a_wrong_field_count_names_the_line() {
    let message = |text: &str| message(text.as_bytes(), &no_header(), &numbers());
    assert_eq!(
        message("1,2\n3\n4,5\n"),
        "\"test.csv\" line 2: expected 2 fields, found 1"
    );
    assert_eq!(
        message("1,2\n3,4,5,6\n"),
        "\"test.csv\" line 2: expected 2 fields, found 4"
    );
    assert_eq!(
        message("1,2\n\n\n3,4,\n"),
        "\"test.csv\" line 4: expected 2 fields, found 3"
    );
    assert_eq!(
        message("1,2\n3"),
        "\"test.csv\" line 2: expected 2 fields, found 1"
    );
}

#[test]
fn a_wrong_value_names_line_column_value_and_type() {
    let message = |text: &str| message(text.as_bytes(), &no_header(), &numbers());
    assert_eq!(
        message("1,2\n\"3\",4\n5x,6\n"),
        "\"test.csv\" line 3, column 1 \"id\": \"5x\" is not a valid INTEGER"
    );
    assert_eq!(
        message("1,2\n3000000000,4\n"),
        "\"test.csv\" line 2, column 1 \"id\": \"3000000000\" is out of range for INTEGER"
    );
    assert_eq!(
        message("1,12345.67\n"),
        "\"test.csv\" line 1, column 2 \"price\": \"12345.67\" is out of range for DECIMAL(6,2)"
    );
    assert_eq!(
        message("\"\",1\n"),
        "\"test.csv\" line 1, column 1 \"id\": \"\" is not a valid INTEGER"
    );
    // The first record in file order is reported, and its first column.
    assert_eq!(
        message("1,2\n3,y\nx,z\n"),
        "\"test.csv\" line 2, column 2 \"price\": \"y\" is not a valid DECIMAL(6,2)"
    );
    assert_eq!(
        message("1,2\nx,y\n3\n"),
        "\"test.csv\" line 2, column 1 \"id\": \"x\" is not a valid INTEGER"
    );
    let long = format!("1,2\n{},4\n", "9".repeat(100));
    assert_eq!(
        message(&long),
        format!(
            "\"test.csv\" line 2, column 1 \"id\": \"{}…\" is out of range for INTEGER",
            "9".repeat(60)
        )
    );
}

#[test]
fn null_in_a_not_null_column_names_line_and_column() {
    let fields = [("id", DataType::Int32), ("name", DataType::Utf8View)];
    let fields = fields.map(|(name, data_type)| Field::new(name, data_type, false));
    let declared = Arc::new(Schema::new(fields.to_vec()));
    assert_eq!(
        message(b"1,a\n,b\n", &no_header(), &declared),
        "\"test.csv\" line 2, column 1 \"id\": NULL in a column that is NOT NULL"
    );
    assert_eq!(
        message(b"1,\"\"\n2,\n", &no_header(), &declared),
        "\"test.csv\" line 2, column 2 \"name\": NULL in a column that is NOT NULL"
    );
}

#[test]
fn a_text_over_the_declared_length_names_line_and_column() {
    let limit = TextLimit {
        characters: 3,
        sql_type: "VARCHAR(3)".to_owned(),
    };
    let options = CsvOptions {
        text_limits: vec![None, Some(limit)],
        ..no_header()
    };
    assert_eq!(
        message(
            "long text,a\nx,äöü\nx,äöü   \nx,äöüx\n".as_bytes(),
            &options,
            &text_schema(2)
        ),
        "\"test.csv\" line 4, column 2 \"c1\": \"äöüx\" is too long for VARCHAR(3)"
    );
    assert_eq!(
        message(b"a,\"ab\"\"cd\"\n", &options, &text_schema(2)),
        "\"test.csv\" line 1, column 2 \"c1\": \"ab\"cd\" is too long for VARCHAR(3)"
    );
}

#[test]
fn lines_are_counted_through_quoted_line_ends() {
    let declared = schema(&[("t", DataType::Utf8View), ("n", DataType::Int64)]);
    assert_eq!(
        message(
            b"\"a\nb\r\nc\",1\n\"d\n\",2\n\"x\n\",q\n",
            &no_header(),
            &declared
        ),
        "\"test.csv\" line 6, column 2 \"n\": \"q\" is not a valid BIGINT"
    );
    let options = CsvOptions {
        header: CsvFlag::Yes,
        ..no_header()
    };
    assert_eq!(
        message(b"t,n\na,1\nb,q\n", &options, &declared),
        "\"test.csv\" line 3, column 2 \"n\": \"q\" is not a valid BIGINT"
    );
}

#[test]
fn an_unterminated_quote_names_the_line_it_begins_on() {
    assert_eq!(
        message(b"a,b\nc,\"d\ne,f\ng,h\n", &no_header(), &text_schema(2)),
        "\"test.csv\" line 2, column 2 \"c1\": the quoted field that begins with \"d\\ne,f\\ng,h\\n \
         is not closed before the end of the file"
    );
}

#[test]
fn text_after_a_closing_quote_is_refused() {
    assert_eq!(
        message(b"a,b\n\"c\"d,e\n", &no_header(), &text_schema(2)),
        "\"test.csv\" line 2, column 1 \"c0\": text follows the closing quote in \"c\"d,e; double \
         the quotes inside a quoted field, or set QUOTE or ESCAPE to what the file uses"
    );
}

#[test]
fn a_record_over_the_limit_is_refused_without_reading_on() {
    let options = CsvOptions {
        record_bytes_max: 1000,
        sample_bytes: 100,
        ..no_header()
    };
    let text = format!("a,b\nc,\"{}", "x,\n".repeat(1_000_000));
    let error = |chunk_bytes| {
        let options = CsvOptions {
            chunk_bytes,
            ..options.clone()
        };
        read(text.as_bytes(), &options, &text_schema(2))
            .unwrap_err()
            .to_string()
    };
    let start = "\"test.csv\" line 2, column 2 \"c1\": the record is longer than 1000 bytes; \
                 the field that begins with \"x,\\nx,\\n";
    for chunk_bytes in [1, 64, 1024] {
        assert!(
            error(chunk_bytes).starts_with(start),
            "{}",
            error(chunk_bytes)
        );
    }
}

#[test]
fn wrong_bytes_are_named_by_offset() {
    let declared = text_schema(2);
    assert_eq!(
        message(b"a,b\nc,d\xffe\n", &no_header(), &declared),
        "\"test.csv\" line 2, column 2 \"c1\": byte 7 of the file is not valid UTF-8, in \"d?e\"; \
         convert the file to UTF-8"
    );
    assert_eq!(
        message(b"a,b\nc\0,d\n", &no_header(), &declared),
        "\"test.csv\" line 2, column 1 \"c0\": byte 5 of the file is zero, which text cannot hold; \
         is it a text file in UTF-8?"
    );
    let utf16 = b"\xff\xfea\0,\0b\0\n\0";
    let error = read(utf16, &CsvOptions::default(), &declared)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("byte 0 of the file is not valid UTF-8"),
        "{error}"
    );
}

#[test]
fn files_that_are_not_there_or_empty_are_refused() {
    let directory = std::env::temp_dir();
    let shown = directory.display();
    let open = |path: &std::path::Path| {
        CsvFile::open(path, CsvOptions::default(), None)
            .map(|_| ())
            .unwrap_err()
    };
    let error = open(&directory);
    assert_eq!(
        error.to_string(),
        format!("\"{shown}\" is a directory; name a file")
    );
    let error = open(&directory.join("no-such-file.csv"));
    assert_eq!(error.sqlstate(), "58P01");
    assert!(error.to_string().starts_with("cannot open \""), "{error}");
    for text in [&b""[..], b"\xef\xbb\xbf"] {
        for declared in [None, Some(&text_schema(2))] {
            let error = super::open(text, &CsvOptions::default(), declared).map(|_| ());
            let expected = "\"test.csv\" is empty: there is no header and no row to read";
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }
}

#[test]
fn a_header_that_does_not_fit_the_table_is_refused() {
    let options = CsvOptions {
        header: CsvFlag::Yes,
        ..CsvOptions::default()
    };
    assert_eq!(
        message(b"id,price,x\n1,2,3\n", &options, &numbers()),
        "\"test.csv\" line 1: expected 2 fields, found 3"
    );
    assert_eq!(
        message(b"price,id\n1,2\n", &options, &numbers()),
        "the header of \"test.csv\" names the columns in another order than the table; list the \
         columns in the order of the file: (price, id)"
    );
}

#[test]
fn contradictory_options_are_refused() {
    let with = |change: fn(&mut CsvOptions)| {
        let mut options = CsvOptions::default();
        change(&mut options);
        open(b"a,b\n", &options, None)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        with(|o| o.delimiter = Delimiter::Byte(b'"')),
        "DELIMITER and QUOTE must differ"
    );
    assert_eq!(
        with(|o| o.delimiter = Delimiter::Byte(b'\n')),
        "DELIMITER must be one ASCII character other than a line end"
    );
    assert_eq!(
        with(|o| o.column_count_max = 1),
        "\"test.csv\" line 1: 2 columns, more than the limit of 1"
    );
}

#[test]
fn bad_records_can_be_skipped_and_are_reported() {
    let text = b"1,10\nx,11\n2\n3,12\n4,1\xff\n5,13,\n6,99999\n7,14\n\"8\"x,15\n9,16";
    let options = CsvOptions {
        on_error: OnError::SkipRow,
        ..no_header()
    };
    for chunk_bytes in [1, 5, 17, 1000] {
        let options = CsvOptions {
            chunk_bytes,
            ..options.clone()
        };
        let file = open(text, &options, Some(&numbers())).unwrap();
        let mut reader = file
            .read(&numbers(), None, &CopyControl::default())
            .unwrap();
        let mut ids = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            ids.extend(rows(&batch).into_iter().map(|row| row[0].clone().unwrap()));
        }
        assert_eq!(ids, ["1", "3", "7", "9"]);
        let skipped = reader.skipped();
        assert_eq!(skipped.count, 6);
        let lines: Vec<u64> = skipped.first.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [2, 3, 5, 6, 7, 9], "chunks of {chunk_bytes}");
    }
}

#[test]
fn a_cancelled_read_stops() {
    let flag = Arc::new(AtomicBool::new(true));
    let control = CopyControl::default().with_cancel_flag(flag);
    let file = open(b"1,2\n3,4\n", &no_header(), Some(&numbers())).unwrap();
    let mut reader = file.read(&numbers(), None, &control).unwrap();
    assert!(matches!(reader.next_batch(), Err(CopyError::Cancelled)));
}

#[test]
fn a_type_that_csv_cannot_have_is_refused_at_once() {
    let declared = schema(&[("n", DataType::Null)]);
    let file = open(b"1\n", &no_header(), Some(&declared)).unwrap();
    let error = file
        .read(&declared, None, &CopyControl::default())
        .map(|_| ());
    assert_eq!(
        error.unwrap_err().to_string(),
        "column 1 cannot be read from CSV as Null"
    );
}

/// A panic of a worker would come out as an internal error.
#[test]
fn random_bytes_are_read_or_refused() {
    let mut random = Random(31);
    let alphabet = b"a1.,,;|\t\"\"\\'\r\n\n -:+eT\0\xff\xc3\xa9\xef\xbb\xbf";
    let control = CopyControl::default();
    for case in 0..4_000 {
        let length = random.below(300);
        let text: Vec<u8> = (0..length)
            .map(|_| alphabet[random.below(alphabet.len())])
            .collect();
        let options = CsvOptions {
            escape: [None, Some(b'\\')][random.below(2)],
            on_error: [OnError::Stop, OnError::SkipRow][random.below(2)],
            chunk_bytes: 1 + random.below(100),
            record_bytes_max: 1 + random.below(400),
            sample_bytes: 1 + random.below(200),
            thread_count: 1,
            ..CsvOptions::default()
        };
        let outcome = open(&text, &options, None).and_then(|file| {
            let schema = file.infer_schema(&control)?;
            let mut reader = file.read(&schema, None, &control)?;
            while reader.next_batch()?.is_some() {}
            Ok(())
        });
        let internal = matches!(outcome, Err(CopyError::Internal { .. }));
        assert!(
            !internal,
            "case {case}: {outcome:?}\n{}",
            text.escape_ascii()
        );
    }
}
