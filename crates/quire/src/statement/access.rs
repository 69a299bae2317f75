//! Which key leads to the rows of a statement, and between which of its values they are.
//!
//! Of the conditions that must all be true, those that compare a column of a key with something fixed decide: equalities with the
//! first columns, then one range or list for the column after them. The conditions that the range says exactly are dropped from what is
//! tested of each row; the others stay.

use quire_error::Error;
use quire_exec::plan::{ComparisonExpression, Environment, Expression, PlanScalar};
use quire_tables::SqlType;
use quire_tables::row_table::{TupleValue, Value};

use super::table::{KeyKind, RowTableSchema, TableKey, integer_bounds};

/// Columns of a key for whose values there is room on the stack.
const FEW_COLUMNS: usize = 8;

/// How the rows of a statement are found.
#[derive(Debug)]
pub(super) struct AccessPath {
    pub(super) key: TableKey,
    /// Values of the first columns.
    equal: Vec<Bound>,
    /// What the column after them is.
    next: AccessRange,
    /// Whether at most one row can be found.
    pub(super) is_single: bool,
}

#[derive(Debug)]
enum AccessRange {
    All,
    Range {
        low: Option<(Bound, bool)>,
        high: Option<(Bound, bool)>,
    },
    In(Vec<Bound>),
}

/// Something fixed that a column is compared with.
#[derive(Debug, Clone)]
struct Bound {
    node: Expression,
    sql_type: SqlType,
}

/// One range of key values. A value is that of the column's type, or the nearest beyond which there is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeyBounds {
    pub(super) equal: Vec<Value>,
    /// None is no condition: also NULL is found.
    pub(super) next: Option<(std::ops::Bound<Value>, std::ops::Bound<Value>)>,
}

/// A condition on one column that a key may take over.
struct KeyCondition<'n> {
    column: usize,
    test: RowTest<'n>,
}

