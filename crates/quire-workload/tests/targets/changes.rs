//! Statements that change rows: their parameters, their counts, their failures.

use quire_workload::{
    ColumnType, SessionError, SqlValue, Target, WorkloadColumn, WorkloadIndex, WorkloadSession,
    WorkloadTable,
};

/// A table of accounts with a number and a balance, with rows 1 to `rows` and balances of 0.
pub fn accounts(target: &dyn Target, name: &str, rows: i64) -> Box<dyn WorkloadSession> {
    let table = WorkloadTable {
        name: name.into(),
        columns: vec![
            WorkloadColumn::new("id", ColumnType::BigInteger),
            WorkloadColumn::new("owner", ColumnType::Varchar(20)),
            WorkloadColumn::new(
                "balance",
                ColumnType::Decimal {
                    precision: 12,
                    scale: 2,
                },
            ),
        ],
        primary_key: vec!["id"],
        indexes: vec![WorkloadIndex {
            name: format!("{name}_by_owner"),
            columns: vec!["owner"],
            unique: true,
        }],
    };
    target.create_table(&table).unwrap();
    target.create_indexes(&table).unwrap();
    let mut session = target.connect().unwrap();
    for id in 1..=rows {
        let insert = format!("INSERT INTO {name} VALUES ($1, $2, $3)");
        let values = [
            SqlValue::Integer(id),
            SqlValue::text(format!("owner {id}")),
            cents(0),
        ];
        assert_eq!(session.execute(&insert, &values), Ok(1));
    }
    session
}

pub fn cents(unscaled: i64) -> SqlValue {
    SqlValue::Decimal { unscaled, scale: 2 }
}

pub fn balance_cents(session: &mut dyn WorkloadSession, table: &str, id: i64) -> Option<i64> {
    let rows = session
        .query(
            &format!("SELECT balance FROM {table} WHERE id = $1"),
            &[SqlValue::Integer(id)],
        )
        .unwrap();
    rows.first().map(|row| row[0].as_unscaled(2).unwrap())
}

pub fn parameters_are_used_twice_and_out_of_order(target: &dyn Target) {
    let mut session = accounts(target, "ordered", 3);
    let change = "UPDATE ordered SET balance = balance + $3 + $3, owner = $1 WHERE id = $2 OR (id = $2 AND owner = '$1')";
    let values = [SqlValue::text("it's $2"), SqlValue::Integer(2), cents(-125)];
    assert_eq!(session.execute(change, &values), Ok(1));
    let found = session
        .query(
            "SELECT owner, balance FROM ordered WHERE id = $1",
            &[SqlValue::Integer(2)],
        )
        .unwrap();
    assert_eq!(found, [[SqlValue::text("it's $2"), cents(-250)]]);
    let quoted = session.query(
        "SELECT '$1', id FROM ordered WHERE id = $1",
        &[SqlValue::Integer(3)],
    );
    assert_eq!(
        quoted,
        Ok(vec![vec![SqlValue::text("$1"), SqlValue::Integer(3)]])
    );
}

pub fn changed_rows_are_counted(target: &dyn Target) {
    let mut session = accounts(target, "counted", 4);
    let change = "UPDATE counted SET balance = $1 WHERE id <= $2";
    assert_eq!(
        session.execute(change, &[cents(100), SqlValue::Integer(3)]),
        Ok(3)
    );
    // Found, though nothing changes.
    assert_eq!(
        session.execute(change, &[cents(100), SqlValue::Integer(3)]),
        Ok(3)
    );
    assert_eq!(
        session.execute(change, &[cents(100), SqlValue::Integer(0)]),
        Ok(0)
    );
    let insert = "INSERT INTO counted VALUES ($1, $2, $5), ($3, $4, $5)";
    let values = [
        SqlValue::Integer(5),
        SqlValue::text("e"),
        SqlValue::Integer(6),
        SqlValue::text("f"),
        cents(1),
    ];
    assert_eq!(session.execute(insert, &values), Ok(2));
    assert_eq!(
        session.execute("DELETE FROM counted WHERE id > $1", &[SqlValue::Integer(3)]),
        Ok(3)
    );
}

pub fn a_violated_key_fails_and_leaves_the_session_usable(target: &dyn Target) {
    let mut session = accounts(target, "unique_owners", 2);
    let insert = "INSERT INTO unique_owners VALUES ($1, $2, $3)";
    for (id, owner) in [(1, "someone else"), (3, "owner 2")] {
        let values = [SqlValue::Integer(id), SqlValue::text(owner), cents(0)];
        session.begin().unwrap();
        assert_eq!(
            session.execute("UPDATE unique_owners SET balance = balance + 1", &[]),
            Ok(2)
        );
        let error = session.execute(insert, &values).unwrap_err();
        assert!(
            matches!(&error, SessionError::Failed { statement, .. } if statement == insert),
            "{error:?}"
        );
        session.rollback().unwrap();
        assert_eq!(balance_cents(&mut *session, "unique_owners", 1), Some(0));
    }
    let error = session
        .query("SELECT nothing FROM nowhere", &[])
        .unwrap_err();
    assert!(matches!(error, SessionError::Failed { .. }), "{error:?}");
    assert_eq!(balance_cents(&mut *session, "unique_owners", 2), Some(0));
}

pub fn a_wrong_number_of_parameters_fails(target: &dyn Target) {
    let mut session = accounts(target, "parameters", 1);
    for values in [vec![], vec![SqlValue::Integer(1); 2]] {
        let result = session.query("SELECT id FROM parameters WHERE id = $1", &values);
        assert!(
            matches!(result, Err(SessionError::Failed { .. })),
            "{result:?}"
        );
    }
}
