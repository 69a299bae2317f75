//! `LIKE` and `ILIKE` with a pattern of many wildcards.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::super::array_results::map_array;
use datafusion::arrow::array::{Array, AsArray, BooleanBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_error::interruption::Interruption;
use quire_exec::plan::LikePattern;

/// Whether a text is like a pattern. DataFusion makes regular expressions of patterns, which for thousands of wildcards takes minutes.
#[derive(Debug)]
pub struct TextIsLike {
    pattern: LikePattern,
    spelled: String,
    ignores_case: bool,
    signature: Signature,
}

impl TextIsLike {
    pub fn new(pattern: &str, ignores_case: bool) -> Self {
        let spelled = if ignores_case {
            pattern.to_lowercase()
        } else {
            pattern.to_owned()
        };
        Self {
            pattern: LikePattern::new(&spelled),
            spelled,
            ignores_case,
            signature: Signature::any(1, Volatility::Immutable),
        }
    }

    fn matches(&self, text: &str) -> bool {
        if self.ignores_case {
            self.pattern.matches(text.to_lowercase().as_bytes())
        } else {
            self.pattern.matches(text.as_bytes())
        }
    }
}

impl PartialEq for TextIsLike {
    fn eq(&self, other: &Self) -> bool {
        self.spelled == other.spelled && self.ignores_case == other.ignores_case
    }
}

impl Eq for TextIsLike {}

impl Hash for TextIsLike {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spelled.hash(state);
        self.ignores_case.hash(state);
    }
}

impl ScalarUDFImpl for TextIsLike {
    fn name(&self) -> &str {
        "is_like"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let interruption = Interruption::of(&args.config_options);
        map_array(&args.args, |array| {
            let texts = cast(array, &DataType::Utf8View)?;
            let texts = texts.as_string_view();
            let mut are_like = BooleanBuilder::with_capacity(texts.len());
            for text in texts {
                interruption.check()?;
                are_like.append_option(text.map(|text| self.matches(text)));
            }
            Ok(Arc::new(are_like.finish()))
        })
    }
}