enum RowTest<'n> {
    Compare(ComparisonExpression, &'n Expression),
    In(&'n [Expression]),
}

/// The access of a statement with these conditions on columns (by the places of `wanted`), and the conditions left to test; all
/// rows of the table if no key narrows them down.
pub(super) fn choose(
    table: &RowTableSchema,
    wanted: &[usize],
    conditions: Vec<Expression>,
) -> (AccessPath, Vec<Expression>) {
    let read: Vec<Option<KeyCondition<'_>>> = conditions
        .iter()
        .map(|node| condition_of(node, wanted, table))
        .collect();
    let candidates = table
        .keys
        .iter()
        .filter_map(|key| candidate(table, key, &read));
    let best = candidates.max_by_key(|(rank, ..)| *rank);
    let (access, taken) = match best {
        Some((_, access, taken)) => (access, taken),
        None => (AccessPath::all(table), Vec::new()),
    };
    drop(read);
    let mut taken_of = taken.into_iter();
    let left = conditions
        .into_iter()
        .filter(|_| !taken_of.next().unwrap_or(false));
    let mut left: Vec<Expression> = left.collect();
    // What can fail sees only rows that passed the rest, as in the general path.
    left.sort_by_key(Expression::can_fail);
    (access, left)
}

/// How good a key is: single row, number of equalities, what is behind them, and rather the primary key.
type Rank = (bool, usize, u8, bool);

fn candidate(
    table: &RowTableSchema,
    key: &TableKey,
    conditions: &[Option<KeyCondition<'_>>],
) -> Option<(Rank, AccessPath, Vec<bool>)> {
    let mut taken = vec![false; conditions.len()];
    let mut equal = Vec::new();
    let mut next = AccessRange::All;
    for part in &key.columns {
        let sql_type = table.columns.get(part.column)?.sql_type;
        let tests = conditions.iter().enumerate();
        let tests = tests.filter_map(|(position, condition)| match condition {
            Some(condition) if condition.column == part.column => Some((position, &condition.test)),
            _ => None,
        });
        let of_column = OfColumn {
            sql_type,
            tests: tests.collect(),
        };
        match of_column.equality(&mut taken) {
            Some(bound) => equal.push(bound),
            None => {
                let list = of_column.list(&mut taken);
                next = list
                    .or_else(|| of_column.range(&mut taken))
                    .unwrap_or(AccessRange::All);
                break;
            }
        }
    }
    if equal.is_empty() && matches!(next, AccessRange::All) {
        return None;
    }
    let is_single = key.is_unique && equal.len() == key.columns.len();
    let is_primary = key.kind == KeyKind::Primary;
    let access = AccessPath {
        key: key.clone(),
        equal,
        next,
        is_single,
    };
    let rank = (
        is_single,
        access.equal.len(),
        access.next.rank(),
        is_primary,
    );
    Some((rank, access, taken))
}

/// The conditions on one column, and their places among all.
struct OfColumn<'c, 'n> {
    sql_type: SqlType,
    tests: Vec<(usize, &'c RowTest<'n>)>,
}

impl OfColumn<'_, '_> {
    fn bound(&self, node: &Expression) -> Bound {
        Bound {
            node: node.clone(),
            sql_type: self.sql_type,
        }
    }

    fn equality(&self, taken: &mut [bool]) -> Option<Bound> {
        self.tests.iter().find_map(|(position, test)| match test {
            RowTest::Compare(ComparisonExpression::Equal, node) => {
                taken[*position] = true;
                Some(self.bound(node))
            }
            _ => None,
        })
    }

    fn list(&self, taken: &mut [bool]) -> Option<AccessRange> {
        self.tests.iter().find_map(|(position, test)| match test {
            RowTest::In(list) => {
                taken[*position] = true;
                Some(AccessRange::In(
                    list.iter().map(|node| self.bound(node)).collect(),
                ))
            }
            RowTest::Compare(..) => None,
        })
    }

    fn range(&self, taken: &mut [bool]) -> Option<AccessRange> {
        let (mut low, mut high) = (None, None);
        for (position, test) in &self.tests {
            let (side, node, is_included) = match test {
                RowTest::Compare(ComparisonExpression::Greater, node) => (&mut low, node, false),
                RowTest::Compare(ComparisonExpression::GreaterOrEqual, node) => {
                    (&mut low, node, true)
                }
                RowTest::Compare(ComparisonExpression::Less, node) => (&mut high, node, false),
                RowTest::Compare(ComparisonExpression::LessOrEqual, node) => {
                    (&mut high, node, true)
                }
                _ => continue,
            };
            if side.is_none() {
                taken[*position] = true;
                *side = Some((self.bound(node), is_included));
            }
        }
        (low.is_some() || high.is_some()).then_some(AccessRange::Range { low, high })
    }
}

impl AccessRange {
    /// How much it narrows down what is read.
    fn rank(&self) -> u8 {
        match self {
            AccessRange::All => 0,
            AccessRange::Range { low, high } => u8::from(low.is_some()) + u8::from(high.is_some()),
            AccessRange::In(_) => 3,
        }
    }
}

/// Reads a comparison of a column with something fixed.
fn condition_of<'n>(
    node: &'n Expression,
    wanted: &[usize],
    table: &RowTableSchema,
) -> Option<KeyCondition<'n>> {
    let column_of = |node: &Expression| {
        let column = *wanted.get(plain_column(node)?)?;
        let sql_type = table.columns.get(column)?.sql_type;
        // Comparisons of floats tell zeros apart that keys do not.
        (!matches!(sql_type, SqlType::Real | SqlType::Double)).then_some(column)
    };
    match node {
        Expression::Compare(comparison, sides) => {
            let is_range = !matches!(
                comparison,
                ComparisonExpression::NotEqual
                    | ComparisonExpression::Distinct
                    | ComparisonExpression::NotDistinct
            );
            let [left, right] = sides.as_ref();
            let (column, comparison, fixed) = match (column_of(left), column_of(right)) {
                (Some(column), _) if right.is_fixed() => (column, *comparison, right),
                (_, Some(column)) if left.is_fixed() => (column, comparison.mirrored(), left),
                _ => return None,
            };
            is_range.then_some(KeyCondition {
                column,
                test: RowTest::Compare(comparison, fixed),
            })
        }
        Expression::In(tested, list, false) if list.iter().all(Expression::is_fixed) => {
            Some(KeyCondition {
                column: column_of(tested)?,
                test: RowTest::In(list),
            })
        }
        _ => None,
    }
}

