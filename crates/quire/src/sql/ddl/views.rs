//! `CREATE VIEW`

use std::collections::BTreeSet;

use datafusion::sql::sqlparser::ast::{
    CreateTableOptions, CreateView, Expr, Ident, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, WildcardAdditionalOptions,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::names::{display, folded, last_part};
use quire_sql::reject::not_supported;
use quire_sql::rewrite;
use quire_tables::{Snapshot, ViewDefinition};

use super::super::insert::{refuse_clauses, table_name};
use super::super::{query, views};
use super::change::CatalogChange;
use super::draft::duplicate_column;
use crate::outcome::Outcome;
use crate::session::Session;

/// Creates a view, or puts another query in its place.
pub(in crate::sql) async fn create_view(
    session: &Session,
    create: CreateView,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check_clauses(&create)?;
    let name = table_name(&create.name)?;
    let mut change = CatalogChange::begin(session, token).await?;
    if create.if_not_exists && change.snapshot().has_name(&name) {
        return change.finish("CREATE VIEW");
    }
    // What the view reads must be there when nobody can drop it any more.
    change.lock_definitions()?;
    let snapshot = change.snapshot();
    let old = snapshot.view(&name);
    if old.is_none() && snapshot.has_name(&name) && create.or_replace {
        return Err(Error::new("42809", format!("\"{name}\" is not a view")));
    }
    if create.if_not_exists && snapshot.has_name(&name) {
        return change.finish("CREATE VIEW");
    }
    let mut query = create.query.clone();
    refuse_files(&query)?;
    let expander = Expander {
        session,
        snapshot: &snapshot,
        token,
    };
    expander.expand(&mut query).await?;
    let columns = expander.columns(&query, &create).await?;
    let named = views::relations_of(&query);
    refuse_external_tables(session, &snapshot, &query, &named)?;
    let depends_on: Vec<u64> = named
        .iter()
        .filter_map(|name| snapshot.id_of(name))
        .collect();
    let view = ViewDefinition {
        id: 0,
        name,
        columns,
        query: query.to_string(),
        depends_on,
    };
    match old {
        Some(old) if create.or_replace => {
            check_replacement(&snapshot, old, &view)?;
            change.define(|tables| tables.replace_view(view))?;
        }
        _ => change.define(|tables| tables.create_view(view))?,
    }
    change.finish("CREATE VIEW")
}

fn check_clauses(create: &CreateView) -> Result<(), Error> {
    refuse_clauses(&[
        (create.materialized, "a materialized view"),
        (create.temporary, "a temporary view"),
        (
            !matches!(create.options, CreateTableOptions::None),
            "an option of a view",
        ),
        (
            create.or_alter
                || create.secure
                || !create.cluster_by.is_empty()
                || create.comment.is_some()
                || create.with_no_schema_binding
                || create.copy_grants
                || create.to.is_some()
                || create.params.is_some(),
            "a clause of this CREATE VIEW",
        ),
    ])
}

fn refuse_files(query: &Query) -> Result<(), Error> {
    let mut statement = Statement::Query(Box::new(query.clone()));
    if rewrite::rewrite(&mut statement).is_empty() {
        Ok(())
    } else {
        Err(not_supported("a view of a file")
            .with_hint("CREATE TABLE name AS SELECT * FROM 'file' stores its rows."))
    }
}

/// A view is read when the program that has such tables may be gone. What `WITH` names is no such table.
fn refuse_external_tables(
    session: &Session,
    snapshot: &Snapshot,
    query: &Query,
    named: &BTreeSet<String>,
) -> Result<(), Error> {
    let with = query.with.iter().flat_map(|with| &with.cte_tables);
    let own: Vec<String> = with.map(|table| folded(&table.alias.name)).collect();
    for name in named.iter().filter(|name| !own.contains(*name)) {
        if session.external_table(snapshot, name)?.is_some() {
            let text = format!("a view of \"{name}\", which is not in the file,");
            return Err(not_supported(text).with_hint(format!(
                "CREATE TABLE name AS SELECT * FROM {name} stores its rows."
            )));
        }
    }
    Ok(())
}

/// The columns that there were must stay, and the view must not read itself.
fn check_replacement(
    snapshot: &Snapshot,
    old: &ViewDefinition,
    new: &ViewDefinition,
) -> Result<(), Error> {
    if !new.columns.starts_with(&old.columns) {
        let changed = old
            .columns
            .iter()
            .zip(&new.columns)
            .find(|(old, new)| old != new);
        let text = match changed {
            Some((old, new)) => format!("cannot change name of view column \"{old}\" to \"{new}\""),
            None => "cannot drop columns from view".to_owned(),
        };
        return Err(Error::new("42P16", text).with_hint(
            "Drop the view and create it again; columns can only be added behind the others.",
        ));
    }
    let mut reached: BTreeSet<u64> = BTreeSet::new();
    let mut next = new.depends_on.clone();
    while let Some(id) = next.pop() {
        if id == old.id {
            let text = format!(
                "infinite recursion detected in the query of view \"{}\"",
                old.name
            );
            return Err(Error::new("42P17", text));
        }
        if reached.insert(id) {
            let view = snapshot.views().find(|view| view.id == id);
            next.extend(view.iter().flat_map(|view| &view.depends_on));
        }
    }
    Ok(())
}

/// Makes the columns of a query independent of columns that its tables get later.
struct Expander<'a> {
    session: &'a Session,
    snapshot: &'a Snapshot,
    token: &'a CancelToken,
}

