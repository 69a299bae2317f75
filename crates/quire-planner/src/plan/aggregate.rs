//! Groups and their totals.

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::expr::AggregateFunction as Planned;
use datafusion::logical_expr::{Aggregate as PlannedAggregate, Expr, ExprSchemable};
use quire_exec::plan::{Aggregate, AggregateCall, AggregateFunction, AverageKind, Plan, SumKind};

use super::relation::{RelationTranslator, VisibleColumns};
use super::untranslated::Untranslated;

impl RelationTranslator<'_> {
    pub(super) fn aggregate(&mut self, planned: &PlannedAggregate) -> Result<Plan, Untranslated> {
        let input = self.relation(&planned.input)?;
        let seen = VisibleColumns {
            schema: planned.input.schema(),
            columns: &input.columns,
        };
        let mut groups = Vec::with_capacity(planned.group_expr.len());
        for group in &planned.group_expr {
            if matches!(group, Expr::GroupingSet(_)) {
                return Err(Untranslated::Node("grouping sets".to_owned()));
            }
            groups.push(self.expression(group, seen)?);
        }
        let fields = planned.schema.fields();
        let mut calls = Vec::with_capacity(planned.aggr_expr.len());
        for (expr, field) in planned
            .aggr_expr
            .iter()
            .zip(fields.iter().skip(groups.len()))
        {
            calls.push(self.call(expr, field, seen)?);
        }
        let names = fields
            .iter()
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect();
        let aggregate = Aggregate {
            input,
            groups,
            calls,
        };
        Ok(Plan::aggregate(aggregate, names))
    }

    fn call(
        &mut self,
        expr: &Expr,
        field: &Field,
        seen: VisibleColumns<'_>,
    ) -> Result<AggregateCall, Untranslated> {
        let call = match expr {
            Expr::Alias(alias) => return self.call(&alias.expr, field, seen),
            Expr::AggregateFunction(call) => call,
            other => return Err(Untranslated::Aggregate(other.to_string())),
        };
        let refused = || Untranslated::Aggregate(call.func.name().to_owned());
        let [argument] = call.params.args.as_slice() else {
            return Err(refused());
        };
        if call.params.null_treatment.is_some() {
            return Err(refused());
        }
        let argument_type = argument.get_type(seen.schema).map_err(|_| refused())?;
        let function = function_of(call, &argument_type, field.data_type()).ok_or_else(refused)?;
        let is_row = function == AggregateFunction::Count
            && !call.params.distinct
            && matches!(argument, Expr::Literal(value, _) if !value.is_null());
        let argument = if is_row {
            None
        } else {
            Some(self.expression(argument, seen)?)
        };
        let filter = match &call.params.filter {
            None => None,
            Some(filter) => Some(self.expression(filter, seen)?),
        };
        Ok(AggregateCall {
            function,
            argument,
            is_distinct: call.params.distinct,
            filter,
        })
    }
}

/// What a call computes. The order of its rows does not matter to any of these.
fn function_of(
    call: &Planned,
    argument: &DataType,
    result: &DataType,
) -> Option<AggregateFunction> {
    Some(match (call.func.name(), argument, result) {
        ("count", ..) => AggregateFunction::Count,
        ("min", ..) => AggregateFunction::Min,
        ("max", ..) => AggregateFunction::Max,
        ("bool_and", ..) => AggregateFunction::All,
        ("bool_or", ..) => AggregateFunction::Any,
        ("checked_sum" | "sum", DataType::Float64, DataType::Float64) => {
            AggregateFunction::Sum(SumKind::Double)
        }
        ("checked_sum", _, DataType::Int64) => AggregateFunction::Sum(SumKind::BigInt),
        ("checked_sum", _, DataType::Decimal128(precision, _)) => {
            AggregateFunction::Sum(SumKind::Decimal {
                precision: *precision,
            })
        }
        ("avg", DataType::Float64, DataType::Float64) => {
            AggregateFunction::Average(AverageKind::Double)
        }
        ("avg", DataType::Int16 | DataType::Int32 | DataType::Int64, DataType::Float64) => {
            AggregateFunction::Average(AverageKind::Integer)
        }
        ("avg", DataType::Decimal128(_, from), DataType::Decimal128(precision, to)) => {
            let power = u32::try_from(to.checked_sub(*from)?).ok()?;
            AggregateFunction::Average(AverageKind::Decimal {
                factor: 10_i128.checked_pow(power)?,
                precision: *precision,
            })
        }
        _ => return None,
    })
}