/// The place of a column, also if it is cast to a type whose values are the same.
fn plain_column(node: &Expression) -> Option<usize> {
    match node {
        Expression::Column { slot, .. } => Some(*slot),
        Expression::Cast(plan, inner) if plan.keeps_decimals() => plain_column(inner),
        _ => None,
    }
}

impl AccessPath {
    /// All rows, in the order of the primary key if there is one.
    fn all(table: &RowTableSchema) -> Self {
        let is_primary = |key: &&TableKey| key.kind == KeyKind::Primary;
        let without_columns = || TableKey {
            kind: KeyKind::Primary,
            is_unique: false,
            columns: Vec::new(),
        };
        let key = table.keys.iter().find(is_primary).cloned();
        Self {
            key: key.unwrap_or_else(without_columns),
            equal: Vec::new(),
            next: AccessRange::All,
            is_single: false,
        }
    }

    /// Whether the range is bounded on one side only, or not at all, so that it may be any part of the table.
    pub(super) fn is_open(&self) -> bool {
        match &self.next {
            AccessRange::All | AccessRange::In(_) => {
                self.equal.is_empty() && matches!(self.next, AccessRange::All)
            }
            AccessRange::Range { low, high } => {
                self.equal.is_empty() && (low.is_none() || high.is_none())
            }
        }
    }

    /// Whether nothing narrows down what is read.
    pub(super) fn is_all(&self) -> bool {
        self.equal.is_empty() && matches!(self.next, AccessRange::All)
    }

