//! Files and other databases in the place of tables.

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart, TableAlias, TableFactor};

/// A file or another database in the place of a table: `'file.csv'`, `'app.sqlite'.track`, `'postgresql://…'.public.track`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRelation {
    /// The name that the rewritten statement has in its place.
    pub name: String,
    /// The path of the file, or the address of the server.
    pub location: String,
    /// The table in it, with its schema before it, if the statement names one.
    pub table: Option<String>,
}

/// `'app.sqlite'.track` → `"app.sqlite.track" AS track`; a file alone keeps its name and gets no alias.
pub(super) fn take(factor: &mut TableFactor) -> Option<FileRelation> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        ..
    } = factor
    else {
        return None;
    };
    let (ObjectNamePart::Identifier(location), parts) = name.0.split_first()? else {
        return None;
    };
    if location.quote_style != Some('\'') {
        return None;
    }
    let location = location.value.clone();
    let parts: Vec<&Ident> = parts
        .iter()
        .map(ObjectNamePart::as_ident)
        .collect::<Option<_>>()?;
    let words: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    let table = (!words.is_empty()).then(|| words.join("."));
    if let (None, Some(last)) = (&alias, parts.last()) {
        *alias = Some(TableAlias {
            explicit: true,
            name: (*last).clone(),
            columns: Vec::new(),
            at: None,
        });
    }
    let full_name = match &table {
        None => location.clone(),
        Some(table) => format!("{location}.{table}"),
    };
    *name = ObjectName::from(vec![Ident::with_quote('"', &full_name)]);
    Some(FileRelation {
        name: full_name,
        location,
        table,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::FileRelation;
    use crate::parse::{ParsedCommand, parse};
    use crate::rewrite::rewrite;

    fn rewritten(sql: &str) -> (String, Vec<FileRelation>) {
        let ParsedCommand::Statement(mut statement, _) = parse(sql).unwrap() else {
            panic!("{sql} is another statement");
        };
        let files = rewrite(&mut statement);
        (statement.to_string(), files)
    }

    #[test]
    fn a_table_of_a_file_has_its_own_name_as_alias() {
        let (sql, files) = rewritten("SELECT track.id FROM 'app.sqlite'.track");
        assert_eq!(sql, "SELECT track.id FROM \"app.sqlite.track\" AS track");
        assert_eq!(files[0].location, "app.sqlite");
        assert_eq!(files[0].table.as_deref(), Some("track"));
        let (sql, files) = rewritten("SELECT x.id FROM 'postgresql://h/d'.s.\"T\" AS x");
        assert_eq!(sql, "SELECT x.id FROM \"postgresql://h/d.s.T\" AS x");
        assert_eq!(files[0].table.as_deref(), Some("s.T"));
    }

    #[test]
    fn a_file_alone_keeps_its_name() {
        let (sql, files) = rewritten("SELECT t.id FROM 'a.csv', t");
        assert_eq!(sql, "SELECT t.id FROM \"a.csv\", t");
        assert_eq!(files.len(), 1);
        assert_eq!(
            (files[0].name.as_str(), files[0].table.as_deref()),
            ("a.csv", None)
        );
    }
}
