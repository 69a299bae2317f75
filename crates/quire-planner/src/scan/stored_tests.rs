//! The part of a filter that the scan computes on stored integers.
//!
//! A comparison of a column with a constant is a range, which the codecs test on packed bits; a comparison of two columns is computed on
//! decoded vectors. Any other condition on one column, such as the membership in the hash table of a join, is evaluated once for each
//! integer between the bounds of the column, if these are far fewer than the table's rows: a bit per integer then answers for each row.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, TimestampMicrosecondArray, new_null_array,
};
use datafusion::arrow::datatypes::{DataType, Schema, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use quire_tables::{ColumnTable, StoredTest, StoredTests};
use quire_vector::{Comparison, KeySet};

use super::map_columns::map_columns;

/// A condition is evaluated on the integers between a column's bounds if there is one of them for so many rows.
const ROWS_PER_INTEGER: u64 = 4;
/// Integers that are evaluated at once.
const CHUNK: usize = 8192;
/// Digits of the decimals that are stored in 64 bits.
const DECIMAL_DIGITS_MAX: u8 = 18;

/// The integer columns of a table, and how many integers conditions may still be evaluated on.
#[derive(Debug)]
pub(super) struct StoredColumns {
    schema: Arc<Schema>,
    /// The smallest and the largest value of each column, if known.
    bounds: Vec<Option<RangeInclusive<i64>>>,
    /// A filter that changes while the scan runs is not evaluated anew without end.
    integers_left: AtomicU64,
}

impl StoredColumns {
    pub(super) fn of(table: &ColumnTable) -> Self {
        let schema = Arc::clone(table.arrow_schema());
        let bounds = (0..schema.fields().len()).map(|index| bounds(table, index));
        Self {
            bounds: bounds.collect(),
            schema,
            integers_left: AtomicU64::new(table.stored_row_count() / ROWS_PER_INTEGER),
        }
    }

    /// The tests of `filter`, which reads columns of the table, as it is now; `None` if there are none.
    pub(super) fn tests(&self, filter: &Arc<dyn PhysicalExpr>) -> Option<StoredTests> {
        let now = snapshot_physical_expr(Arc::clone(filter)).ok()?;
        let mut tests = Vec::new();
        let mut others = Vec::new();
        for condition in split_conjunction(&now) {
            match self.comparison(condition) {
                Some(test) => tests.push(test),
                None => others.push(condition),
            }
        }
        let ranges = merged(&mut tests);
        let mut is_complete = true;
        for condition in others {
            match self.members(condition, &ranges) {
                Some(test) => tests.push(test),
                None => is_complete = false,
            }
        }
        (!tests.is_empty()).then_some(StoredTests { tests, is_complete })
    }

    /// The condition as a comparison of a column with a constant, or of two columns of one type.
    fn comparison(&self, condition: &Arc<dyn PhysicalExpr>) -> Option<StoredTest> {
        let binary = condition.downcast_ref::<BinaryExpr>()?;
        let (left, right) = (binary.left(), binary.right());
        if let (Some(left), Some(right)) = (self.column(left), self.column(right)) {
            return self.compared(left, *binary.op(), right);
        }
        let (column, operator, constant) = match (self.column(left), self.column(right)) {
            (Some(column), None) => (column, *binary.op(), right),
            (None, Some(column)) => (column, binary.op().swap()?, left),
            _ => return None,
        };
        let constant = constant.downcast_ref::<Literal>()?.value();
        if constant.data_type() != *self.schema.field(column).data_type() {
            return None;
        }
        let value = stored(constant)?;
        let range = match operator {
            Operator::Eq => value..=value,
            Operator::Lt => i64::MIN..=value.checked_sub(1)?,
            Operator::LtEq => i64::MIN..=value,
            Operator::Gt => value.checked_add(1)?..=i64::MAX,
            Operator::GtEq => value..=i64::MAX,
            _ => return None,
        };
        Some(StoredTest::Range { column, range })
    }

    fn compared(&self, left: usize, operator: Operator, right: usize) -> Option<StoredTest> {
        let type_of = |column: usize| self.schema.field(column).data_type();
        if type_of(left) != type_of(right) {
            return None;
        }
        let (left, comparison, right) = match operator {
            Operator::Lt => (left, Comparison::Less, right),
            Operator::LtEq => (left, Comparison::LessOrEqual, right),
            Operator::Gt => (right, Comparison::Less, left),
            Operator::GtEq => (right, Comparison::LessOrEqual, left),
            Operator::Eq => (left, Comparison::Equal, right),
            Operator::NotEq => (left, Comparison::NotEqual, right),
            _ => return None,
        };
        Some(StoredTest::Compared {
            left,
            comparison,
            right,
        })
    }

    /// The number of the column that the expression is, if integers are stored for it.
    fn column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        let index = expr.downcast_ref::<Column>()?.index();
        let field = self.schema.fields().get(index)?;
        is_stored_as_integer(field.data_type()).then_some(index)
    }

    /// The integers for which a condition on one column is true.
    fn members(
        &self,
        condition: &Arc<dyn PhysicalExpr>,
        ranges: &[(usize, RangeInclusive<i64>)],
    ) -> Option<StoredTest> {
        let columns = collect_columns(condition);
        let mut columns = columns.iter();
        let (column, None) = (columns.next()?.index(), columns.next()) else {
            return None;
        };
        let data_type = self.schema.fields().get(column)?.data_type();
        if !is_stored_as_integer(data_type) {
            return None;
        }
        // What lies outside fails another test, or does not exist.
        let known = self.bounds[column].iter().cloned();
        let tested = ranges.iter().filter(|(tested, _)| *tested == column);
        let domain = tested.map(|(_, range)| range.clone()).chain(known);
        let domain = domain.reduce(intersection)?;
        let integers = u64::try_from(i128::from(*domain.end()) - i128::from(*domain.start()) + 1);
        self.take(integers.ok()?)?;
        let set = evaluated(condition, column, &self.schema, domain)?;
        Some(StoredTest::Members {
            column,
            set: Arc::new(set),
        })
    }

    /// Uses up some of the integers that may be evaluated.
    fn take(&self, integers: u64) -> Option<u64> {
        let less = |left: u64| left.checked_sub(integers);
        self.integers_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()
    }
}

