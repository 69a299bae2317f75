//! A long text of a statement, as a function without arguments: see `quire_sql::large_literals`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// The function. It says that it is volatile, so that no plan has its text.
pub struct LargeText {
    name: String,
    text: Arc<str>,
    signature: Signature,
}

impl LargeText {
    /// The one with that number in a statement.
    pub fn new(number: usize, text: Arc<str>) -> Self {
        Self {
            name: format!("quire_text_{number}"),
            text,
            signature: Signature::nullary(Volatility::Volatile),
        }
    }

    /// What it is called in the statement.
    pub fn called(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for LargeText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for LargeText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text)
    }
}

impl Eq for LargeText {}

impl Hash for LargeText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for LargeText {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let text = ScalarValue::Utf8(Some(self.text.as_ref().to_owned()));
        Ok(ColumnarValue::Scalar(text))
    }
}
