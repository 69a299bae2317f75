//! `date_part` under the planner's name: whole numbers out of dates and timestamps, for all years. The planner's own counts a year 0,
//! and knows none beyond 262142.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, FieldRef, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

use quire_text::temporal::{ScaledFieldValue, TemporalField};

/// The function. What it means for ranges is what the planner's says.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PlannerPart {
    inner: Arc<ScalarUDF>,
}

impl PlannerPart {
    pub(super) fn new() -> Self {
        let inner = datafusion::functions::datetime::date_part();
        Self { inner }
    }
}

impl ScalarUDFImpl for PlannerPart {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn preimage(
        &self,
        args: &[Expr],
        literal: &Expr,
        info: &SimplifyContext,
    ) -> Result<PreimageResult> {
        match literal {
            // Years before the first are counted otherwise.
            Expr::Literal(ScalarValue::Int32(Some(year)), _) if *year < 1 => {
                Ok(PreimageResult::None)
            }
            _ => self.inner.preimage(args, literal, info),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let part = match args.args.as_slice() {
            [ColumnarValue::Scalar(name), moment] => {
                let field = name.try_as_str().flatten().and_then(TemporalField::named);
                field.zip(Some(moment))
            }
            _ => None,
        };
        let found = match part {
            Some((field, ColumnarValue::Array(moments))) => {
                parts(field, moments).map(ColumnarValue::Array)
            }
            Some((field, ColumnarValue::Scalar(moment))) => {
                let parts = parts(field, &moment.to_array()?);
                let part = parts.map(|parts| ScalarValue::try_from_array(&parts, 0));
                part.transpose()?.map(ColumnarValue::Scalar)
            }
            None => None,
        };
        match found {
            Some(found) => Ok(found),
            None => self.inner.invoke_with_args(args),
        }
    }
}

/// The field of dates and timestamps; `None` of other types.
fn parts(field: TemporalField, moments: &ArrayRef) -> Option<ArrayRef> {
    let number = |part: ScaledFieldValue| i32::try_from(part.units).ok();
    let parts: Int32Array = match moments.data_type() {
        DataType::Date32 => {
            let days = moments.as_primitive::<Date32Type>().iter();
            days.map(|day| number(field.of_day(day?.into())?)).collect()
        }
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            let micros = moments.as_primitive::<TimestampMicrosecondType>();
            let micros = micros.iter();
            micros
                .map(|micros| number(field.of_timestamp(micros?)?))
                .collect()
        }
        _ => return None,
    };
    Some(Arc::new(parts))
}
