//! What a target cannot load it refuses.

use crate::scratch::ScratchDirectory;
use quire_workload::{ColumnType, SqlValue, Target, WorkloadColumn, WorkloadTable};

pub fn a_wrong_file_is_refused(target: &dyn Target) {
    let table = WorkloadTable {
        name: "refused".into(),
        columns: vec![
            WorkloadColumn::new("id", ColumnType::Integer),
            WorkloadColumn::nullable("code", ColumnType::Date),
        ],
        primary_key: vec!["id"],
        indexes: vec![],
    };
    target.create_table(&table).unwrap();
    assert!(
        target.create_table(&table).is_err(),
        "the table is there already"
    );
    let directory =
        ScratchDirectory::new(&format!("wrong-csv-of-{}", target.name().replace(' ', "-")));
    for (name, csv) in [
        ("type", "1,x\n"),
        ("null", ",1970-01-01\n"),
        ("key", "1,\n1,\n"),
        ("fields", "1\n"),
        ("quotes", "1,\"\n"),
    ] {
        let file = directory.path().join(name);
        std::fs::write(&file, csv).unwrap();
        assert!(
            target.load(&table, &file).is_err(),
            "a file with a wrong {name}"
        );
    }
    assert!(
        target
            .load(&table, &directory.path().join("absent"))
            .is_err()
    );
    let count = target
        .connect()
        .unwrap()
        .query("SELECT COUNT(*) FROM refused", &[]);
    assert_eq!(
        count,
        Ok(vec![vec![SqlValue::Integer(0)]]),
        "a file is loaded as a whole or not"
    );
}
