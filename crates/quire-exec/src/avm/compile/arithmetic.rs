//! Arithmetic: opcodes by the type of their operands, and by whether these are registers or attributes.

use quire_tables::row_table::Value;

use super::pool::CompileError;
use super::{Compiler, HeldValue};
use crate::avm::opcode::Instruction as I;
use crate::avm::operand::{Attribute, TargetRegister, Wide, WordRegister};
use crate::avm::register::Register;
use crate::plan::{DecimalOperation, Expression, IntegerWidth, Operator, ValueKind};

/// An operand of arithmetic: what a register holds, or an attribute where it is.
#[derive(Clone, Copy)]
enum ArithmeticSide<R> {
    Register(R),
    Attribute(Attribute),
}

/// Picks the opcode by the kinds of its operands.
macro_rules! by_sides {
    ($left:expr, $right:expr, $target:expr; $zz:ident $az:ident $za:ident) => {
        match ($left, $right) {
            (ArithmeticSide::Register(left), ArithmeticSide::Register(right)) => I::$zz {
                left,
                right,
                target: $target,
            },
            (ArithmeticSide::Attribute(left), ArithmeticSide::Register(right)) => I::$az {
                left,
                right,
                target: $target,
            },
            (ArithmeticSide::Register(left), ArithmeticSide::Attribute(right)) => I::$za {
                left,
                right,
                target: $target,
            },
            (ArithmeticSide::Attribute(_), ArithmeticSide::Attribute(_)) => {
                return Err(CompileError::Unsupported("two attributes"));
            }
        }
    };
}

/// The same where both must be registers.
macro_rules! of_registers {
    ($left:expr, $right:expr, $target:expr; $zz:ident) => {
        match ($left, $right) {
            (ArithmeticSide::Register(left), ArithmeticSide::Register(right)) => I::$zz {
                left,
                right,
                target: $target,
            },
            _ => return Err(CompileError::Unsupported("an attribute in a quotient")),
        }
    };
}

