//! `UPDATE` and `DELETE` as the query for the rows they change.
//!
//! `UPDATE t AS a SET c = e FROM f WHERE p` becomes
//! `SELECT a.<key>, a.<every column>, e AS <new 0>, f.* FROM <target> AS a, f WHERE p`. The target is read through a
//! table of its own name that shows the key of each row, so that other mentions of the table in the statement see it as it is.

use datafusion::sql::sqlparser::ast::GroupByExpr;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Ident, ObjectName, Query, Select,
    SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor,
    TableWithJoins, Update, UpdateTableFromKind, WildcardAdditionalOptions, With,
};
use quire_error::Error;
use quire_planner::scan::ROW_KEY_COLUMN;
use quire_sql::names::last_part;
use quire_sql::reject::not_supported;

use super::super::insert::{refuse_clauses, table_name};

/// Name of the table through which the target is read.
pub(in crate::sql) const TARGET_TABLE: &str = "quire target";

/// Which rows a statement changes, and how, as text of the statement.
pub(super) struct ChangedRows {
    /// `WITH` before the statement.
    pub(super) with: Option<With>,
    pub(super) is_deletion: bool,
    /// Name of the table that is changed.
    pub(super) table: String,
    /// What the statement calls it.
    pub(super) alias: Ident,
    /// The tables of `FROM` or `USING`.
    pub(super) others: Vec<TableWithJoins>,
    pub(super) selection: Option<Expr>,
    /// Columns and their new values, in the order of the statement; none for a deletion.
    pub(super) assignments: Vec<(Ident, Expr)>,
    pub(super) returning: Option<Vec<SelectItem>>,
}

impl ChangedRows {
    /// Takes an `UPDATE` apart.
    pub(super) fn of_update(update: Update, with: Option<With>) -> Result<Self, Error> {
        refuse_clauses(&[
            (update.output.is_some(), "OUTPUT"),
            (update.or.is_some(), "UPDATE OR"),
            (!update.order_by.is_empty(), "ORDER BY in UPDATE"),
            (update.limit.is_some(), "LIMIT in UPDATE"),
        ])?;
        let (table, alias) = target_of(update.table)?;
        let others = match update.from {
            None => Vec::new(),
            Some(
                UpdateTableFromKind::BeforeSet(tables) | UpdateTableFromKind::AfterSet(tables),
            ) => tables,
        };
        let mut assignments = Vec::new();
        for assignment in update.assignments {
            flatten(assignment, &mut assignments)?;
        }
        Ok(Self {
            with,
            is_deletion: false,
            table,
            alias,
            others,
            selection: update.selection,
            assignments,
            returning: update.returning,
        })
    }

    /// Takes a `DELETE` apart.
    pub(super) fn of_delete(delete: Delete, with: Option<With>) -> Result<Self, Error> {
        refuse_clauses(&[
            (delete.output.is_some(), "OUTPUT"),
            (!delete.tables.is_empty(), "DELETE from several tables"),
            (!delete.order_by.is_empty(), "ORDER BY in DELETE"),
            (delete.limit.is_some(), "LIMIT in DELETE"),
        ])?;
        let (FromTable::WithFromKeyword(mut tables) | FromTable::WithoutKeyword(mut tables)) =
            delete.from;
        let (Some(target), true) = (tables.pop(), tables.is_empty()) else {
            return Err(not_supported("DELETE from several tables"));
        };
        let (table, alias) = target_of(target)?;
        Ok(Self {
            with,
            is_deletion: true,
            table,
            alias,
            others: delete.using.unwrap_or_default(),
            selection: delete.selection,
            assignments: Vec::new(),
            returning: delete.returning,
        })
    }

    /// The query: key, `columns` of the target, new values, and, where something may ask for them, the columns of the other
    /// tables.
    pub(super) fn query(&self, columns: &[String]) -> Query {
        let alias = &self.alias;
        let of_target = |name: &str| {
            let column = Ident::with_quote('"', name);
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![alias.clone(), column]))
        };
        let mut projection = vec![of_target(ROW_KEY_COLUMN)];
        projection.extend(columns.iter().map(|name| of_target(name)));
        for (position, (_, value)) in self.assignments.iter().enumerate() {
            projection.push(SelectItem::ExprWithAlias {
                expr: value.clone(),
                alias: Ident::with_quote('"', new_value_name(position)),
            });
        }
        if self.returning.is_some() {
            let factors = self.others.iter().flat_map(|table| {
                let joined = table.joins.iter().map(|join| &join.relation);
                std::iter::once(&table.relation).chain(joined)
            });
            projection.extend(factors.filter_map(wildcard_of));
        }
        let target = TableWithJoins {
            relation: table_factor(TARGET_TABLE, alias.clone()),
            joins: Vec::new(),
        };
        let mut from = vec![target];
        from.extend(self.others.iter().cloned());
        let mut query = query_of(select(projection, from, self.selection.clone()));
        query.with = self.with.clone();
        query
    }
}

