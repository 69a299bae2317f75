//! The part of a filter that the scan computes on stored integers.
//!
//! A comparison of a column with a constant is a range, which the codecs test on packed bits; a comparison of two columns is computed on
//! decoded vectors. Any other condition on one column, such as the membership in the hash table of a join, is evaluated once for each
//! integer between the bounds of the column, if these are far fewer than the table's rows: a bit per integer then answers for each row.

use std::fmt::{self, Formatter};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, TimestampMicrosecondArray, new_null_array,
};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use quire_error::interruption::Interruption;
use quire_tables::{ColumnTable, StoredTest, StoredTests};
use quire_vector::{Comparison, KeySet};

use super::map_columns::map_columns;
use super::recorded_keys::BuildKeyRecord;

/// A scan evaluates its conditions on one integer for so many rows of the table,
const ROWS_PER_INTEGER: u64 = 4;
/// and on no more than this: their sets have 2 MiB, too little to be asked of the memory limit.
const INTEGERS_MAX: u64 = 1 << 24;
/// The keys of a join are recorded in so many bits for one row of the table, or in as many as there are integers to evaluate. Their memory
/// is reserved, so that they need no other limit; but more bits would take longer to clear than rows are tested by them.
const RECORDED_PER_ROW: u64 = 8;
/// Integers that are evaluated at once. Between two chunks the statement may be cancelled.
const CHUNK: i64 = 8192;

/// The integer columns of the table of a scan, and how many integers its filters may still be evaluated on: one that changes while the scan
/// runs is not evaluated anew without end.
pub(super) struct StoredColumns {
    table: Arc<ColumnTable>,
    interruption: Interruption,
    integers_left: AtomicU64,
    records: Mutex<Vec<RecordedColumn>>,
}

/// A column that a filter of a join compares with a key.
struct RecordedColumn {
    /// Of the filter.
    expression_id: u64,
    /// Of the key.
    number: usize,
    column: usize,
    /// Whether the join has other keys.
    is_one_of_many: bool,
    record: Arc<BuildKeyRecord>,
}

impl fmt::Debug for StoredColumns {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "StoredColumns({})", self.table.definition().name)
    }
}

impl StoredColumns {
    pub(super) fn of(table: &Arc<ColumnTable>, interruption: Interruption) -> Self {
        let integers = table.stored_row_count() / ROWS_PER_INTEGER;
        Self {
            table: Arc::clone(table),
            interruption,
            integers_left: AtomicU64::new(integers.min(INTEGERS_MAX)),
            records: Mutex::new(Vec::new()),
        }
    }

    /// The record for one of the keys that a filter compares with columns, which is empty at first; `None` if no integers are stored for its column.
    pub(super) fn record(
        &self,
        filter: &Arc<dyn PhysicalExpr>,
        number: usize,
        data_type: &DataType,
    ) -> Option<Arc<BuildKeyRecord>> {
        let keys = filter.children();
        let column = keys.get(number)?.downcast_ref::<Column>()?.index();
        if self.schema().field(column).data_type() != data_type {
            return None;
        }
        let bounds = self.table.integer_bounds(column)?;
        let range_max = self
            .table
            .stored_row_count()
            .saturating_mul(RECORDED_PER_ROW);
        if bounds.end().abs_diff(*bounds.start()) >= range_max.max(INTEGERS_MAX) {
            return None;
        }
        let expression_id = filter.expression_id()?;
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        // A plan that runs again, as a term of a recursion, records its keys anew.
        let mut known = records
            .iter()
            .filter(|one| one.expression_id == expression_id);
        if let Some(known) = known.find(|one| one.number == number) {
            return Some(Arc::clone(&known.record));
        }
        let record = Arc::new(BuildKeyRecord::new(bounds));
        records.push(RecordedColumn {
            expression_id,
            number,
            column,
            is_one_of_many: keys.len() > 1,
            record: Arc::clone(&record),
        });
        Some(record)
    }

    /// The tests of the keys that are recorded for a filter of a join.
    fn recorded(&self, filter: &Arc<dyn PhysicalExpr>) -> Option<StoredTests> {
        let id = filter.expression_id()?;
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_complete = true;
        let mut tests = Vec::new();
        for recorded in records.iter().filter(|one| one.expression_id == id) {
            let test = members(recorded.column, recorded.record.keys()?);
            is_complete &= !recorded.is_one_of_many;
            tests.push(test);
        }
        (!tests.is_empty()).then_some(StoredTests { tests, is_complete })
    }

