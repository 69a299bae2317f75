//! The clauses of a statement, taken apart; whatever has no place here leaves the statement to the general path.

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, LockClause, LockType, NonBlock, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr,
};

use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};

use crate::statement::lock_mode::LockMode;

/// A `SELECT` from one table, or from none.
pub(super) struct SelectClauses {
    pub(super) projection: Vec<SelectItem>,
    pub(super) selection: Option<Expr>,
    pub(super) is_distinct: bool,
    pub(super) order_by: Vec<OrderByExpr>,
    pub(super) limit: Option<Expr>,
    pub(super) offset: Option<Expr>,
    pub(super) lock: Option<LockMode>,
}

impl SelectClauses {
    pub(super) fn of(query: Query) -> Option<Self> {
        let Query {
            with: None,
            body,
            order_by,
            limit_clause,
            fetch: None,
            locks,
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators,
        } = query
        else {
            return None;
        };
        let SetExpr::Select(select) = *body else {
            return None;
        };
        let order_by = match order_by {
            None => Vec::new(),
            Some(order_by) => match order_by.kind {
                OrderByKind::Expressions(keys) if order_by.interpolate.is_none() => keys,
                _ => return None,
            },
        };
        let (limit, offset) = match limit_clause {
            None => (None, None),
            Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by,
            }) if limit_by.is_empty() => (limit, offset.map(|offset| offset.value)),
            Some(_) => return None,
        };
        let lock = match locks.as_slice() {
            [] => None,
            [lock] => Some(lock_mode(lock)?),
            _ => return None,
        };
        if !pipe_operators.is_empty() || !is_plain(&select) {
            return None;
        }
        let is_distinct = match select.distinct {
            None | Some(Distinct::All) => false,
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => return None,
        };
        Some(Self {
            projection: select.projection,
            selection: select.selection,
            is_distinct,
            order_by,
            limit,
            offset,
            lock,
        })
    }
}

fn lock_mode(lock: &LockClause) -> Option<LockMode> {
    if lock.of.is_some() {
        return None;
    }
    Some(LockMode {
        rows: match lock.lock_type {
            LockType::Share => RowLockMode::Share,
            LockType::Update => RowLockMode::Exclusive,
        },
        wait: match lock.nonblock {
            None => LockWait::Wait,
            Some(NonBlock::Nowait) => LockWait::Fail,
            Some(NonBlock::SkipLocked) => LockWait::Skip,
        },
    })
}

/// Whether a `SELECT` has no clause but those that are looked at.
fn is_plain(select: &Select) -> bool {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct: _,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection: _,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection: _,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor: _,
    } = select;
    let has_no_groups = matches!(group_by, GroupByExpr::Expressions(keys, modifiers)
        if keys.is_empty() && modifiers.is_empty());
    has_no_groups
        && optimizer_hints.is_empty()
        && select_modifiers.is_none()
        && top.is_none()
        && exclude.is_none()
        && into.is_none()
        && from.len() <= 1
        && lateral_views.is_empty()
        && prewhere.is_none()
        && connect_by.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && having.is_none()
        && named_window.is_empty()
        && qualify.is_none()
        && value_table_mode.is_none()
}
