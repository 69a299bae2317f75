//! A function of time: which types it takes, what it gives, and its code for one row.

use std::hash::{Hash, Hasher};

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use quire_text::temporal::{DateOrder, TimeZoneRules};

use super::super::array_results::result_of;
use super::value::{TimeArgument, TimeResultBuilder, TimeValue};
use crate::QuireOptions;

/// What a row's code sees beside its arguments.
pub(super) struct TimeCallContext {
    /// Where the session is.
    pub(super) zone: TimeZoneRules,
    /// How the session writes dates in numbers.
    pub(super) order: DateOrder,
}

/// The code for one row, of which no argument is NULL.
pub(super) type Run = fn(&[TimeValue<'_>], &TimeCallContext) -> Result<TimeValue<'static>>;

/// What a function does with arguments of certain types.
pub(super) struct Overload {
    /// The types that the arguments are cast to.
    pub(super) arguments: Vec<DataType>,
    pub(super) result: DataType,
    pub(super) run: Run,
}

/// Finds what a function does with arguments of these types; what is written out is known.
pub(super) type Resolve = fn(&[DataType], &[Option<&ScalarValue>]) -> Result<Overload>;

/// A function of time.
#[derive(Debug)]
pub(crate) struct TimeFunction {
    name: &'static str,
    aliases: Vec<String>,
    resolve: Resolve,
    signature: Signature,
}

impl TimeFunction {
    pub(super) fn new(name: &'static str, resolve: Resolve) -> Self {
        Self {
            name,
            aliases: Vec::new(),
            resolve,
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }

    pub(super) fn with_alias(mut self, alias: &str) -> Self {
        self.aliases.push(alias.to_owned());
        self
    }

    pub(super) fn call(self, arguments: Vec<Expr>) -> Expr {
        ScalarUDF::from(self).call(arguments)
    }
}

impl PartialEq for TimeFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TimeFunction {}

impl Hash for TimeFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for TimeFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok((self.resolve)(types, &vec![None; types.len()])?.arguments)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} depends on its arguments", self.name)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types = args
            .arg_fields
            .iter()
            .map(|field| field.data_type().clone());
        let types: Vec<_> = types.collect();
        let overload = (self.resolve)(&types, args.scalar_arguments)?;
        Ok(Field::new(self.name, overload.result, true).into())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types = args
            .arg_fields
            .iter()
            .map(|field| field.data_type().clone());
        let types: Vec<_> = types.collect();
        let known = args.args.iter().map(|argument| match argument {
            ColumnarValue::Scalar(value) => Some(value),
            ColumnarValue::Array(_) => None,
        });
        let known: Vec<_> = known.collect();
        let overload = (self.resolve)(&types, &known)?;
        let context = TimeCallContext {
            zone: zone_of(&args.config_options),
            order: order_of(&args.config_options),
        };
        let is_single = known.iter().all(Option::is_some);
        let rows = if is_single { 1 } else { args.number_rows };
        let arrays = arrays_of(&args.args, &overload.arguments)?;
        let arguments = arrays.iter().zip(&known);
        let arguments: Vec<_> = arguments
            .map(|(array, known)| TimeArgument::new(array, known.is_some()))
            .collect();
        let result = run(
            &overload,
            args.return_field.data_type(),
            &arguments,
            rows,
            &context,
        )?;
        result_of(result, is_single)
    }
}

fn run(
    overload: &Overload,
    result: &DataType,
    arguments: &[TimeArgument<'_>],
    rows: usize,
    context: &TimeCallContext,
) -> Result<ArrayRef> {
    let mut collector = TimeResultBuilder::new(result, rows)?;
    let mut values = Vec::with_capacity(arguments.len());
    for row in 0..rows {
        values.clear();
        for argument in arguments {
            values.extend(argument.at(row)?);
        }
        let is_whole = values.len() == arguments.len();
        collector.add(if is_whole {
            Some((overload.run)(&values, context)?)
        } else {
            None
        })?;
    }
    Ok(collector.finish())
}

/// The arguments as arrays of the types that the code reads.
pub(super) fn arrays_of(arguments: &[ColumnarValue], types: &[DataType]) -> Result<Vec<ArrayRef>> {
    let pairs = arguments.iter().zip(types);
    let arrays = pairs.map(|(argument, data_type)| {
        let array = match argument {
            ColumnarValue::Array(array) => ArrayRef::clone(array),
            ColumnarValue::Scalar(value) => value.to_array()?,
        };
        if array.data_type() == data_type {
            Ok(array)
        } else {
            Ok(datafusion::arrow::compute::cast(&array, data_type)?)
        }
    });
    arrays.collect()
}

/// The zone of the session that a statement is of.
pub fn zone_of(options: &ConfigOptions) -> TimeZoneRules {
    let ours = options.extensions.get::<QuireOptions>();
    ours.and_then(|ours| TimeZoneRules::of_setting(&ours.time_zone))
        .unwrap_or_default()
}

fn order_of(options: &ConfigOptions) -> DateOrder {
    let ours = options.extensions.get::<QuireOptions>();
    ours.map_or_else(DateOrder::default, |ours| {
        DateOrder::named(&ours.date_order)
    })
}
