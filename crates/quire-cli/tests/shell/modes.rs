//! Output modes, by option and by command.

use crate::program::Folder;

const PAIR: &str =
    "SELECT CAST(1 AS INTEGER) AS a, 'x' AS b UNION ALL SELECT CAST(2 AS INTEGER), NULL ORDER BY a";

fn in_mode(mode: &str) -> String {
    Folder::new().succeed(&["--mode", mode, "-c", PAIR])
}

#[test]
fn into_a_pipe_rows_are_csv() {
    assert_eq!(Folder::new().succeed(&["-c", PAIR]), "a,b\n1,x\n2,\n");
}

#[test]
fn every_mode_has_its_form() {
    assert_eq!(
        in_mode("box"),
        "┌─────────┬──────┐\n\
         │       a │ b    │\n\
         │ integer │ text │\n\
         ├─────────┼──────┤\n\
         │       1 │ x    │\n\
         │       2 │ NULL │\n\
         └─────────┴──────┘\n\
         2 rows\n"
    );
    assert_eq!(
        in_mode("table"),
        "+---+------+\n| a | b    |\n+---+------+\n| 1 | x    |\n| 2 | NULL |\n+---+------+\n"
    );
    assert_eq!(in_mode("csv"), "a,b\n1,x\n2,\n");
    assert_eq!(in_mode("tsv"), "a\tb\n1\tx\n2\t\\N\n");
    assert_eq!(
        in_mode("json"),
        "[{\"a\":1,\"b\":\"x\"},\n{\"a\":2,\"b\":null}]\n"
    );
    assert_eq!(
        in_mode("jsonlines"),
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n"
    );
    assert_eq!(in_mode("line"), "a = 1\nb = x\n\na = 2\nb = NULL\n");
    assert_eq!(
        in_mode("markdown"),
        "|   a | b    |\n| --: | ---- |\n|   1 | x    |\n|   2 | NULL |\n"
    );
    assert_eq!(
        in_mode("insert"),
        "INSERT INTO t (a, b) VALUES (1, 'x');\nINSERT INTO t (a, b) VALUES (2, NULL);\n"
    );
}

#[test]
fn commands_change_the_form() {
    let folder = Folder::new();
    let script = format!(
        ".headers off\n.nullvalue nil\n{PAIR};\n.mode line\n{PAIR};\n.mode\n\\x\n{PAIR} LIMIT 1;\n"
    );
    let finished = folder.run_script(&[], &script);
    assert_eq!(
        finished.stdout,
        "1,x\n2,nil\na = 1\nb = x\n\na = 2\nb = nil\nline\n1,x\n"
    );
    assert_eq!(folder.succeed(&["--no-header", "-c", PAIR]), "1,x\n2,\n");
}

#[test]
fn limits_set_by_hand_hold_in_a_pipe() {
    let script = ".mode box\n.maxrows 3\n.width 40\n\
         SELECT value AS n, repeat('long ', 20) AS t FROM generate_series(1, 50000) ORDER BY n;\n";
    let finished = Folder::new().run_script(&[], script);
    assert_eq!(
        finished.stdout,
        "┌────────┬─────────────────────────────┐\n\
         │      n │ t                           │\n\
         │ bigint │ text                        │\n\
         ├────────┼─────────────────────────────┤\n\
         │      1 │ long long long long long l… │\n\
         │      2 │ long long long long long l… │\n\
         │      ⋮ │ ⋮                           │\n\
         │  50000 │ long long long long long l… │\n\
         └────────┴─────────────────────────────┘\n\
         50000 rows (3 shown)\n"
    );
}

#[test]
fn an_empty_result_still_has_its_columns() {
    let folder = Folder::new();
    let none = "SELECT CAST(1 AS INTEGER) AS a WHERE false";
    assert_eq!(folder.succeed(&["-c", none]), "a\n");
    assert_eq!(folder.succeed(&["--mode", "json", "-c", none]), "[]\n");
    assert!(
        folder
            .succeed(&["--mode", "box", "-c", none])
            .ends_with("┘\n0 rows\n")
    );
}

#[test]
fn an_unknown_mode_is_a_usage_error() {
    let finished = Folder::new().run(&["--mode", "xml", "-c", PAIR]);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("xml"), "{}", finished.stderr);
    let finished = Folder::new().run(&["-c", ".mode xml"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("there is no mode xml"),
        "{}",
        finished.stderr
    );
}
