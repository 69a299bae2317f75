//! `string_agg`, which puts the texts of a group in order by itself.
//!
//! DataFusion's does, too, but asks for rows in that order besides, so that two calls with two orders are refused.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::functions_aggregate::string_agg::StringAgg;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature,
};

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderedTexts {
    texts: StringAgg,
}

impl OrderedTexts {
    pub(crate) fn new() -> Self {
        Self {
            texts: StringAgg::new(),
        }
    }
}

impl AggregateUDFImpl for OrderedTexts {
    fn name(&self) -> &str {
        self.texts.name()
    }

    fn signature(&self) -> &Signature {
        self.texts.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.texts.return_type(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.texts.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.texts.accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.texts.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.texts.create_groups_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::SoftRequirement
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        _: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }
}