    /// Whether several ranges may be read.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.next, AccessRange::In(_))
    }

    /// Number of columns with one value.
    pub(super) fn equal_count(&self) -> usize {
        self.equal.len()
    }

    /// Whether it is one row of the primary key, whose values [`AccessPath::with_key_values`] gives.
    pub(super) fn is_point(&self) -> bool {
        self.is_single && self.key.kind == KeyKind::Primary && self.equal.len() <= FEW_COLUMNS
    }

    /// Hands over the values of the first columns, in the order of the key, without allocating anything; `None` when no row has them.
    pub(super) fn with_key_values<R>(
        &self,
        environment: &Environment<'_>,
        take: impl FnOnce(&[TupleValue<'_>]) -> Result<R, Error>,
    ) -> Result<Option<R>, Error> {
        let mut scalars = [const { PlanScalar::Null }; FEW_COLUMNS];
        for (scalar, bound) in scalars.iter_mut().zip(&self.equal) {
            match bound.place(environment)? {
                ValuePosition::At(value) => *scalar = value,
                ValuePosition::Nowhere | ValuePosition::Below | ValuePosition::Above => {
                    return Ok(None);
                }
            }
        }
        let values = scalars.each_ref().map(PlanScalar::as_tuple_value);
        take(values.get(..self.equal.len()).unwrap_or_default()).map(Some)
    }

    /// Calls `visit` with each range that may have rows, until it says that it has enough.
    pub(super) fn for_each_range(
        &self,
        environment: &Environment<'_>,
        mut visit: impl FnMut(&KeyBounds) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut equal = Vec::with_capacity(self.equal.len() + 1);
        for bound in &self.equal {
            match bound.value(environment)? {
                ValuePosition::At(value) => equal.push(value),
                ValuePosition::Nowhere | ValuePosition::Below | ValuePosition::Above => {
                    return Ok(());
                }
            }
        }
        match &self.next {
            AccessRange::All => visit(&KeyBounds { equal, next: None }).map(drop),
            AccessRange::In(list) => {
                let mut values = Vec::with_capacity(list.len());
                for bound in list {
                    if let ValuePosition::At(value) = bound.value(environment)? {
                        values.push(value);
                    }
                }
                values.sort();
                values.dedup();
                for value in values {
                    let mut equal = equal.clone();
                    equal.push(value);
                    if !visit(&KeyBounds { equal, next: None })? {
                        break;
                    }
                }
                Ok(())
            }
            AccessRange::Range { low, high } => {
                let side = |side: &Option<(Bound, bool)>, beyond: UnboundedSide| match side {
                    None => Ok(Some(std::ops::Bound::Unbounded)),
                    Some((bound, is_included)) => bound.side(*is_included, beyond, environment),
                };
                let (low, high) = (
                    side(low, UnboundedSide::Above)?,
                    side(high, UnboundedSide::Below)?,
                );
                match (low, high) {
                    (Some(low), Some(high)) if !is_empty(&low, &high) => {
                        let next = Some((low, high));
                        visit(&KeyBounds { equal, next }).map(drop)
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Whether no value is between bounds.
fn is_empty(low: &std::ops::Bound<Value>, high: &std::ops::Bound<Value>) -> bool {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    match (low, high) {
        (Unbounded, _) | (_, Unbounded) => false,
        (Included(low), Included(high)) => low > high,
        (Included(low) | Excluded(low), Included(high) | Excluded(high)) => low >= high,
    }
}

/// Where a value is among those of a column.
enum ValuePosition<V> {
    At(V),
    /// Less than all.
    Below,
    /// Greater than all.
    Above,
    /// NULL: comparisons with it are never true.
    Nowhere,
}

/// On which side of all values a bound lets nothing through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnboundedSide {
    Below,
    Above,
}

impl Bound {
    fn place<'a>(
        &'a self,
        environment: &Environment<'a>,
    ) -> Result<ValuePosition<PlanScalar<'a>>, Error> {
        let scalar = self.node.evaluate(&[], environment)?;
        let beyond = match (&scalar, self.sql_type) {
            (PlanScalar::Null, _) => return Ok(ValuePosition::Nowhere),
            (PlanScalar::Integer(value), sql_type) => {
                let bounds = integer_bounds(sql_type);
                bounds.map(|(min, max)| (*value < min, *value > max))
            }
            (PlanScalar::Decimal(value), SqlType::Decimal { precision, .. }) => {
                let limit = 10_i128.pow(u32::from(precision));
                Some((*value <= -limit, *value >= limit))
            }
            _ => None,
        };
        Ok(match beyond {
            Some((true, _)) => ValuePosition::Below,
            Some((_, true)) => ValuePosition::Above,
            _ => ValuePosition::At(scalar),
        })
    }

    fn value(&self, environment: &Environment<'_>) -> Result<ValuePosition<Value>, Error> {
        Ok(match self.place(environment)? {
            ValuePosition::At(scalar) => {
                ValuePosition::At(scalar.into_value(self.sql_type.is_text())?)
            }
            ValuePosition::Below => ValuePosition::Below,
            ValuePosition::Above => ValuePosition::Above,
            ValuePosition::Nowhere => ValuePosition::Nowhere,
        })
    }

    /// A side of a range; `None` when it lets nothing through.
    fn side(
        &self,
        is_included: bool,
        beyond: UnboundedSide,
        environment: &Environment<'_>,
    ) -> Result<Option<std::ops::Bound<Value>>, Error> {
        Ok(match self.value(environment)? {
            ValuePosition::At(value) if is_included => Some(std::ops::Bound::Included(value)),
            ValuePosition::At(value) => Some(std::ops::Bound::Excluded(value)),
            ValuePosition::Nowhere => None,
            ValuePosition::Below if beyond == UnboundedSide::Below => None,
            ValuePosition::Above if beyond == UnboundedSide::Above => None,
            ValuePosition::Below | ValuePosition::Above => Some(std::ops::Bound::Unbounded),
        })
    }
}
