//! Random predicates that prune.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, Scalar};
use arrow::compute::kernels::cmp;
use arrow::compute::{is_null, not};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use quire_codec::PhysicalType;
use quire_tables::{Predicate, StoredTest, StoredTests, ZoneTable};
use quire_vector::KeySet;

use super::generate::{Random, TableModel};

#[derive(Clone, Copy, Debug)]
enum Operator {
    Less,
    LessOrEqual,
    Equal,
    Greater,
    IsNull,
    IsNotNull,
}

/// A column compared with a value that occurs in it.
struct Comparison {
    column: [usize; 1],
    operator: Operator,
    literal: ArrayRef,
    deterministic: bool,
    stored: Option<Arc<StoredTests>>,
}

/// Two columns of one type, equal or less; never pruned.
struct ColumnsCompared {
    columns: [usize; 2],
    stored: Option<Arc<StoredTests>>,
}

/// The integer that is stored for the value of a row.
fn stored_integer(array: &ArrayRef, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Date32 => array.as_primitive::<Date32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
        DataType::Timestamp(_, _) => array.as_primitive::<TimestampMicrosecondType>().value(row),
        DataType::Decimal128(precision, _) if *precision <= 18 => {
            let value = array.as_primitive::<Decimal128Type>().value(row);
            i64::try_from(value).unwrap()
        }
        _ => return None,
    })
}

/// What the scan may test by itself: all of the predicate, or what it evaluates the predicate behind.
fn tested(random: &mut Random, test: StoredTest) -> Option<Arc<StoredTests>> {
    let is_complete = random.below(2) == 0;
    (random.below(4) > 0).then(|| {
        Arc::new(StoredTests {
            tests: vec![test],
            is_complete,
        })
    })
}

/// The test that a comparison with a stored integer is.
fn stored_test(
    random: &mut Random,
    column: usize,
    operator: Operator,
    literal: i64,
) -> Option<StoredTest> {
    let range = match operator {
        Operator::Less => i64::MIN..=literal.checked_sub(1)?,
        Operator::LessOrEqual => i64::MIN..=literal,
        Operator::Greater => literal.checked_add(1)?..=i64::MAX,
        Operator::Equal if random.below(2) == 0 => {
            let set = Arc::new(KeySet::new(literal.saturating_sub(70), vec![0, 1 << 6]));
            // Near the smallest integer the set would begin elsewhere.
            literal.checked_sub(70)?;
            return Some(StoredTest::Members { column, set });
        }
        Operator::Equal => literal..=literal,
        Operator::IsNull | Operator::IsNotNull => return None,
    };
    Some(StoredTest::Range { column, range })
}

pub fn random_predicate(random: &mut Random, model: &TableModel) -> Arc<dyn Predicate> {
    let columns = &model.definition.columns;
    let column = random.below(columns.len());
    let other = random.below(columns.len());
    let same_type = columns[column].sql_type == columns[other].sql_type;
    if other != column && same_type && random.below(2) == 0 {
        let test = StoredTest::Compared {
            left: column,
            comparison: quire_vector::Comparison::LessOrEqual,
            right: other,
        };
        let types = [column, other].map(|column| columns[column].sql_type.physical_type());
        let is_stored = [
            PhysicalType::Int16,
            PhysicalType::Int32,
            PhysicalType::Int64,
        ]
        .contains(&types[0]);
        return Arc::new(ColumnsCompared {
            columns: [column, other],
            stored: is_stored
                .then_some(test)
                .and_then(|test| tested(random, test)),
        });
    }
    let operators = [
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Equal,
        Operator::Greater,
        Operator::IsNull,
        Operator::IsNotNull,
    ];
    let rows = model.rows();
    let array = rows.column(column);
    let literal = match rows.num_rows() {
        0 => arrow::array::new_null_array(array.data_type(), 1),
        count => array.slice(random.below(count), 1),
    };
    let operator = random.choose(&operators);
    let deterministic = random.below(3) > 0;
    let integer = stored_integer(&literal, 0);
    let test = integer.and_then(|integer| stored_test(random, column, operator, integer));
    let stored = test.and_then(|test| tested(random, test));
    Arc::new(Comparison {
        stored,
        column: [column],
        operator,
        literal,
        deterministic,
    })
}

impl Comparison {
    fn compare(&self, values: &ArrayRef) -> BooleanArray {
        let literal = Scalar::new(&self.literal);
        match self.operator {
            Operator::Less => cmp::lt(values, &literal).unwrap(),
            Operator::LessOrEqual => cmp::lt_eq(values, &literal).unwrap(),
            Operator::Equal => cmp::eq(values, &literal).unwrap(),
            Operator::Greater => cmp::gt(values, &literal).unwrap(),
            Operator::IsNull => is_null(values).unwrap(),
            Operator::IsNotNull => not(&is_null(values).unwrap()).unwrap(),
        }
    }
}

impl Predicate for Comparison {
    fn columns(&self) -> &[usize] {
        &self.column
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        assert_eq!(batch.num_columns(), 1);
        Ok(self.compare(batch.column(0)))
    }

    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>> {
        let column = self.column[0];
        let (min, max) = (zones.min(column)?, zones.max(column)?);
        let nulls = zones.null_counts(column)?;
        let rows = zones.row_counts();
        let literal = Scalar::new(&self.literal);
        // Unknown bounds compare to NULL: such a zone is kept.
        let possible = |bounds: BooleanArray, zone| bounds.is_null(zone) || bounds.value(zone);
        Some(
            (0..zones.len())
                .map(|zone| match self.operator {
                    Operator::IsNull => nulls.value(zone) > 0,
                    Operator::IsNotNull => nulls.value(zone) < rows.value(zone),
                    _ if nulls.value(zone) == rows.value(zone) => false,
                    Operator::Less => possible(cmp::lt(&min, &literal).unwrap(), zone),
                    Operator::LessOrEqual => possible(cmp::lt_eq(&min, &literal).unwrap(), zone),
                    Operator::Greater => possible(cmp::gt(&max, &literal).unwrap(), zone),
                    Operator::Equal => {
                        possible(cmp::lt_eq(&min, &literal).unwrap(), zone)
                            && possible(cmp::gt_eq(&max, &literal).unwrap(), zone)
                    }
                })
                .collect(),
        )
    }

    fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        self.stored.clone()
    }
}

impl Predicate for ColumnsCompared {
    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        assert_ne!(batch.column(0).data_type(), &DataType::Null);
        cmp::lt_eq(batch.column(0), batch.column(1)).map_err(|error| error.to_string())
    }

    fn prune(&self, _zones: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        self.stored.clone()
    }
}
