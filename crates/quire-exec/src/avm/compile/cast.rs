//! Casts: by a short cut, and by a call where that leads nowhere.

use quire_tables::row_table::Value;

use super::labels::UnresolvedLabel;
use super::pool::CompileError;
use super::{Compiler, HeldValue};
use crate::avm::call::FunctionCall;
use crate::avm::opcode::Instruction as I;
use crate::avm::operand::{Label, TargetRegister, Wide, WordRegister};
use crate::avm::register::Register;
use crate::plan::{CastPlan, DecimalRescale, Expression, ShortCut, ValueKind};

impl<'e> Compiler<'e, '_> {
    pub(super) fn cast(
        &mut self,
        plan: &'e CastPlan,
        inner: &'e Expression,
    ) -> Result<HeldValue, CompileError> {
        let held = self.value(inner)?;
        let register = self.fresh(plan.kind())?;
        self.strict(&[held], register, |compiler| {
            let (slow, after) = (compiler.labels.add(), compiler.labels.add());
            compiler.short_cut(plan.short_cut(), held.register, register, slow)?;
            compiler.emit(I::JUMP { to: after.label() });
            compiler.place(slow);
            if compiler.labels.is_reached() {
                compiler.call(FunctionCall {
                    function: plan.otherwise().clone(),
                    arguments: vec![held.register],
                    target: register,
                });
            }
            compiler.place(after);
            Ok(())
        })
    }

    /// A cast without a function; goes to `slow` when that does not do.
    fn short_cut(
        &mut self,
        short_cut: ShortCut,
        from: Register,
        to: Register,
        slow: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        use Register as R;
        match (short_cut, from, to) {
            (ShortCut::IntegerInRange { min, max }, R::Integer(value), R::Integer(target)) => {
                self.in_range(value, min, max, slow)?;
                let target = TargetRegister(target);
                self.emit(I::MOVE_W_Z { value, target });
                Ok(())
            }
            (ShortCut::IntegerToDecimal(rescale), R::Integer(value), R::Decimal(target)) => {
                let wide = self.fresh_wide()?;
                let widened = TargetRegister(wide);
                self.emit(I::CNV_IN_Z {
                    value,
                    target: widened,
                });
                self.rescale(rescale, wide, target, slow.label())
            }
            (ShortCut::DecimalToDecimal(rescale), R::Decimal(value), R::Decimal(target)) => {
                self.rescale(rescale, value, target, slow.label())
            }
            _ => {
                let conversion = conversion(short_cut, from, to);
                self.emit(
                    conversion.ok_or(CompileError::Unsupported("a cast between other kinds"))?,
                );
                Ok(())
            }
        }
    }

    /// Goes to `slow` with a value outside a type.
    fn in_range(
        &mut self,
        left: WordRegister,
        min: i64,
        max: i64,
        slow: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let to = slow.label();
        if let Register::Integer(right) = self.integer_constant(min)? {
            self.emit(I::JLES_I_ZZ { left, right, to });
        }
        if let Register::Integer(right) = self.integer_constant(max)? {
            self.emit(I::JGRT_I_ZZ { left, right, to });
        }
        Ok(())
    }

    fn integer_constant(&mut self, value: i64) -> Result<Register, CompileError> {
        self.pool
            .constant(ValueKind::Integer, &Value::Integer(value))
    }

    fn rescale(
        &mut self,
        rescale: DecimalRescale,
        value: Wide,
        target: Wide,
        to: Label,
    ) -> Result<(), CompileError> {
        let factor = self.wide_constant(rescale.factor)?;
        let limit = self.wide_constant(rescale.limit)?;
        self.emit(I::JSCALE_N_ZZZ {
            value,
            factor,
            limit,
            target: TargetRegister(target),
            to,
        });
        Ok(())
    }
}

/// The instruction of a cast that always has a result.
fn conversion(short_cut: ShortCut, from: Register, to: Register) -> Option<I> {
    Some(match (short_cut, from, to) {
        (ShortCut::IntegerToDouble, Register::Integer(value), Register::Double(target)) => {
            I::CNV_IF_Z {
                value,
                target: TargetRegister(target),
            }
        }
        (ShortCut::RealToDouble, Register::Real(value), Register::Double(target)) => I::CNV_RF_Z {
            value,
            target: TargetRegister(target),
        },
        (ShortCut::IntegerToText, Register::Integer(value), Register::Text(target)) => {
            I::CNV_IS_Z {
                value,
                target: TargetRegister(target),
            }
        }
        _ => return None,
    })
}
