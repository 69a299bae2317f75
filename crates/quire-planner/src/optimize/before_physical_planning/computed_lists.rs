//! `x IN (…)` with members that are computed from rows.
//!
//! DataFusion takes a member for a constant if it gives a scalar for a batch without rows, and so it does take `CASE a WHEN b THEN c END`,
//! which gives NULL then. Members that are columns give arrays, and are compared row by row. Before physical planning, a function goes around
//! the others that gives an array of what it is given. The value that is looked for is still computed once, which matters if it is
//! volatile.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

/// The list, whose computed members are looked at in each row.
pub(super) fn looked_at_by_row(mut list: InList) -> Transformed<Expr> {
    let mut has_computed = false;
    for member in &mut list.list {
        if !matches!(member, Expr::Column(_)) && member.any_column_refs() {
            let computed = std::mem::take(member);
            *member = ScalarUDF::from(ValueOfEachRow::default()).call(vec![computed]);
            has_computed = true;
        }
    }
    let list = Expr::InList(list);
    if has_computed {
        Transformed::yes(list)
    } else {
        Transformed::no(list)
    }
}

/// Its argument, as an array also where that is one value for all rows.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ValueOfEachRow {
    signature: Signature,
}

impl Default for ValueOfEachRow {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for ValueOfEachRow {
    fn name(&self) -> &str {
        "value_of_each_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type is that of the argument's field")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            [field] => Ok(FieldRef::clone(field)),
            _ => internal_err!("there is one value of each row"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return internal_err!("there is one value of each row");
        };
        let array = value.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(array))
    }
}
