//! Expressions of stored integers as a list of steps, each for a whole vector.
//!
//! A step is taken only if the bounds of the columns prove that each value, also on the way to a result, fits its type and 64 bits: then
//! nothing can fail, and no step looks for an overflow.

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use quire_tables::{RowChunk, ScanError, SelectedGroup};
use quire_vector::VectorOperator;

use super::super::stored_tests::stored;
use super::input::AggregateInput;

/// What fills a register.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VectorStep {
    /// A column of the table.
    Column(usize),
    Constant(i64),
    Operation {
        operator: VectorOperator,
        left: usize,
        right: usize,
    },
}

/// The steps; each fills the register of its own number.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorProgram {
    steps: Vec<VectorStep>,
}

/// The register of an expression, and what is known of its values.
#[derive(Clone, Debug)]
pub(super) struct TypedRegister {
    pub(super) register: usize,
    pub(super) range: RangeInclusive<i128>,
    pub(super) data_type: DataType,
}

/// The registers of one vector.
pub(super) struct VectorRegisters(Vec<Box<[i64; 1024]>>);

impl VectorProgram {
    /// The register of an expression over the output of the first `level` projections; `None` if it has no steps that cannot fail.
    pub(super) fn add(
        &mut self,
        input: &AggregateInput<'_>,
        expr: &Arc<dyn PhysicalExpr>,
        level: usize,
    ) -> Option<TypedRegister> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            if level == 0 {
                return self.column(input, column.index());
            }
            return self.add(input, input.beneath(column, level)?, level - 1);
        }
        if let Some(literal) = expr.downcast_ref::<Literal>() {
            let value = stored(literal.value())?;
            let data_type = literal.value().data_type();
            return self.constant(value, data_type);
        }
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            let operator = match binary.op() {
                Operator::Plus => VectorOperator::Add,
                Operator::Minus => VectorOperator::Subtract,
                Operator::Multiply => VectorOperator::Multiply,
                _ => return None,
            };
            let left = self.add(input, binary.left(), level)?;
            let right = self.add(input, binary.right(), level)?;
            let result = expr.data_type(&input.schema(level)).ok()?;
            return self.arithmetic(operator, left, right, result);
        }
        if let Some(cast) = expr.downcast_ref::<CastExpr>() {
            let value = self.add(input, cast.expr(), level)?;
            return self.cast(value, cast.cast_type().clone());
        }
        let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
        self.call(input, call, level)
    }

    fn call(
        &mut self,
        input: &AggregateInput<'_>,
        call: &ScalarFunctionExpr,
        level: usize,
    ) -> Option<TypedRegister> {
        let operator = match (call.fun().name(), call.args()) {
            // It only looks at the digits, which the range of each register proves.
            ("decimal_digits", [argument]) => return self.add(input, argument, level),
            ("checked_add", [_, _]) => VectorOperator::Add,
            ("checked_subtract", [_, _]) => VectorOperator::Subtract,
            ("checked_multiply", [_, _]) => VectorOperator::Multiply,
            _ => return None,
        };
        let left = self.add(input, &call.args()[0], level)?;
        let right = self.add(input, &call.args()[1], level)?;
        self.arithmetic(operator, left, right, call.return_type().clone())
    }

    fn column(&mut self, input: &AggregateInput<'_>, index: usize) -> Option<TypedRegister> {
        let column = input.table_column(index)?;
        let data_type = input.schema(0).field(index).data_type().clone();
        let bounds = input.table().integer_bounds(column)?;
        let range = i128::from(*bounds.start())..=i128::from(*bounds.end());
        Some(TypedRegister {
            register: self.step(VectorStep::Column(column)),
            range,
            data_type,
        })
    }

    fn constant(&mut self, value: i64, data_type: DataType) -> Option<TypedRegister> {
        Some(TypedRegister {
            register: self.step(VectorStep::Constant(value)),
            range: i128::from(value)..=i128::from(value),
            data_type,
        })
    }

    fn arithmetic(
        &mut self,
        operator: VectorOperator,
        left: TypedRegister,
        right: TypedRegister,
        result: DataType,
    ) -> Option<TypedRegister> {
        let (left, right) = match (&left.data_type, &right.data_type, &result) {
            (DataType::Decimal128(_, one), DataType::Decimal128(_, other), decimal) => {
                let DataType::Decimal128(_, scale) = decimal else {
                    return None;
                };
                if operator == VectorOperator::Multiply {
                    if one.checked_add(*other) != Some(*scale) {
                        return None;
                    }
                    (left, right)
                } else {
                    if scale != one.max(other) {
                        return None;
                    }
                    (self.scaled(left, *scale)?, self.scaled(right, *scale)?)
                }
            }
            (one, other, integer) if one == other && one == integer && one.is_integer() => {
                (left, right)
            }
            _ => return None,
        };
        self.operation(operator, &left, &right, result)
    }

    fn operation(
        &mut self,
        operator: VectorOperator,
        left: &TypedRegister,
        right: &TypedRegister,
        data_type: DataType,
    ) -> Option<TypedRegister> {
        let range = range_of(operator, &left.range, &right.range);
        if !fits(&range, &data_type) {
            return None;
        }
        let register = match (&self.steps[left.register], &self.steps[right.register]) {
            (VectorStep::Constant(_), VectorStep::Constant(_)) if range.start() == range.end() => {
                let value = i64::try_from(*range.start()).ok()?;
                self.step(VectorStep::Constant(value))
            }
            _ => self.step(VectorStep::Operation {
                operator,
                left: left.register,
                right: right.register,
            }),
        };
        Some(TypedRegister {
            register,
            range,
            data_type,
        })
    }

    /// A decimal with more digits behind its point.
    fn scaled(&mut self, value: TypedRegister, scale: i8) -> Option<TypedRegister> {
        let DataType::Decimal128(_, old) = value.data_type else {
            return None;
        };
        let digits = u32::try_from(scale.checked_sub(old)?).ok()?;
        let data_type = DataType::Decimal128(38, scale);
        if digits == 0 {
            return Some(TypedRegister { data_type, ..value });
        }
        let factor = self.constant(10_i64.checked_pow(digits)?, DataType::Decimal128(38, 0))?;
        self.operation(VectorOperator::Multiply, &value, &factor, data_type)
    }

    fn cast(&mut self, value: TypedRegister, to: DataType) -> Option<TypedRegister> {
        let cast = match (&value.data_type, &to) {
            (from, to) if from == to => value,
            (from, to) if from.is_integer() && to.is_integer() => value,
            (from, DataType::Decimal128(_, scale)) if from.is_integer() => {
                let data_type = DataType::Decimal128(38, 0);
                self.scaled(TypedRegister { data_type, ..value }, *scale)?
            }
            (DataType::Decimal128(..), DataType::Decimal128(_, scale)) => {
                self.scaled(value, *scale)?
            }
            _ => return None,
        };
        fits(&cast.range, &to).then_some(TypedRegister {
            data_type: to,
            ..cast
        })
    }

    fn step(&mut self, step: VectorStep) -> usize {
        if let Some(known) = self.steps.iter().position(|known| *known == step) {
            return known;
        }
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Adds the columns of the table that a register is computed from.
    pub(super) fn add_columns(&self, register: usize, columns: &mut Vec<usize>) {
        match &self.steps[register] {
            VectorStep::Column(column) if !columns.contains(column) => columns.push(*column),
            VectorStep::Column(_) | VectorStep::Constant(_) => {}
            VectorStep::Operation { left, right, .. } => {
                self.add_columns(*left, columns);
                self.add_columns(*right, columns);
            }
        }
    }

    /// Registers that hold the constants.
    pub(super) fn registers(&self) -> VectorRegisters {
        let register = |step: &VectorStep| match step {
            VectorStep::Constant(value) => Box::new([*value; 1024]),
            _ => Box::new([0; 1024]),
        };
        VectorRegisters(self.steps.iter().map(register).collect())
    }

    /// Fills the registers for a chunk.
    pub(super) fn run(
        &self,
        registers: &mut VectorRegisters,
        group: &mut SelectedGroup<'_>,
        chunk: &RowChunk,
    ) -> Result<(), ScanError> {
        for (number, step) in self.steps.iter().enumerate() {
            let (before, rest) = registers.0.split_at_mut(number);
            let Some(out) = rest.first_mut() else {
                continue;
            };
            match step {
                VectorStep::Column(column) => group.integers(*column, chunk, out)?,
                VectorStep::Constant(_) => {}
                VectorStep::Operation {
                    operator,
                    left,
                    right,
                } => operator.apply(&before[*left], &before[*right], out),
            }
        }
        Ok(())
    }
}

