//! Values: what a program computes into registers.

use std::sync::Arc;

use quire_tables::row_table::Value;

use super::condition::{Exits, null_branch};
use super::pool::CompileError;
use super::{ColumnBinding, Compiler, HeldValue};
use crate::avm::call::FunctionCall;
use crate::avm::opcode::Instruction as I;
use crate::avm::operand::{Call, TargetRegister};
use crate::avm::register::{Bank, Register};
use crate::plan::{Expression, ScalarFunction};

impl<'e> Compiler<'e, '_> {
    /// The register that has the value of an expression from here on.
    pub(super) fn value(&mut self, expression: &'e Expression) -> Result<HeldValue, CompileError> {
        if let Some(held) = self.recall(expression) {
            return Ok(held);
        }
        if let Some(held) = self.given(expression)? {
            return Ok(held);
        }
        let held = self.computed(expression)?;
        self.remember(expression, held);
        Ok(held)
    }

    /// The register of what has one before the program runs.
    fn given(&mut self, expression: &Expression) -> Result<Option<HeldValue>, CompileError> {
        let register = match expression {
            Expression::Constant(value) => self.pool.constant(expression.kind(), value)?,
            Expression::Null(kind) => self.pool.constant(*kind, &Value::Null)?,
            Expression::Parameter { number, kind } => self.pool.parameter(*number, *kind)?,
            Expression::Now => Register::Integer(self.pool.now()?),
            Expression::Column { slot, .. } => match self.columns.get(*slot) {
                Some(ColumnBinding::Register(register)) => *register,
                Some(ColumnBinding::Attribute { .. }) => return Ok(None),
                Some(ColumnBinding::None) | None => return Err(CompileError::NoColumn(*slot)),
            },
            _ => return Ok(None),
        };
        Ok(Some(HeldValue {
            register,
            nullable: expression.may_be_null(),
        }))
    }

    fn computed(&mut self, expression: &'e Expression) -> Result<HeldValue, CompileError> {
        match expression {
            Expression::Constant(_)
            | Expression::Null(_)
            | Expression::Parameter { .. }
            | Expression::Now
            | Expression::Column { .. } => self.decoded(expression),
            Expression::Case(branches, otherwise) => {
                self.case(branches, otherwise.as_deref(), expression)
            }
            Expression::Coalesce(parts) => self.coalesce(parts, expression),
            Expression::Call(function, arguments) => self.function(function, arguments),
            Expression::Cast(plan, inner) => self.cast(plan, inner),
            Expression::Integer(..)
            | Expression::Double(..)
            | Expression::Real(..)
            | Expression::Decimal(..) => self.arithmetic(expression),
            Expression::Concatenate(sides) => self.concatenation(sides),
            Expression::Digits(inner) | Expression::Negate(inner) => self.of_one(expression, inner),
            Expression::Compare(..)
            | Expression::And(_)
            | Expression::Or(_)
            | Expression::Not(_)
            | Expression::IsNull(..)
            | Expression::Is(..)
            | Expression::In(..)
            | Expression::Like(..) => self.truth(expression),
        }
    }

    fn function(
        &mut self,
        function: &'e Arc<dyn ScalarFunction>,
        arguments: &'e [Expression],
    ) -> Result<HeldValue, CompileError> {
        let mut registers = Vec::with_capacity(arguments.len());
        for argument in arguments {
            registers.push(self.value(argument)?.register);
        }
        let target = self.fresh(function.kind())?;
        self.call(FunctionCall {
            function: Arc::clone(function),
            arguments: registers,
            target,
        });
        Ok(HeldValue {
            register: target,
            nullable: true,
        })
    }

    /// A column of a tuple.
    fn decoded(&mut self, column: &Expression) -> Result<HeldValue, CompileError> {
        let value = match column {
            Expression::Column { slot, .. } => match self.columns.get(*slot) {
                Some(ColumnBinding::Attribute { attribute, .. }) => *attribute,
                _ => return Err(CompileError::NoColumn(*slot)),
            },
            _ => return Err(CompileError::Unsupported("a column that is none")),
        };
        let register = self.fresh(column.kind())?;
        self.emit(match register.bank() {
            Bank::Word(word) => I::LOAD_W_A {
                value,
                target: TargetRegister(word),
            },
            Bank::Wide(wide) => I::LOAD_N_A {
                value,
                target: TargetRegister(wide),
            },
            Bank::Text(text) => I::LOAD_S_A {
                value,
                target: TargetRegister(text),
            },
        });
        Ok(HeldValue {
            register,
            nullable: column.may_be_null(),
        })
    }

    /// The truth of a condition as a value.
    fn truth(&mut self, condition: &'e Expression) -> Result<HeldValue, CompileError> {
        let target = self.fresh_word()?;
        let [yes, no, null, after] = [(); 4].map(|()| self.labels.add());
        self.condition(condition, Exits::new(yes, no, null), yes)?;
        self.place(yes);
        let (one, zero) = (self.boolean(true)?, self.boolean(false)?);
        self.emit(I::MOVE_W_Z {
            value: one,
            target: TargetRegister(target),
        });
        self.emit(I::JUMP { to: after.label() });
        self.place(no);
        self.emit(I::MOVE_W_Z {
            value: zero,
            target: TargetRegister(target),
        });
        let nullable = condition.may_be_null();
        self.emit(I::JUMP { to: after.label() });
        self.place(null);
        self.emit(I::NULL_W {
            target: TargetRegister(target),
        });
        self.place(after);
        Ok(HeldValue {
            register: Register::Boolean(target),
            nullable,
        })
    }

    fn case(
        &mut self,
        branches: &'e [(Expression, Expression)],
        otherwise: Option<&'e Expression>,
        whole: &Expression,
    ) -> Result<HeldValue, CompileError> {
        let register = self.fresh(whole.kind())?;
        let after = self.labels.add();
        for (when, then) in branches {
            let (taken, next) = (self.labels.add(), self.labels.add());
            self.condition(when, Exits::new(taken, next, next), taken)?;
            self.place(taken);
            let held = self.value(then)?;
            self.copy(held.register, register)?;
            self.emit(I::JUMP { to: after.label() });
            self.place(next);
        }
        match otherwise {
            Some(otherwise) => {
                let held = self.value(otherwise)?;
                self.copy(held.register, register)?;
            }
            None => self.null(register),
        }
        self.place(after);
        Ok(HeldValue {
            register,
            nullable: whole.may_be_null(),
        })
    }

    fn coalesce(
        &mut self,
        parts: &'e [Expression],
        whole: &Expression,
    ) -> Result<HeldValue, CompileError> {
        let register = self.fresh(whole.kind())?;
        let after = self.labels.add();
        for part in parts {
            let held = self.value(part)?;
            let next = self.labels.add();
            if held.nullable {
                self.emit(null_branch(held.register, next.label()));
            }
            self.copy(held.register, register)?;
            self.emit(I::JUMP { to: after.label() });
            self.place(next);
        }
        self.null(register);
        self.place(after);
        Ok(HeldValue {
            register,
            nullable: whole.may_be_null(),
        })
    }

    /// An operator that is NULL when an operand is: those that may be are looked at first.
    pub(super) fn strict(
        &mut self,
        operands: &[HeldValue],
        target: Register,
        compute: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<HeldValue, CompileError> {
        let nullable = operands.iter().any(|operand| operand.nullable);
        let after = self.labels.add();
        if nullable {
            self.null(target);
            for operand in operands.iter().filter(|operand| operand.nullable) {
                self.emit(null_branch(operand.register, after.label()));
            }
        }
        compute(self)?;
        self.place(after);
        Ok(HeldValue {
            register: target,
            nullable,
        })
    }

    fn concatenation(&mut self, sides: &'e [Expression; 2]) -> Result<HeldValue, CompileError> {
        let (left, right) = (self.value(&sides[0])?, self.value(&sides[1])?);
        let (Register::Text(from), Register::Text(behind)) = (left.register, right.register) else {
            return Err(CompileError::Unsupported("|| of what is no text"));
        };
        let target = self.fresh_text()?;
        self.strict(&[left, right], Register::Text(target), |compiler| {
            compiler.emit(I::CAT_C_S_ZZ {
                left: from,
                right: behind,
                target: TargetRegister(target),
            });
            Ok(())
        })
    }

    /// Operators of one operand.
    fn of_one(
        &mut self,
        whole: &'e Expression,
        inner: &'e Expression,
    ) -> Result<HeldValue, CompileError> {
        let held = self.value(inner)?;
        let register = self.fresh(whole.kind())?;
        let instruction = match (whole, held.register, register) {
            (Expression::Digits(_), Register::Decimal(value), Register::Decimal(target)) => {
                I::DIG_C_N_Z {
                    value,
                    target: TargetRegister(target),
                }
            }
            (_, Register::Decimal(value), Register::Decimal(target)) => I::NEG_C_N_Z {
                value,
                target: TargetRegister(target),
            },
            (_, Register::Double(value), Register::Double(target)) => I::NEG_C_F_Z {
                value,
                target: TargetRegister(target),
            },
            (_, Register::Real(value), Register::Real(target)) => I::NEG_C_R_Z {
                value,
                target: TargetRegister(target),
            },
            _ => {
                return Err(CompileError::Unsupported(
                    "minus what is no decimal or float",
                ));
            }
        };
        self.strict(&[held], register, |compiler| {
            compiler.emit(instruction);
            Ok(())
        })
    }

    pub(super) fn call(&mut self, call: FunctionCall) {
        let calls = &mut self.draft.asides.calls;
        calls.push(call);
        let call = Call(u16::try_from(calls.len() - 1).unwrap_or(u16::MAX));
        self.emit(I::CALL { call });
    }

    fn null(&mut self, register: Register) {
        self.emit(match register.bank() {
            Bank::Word(word) => I::NULL_W {
                target: TargetRegister(word),
            },
            Bank::Wide(wide) => I::NULL_N {
                target: TargetRegister(wide),
            },
            Bank::Text(text) => I::NULL_S {
                target: TargetRegister(text),
            },
        });
    }

    pub(super) fn copy(&mut self, from: Register, to: Register) -> Result<(), CompileError> {
        let other_kind = CompileError::Unsupported("results of two kinds");
        if from.kind() != to.kind() {
            return Err(other_kind);
        }
        self.emit(match (from.bank(), to.bank()) {
            (Bank::Word(value), Bank::Word(target)) => I::MOVE_W_Z {
                value,
                target: TargetRegister(target),
            },
            (Bank::Wide(value), Bank::Wide(target)) => I::MOVE_N_Z {
                value,
                target: TargetRegister(target),
            },
            (Bank::Text(value), Bank::Text(target)) => I::MOVE_S_Z {
                value,
                target: TargetRegister(target),
            },
            _ => return Err(other_kind),
        });
        Ok(())
    }
}
