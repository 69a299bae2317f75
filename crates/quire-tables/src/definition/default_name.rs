//! Names for what nobody named: PostgreSQL's.

use super::MAX_NAME_BYTES;

/// `table_column_column_suffix`, with the first number behind it that makes it free. Names that would be too long
/// lose characters of the longer of table and columns.
///
/// ```
/// use quire_tables::default_name;
///
/// assert_eq!(default_name("t", &["a", "b"], "key", |_| false), "t_a_b_key");
/// assert_eq!(default_name("t", &[], "pkey", |name| name == "t_pkey"), "t_pkey1");
/// ```
pub fn default_name(
    table: &str,
    columns: &[&str],
    suffix: &str,
    is_taken: impl Fn(&str) -> bool,
) -> String {
    let columns = columns.join("_");
    let mut number = 0_u64;
    loop {
        let suffix = match number {
            0 => suffix.to_owned(),
            number => format!("{suffix}{number}"),
        };
        let name = joined(table, &columns, &suffix);
        if !is_taken(&name) {
            return name;
        }
        number += 1;
    }
}

fn joined(table: &str, columns: &str, suffix: &str) -> String {
    let separator = if columns.is_empty() { "" } else { "_" };
    let room = MAX_NAME_BYTES.saturating_sub(suffix.len() + separator.len() + 1);
    let (mut table_bytes, mut columns_bytes) = (table.len(), columns.len());
    while table_bytes + columns_bytes > room {
        if table_bytes > columns_bytes {
            table_bytes -= 1;
        } else {
            columns_bytes -= 1;
        }
    }
    let table = &table[..table.floor_char_boundary(table_bytes)];
    let columns = &columns[..columns.floor_char_boundary(columns_bytes)];
    format!("{table}{separator}{columns}_{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        let table = "ä".repeat(200);
        let name = default_name(&table, &["price"], "check", |_| false);
        assert!(name.len() <= MAX_NAME_BYTES && name.len() > MAX_NAME_BYTES - 2);
        assert!(name.ends_with("ä_price_check"));
    }
}
