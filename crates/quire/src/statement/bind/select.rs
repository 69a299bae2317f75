//! `SELECT … FROM one table`.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    Expr, OrderByExpr, Query, SelectItem, SelectItemQualifiedWildcardKind, Value,
};
use quire_exec::plan::Expression;
use quire_planner::aggregate::StatementAggregate;
use quire_planner::expression::Slots;
use quire_sql::names;

use super::Binder;
use super::clauses::SelectClauses;
use crate::statement::access::{self, AccessPath};
use crate::statement::compiled::{OutputColumn, OutputSortKey, Returning, Select, TypedExpression};

/// As many rows of a table as can be read here in less time than planning a query takes.
const FEW_ROWS: usize = 1000;

/// Expressions with the names to show.
type Items = Vec<(String, TypedExpression)>;

impl Binder<'_> {
    pub(super) fn select(&self, query: Query) -> Option<Select> {
        let clauses = SelectClauses::of(query)?;
        let mut slots = Slots::Wanted(Vec::new());
        let conditions = self.conditions(clauses.selection, &mut slots)?;
        let all_conditions = match clauses.lock {
            Some(_) => conditions.clone(),
            None => Vec::new(),
        };
        let (access, tests) = access::choose(self.table, slots.wanted(), conditions);
        let mut aggregates = Vec::new();
        let mut items = self.items(clauses.projection, &mut slots, Some(&mut aggregates))?;
        let is_aggregate = !aggregates.is_empty();
        let shown = items.len();
        let schema = shown_schema(&items);
        let is_plain =
            !clauses.is_distinct && clauses.lock.is_none() && clauses.order_by.is_empty();
        if is_aggregate && !is_plain {
            return None;
        }
        let sort = self.sort_keys(clauses.order_by, &mut items, &mut slots)?;
        if clauses.is_distinct && !can_be_distinct(&items, shown) {
            return None;
        }
        let is_reversed = if clauses.is_distinct || is_aggregate {
            None
        } else {
            self.direction(&access, &sort, &items, slots.wanted())
        };
        let limit = self.count(clauses.limit)?;
        let stops_early =
            limit.is_some() && is_reversed.is_some() && (tests.is_empty() || !access.is_all());
        let is_long = access.is_open() && !stops_early;
        if is_long && clauses.lock.is_some() {
            return None;
        }
        let outputs = items.into_iter().map(|(_, item)| OutputColumn::of(item));
        Some(Select {
            access,
            tests,
            all_conditions,
            outputs: outputs.collect(),
            wanted: self.ordinals(slots.wanted())?,
            shown,
            aggregates,
            is_distinct: clauses.is_distinct,
            sort: if is_reversed.is_some() {
                Vec::new()
            } else {
                sort
            },
            is_reversed: is_reversed.unwrap_or(false),
            limit,
            offset: self.count(clauses.offset)?,
            lock: clauses.lock,
            read_max: is_long.then_some(FEW_ROWS),
            schema,
        })
    }

    /// What `RETURNING` shows of a row with all columns.
    pub(super) fn returning(&self, items: Option<Vec<SelectItem>>) -> Option<Option<Returning>> {
        let Some(items) = items else {
            return Some(None);
        };
        let items = self.items(items, &mut Slots::All, None)?;
        let schema = shown_schema(&items);
        let outputs = items
            .into_iter()
            .map(|(_, item)| OutputColumn::of(item))
            .collect();
        Some(Some(Returning { outputs, schema }))
    }

    /// The items of a select list. There are either aggregates in them or columns.
    pub(super) fn items(
        &self,
        projection: Vec<SelectItem>,
        slots: &mut Slots,
        aggregates: Option<&mut Vec<StatementAggregate>>,
    ) -> Option<Items> {
        let mut expressions = Vec::with_capacity(projection.len());
        for item in projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    expressions.push((names::of_expression(&expr), expr));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = names::folded(&alias);
                    expressions.push((names::display(&name).to_owned(), expr));
                }
                SelectItem::Wildcard(options) if options == Default::default() => {
                    expressions.extend(self.all_columns());
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) if options == Default::default() && self.is_alias(&names::last_part(&name)?) => {
                    expressions.extend(self.all_columns());
                }
                _ => return None,
            }
        }
        let mut settled = Vec::with_capacity(expressions.len());
        for (name, expr) in expressions {
            settled.push((name, self.settled(expr)?));
        }
        let has_aggregates = settled.iter().any(|(_, expr)| super::has_aggregate(expr));
        let mut aggregates = aggregates.filter(|_| has_aggregates);
        let mut items = Vec::with_capacity(settled.len());
        for (name, expr) in settled {
            items.push((
                name,
                self.translate(&expr, slots, aggregates.as_deref_mut())?,
            ));
        }
        Some(items)
    }

    fn all_columns(&self) -> impl Iterator<Item = (String, Expr)> + '_ {
        self.table.columns.iter().map(|column| {
            let ident = datafusion::sql::sqlparser::ast::Ident::with_quote('"', &column.name);
            (column.name.clone(), Expr::Identifier(ident))
        })
    }

    /// The keys of `ORDER BY`; those that are not shown become hidden items.
    fn sort_keys(
        &self,
        order_by: Vec<OrderByExpr>,
        items: &mut Items,
        slots: &mut Slots,
    ) -> Option<Vec<OutputSortKey>> {
        let shown = items.len();
        let mut keys = Vec::with_capacity(order_by.len());
        for key in order_by {
            // A sign or parentheses make a key an expression: no position, and no name of a result column.
            let is_expression = matches!(key.expr, Expr::Nested(_) | Expr::UnaryOp { .. });
            if key.with_fill.is_some() || is_expression {
                return None;
            }
            let is_descending = key.options.asc == Some(false);
            let output = match shown_position(&key.expr, items.get(..shown)?)? {
                Some(position) => position,
                None => {
                    items.push((String::new(), self.expression(key.expr, slots)?));
                    items.len() - 1
                }
            };
            // Sorting knows two zeros.
            if items.get(output)?.1.data_type.is_floating() {
                return None;
            }
            keys.push(OutputSortKey {
                output,
                is_descending,
                // As in PostgreSQL, NULL is greater than everything.
                nulls_first: key.options.nulls_first.unwrap_or(is_descending),
            });
        }
        Some(keys)
    }

    /// Whether the key must be read backwards to give this order; `None` when it does not give it.
    fn direction(
        &self,
        access: &AccessPath,
        sort: &[OutputSortKey],
        items: &Items,
        wanted: &[usize],
    ) -> Option<bool> {
        if access.is_single || sort.is_empty() {
            return Some(false);
        }
        if access.is_list() {
            return None;
        }
        let fixed = access.key.columns.get(..access.equal_count())?;
        let mut behind = access.key.columns.get(access.equal_count()..)?.iter();
        let mut is_reversed = None;
        for key in sort {
            let Expression::Column { slot, .. } = items.get(key.output)?.1.node else {
                return None;
            };
            let column = *wanted.get(slot)?;
            if fixed.iter().any(|part| part.column == column) {
                continue;
            }
            let Some(part) = behind.next() else {
                // All columns of a unique key without NULL: no two rows are left to be ordered.
                return is_reversed.filter(|_| access.key.is_unique && self.has_no_null(access));
            };
            let is_backwards = key.is_descending != part.is_descending;
            let nulls_first = part.nulls_first != is_backwards;
            let is_nullable = self.table.columns.get(column)?.nullable;
            if part.column != column
                || is_reversed.is_some_and(|known| known != is_backwards)
                || (is_nullable && nulls_first != key.nulls_first)
            {
                return None;
            }
            is_reversed = Some(is_backwards);
        }
        Some(is_reversed.unwrap_or(false))
    }

    fn ordinals(&self, columns: &[usize]) -> Option<Vec<usize>> {
        let ordinal = |column: &usize| Some(self.table.columns.get(*column)?.ordinal);
        columns.iter().map(ordinal).collect()
    }

    fn has_no_null(&self, access: &AccessPath) -> bool {
        let mut columns = access.key.columns.iter();
        columns.all(|part| {
            self.table
                .columns
                .get(part.column)
                .is_some_and(|c| !c.nullable)
        })
    }

    /// The expression of `LIMIT` or `OFFSET`: fixed, and a BIGINT.
    fn count(&self, expr: Option<Expr>) -> Option<Option<Expression>> {
        let Some(expr) = expr else {
            return Some(None);
        };
        let count = self.expression(expr, &mut Slots::Wanted(Vec::new()))?;
        let is_count = count.data_type.is_integer() && count.node.is_fixed();
        is_count.then_some(Some(count.node))
    }

    fn is_alias(&self, name: &str) -> bool {
        let mut qualifiers = self.schema.iter().filter_map(|(qualifier, _)| qualifier);
        qualifiers
            .next()
            .is_some_and(|qualifier| qualifier.table() == name)
    }
}

/// The place of the item that a sort key names, by its number or its name; `None` altogether when that is not clear.
fn shown_position(key: &Expr, items: &[(String, TypedExpression)]) -> Option<Option<usize>> {
    match key {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => {
                let position = digits.parse::<usize>().ok()?.checked_sub(1)?;
                (position < items.len()).then_some(Some(position))
            }
            _ => None,
        },
        Expr::Identifier(ident) => {
            let name = names::folded(ident);
            let mut places = (0..items.len()).filter(|place| items[*place].0 == name);
            let first = places.next();
            match places.next() {
                Some(_) => None,
                None => Some(first),
            }
        }
        _ => Some(None),
    }
}

/// Equality of floats is not that of their bits, and what is sorted by must be among what is distinct.
fn can_be_distinct(items: &Items, shown: usize) -> bool {
    items.len() == shown && !items.iter().any(|(_, item)| item.data_type.is_floating())
}

pub(super) fn shown_schema(items: &Items) -> SchemaRef {
    let field =
        |(name, item): &(String, TypedExpression)| Field::new(name, item.data_type.clone(), true);
    Arc::new(Schema::new(items.iter().map(field).collect::<Vec<_>>()))
}