impl<'e> Compiler<'e, '_> {
    pub(super) fn arithmetic(&mut self, whole: &'e Expression) -> Result<HeldValue, CompileError> {
        let (Expression::Integer(_, sides)
        | Expression::Double(_, sides)
        | Expression::Real(_, sides)
        | Expression::Decimal(_, sides)) = whole
        else {
            return Err(CompileError::Unsupported("arithmetic on something else"));
        };
        let [left, right] = &**sides;
        if let Expression::Decimal(operation, _) = whole {
            return self.decimal(operation, left, right);
        }
        let (can_left, can_right) = can_be_attributes(whole);
        // Not both: then the right one is decoded first, as it would be.
        let left_attribute = self.fusible(left).filter(|_| can_left);
        let right_attribute = self
            .fusible(right)
            .filter(|_| can_right && left_attribute.is_none());
        let mut operands = Vec::with_capacity(2);
        let left_side = self.side(left, left_attribute, &mut operands)?;
        let right_side = self.side(right, right_attribute, &mut operands)?;
        let (Register::Integer(target) | Register::Double(target) | Register::Real(target)) =
            self.fresh(whole.kind())?
        else {
            return Err(CompileError::Unsupported("a number in another register"));
        };
        let register = Register::new(whole.kind(), target.0);
        let held = self.strict(&operands, register, |compiler| {
            let instruction =
                number_instruction(whole, left_side, right_side, TargetRegister(target))?;
            compiler.emit(instruction);
            Ok(())
        })?;
        let nullable = held.nullable || whole.may_be_null();
        Ok(HeldValue { nullable, ..held })
    }

    /// An operand of 8 bytes; a register is noted among `operands`.
    fn side(
        &mut self,
        expression: &'e Expression,
        attribute: Option<Attribute>,
        operands: &mut Vec<HeldValue>,
    ) -> Result<ArithmeticSide<WordRegister>, CompileError> {
        if let Some(attribute) = attribute {
            return Ok(ArithmeticSide::Attribute(attribute));
        }
        let held = self.value(expression)?;
        operands.push(held);
        match held.register {
            Register::Integer(word) | Register::Real(word) | Register::Double(word) => {
                Ok(ArithmeticSide::Register(word))
            }
            _ => Err(CompileError::Unsupported("arithmetic on what is no number")),
        }
    }

    fn decimal(
        &mut self,
        operation: &DecimalOperation,
        left: &'e Expression,
        right: &'e Expression,
    ) -> Result<HeldValue, CompileError> {
        let operator = operation.operator();
        let (left_factor, right_factor) = operation.factors();
        let is_fused = !matches!(operator, Operator::Divide | Operator::Remainder);
        let left_attribute = self.fusible(left).filter(|_| is_fused && left_factor == 1);
        let right_attribute = self
            .fusible(right)
            .filter(|_| is_fused && right_factor == 1 && left_attribute.is_none());
        let mut operands = Vec::with_capacity(2);
        let scaled_left = self.scaled_constant(left, left_factor)?;
        let scaled_right = self.scaled_constant(right, right_factor)?;
        let left_side = match scaled_left {
            Some(scaled) => ArithmeticSide::Register(scaled),
            None => self.wide_side(left, left_attribute, &mut operands)?,
        };
        let right_side = match scaled_right {
            Some(scaled) => ArithmeticSide::Register(scaled),
            None => self.wide_side(right, right_attribute, &mut operands)?,
        };
        let target = self.fresh_wide()?;
        let held = self.strict(&operands, Register::Decimal(target), |compiler| {
            let scaled = |compiler: &mut Self, known: Option<Wide>, side, factor| match known {
                Some(_) => Ok(side),
                None => compiler.scaled(side, factor),
            };
            let left = scaled(compiler, scaled_left, left_side, left_factor)?;
            let right = scaled(compiler, scaled_right, right_side, right_factor)?;
            let instruction = decimal_instruction(operator, left, right, TargetRegister(target))?;
            compiler.emit(instruction);
            Ok(())
        })?;
        let nullable = held.nullable || left.may_be_null() || right.may_be_null();
        Ok(HeldValue { nullable, ..held })
    }

    /// A constant with more digits behind its point; none when it has no room for them, which is then found out at run time.
    fn scaled_constant(
        &mut self,
        expression: &Expression,
        factor: i128,
    ) -> Result<Option<Wide>, CompileError> {
        let Expression::Constant(Value::Decimal(value)) = expression else {
            return Ok(None);
        };
        match i128::from(*value).checked_mul(factor) {
            Some(scaled) => self.wide_constant(scaled).map(Some),
            None => Ok(None),
        }
    }

    fn wide_side(
        &mut self,
        expression: &'e Expression,
        attribute: Option<Attribute>,
        operands: &mut Vec<HeldValue>,
    ) -> Result<ArithmeticSide<Wide>, CompileError> {
        if let Some(attribute) = attribute {
            return Ok(ArithmeticSide::Attribute(attribute));
        }
        let held = self.value(expression)?;
        operands.push(held);
        match held.register {
            Register::Decimal(wide) => Ok(ArithmeticSide::Register(wide)),
            _ => Err(CompileError::Unsupported(
                "arithmetic on what is no decimal",
            )),
        }
    }

    /// A decimal with more digits behind its point.
    fn scaled(
        &mut self,
        side: ArithmeticSide<Wide>,
        factor: i128,
    ) -> Result<ArithmeticSide<Wide>, CompileError> {
        let ArithmeticSide::Register(left) = side else {
            return Ok(side);
        };
        if factor == 1 {
            return Ok(side);
        }
        let right = self.wide_constant(factor)?;
        let target = self.fresh_wide()?;
        self.emit(I::MUL_C_N_ZZ {
            left,
            right,
            target: TargetRegister(target),
        });
        Ok(ArithmeticSide::Register(target))
    }

    pub(super) fn wide_constant(&mut self, value: i128) -> Result<Wide, CompileError> {
        match self
            .pool
            .constant(ValueKind::Decimal, &Value::Decimal(value.into()))?
        {
            Register::Decimal(wide) => Ok(wide),
            _ => Err(CompileError::Unsupported("a decimal in another register")),
        }
    }
}

/// Whether the left, and the right, operand may be an attribute.
fn can_be_attributes(whole: &Expression) -> (bool, bool) {
    let does = |operator: Operator| !matches!(operator, Operator::Divide | Operator::Remainder);
    let can = match whole {
        Expression::Integer(operation, _) => {
            does(operation.operator())
                && matches!(
                    operation.width(),
                    IntegerWidth::Bits32 | IntegerWidth::Bits64
                )
        }
        Expression::Double(operator, _) => does(operator.0),
        _ => false,
    };
    (can, can)
}

