//! Functions of the catalog as the planner knows them. They are asked for a few rows, so each is written for one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::new_empty_array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use super::PgCatalog;
use super::answers::{FUNCTIONS, Function};

/// Whether there is a function of that name here.
pub(super) fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name)
}

/// All of them, for one catalog.
pub(super) fn all(catalog: &Arc<PgCatalog>) -> impl Iterator<Item = ScalarUDF> {
    let signature = TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]);
    FUNCTIONS.iter().map(move |function| {
        ScalarUDF::from(CatalogFunction {
            function,
            catalog: Arc::clone(catalog),
            signature: Signature::new(signature.clone(), Volatility::Volatile),
        })
    })
}

struct CatalogFunction {
    function: &'static Function,
    catalog: Arc<PgCatalog>,
    signature: Signature,
}

impl std::fmt::Debug for CatalogFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.function.name)
    }
}

impl PartialEq for CatalogFunction {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && Arc::ptr_eq(&self.catalog, &other.catalog)
    }
}

impl Eq for CatalogFunction {}

impl Hash for CatalogFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for CatalogFunction {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.returns.data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let data_type = self.function.returns.data_type();
        let answer = |values: &[ScalarValue]| {
            let answer = (self.function.answer)(&self.catalog, values)?;
            answer.cast_to(&data_type)
        };
        let scalars: Option<Vec<_>> = args
            .args
            .iter()
            .map(|argument| match argument {
                ColumnarValue::Scalar(value) => Some(value.clone()),
                ColumnarValue::Array(_) => None,
            })
            .collect();
        if let Some(values) = scalars {
            return Ok(ColumnarValue::Scalar(answer(&values)?));
        }
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let answers = (0..args.number_rows).map(|row| {
            let values = arrays
                .iter()
                .map(|array| ScalarValue::try_from_array(array, row));
            answer(&values.collect::<Result<Vec<_>>>()?)
        });
        let answers = answers.collect::<Result<Vec<_>>>()?;
        Ok(ColumnarValue::Array(if answers.is_empty() {
            new_empty_array(&data_type)
        } else {
            ScalarValue::iter_to_array(answers)?
        }))
    }
}
