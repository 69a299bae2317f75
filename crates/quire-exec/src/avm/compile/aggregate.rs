//! Aggregates: the rows of a group go into slots, and come out as values.

use super::condition::{Exits, null_branch};
use super::pool::CompileError;
use super::{Compiler, HeldValue};
use crate::avm::opcode::Instruction as I;
use crate::avm::operand::{AggregateSlot, TargetRegister, Wide, WordRegister};
use crate::avm::register::Register;
use crate::plan::{Expression, Operator, ValueKind};

/// Which of two values is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    Least,
    Greatest,
}

/// What is done with the rows of a group.
#[derive(Clone, Copy, Debug)]
pub enum Accumulation<'e> {
    /// Rows are counted.
    CountRows,
    /// Rows for which a value is not NULL are counted.
    Count(&'e Expression),
    /// Values are added up.
    Sum(&'e Expression),
    /// The least or greatest value is kept.
    Extreme(Extremum, &'e Expression),
}

impl<'e> Compiler<'e, '_> {
    /// Takes the row into a slot of the present group.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub fn accumulate(
        &mut self,
        slot: AggregateSlot,
        accumulation: Accumulation<'e>,
    ) -> Result<(), CompileError> {
        self.use_slot(slot);
        if matches!(
            accumulation,
            Accumulation::CountRows | Accumulation::Count(_)
        ) {
            self.draft.counters.push(slot);
        }
        match accumulation {
            Accumulation::CountRows => self.emit(I::CNT_A { slot }),
            Accumulation::Count(expression) => {
                let held = self.value(expression)?;
                self.unless_it_is_null(held, |compiler| {
                    compiler.emit(I::CNT_A { slot });
                    Ok(())
                })?;
            }
            Accumulation::Sum(expression) => self.sum(slot, expression)?,
            Accumulation::Extreme(extremum, expression) => {
                let held = self.value(expression)?;
                self.unless_it_is_null(held, |compiler| {
                    compiler.emit(extreme(extremum, held.register, slot));
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Takes the row into a slot if a condition is true of it.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub(crate) fn accumulate_when(
        &mut self,
        condition: &'e Expression,
        slot: AggregateSlot,
        accumulation: Accumulation<'e>,
    ) -> Result<(), CompileError> {
        let (taken, after) = (self.labels.add(), self.labels.add());
        self.condition(condition, Exits::new(taken, after, after), taken)?;
        self.place(taken);
        self.accumulate(slot, accumulation)?;
        self.place(after);
        Ok(())
    }

    /// The mean of the doubles in one slot, which are as many as another slot says; NULL of none.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub(crate) fn average_double(
        &mut self,
        sum: AggregateSlot,
        count: AggregateSlot,
    ) -> Result<Register, CompileError> {
        self.use_slot(sum);
        self.use_slot(count);
        let [left, right, target] = [self.fresh_word()?, self.fresh_word()?, self.fresh_word()?];
        self.emit(I::RES_C_F {
            slot: sum,
            target: TargetRegister(left),
        });
        let held = self.strict(
            &[nullable(Register::Double(left))],
            Register::Double(target),
            |compiler| {
                let value = compiler.count(count)?;
                compiler.emit(I::CNV_IF_Z {
                    value,
                    target: TargetRegister(right),
                });
                let target = TargetRegister(target);
                compiler.emit(I::DIV_C_F_ZZ {
                    left,
                    right,
                    target,
                });
                Ok(())
            },
        )?;
        Ok(held.register)
    }

    /// The double nearest to the mean of the integers in one slot, which are as many as another slot says; NULL of none.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub(crate) fn average_integer(
        &mut self,
        sum: AggregateSlot,
        count: AggregateSlot,
    ) -> Result<Register, CompileError> {
        self.use_slot(sum);
        self.use_slot(count);
        let target = self.fresh_word()?;
        self.emit(I::AVG_C_I {
            sum,
            count,
            target: TargetRegister(target),
        });
        Ok(Register::Double(target))
    }

    /// The mean of the decimals in one slot times a factor, to the nearest, which must be below a power of ten; NULL of none.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub(crate) fn average_decimal(
        &mut self,
        (sum, count): (AggregateSlot, AggregateSlot),
        factor: i128,
        digits: u8,
    ) -> Result<Register, CompileError> {
        self.use_slot(sum);
        self.use_slot(count);
        let target = self.fresh_wide()?;
        let factor = self.wide_constant(factor)?;
        let limit = self.limit(digits)?;
        self.emit(I::AVG_C_N {
            sum,
            count,
            factor,
            limit,
            target: TargetRegister(target),
        });
        Ok(Register::Decimal(target))
    }

    /// How many rows a slot has counted.
    fn count(&mut self, slot: AggregateSlot) -> Result<WordRegister, CompileError> {
        let number = self.fresh_word()?;
        self.emit(I::RES_C_I {
            slot,
            target: TargetRegister(number),
        });
        Ok(number)
    }

    fn use_slot(&mut self, slot: AggregateSlot) {
        self.draft.slot_count = self.draft.slot_count.max(slot.0.saturating_add(1));
    }

    fn limit(&mut self, digits: u8) -> Result<Wide, CompileError> {
        let limit = 10_i128.checked_pow(u32::from(digits)).unwrap_or(i128::MAX);
        self.wide_constant(limit)
    }

    fn unless_it_is_null(
        &mut self,
        held: HeldValue,
        emit: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let after = self.labels.add();
        if held.nullable {
            self.emit(null_branch(held.register, after.label()));
        }
        emit(self)?;
        self.place(after);
        Ok(())
    }

    fn sum(&mut self, slot: AggregateSlot, expression: &'e Expression) -> Result<(), CompileError> {
        if let Some(value) = self.fusible(expression) {
            match expression.kind() {
                ValueKind::Integer => self.emit(I::SUM_A_I_A { value, slot }),
                ValueKind::Decimal => self.emit(I::SUM_A_N_A { value, slot }),
                ValueKind::Double => self.emit(I::SUM_A_F_A { value, slot }),
                _ => return Err(CompileError::Unsupported("a sum of what is no number")),
            }
            return Ok(());
        }
        if self.recall(expression).is_none() && self.sum_product(slot, expression)? {
            return Ok(());
        }
        let held = self.value(expression)?;
        let instruction = match held.register {
            Register::Integer(value) => I::SUM_A_I_Z { value, slot },
            Register::Decimal(value) => I::SUM_A_N_Z { value, slot },
            Register::Double(value) => I::SUM_A_F_Z { value, slot },
            _ => return Err(CompileError::Unsupported("a sum of what is no number")),
        };
        self.unless_it_is_null(held, |compiler| {
            compiler.emit(instruction);
            Ok(())
        })
    }

    /// The sum of a product, in one instruction (paper 1, figure 6). False when the expression is none that it can be of.
    fn sum_product(
        &mut self,
        slot: AggregateSlot,
        expression: &'e Expression,
    ) -> Result<bool, CompileError> {
        let (operator, sides) = match expression {
            Expression::Decimal(operation, sides) => (operation.operator(), sides),
            Expression::Double(operator, sides) => (operator.0, sides),
            _ => return Ok(false),
        };
        let [left, right] = &**sides;
        if operator != Operator::Multiply || expression.may_be_null() {
            return Ok(false);
        }
        let attribute = self.fusible(left);
        let left = match attribute {
            Some(_) => None,
            None => Some(self.value(left)?.register),
        };
        let right = self.value(right)?.register;
        self.emit(match (attribute, left, right) {
            (Some(left), _, Register::Decimal(right)) => I::MUL_A_N_AZ { left, right, slot },
            (Some(left), _, Register::Double(right)) => I::MUL_A_F_AZ { left, right, slot },
            (None, Some(Register::Decimal(left)), Register::Decimal(right)) => {
                I::MUL_A_N_ZZ { left, right, slot }
            }
            (None, Some(Register::Double(left)), Register::Double(right)) => {
                I::MUL_A_F_ZZ { left, right, slot }
            }
            _ => return Err(CompileError::Unsupported("a product of two kinds")),
        });
        Ok(true)
    }

    /// What a slot of the present group has come to. A decimal must be below a power of ten.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub fn result(
        &mut self,
        slot: AggregateSlot,
        kind: ValueKind,
        digits: u8,
    ) -> Result<Register, CompileError> {
        self.use_slot(slot);
        let register = self.fresh(kind)?;
        let instruction = match register {
            Register::Integer(target) | Register::Boolean(target) => I::RES_C_I {
                slot,
                target: TargetRegister(target),
            },
            Register::Decimal(target) => {
                let limit = self.limit(digits)?;
                I::RES_C_N {
                    slot,
                    limit,
                    target: TargetRegister(target),
                }
            }
            Register::Double(target) => I::RES_C_F {
                slot,
                target: TargetRegister(target),
            },
            Register::Real(target) => I::RES_C_R {
                slot,
                target: TargetRegister(target),
            },
            Register::Text(target) => I::RES_C_S {
                slot,
                target: TargetRegister(target),
            },
        };
        self.emit(instruction);
        Ok(register)
    }
}

fn nullable(register: Register) -> HeldValue {
    HeldValue {
        register,
        nullable: true,
    }
}

fn extreme(extremum: Extremum, register: Register, slot: AggregateSlot) -> I {
    match (extremum, register) {
        (Extremum::Least, Register::Boolean(value) | Register::Integer(value)) => {
            I::MIN_A_I_Z { value, slot }
        }
        (Extremum::Least, Register::Decimal(value)) => I::MIN_A_N_Z { value, slot },
        (Extremum::Least, Register::Double(value)) => I::MIN_A_F_Z { value, slot },
        (Extremum::Least, Register::Real(value)) => I::MIN_A_R_Z { value, slot },
        (Extremum::Least, Register::Text(value)) => I::MIN_A_S_Z { value, slot },
        (Extremum::Greatest, Register::Boolean(value) | Register::Integer(value)) => {
            I::MAX_A_I_Z { value, slot }
        }
        (Extremum::Greatest, Register::Decimal(value)) => I::MAX_A_N_Z { value, slot },
        (Extremum::Greatest, Register::Double(value)) => I::MAX_A_F_Z { value, slot },
        (Extremum::Greatest, Register::Real(value)) => I::MAX_A_R_Z { value, slot },
        (Extremum::Greatest, Register::Text(value)) => I::MAX_A_S_Z { value, slot },
    }
}