impl Expander<'_> {
    /// Writes out `*` in the select lists that decide the query's columns.
    async fn expand(&self, query: &mut Query) -> Result<(), Error> {
        let whole = query.clone();
        let mut open = vec![query.body.as_mut()];
        while let Some(body) = open.pop() {
            match body {
                SetExpr::Select(select) => self.expand_select(&whole, select).await?,
                SetExpr::SetOperation { left, right, .. } => open.extend([left.as_mut(), right]),
                SetExpr::Query(inner) => open.push(inner.body.as_mut()),
                _ => {}
            }
        }
        Ok(())
    }

    async fn expand_select(&self, whole: &Query, select: &mut Select) -> Result<(), Error> {
        let is_wildcard = |item: &SelectItem| {
            matches!(
                item,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        };
        if !select.projection.iter().any(is_wildcard) {
            return Ok(());
        }
        let all = self.all_columns(whole, select).await?;
        let mut items = Vec::new();
        for item in std::mem::take(&mut select.projection) {
            let qualifier = match &item {
                SelectItem::Wildcard(options) => {
                    check_plain(options)?;
                    None
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) => {
                    check_plain(options)?;
                    last_part(name)
                }
                _ => {
                    items.push(item);
                    continue;
                }
            };
            let chosen = all
                .iter()
                .filter(|(table, _)| qualifier.is_none() || *table == qualifier);
            items.extend(chosen.map(|(table, column)| {
                let parts = table.iter().chain([column]);
                let parts = parts.map(|part| Ident::with_quote('"', part)).collect();
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))
            }));
        }
        select.projection = items;
        Ok(())
    }

    /// All columns of the tables of a `SELECT`, each with the name of its table there.
    async fn all_columns(
        &self,
        whole: &Query,
        select: &Select,
    ) -> Result<Vec<(Option<String>, String)>, Error> {
        let mut bare = select.clone();
        let options = WildcardAdditionalOptions::default();
        bare.projection = vec![SelectItem::Wildcard(options)];
        let mut probe = whole.clone();
        probe.body = Box::new(SetExpr::Select(Box::new(bare)));
        probe.order_by = None;
        probe.limit_clause = None;
        let snapshot = self.snapshot.clone();
        let planned = query::plan(self.session, snapshot, Box::new(probe), self.token).await?;
        let fields = planned.plan.schema().iter();
        let columns = fields.map(|(table, field)| {
            let table = table.map(|table| table.table().to_owned());
            (table, display(field.name()).to_owned())
        });
        Ok(columns.collect())
    }

    /// Names of the view's columns: those of its list, then those of the query.
    async fn columns(&self, query: &Query, create: &CreateView) -> Result<Vec<String>, Error> {
        let snapshot = self.snapshot.clone();
        let planned = query::plan(self.session, snapshot, Box::new(query.clone()), self.token);
        let schema = planned.await?.shown_schema();
        let mut names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        if create.columns.len() > names.len() {
            let text = "CREATE VIEW specifies more column names than columns";
            return Err(Error::new("42601", text));
        }
        for (name, column) in names.iter_mut().zip(&create.columns) {
            *name = folded(&column.name);
        }
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(duplicate_column(name).with_hint("Name the columns with AS."));
            }
        }
        Ok(names)
    }
}

fn check_plain(options: &WildcardAdditionalOptions) -> Result<(), Error> {
    let plain = WildcardAdditionalOptions {
        wildcard_token: options.wildcard_token.clone(),
        ..WildcardAdditionalOptions::default()
    };
    if plain == *options {
        Ok(())
    } else {
        Err(not_supported(
            "EXCLUDE, EXCEPT, REPLACE or RENAME after * in a view",
        ))
    }
}