    /// The tests of `filter`, which reads columns of the table, as it is now; `None` if there are none.
    pub(super) fn tests(&self, filter: &Arc<dyn PhysicalExpr>) -> Option<StoredTests> {
        let now = snapshot_physical_expr(Arc::clone(filter)).ok()?;
        // A join's filter is a constant as long as the keys are not known, and if there are none.
        if !now.is::<Literal>()
            && let Some(recorded) = self.recorded(filter)
        {
            return Some(recorded);
        }
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
        if constant.data_type() != *self.schema().field(column).data_type() {
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
        let type_of = |column: usize| self.schema().field(column).data_type();
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
        self.table.integer_bounds(index).map(|_| index)
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
        // What lies outside fails another test, or does not exist.
        let known = self.table.integer_bounds(column)?;
        let tested = ranges.iter().filter(|(tested, _)| *tested == column);
        let domain = tested.fold(known, |domain, (_, range)| intersection(&domain, range));
        let integers = i128::from(*domain.end()) - i128::from(*domain.start()) + 1;
        self.take(integers.try_into().ok()?)?;
        let set = self.evaluated(condition, column, domain)?;
        Some(members(column, Arc::new(set)))
    }

    /// Uses up some of the integers that may be evaluated.
    fn take(&self, integers: u64) -> Option<u64> {
        let less = |left: u64| left.checked_sub(integers);
        self.integers_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()
    }

    /// The integers of `domain` for which `condition`, which reads one column, is true. `None` if it fails for one of them, or is true for
    /// NULL, or if the statement is cancelled.
    fn evaluated(
        &self,
        condition: &Arc<dyn PhysicalExpr>,
        column: usize,
        domain: RangeInclusive<i64>,
    ) -> Option<KeySet> {
        let condition = map_columns(condition, |column| Column::new(column.name(), 0)).ok()?;
        let field = self.schema().field(column).clone().with_nullable(true);
        let data_type = field.data_type().clone();
        let schema = Arc::new(Schema::new(vec![field]));
        let null = holds(&condition, &schema, new_null_array(&data_type, 1))?;
        if null.value(0) {
            return None;
        }
        let (first, last) = domain.into_inner();
        let mut words = Vec::new();
        let mut start = first;
        while start <= last {
            self.interruption.check().ok()?;
            let end = start.saturating_add(CHUNK - 1).min(last);
            let held = holds(&condition, &schema, integers(&data_type, start..=end)?)?;
            // Each chunk but the last has whole words.
            words.extend(held.bit_chunks().iter_padded());
            words.truncate((end.abs_diff(first) as usize + 1).div_ceil(64));
            let Some(next) = end.checked_add(1) else {
                break;
            };
            start = next;
        }
        Some(KeySet::new(first, words))
    }

    fn schema(&self) -> &Schema {
        self.table.arrow_schema()
    }
}

/// The test for keys of a set.
fn members(column: usize, set: Arc<KeySet>) -> StoredTest {
    match set.as_range() {
        Some(range) => StoredTest::Range { column, range },
        None => StoredTest::Members { column, set },
    }
}

/// For which values of the one column of `schema` the condition is true.
fn holds(
    condition: &Arc<dyn PhysicalExpr>,
    schema: &SchemaRef,
    values: ArrayRef,
) -> Option<BooleanBuffer> {
    let rows = values.len();
    let batch = RecordBatch::try_new(Arc::clone(schema), vec![values]).ok()?;
    let result = condition.evaluate(&batch).ok()?.into_array(rows).ok()?;
    let result = result.as_boolean_opt()?;
    let holds = match result.nulls() {
        Some(nulls) => result.values() & nulls.inner(),
        None => result.values().clone(),
    };
    (holds.len() == rows).then_some(holds)
}

fn intersection(one: &RangeInclusive<i64>, other: &RangeInclusive<i64>) -> RangeInclusive<i64> {
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
            Some((_, known)) => *known = intersection(known, range),
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
