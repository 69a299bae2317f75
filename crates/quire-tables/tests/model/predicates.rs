//! Random predicates that prune.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, Scalar};
use arrow::compute::kernels::cmp;
use arrow::compute::{is_null, not};
use arrow::datatypes::DataType;
use quire_tables::{Predicate, ZoneTable};

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
}

/// Two columns of one type, equal or less; never pruned.
struct ColumnsCompared {
    columns: [usize; 2],
}

pub fn random_predicate(random: &mut Random, model: &TableModel) -> Arc<dyn Predicate> {
    let columns = &model.definition.columns;
    let column = random.below(columns.len());
    let other = random.below(columns.len());
    let same_type = columns[column].sql_type == columns[other].sql_type;
    if other != column && same_type && random.below(2) == 0 {
        return Arc::new(ColumnsCompared {
            columns: [column, other],
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
    Arc::new(Comparison {
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
}