/// Name under which the query has the value of an assignment.
pub(super) fn new_value_name(position: usize) -> String {
    format!("quire new {position}")
}

/// The name of the target, and what the statement calls it.
fn target_of(target: TableWithJoins) -> Result<(String, Ident), Error> {
    if !target.joins.is_empty() {
        return Err(not_supported("a join as the table to change")
            .with_hint("Name the other tables after FROM (UPDATE) or USING (DELETE)."));
    }
    let TableFactor::Table {
        name,
        alias,
        args: None,
        ..
    } = target.relation
    else {
        return Err(Error::new("42809", "only tables can be changed"));
    };
    let table = table_name(&name)?;
    let alias = match alias {
        Some(alias) => alias.name,
        None => Ident::with_quote('"', &table),
    };
    Ok((table, alias))
}

/// `(a, b) = (x, y)` is `a = x, b = y`.
fn flatten(assignment: Assignment, into: &mut Vec<(Ident, Expr)>) -> Result<(), Error> {
    match (assignment.target, assignment.value) {
        (AssignmentTarget::ColumnName(name), value) => into.push((column_of(&name)?, value)),
        (AssignmentTarget::Tuple(names), Expr::Tuple(values)) => {
            check_widths(names.len(), values.len())?;
            for (name, value) in names.iter().zip(values) {
                into.push((column_of(name)?, value));
            }
        }
        (AssignmentTarget::Tuple(names), Expr::Subquery(query)) => {
            for (position, name) in names.iter().enumerate() {
                let value = one_column(&query, position, names.len())?;
                into.push((column_of(name)?, Expr::Subquery(Box::new(value))));
            }
        }
        (AssignmentTarget::Tuple(names), value) => match names.as_slice() {
            [name] => into.push((column_of(name)?, value)),
            _ => {
                return Err(Error::new(
                    "0A000",
                    "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
                ));
            }
        },
    }
    Ok(())
}

fn check_widths(columns: usize, values: usize) -> Result<(), Error> {
    if columns == values {
        return Ok(());
    }
    let text = "number of columns does not match number of values";
    Err(Error::new("42601", text).with_detail(format!("{columns} columns, {values} values")))
}

fn column_of(name: &ObjectName) -> Result<Ident, Error> {
    let column = last_part(name);
    let column = column.ok_or_else(|| Error::new("42601", format!("\"{name}\" is no column")))?;
    Ok(Ident::with_quote('"', column))
}

/// The same query with one of its columns.
fn one_column(query: &Query, position: usize, width: usize) -> Result<Query, Error> {
    let mut query = query.clone();
    let SetExpr::Select(select) = query.body.as_mut() else {
        return Err(not_supported(
            "a set operation as the source of several columns",
        ));
    };
    check_widths(width, select.projection.len())?;
    let item = select.projection.swap_remove(position);
    select.projection = vec![item];
    Ok(query)
}

fn wildcard_of(factor: &TableFactor) -> Option<SelectItem> {
    let name = match factor {
        TableFactor::Table { name, alias, .. } => match alias {
            Some(alias) => ObjectName::from(vec![alias.name.clone()]),
            None => name.clone(),
        },
        TableFactor::Derived { alias, .. } | TableFactor::NestedJoin { alias, .. } => {
            ObjectName::from(vec![alias.as_ref()?.name.clone()])
        }
        _ => return None,
    };
    let kind = SelectItemQualifiedWildcardKind::ObjectName(name);
    let options = WildcardAdditionalOptions::default();
    Some(SelectItem::QualifiedWildcard(kind, options))
}

/// A table under a name.
pub(super) fn table_factor(name: &str, alias: Ident) -> TableFactor {
    TableFactor::Table {
        name: ObjectName::from(vec![Ident::with_quote('"', name)]),
        alias: Some(TableAlias {
            explicit: true,
            name: alias,
            columns: Vec::new(),
            at: None,
        }),
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

pub(super) fn select(
    projection: Vec<SelectItem>,
    from: Vec<TableWithJoins>,
    selection: Option<Expr>,
) -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from,
        lateral_views: Vec::new(),
        prewhere: None,
        selection,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}

pub(super) fn query_of(select: Select) -> Query {
    Query {
        with: None,
        body: Box::new(SetExpr::Select(Box::new(select))),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}