fn number_instruction(
    whole: &Expression,
    left: ArithmeticSide<WordRegister>,
    right: ArithmeticSide<WordRegister>,
    target: TargetRegister<WordRegister>,
) -> Result<I, CompileError> {
    use Operator as O;
    Ok(match whole {
        Expression::Integer(operation, _) => match (operation.width(), operation.operator()) {
            (IntegerWidth::Bits64, O::Add) => {
                by_sides!(left, right, target; ADD_C_I_ZZ ADD_C_I_AZ ADD_C_I_ZA)
            }
            (IntegerWidth::Bits64, O::Subtract) => {
                by_sides!(left, right, target; SUB_C_I_ZZ SUB_C_I_AZ SUB_C_I_ZA)
            }
            (IntegerWidth::Bits64, O::Multiply) => {
                by_sides!(left, right, target; MUL_C_I_ZZ MUL_C_I_AZ MUL_C_I_ZA)
            }
            (IntegerWidth::Bits64, O::Divide) => of_registers!(left, right, target; DIV_C_I_ZZ),
            (IntegerWidth::Bits64, O::Remainder) => of_registers!(left, right, target; REM_C_I_ZZ),
            (IntegerWidth::Bits32, O::Add) => {
                by_sides!(left, right, target; ADD_C_I4_ZZ ADD_C_I4_AZ ADD_C_I4_ZA)
            }
            (IntegerWidth::Bits32, O::Subtract) => {
                by_sides!(left, right, target; SUB_C_I4_ZZ SUB_C_I4_AZ SUB_C_I4_ZA)
            }
            (IntegerWidth::Bits32, O::Multiply) => {
                by_sides!(left, right, target; MUL_C_I4_ZZ MUL_C_I4_AZ MUL_C_I4_ZA)
            }
            (IntegerWidth::Bits32, O::Divide) => of_registers!(left, right, target; DIV_C_I4_ZZ),
            (IntegerWidth::Bits32, O::Remainder) => of_registers!(left, right, target; REM_C_I4_ZZ),
            (IntegerWidth::Bits16, O::Add) => of_registers!(left, right, target; ADD_C_I2_ZZ),
            (IntegerWidth::Bits16, O::Subtract) => of_registers!(left, right, target; SUB_C_I2_ZZ),
            (IntegerWidth::Bits16, O::Multiply) => of_registers!(left, right, target; MUL_C_I2_ZZ),
            (IntegerWidth::Bits16, O::Divide) => of_registers!(left, right, target; DIV_C_I2_ZZ),
            (IntegerWidth::Bits16, O::Remainder) => of_registers!(left, right, target; REM_C_I2_ZZ),
            (IntegerWidth::Bits8, _) => {
                return Err(CompileError::Unsupported("integers of one byte"));
            }
        },
        Expression::Double(operator, _) => match operator.0 {
            O::Add => by_sides!(left, right, target; ADD_C_F_ZZ ADD_C_F_AZ ADD_C_F_ZA),
            O::Subtract => by_sides!(left, right, target; SUB_C_F_ZZ SUB_C_F_AZ SUB_C_F_ZA),
            O::Multiply => by_sides!(left, right, target; MUL_C_F_ZZ MUL_C_F_AZ MUL_C_F_ZA),
            O::Divide => of_registers!(left, right, target; DIV_C_F_ZZ),
            O::Remainder => of_registers!(left, right, target; REM_C_F_ZZ),
        },
        Expression::Real(operator, _) => match operator.0 {
            O::Add => of_registers!(left, right, target; ADD_C_R_ZZ),
            O::Subtract => of_registers!(left, right, target; SUB_C_R_ZZ),
            O::Multiply => of_registers!(left, right, target; MUL_C_R_ZZ),
            O::Divide => of_registers!(left, right, target; DIV_C_R_ZZ),
            O::Remainder => of_registers!(left, right, target; REM_C_R_ZZ),
        },
        _ => return Err(CompileError::Unsupported("arithmetic on something else")),
    })
}

fn decimal_instruction(
    operator: Operator,
    left: ArithmeticSide<Wide>,
    right: ArithmeticSide<Wide>,
    target: TargetRegister<Wide>,
) -> Result<I, CompileError> {
    Ok(match operator {
        Operator::Add => by_sides!(left, right, target; ADD_C_N_ZZ ADD_C_N_AZ ADD_C_N_ZA),
        Operator::Subtract => by_sides!(left, right, target; SUB_C_N_ZZ SUB_C_N_AZ SUB_C_N_ZA),
        Operator::Multiply => by_sides!(left, right, target; MUL_C_N_ZZ MUL_C_N_AZ MUL_C_N_ZA),
        Operator::Divide => of_registers!(left, right, target; DIV_C_N_ZZ),
        Operator::Remainder => of_registers!(left, right, target; REM_C_N_ZZ),
    })
}