fn intersection(one: RangeInclusive<i64>, other: RangeInclusive<i64>) -> RangeInclusive<i64> {
    *one.start().max(other.start())..=*one.end().min(other.end())
}

/// Makes one range of all ranges of a column, and returns the ranges.
fn merged(tests: &mut Vec<StoredTest>) -> Vec<(usize, RangeInclusive<i64>)> {
    let mut ranges: Vec<(usize, RangeInclusive<i64>)> = Vec::new();
    tests.retain(|test| {
        let StoredTest::Range { column, range } = test else {
            return true;
        };
        match ranges.iter_mut().find(|(known, _)| known == column) {
            Some((_, known)) => *known = intersection(known.clone(), range.clone()),
            None => ranges.push((*column, range.clone())),
        }
        false
    });
    let range = |(column, range): &(usize, RangeInclusive<i64>)| StoredTest::Range {
        column: *column,
        range: range.clone(),
    };
    // Ranges cost less than comparisons of columns.
    tests.splice(0..0, ranges.iter().map(range));
    ranges
}

pub(super) fn is_stored_as_integer(data_type: &DataType) -> bool {
    match data_type {
        DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Date32
        | DataType::Timestamp(TimeUnit::Microsecond, _) => true,
        DataType::Decimal128(precision, _) => *precision <= DECIMAL_DIGITS_MAX,
        _ => false,
    }
}

/// The integer that is stored for a constant.
pub(super) fn stored(constant: &ScalarValue) -> Option<i64> {
    match constant {
        ScalarValue::Int16(value) => value.map(i64::from),
        ScalarValue::Int32(value) | ScalarValue::Date32(value) => value.map(i64::from),
        ScalarValue::Int64(value) | ScalarValue::TimestampMicrosecond(value, _) => *value,
        ScalarValue::Decimal128(value, _, _) => i64::try_from((*value)?).ok(),
        _ => None,
    }
}

/// The bounds of a column's stored values.
pub(super) fn bounds(table: &ColumnTable, index: usize) -> Option<RangeInclusive<i64>> {
    let known = table.statistics(index)?;
    let bound = |value: &Option<_>| {
        let array = table.scalar_array(index, value.as_ref()?)?;
        stored(&ScalarValue::try_from_array(&array, 0).ok()?)
    };
    Some(bound(&known.min)?..=bound(&known.max)?)
}

/// The integers of `domain` for which `condition`, which reads one column of `schema`, is true. `None` if it fails for one of them, or is
/// true for NULL.
fn evaluated(
    condition: &Arc<dyn PhysicalExpr>,
    column: usize,
    schema: &Schema,
    domain: RangeInclusive<i64>,
) -> Option<KeySet> {
    let narrow = map_columns(condition, |column| Column::new(column.name(), 0)).ok()?;
    let field = schema.field(column).clone().with_nullable(true);
    let data_type = field.data_type().clone();
    let schema = Arc::new(Schema::new(vec![field]));
    let holds = |array: ArrayRef| {
        let rows = array.len();
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).ok()?;
        let result = narrow.evaluate(&batch).ok()?.into_array(rows).ok()?;
        let result = result.as_boolean_opt()?.clone();
        (result.len() == rows).then_some(result)
    };
    let null = holds(new_null_array(&data_type, 1))?;
    if null.is_valid(0) && null.value(0) {
        return None;
    }
    let first = *domain.start();
    let mut words = Vec::new();
    let mut start = first;
    while start <= *domain.end() {
        let end = start.saturating_add(CHUNK as i64 - 1).min(*domain.end());
        let result = holds(integers(&data_type, start..=end)?)?;
        let holds = match result.nulls() {
            Some(nulls) => result.values() & nulls.inner(),
            None => result.values().clone(),
        };
        words.extend(holds.bit_chunks().iter_padded());
        // Each chunk but the last has whole words.
        words.truncate((end.abs_diff(first) as usize + 1).div_ceil(64));
        let Some(next) = end.checked_add(1) else {
            break;
        };
        start = next;
    }
    Some(KeySet::new(first, words))
}

/// These integers as values of the type.
fn integers(data_type: &DataType, range: RangeInclusive<i64>) -> Option<ArrayRef> {
    Some(match data_type {
        DataType::Int16 => {
            let values = range.map(i16::try_from).collect::<Result<Vec<_>, _>>();
            Arc::new(Int16Array::from(values.ok()?))
        }
        DataType::Int32 => {
            let values = range.map(i32::try_from).collect::<Result<Vec<_>, _>>();
            Arc::new(Int32Array::from(values.ok()?))
        }
        DataType::Date32 => {
            let values = range.map(i32::try_from).collect::<Result<Vec<_>, _>>();
            Arc::new(Date32Array::from(values.ok()?))
        }
        DataType::Int64 => Arc::new(Int64Array::from_iter_values(range)),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let values = TimestampMicrosecondArray::from_iter_values(range);
            Arc::new(values.with_timezone_opt(zone.clone()))
        }
        DataType::Decimal128(precision, scale) => {
            let values = Decimal128Array::from_iter_values(range.map(i128::from));
            Arc::new(values.with_precision_and_scale(*precision, *scale).ok()?)
        }
        _ => return None,
    })
}
