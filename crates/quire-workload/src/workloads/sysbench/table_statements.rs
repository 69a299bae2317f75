//! The texts of sysbench's statements for one of its tables.

use super::table_shape::{SbtestRowValues, TableShape};

/// Statements on a table. `k` stands for the column with the index, `c` for the text.
#[derive(Clone, Debug)]
pub struct TableStatements {
    pub point_select: String,
    pub simple_range: String,
    pub sum_range: String,
    pub order_range: String,
    pub distinct_range: String,
    pub index_update: String,
    pub non_index_update: String,
    pub delete: String,
    pub insert: String,
}

impl TableStatements {
    /// Those of the table with that number.
    pub fn new(values: &SbtestRowValues, number: u32) -> Self {
        let definition = values.table(number);
        let table = &definition.name;
        let (k, c) = match values.shape() {
            TableShape::Narrow => ("k", "c"),
            TableShape::Wide => ("c1", "t"),
        };
        let range = "WHERE id BETWEEN $1 AND $2";
        let names: Vec<&str> = definition
            .columns
            .iter()
            .map(|column| column.name)
            .collect();
        let parameters: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
        Self {
            point_select: format!("SELECT {c} FROM {table} WHERE id = $1"),
            simple_range: format!("SELECT {c} FROM {table} {range}"),
            sum_range: format!("SELECT SUM({k}) FROM {table} {range}"),
            order_range: format!("SELECT {c} FROM {table} {range} ORDER BY {c}"),
            distinct_range: format!("SELECT DISTINCT {c} FROM {table} {range} ORDER BY {c}"),
            index_update: format!("UPDATE {table} SET {k} = {k} + 1 WHERE id = $1"),
            non_index_update: format!("UPDATE {table} SET {c} = $1 WHERE id = $2"),
            delete: format!("DELETE FROM {table} WHERE id = $1"),
            insert: format!(
                "INSERT INTO {table} ({}) VALUES ({})",
                names.join(", "),
                parameters.join(", ")
            ),
        }
    }
}
