//! What is found out about a file without being told.

use super::*;

fn found(text: &str) -> (Option<char>, bool, Vec<String>) {
    let file = open(text.as_bytes(), &CsvOptions::default(), None).unwrap();
    let delimiter = file.dialect().delimiter.map(char::from);
    (delimiter, file.has_header(), file.column_names().to_vec())
}

fn inferred(text: &str) -> Vec<DataType> {
    let file = open(text.as_bytes(), &CsvOptions::default(), None).unwrap();
    let schema = file.infer_schema(&CopyControl::default()).unwrap();
    schema
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn delimiters() {
    assert_eq!(found("a,b\n1,2\n").0, Some(','));
    assert_eq!(found("a;b\n1,5;2\n3,5;4\n").0, Some(';'));
    assert_eq!(found("a\tb\n1,5\t2\n").0, Some('\t'));
    assert_eq!(found("a|b|c\n1|2|3\n").0, Some('|'));
    assert_eq!(found("name\n\"Smith, John\"\nBob\nAda\n").0, None);
    assert_eq!(found("a,b\n1,2\n3\n").0, Some(','));
    assert_eq!(found("\"a;x\",\"b;y\"\n\"1;1\",2\n").0, Some(','));
}

#[test]
fn headers() {
    assert_eq!(found("a,b\n1,x\n"), (Some(','), true, names(&["a", "b"])));
    assert_eq!(
        found("1,x\n2,y\n"),
        (Some(','), false, names(&["column1", "column2"]))
    );
    assert_eq!(found("a,b\nx,y\n"), (Some(','), true, names(&["a", "b"])));
    assert_eq!(
        found("x,x\ny,z\n"),
        (Some(','), false, names(&["column1", "column2"]))
    );
    assert_eq!(
        found("x,y\nx,z\n"),
        (Some(','), false, names(&["column1", "column2"]))
    );
    assert_eq!(found(",b\n1,2\n").2, names(&["column1", "b"]));
    assert_eq!(found("a,A,a\n1,2,3\n").2, names(&["a", "A_1", "a_2"]));
    assert_eq!(
        found("COLLINGSWOOD\nBOXBOROUGH\n"),
        (None, false, names(&["column1"]))
    );
    assert_eq!(
        found("\"TELLY\"\n\"WEIYUAN\"\n\"\"\n"),
        (None, false, names(&["column1"]))
    );
    assert_eq!(
        found("mail\na@b.c\nd@e.f\n"),
        (None, true, names(&["mail"]))
    );
    assert_eq!(found("n\n1\n2\n"), (None, true, names(&["n"])));
    assert_eq!(found("\u{feff}a,b\n1,2\n").2, names(&["a", "b"]));
}

#[test]
fn a_declared_table_knows_its_header() {
    let declared = schema(&[("id", DataType::Int64), ("name", DataType::Utf8View)]);
    let has_header = |text: &str| {
        open(text.as_bytes(), &CsvOptions::default(), Some(&declared))
            .unwrap()
            .has_header()
    };
    assert!(has_header("ID,Name\n1,a\n"));
    assert!(has_header("ID,Name\n"));
    assert!(has_header("nr,who\n1,a\n"));
    assert!(!has_header("1,a\n2,b\n"));
    // One bad row alone is no header.
    assert!(!has_header("x,a\n"));
    let texts = text_schema(2);
    let file = open(b"a,b\nc,d\n", &CsvOptions::default(), Some(&texts)).unwrap();
    assert!(!file.has_header());
}

#[test]
fn a_trailing_delimiter_is_tolerated() {
    let tbl = "1|a|2.5|\n2|b|3.5|\n";
    assert_eq!(
        found(tbl),
        (Some('|'), false, names(&["column1", "column2", "column3"]))
    );
    assert_eq!(
        inferred(tbl),
        [DataType::Int64, DataType::Utf8View, DataType::Float64]
    );
    let declared = text_schema(3);
    let batch = read(tbl.as_bytes(), &CsvOptions::default(), &declared).unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (2, 3));
    let error = read(b"1|a|2|\n2|b|3|x\n", &CsvOptions::default(), &declared).unwrap_err();
    assert!(
        error.to_string().contains("expected 3 fields, found 4"),
        "{error}"
    );
    let options = CsvOptions {
        trailing_delimiter: CsvFlag::Yes,
        ..no_header()
    };
    let error = read(b"1,a,2,\n2,b,3,x\n", &options, &declared)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "\"test.csv\" line 2: expected 3 fields, found 4");
    // A comma at the end of every line is a column.
    assert_eq!(found("a,b,\n1,2,\n").2.len(), 3);
}

#[test]
fn carriage_returns_alone_end_lines_too() {
    let declared = text_schema(2);
    let batch = read(b"a,b\r\"c\rd\",e\r", &no_header(), &declared).unwrap();
    let expected = [["a", "b"], ["c\rd", "e"]].map(|r| r.map(|v| Some(v.to_owned())).to_vec());
    assert_eq!(rows(&batch), expected);
}

#[test]
fn inference_looks_at_the_last_record_too() {
    let directory = std::env::temp_dir();
    let path = directory.join(format!("quire-infer-{}.csv", std::process::id()));
    let mut text = String::from("n,d,t\n");
    for n in 0..200_000 {
        text.push_str(&format!("{n},{n}.5,2020-01-01\n"));
    }
    text.push_str("x,1.50,2020-01-01 10:00:00\n");
    std::fs::write(&path, &text).unwrap();
    let options = CsvOptions {
        chunk_bytes: 10_000,
        sample_bytes: 1_000,
        ..CsvOptions::default()
    };
    let file = CsvFile::open(&path, options, None).unwrap();
    let schema = file.infer_schema(&CopyControl::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let types: Vec<_> = schema
        .fields()
        .iter()
        .map(|f| f.data_type().clone())
        .collect();
    assert_eq!(
        types,
        [DataType::Utf8View, DataType::Float64, DataType::Utf8View]
    );
}

#[test]
fn null_strings_and_quotes() {
    let declared = text_schema(2);
    let read = |text: &str, options: &CsvOptions| {
        rows(&read(text.as_bytes(), options, &declared).unwrap())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(read(",\"\"\n", &no_header()), [[None, some("")]]);
    let options = CsvOptions {
        null_string: "\\N".to_owned(),
        ..no_header()
    };
    assert_eq!(read("\\N,\"\\N\"\n", &options), [[None, some("\\N")]]);
    assert_eq!(read(",x\n", &options), [[some(""), some("x")]]);
    let options = CsvOptions {
        quoted_null: true,
        ..no_header()
    };
    assert_eq!(read("\"\",x\n", &options), [[None, some("x")]]);
}

#[test]
fn headers_without_rows_give_no_rows() {
    let declared = text_schema(2);
    let batch = read(b"c0,c1\n", &CsvOptions::default(), &declared).unwrap();
    assert_eq!(batch.num_rows(), 0);
    assert_eq!(found("a,b"), (Some(','), true, names(&["a", "b"])));
    assert_eq!(inferred("a,b"), [DataType::Utf8View, DataType::Utf8View]);
}