impl VectorRegisters {
    pub(super) fn values(&self, register: usize) -> &[i64; 1024] {
        &self.0[register]
    }
}

/// The results of an operator on values of two ranges that 64 bits hold.
fn range_of(
    operator: VectorOperator,
    left: &RangeInclusive<i128>,
    right: &RangeInclusive<i128>,
) -> RangeInclusive<i128> {
    match operator {
        VectorOperator::Add => left.start() + right.start()..=left.end() + right.end(),
        VectorOperator::Subtract => left.start() - right.end()..=left.end() - right.start(),
        VectorOperator::Multiply => {
            let (low, high) = (left.start(), left.end());
            let products = [
                low * right.start(),
                low * right.end(),
                high * right.start(),
                high * right.end(),
            ];
            let start = products.iter().copied().min().unwrap_or(0);
            start..=products.iter().copied().max().unwrap_or(0)
        }
    }
}

/// Whether values of a range are values of a type that 64 bits hold.
fn fits(range: &RangeInclusive<i128>, data_type: &DataType) -> bool {
    let within =
        |low: i64, high: i64| *range.start() >= i128::from(low) && *range.end() <= i128::from(high);
    match data_type {
        DataType::Int16 => within(i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => within(i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => within(i64::MIN, i64::MAX),
        DataType::Decimal128(precision, _) => {
            let limit = 10_i64.checked_pow(u32::from(*precision));
            let limit = limit.map_or(i64::MAX, |limit| limit - 1);
            within(-limit, limit)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_all_results_and_nothing_else() {
        let (left, right) = (-3_i128..=2, -5_i128..=7);
        for operator in [
            VectorOperator::Add,
            VectorOperator::Subtract,
            VectorOperator::Multiply,
        ] {
            let results = left.clone().flat_map(|one| {
                right.clone().map(move |other| match operator {
                    VectorOperator::Add => one + other,
                    VectorOperator::Subtract => one - other,
                    VectorOperator::Multiply => one * other,
                })
            });
            let results: Vec<i128> = results.collect();
            let expected = results
                .iter()
                .min()
                .copied()
                .zip(results.iter().max().copied());
            let range = range_of(operator, &left, &right);
            assert_eq!(Some((*range.start(), *range.end())), expected);
        }
    }

    #[test]
    fn types_end_where_they_end() {
        let end = i128::from(i64::MAX);
        assert!(fits(&(-32768..=32767), &DataType::Int16));
        assert!(!fits(&(0..=32768), &DataType::Int16));
        assert!(fits(&(-999..=999), &DataType::Decimal128(3, 1)));
        assert!(!fits(&(-1000..=0), &DataType::Decimal128(3, 1)));
        assert!(fits(&(-end..=end), &DataType::Decimal128(38, 0)));
        assert!(!fits(&(0..=end + 1), &DataType::Decimal128(38, 0)));
    }
}
