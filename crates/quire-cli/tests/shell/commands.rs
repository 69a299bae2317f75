//! Dot commands and their backslash names.

use crate::program::Folder;

const TWO_TABLES: &str = "CREATE TABLE nation (n_nationkey INTEGER NOT NULL, n_name CHAR(25)); \
     CREATE TABLE \"Odd name\" (\"a b\" DECIMAL(12,2)); \
     INSERT INTO nation VALUES (1, 'Peru'), (2, 'China')";

/// The output of commands in a database with two tables.
fn shown(commands: &[&str]) -> String {
    let folder = Folder::new();
    folder.succeed(&["d.quire", "-c", TWO_TABLES]);
    let mut arguments = vec!["d.quire"];
    for command in commands {
        arguments.extend(["-c", command]);
    }
    folder.succeed(&arguments)
}

#[test]
fn tables_are_listed() {
    assert_eq!(shown(&[".tables"]), "Odd name\nnation\n");
    assert_eq!(shown(&[".tables n%"]), "nation\n");
    assert_eq!(shown(&[".tables zzz"]), "");
    let listed = shown(&["\\dt"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[0], "table,rows,bytes");
    assert!(lines[1].starts_with("Odd name,0,"), "{listed}");
    assert!(lines[2].starts_with("nation,2,"), "{listed}");
    assert_eq!(shown(&["\\d"]), listed);
}

#[test]
fn a_table_is_described() {
    assert_eq!(
        shown(&["\\d nation"]),
        "column,type,nullable,compression\n\
         n_nationkey,INTEGER,not null,auto\n\
         n_name,CHAR(25),\"\",auto\n"
    );
    let folder = Folder::new();
    let finished = folder.run(&["-c", "\\d nothing"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("there is no table nothing"),
        "{}",
        finished.stderr
    );
}

#[test]
fn the_schema_makes_the_same_tables_elsewhere() {
    let schema = shown(&[".schema"]);
    assert_eq!(schema.matches("CREATE TABLE").count(), 2, "{schema}");
    let folder = Folder::new();
    folder.write("schema.sql", &schema);
    assert_eq!(
        folder.succeed(&["-f", "schema.sql", "-c", ".schema"]),
        schema
    );
}

#[test]
fn import_makes_a_table_or_appends_to_it() {
    let folder = Folder::new();
    folder.write("it's.csv", "id,name\n007,Bond\n008,\n");
    let output = folder.succeed(&[
        "d.quire",
        "-c",
        ".import \"it's.csv\" agents",
        "-c",
        ".import \"it's.csv\" agents",
        "-c",
        "SELECT id, count(*) AS n, count(name) AS names FROM agents GROUP BY id ORDER BY id",
    ]);
    assert_eq!(output, "id,n,names\n007,2,2\n008,2,0\n");
    let finished = folder.run(&["-c", ".import missing.csv t"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("missing.csv"),
        "{}",
        finished.stderr
    );
}

#[test]
fn results_can_go_to_files() {
    let folder = Folder::new();
    let script = ".once one.csv\nSELECT 1 AS a;\nSELECT 2 AS a;\n.output many.csv\nSELECT 3 AS a;\n\
                  .print four\n.output\n.print five\n";
    let finished = folder.run_script(&[], script);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(0), "a\n2\nfive\n")
    );
    assert_eq!(folder.read("one.csv"), "a\n1\n");
    assert_eq!(folder.read("many.csv"), "a\n3\nfour\n");
    let finished = folder.run(&["-c", ".output missing/folder.csv"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("missing/folder.csv"),
        "{}",
        finished.stderr
    );
}

#[test]
fn another_database_can_be_opened() {
    let folder = Folder::new();
    let script = ".databases\nCREATE TABLE t (a INTEGER);\n.open a.quire\n.tables\n\
                  CREATE TABLE u (a INTEGER);\n.open --readonly a.quire\n.tables\n\
                  .bail off\nDROP TABLE u;\n.open\n.tables\n";
    let finished = folder.run_script(&[], script);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(1), "in memory\nu\n")
    );
    assert!(
        finished.stderr.starts_with("<stdin>:9: ERROR:  25006: "),
        "{}",
        finished.stderr
    );
    let databases = folder.succeed(&["a.quire", "--readonly", "-c", "\\l"]);
    assert!(databases.starts_with("a.quire  ") && databases.ends_with("  read-only\n"));
}

#[test]
fn a_failed_open_leaves_no_database_and_says_so() {
    let folder = Folder::new();
    folder.write(
        "notes.txt",
        "no database at all, but long enough to hold a header\n",
    );
    let finished = folder.run_script(&[], ".bail off\n.open notes.txt\nSELECT 1;\n");
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("notes.txt"), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("no database is open"),
        "{}",
        finished.stderr
    );
}

#[test]
fn settings_are_shown() {
    let output = Folder::new().succeed(&["-c", ".timer on", "-c", ".timer off", "-c", ".show"]);
    for line in ["mode: csv", "timer: off", "bail: on", "maxrows: auto"] {
        assert!(
            output.lines().any(|shown| shown.trim_start() == line),
            "{line:?} in {output}"
        );
    }
}

#[test]
fn help_lists_every_command() {
    let folder = Folder::new();
    let help = folder.succeed(&["-c", "\\?"]);
    for name in [
        ".tables", "\\dt", ".import", "\\timing", ".maxrows", "\\x", "\\l", "\\i", ".once",
    ] {
        assert!(help.contains(name), "{name} in {help}");
    }
    assert!(
        folder
            .succeed(&["-c", ".help mode"])
            .starts_with(".mode [MODE")
    );
}

#[test]
fn wrong_usage_is_an_error_that_shows_the_right_one() {
    let folder = Folder::new();
    for (command, message) in [
        (".import a.csv", "usage: .import FILE TABLE"),
        (".quit now", "usage: .quit"),
        (".headers maybe", "maybe is neither on nor off"),
        (".maxrows many", "many is neither a count nor auto"),
        (".mode csv t", "only insert mode takes a table"),
        (".read 'open", "the quote ' is not closed"),
    ] {
        let finished = folder.run(&["-c", command]);
        assert_eq!(finished.code, Some(1), "{command}");
        assert!(
            finished.stderr.contains(message),
            "{command}: {}",
            finished.stderr
        );
    }
}
