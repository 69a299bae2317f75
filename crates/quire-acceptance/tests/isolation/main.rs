//! Isolation levels, by the anomalies that each must prevent.
//!
//! The scenarios are those of the Hermitage suite (Martin Kleppmann, 2014), which follow Adya's thesis; what each level of
//! PostgreSQL 15 does in them is known, and is what is expected here: READ COMMITTED prevents G0, G1a, G1b, G1c and OTV,
//! REPEATABLE READ (snapshot isolation) everything but write skew (G2-item, G2), SERIALIZABLE everything.
#![allow(clippy::unwrap_used)]

/// Each scenario with each kind of table.
macro_rules! scenarios {
    ($tables:ident, $module:ident: $($name:ident)*) => {
        mod $module {
            use crate::session::Tables;
            $(
                #[test]
                fn $name() {
                    super::$name(Tables::$tables);
                }
            )*
        }
    };
    ($($name:ident)*) => {
        scenarios! { Rows, row_table: $($name)* }
        scenarios! { Delta, delta_of_column_table: $($name)* }
        scenarios! { RowGroups, row_groups_of_column_table: $($name)* }
        mod row_table_by_the_tuple_engine {
            use crate::session::{Tables, settings_of_all};
            $(
                #[test]
                fn $name() {
                    settings_of_all(&["SET quire.statement_path = off", "SET engine = 'tuple'"]);
                    super::$name(Tables::Rows);
                }
            )*
        }
    };
}

mod anomalies;
mod foreign_keys;
mod loads;
mod locks;
mod session;
mod waits;
