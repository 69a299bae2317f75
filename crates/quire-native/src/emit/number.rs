//! Numbers: what is computed into registers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use quire_exec::avm::Operand;

use super::{Emitter, bit_flags};
use crate::operation::{Arithmetic, ComparisonOperator, NativeOperation, NumberWidth};
use crate::outline::{NativeConstant, NativeStep, read_place};

impl Emitter<'_, '_> {
    /// Does an instruction that writes a register; false if it is none.
    pub(super) fn number(&mut self, operation: NativeOperation, step: &NativeStep) -> bool {
        let operands = step.operands.as_slice();
        match (operation, operands) {
            (NativeOperation::Compute(what, number), &[left, right, target]) => {
                self.of_two(left, right, target, |emitter, left, right| {
                    emitter.computed(what, number, left, right)
                });
            }
            (NativeOperation::Compare(relation, number), &[left, right, target]) => {
                self.of_two(left, right, target, |emitter, left, right| {
                    let truth = emitter.relation(relation, number, left, right);
                    emitter.builder.ins().uextend(types::I64, truth)
                });
            }
            (NativeOperation::LoadWord | NativeOperation::LoadDecimal, &[value, target]) => {
                let read = self.read(value);
                match read.null {
                    Some(null) => self.write_both(target, read.value, null),
                    None => self.write(target, read.value),
                }
            }
            (NativeOperation::Move, &[from, target]) => {
                let read = self.read(from);
                if let Some(place) = read_place(from) {
                    let null = self.null_of(place);
                    self.write_both(target, read.value, null);
                }
            }
            (NativeOperation::Null, &[target]) => self.write_null(target),
            (NativeOperation::CheckLimit, &[value, limit, target]) => {
                self.limited(value, limit, target)
            }
            (_, &[value, target]) => {
                let read = self.read(value);
                match self.converted(operation, read.value) {
                    Some(converted) => self.write(target, converted),
                    None => return false,
                }
            }
            _ => return false,
        }
        true
    }

    /// Computes of two operands; NULL if an attribute is.
    fn of_two(
        &mut self,
        left: Operand,
        right: Operand,
        target: Operand,
        compute: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) {
        let (left, right) = (self.read(left), self.read(right));
        let Some(null) = self.either(left.null, right.null) else {
            let value = compute(self, left.value, right.value);
            self.write(target, value);
            return;
        };
        let [is_null, is_value, after] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(null, is_null, &[], is_value, &[]);
        self.builder.switch_to_block(is_null);
        self.write_null(target);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(is_value);
        let value = compute(self, left.value, right.value);
        self.write(target, value);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    pub(super) fn either(&mut self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.builder.ins().bor(left, right)),
            (one, other) => one.or(other),
        }
    }

    /// The result of an operation; one that there is not, or not in 8 bytes, is the interpreter's.
    pub(super) fn computed(
        &mut self,
        what: Arithmetic,
        number: NumberWidth,
        left: Value,
        right: Value,
    ) -> Value {
        match number {
            NumberWidth::Double | NumberWidth::Real => self.float(what, number, left, right),
            NumberWidth::Big | NumberWidth::Decimal => self.integer(what, left, right),
            NumberWidth::Middle => self.narrow(types::I32, what, left, right),
            NumberWidth::Small => self.narrow(types::I16, what, left, right),
        }
    }

    fn integer(&mut self, what: Arithmetic, left: Value, right: Value) -> Value {
        let ins = self.builder.ins();
        let (value, overflows) = match what {
            Arithmetic::Add => ins.sadd_overflow(left, right),
            Arithmetic::Subtract => ins.ssub_overflow(left, right),
            Arithmetic::Multiply => ins.smul_overflow(left, right),
            Arithmetic::Divide | Arithmetic::Remainder => {
                return self.divided(what, left, right);
            }
        };
        self.exit_if(overflows);
        value
    }

    /// Division by 0 has an error, and that by -1 may have no result: both are the interpreter's.
    fn divided(&mut self, what: Arithmetic, left: Value, right: Value) -> Value {
        let one = self.constant(types::I64, 1);
        let above = self.builder.ins().iadd(right, one);
        let ins = self.builder.ins();
        let is_special = ins.icmp(IntCC::UnsignedLessThanOrEqual, above, one);
        self.exit_if(is_special);
        match what {
            Arithmetic::Divide => self.builder.ins().sdiv(left, right),
            _ => self.builder.ins().srem(left, right),
        }
    }

    fn narrow(&mut self, of: Type, what: Arithmetic, left: Value, right: Value) -> Value {
        let value = self.integer(what, left, right);
        let reduced = self.builder.ins().ireduce(of, value);
        let extended = self.builder.ins().sextend(types::I64, reduced);
        let is_wide = self.builder.ins().icmp(IntCC::NotEqual, extended, value);
        self.exit_if(is_wide);
        value
    }

    fn float(&mut self, what: Arithmetic, number: NumberWidth, left: Value, right: Value) -> Value {
        let (left, right) = (self.float_of(number, left), self.float_of(number, right));
        if what == Arithmetic::Divide {
            let zero = match number {
                NumberWidth::Real => self.builder.ins().f32const(0.0),
                _ => self.builder.ins().f64const(0.0),
            };
            let is_zero = self.builder.ins().fcmp(FloatCC::Equal, right, zero);
            self.exit_if(is_zero);
        }
        let ins = self.builder.ins();
        let value = match what {
            Arithmetic::Add => ins.fadd(left, right),
            Arithmetic::Subtract => ins.fsub(left, right),
            Arithmetic::Multiply => ins.fmul(left, right),
            Arithmetic::Divide | Arithmetic::Remainder => ins.fdiv(left, right),
        };
        self.word_of(number, value)
    }

    /// The float whose bits a word has.
    pub(super) fn float_of(&mut self, number: NumberWidth, word: Value) -> Value {
        match number {
            NumberWidth::Real => {
                let low = self.builder.ins().ireduce(types::I32, word);
                self.builder.ins().bitcast(types::F32, bit_flags(), low)
            }
            _ => self.builder.ins().bitcast(types::F64, bit_flags(), word),
        }
    }

    /// The bits of a float as a word.
    pub(super) fn word_of(&mut self, number: NumberWidth, value: Value) -> Value {
        match number {
            NumberWidth::Real => {
                let bits = self.builder.ins().bitcast(types::I32, bit_flags(), value);
                self.builder.ins().uextend(types::I64, bits)
            }
            _ => self.builder.ins().bitcast(types::I64, bit_flags(), value),
        }
    }

    /// Whether a relation holds. Floats are compared with one zero and one NaN above all numbers: by keys that are integers.
    pub(super) fn relation(
        &mut self,
        relation: ComparisonOperator,
        number: NumberWidth,
        left: Value,
        right: Value,
    ) -> Value {
        let (left, right) = match number {
            NumberWidth::Double | NumberWidth::Real => {
                (self.key(number, left), self.key(number, right))
            }
            _ => (left, right),
        };
        let condition = match relation {
            ComparisonOperator::Equal => IntCC::Equal,
            ComparisonOperator::NotEqual => IntCC::NotEqual,
            ComparisonOperator::Less => IntCC::SignedLessThan,
            ComparisonOperator::LessOrEqual => IntCC::SignedLessThanOrEqual,
            ComparisonOperator::Greater => IntCC::SignedGreaterThan,
            ComparisonOperator::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
        };
        self.builder.ins().icmp(condition, left, right)
    }

    /// An integer in the order of floats: adding zero makes -0.0 positive, NaN loses its sign, and of negative ones all bits but
    /// the sign are turned.
    fn key(&mut self, number: NumberWidth, word: Value) -> Value {
        let value = self.float_of(number, word);
        let zero = match number {
            NumberWidth::Real => self.builder.ins().f32const(0.0),
            _ => self.builder.ins().f64const(0.0),
        };
        let value = self.builder.ins().fadd(value, zero);
        let (nan, of, shift) = match number {
            NumberWidth::Real => (self.builder.ins().f32const(f32::NAN), types::I32, 31),
            _ => (self.builder.ins().f64const(f64::NAN), types::I64, 63),
        };
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, value, value);
        let value = self.builder.ins().select(is_nan, nan, value);
        let bits = self.builder.ins().bitcast(of, bit_flags(), value);
        let shift = self.constant(of, shift);
        let sign = self.builder.ins().sshr(bits, shift);
        let one = self.constant(of, 1);
        let turned = self.builder.ins().ushr(sign, one);
        self.builder.ins().bxor(bits, turned)
    }

    /// The result of an operation on one value that always has one.
    fn converted(&mut self, operation: NativeOperation, value: Value) -> Option<Value> {
        Some(match operation {
            // A decimal of 8 bytes has at most 19 digits.
            NativeOperation::CheckDigits | NativeOperation::IntegerToDecimal => value,
            NativeOperation::Negate(NumberWidth::Decimal) => {
                let zero = self.constant(types::I64, 0);
                self.integer(Arithmetic::Subtract, zero, value)
            }
            NativeOperation::Negate(number) => {
                let float = self.float_of(number, value);
                let negative = self.builder.ins().fneg(float);
                self.word_of(number, negative)
            }
            NativeOperation::IntegerToDouble => {
                let double = self.builder.ins().fcvt_from_sint(types::F64, value);
                self.word_of(NumberWidth::Double, double)
            }
            NativeOperation::RealToDouble => {
                let real = self.float_of(NumberWidth::Real, value);
                let double = self.builder.ins().fpromote(types::F64, real);
                self.word_of(NumberWidth::Double, double)
            }
            _ => return None,
        })
    }

    /// A decimal below a constant limit.
    fn limited(&mut self, value: Operand, limit: Operand, target: Operand) {
        let value = self.read(value).value;
        if let Some(limit) = self.limit(limit) {
            let is_within = self.is_within(value, limit);
            let zero = self.constant(types::I8, 0);
            let is_outside = self.builder.ins().icmp(IntCC::Equal, is_within, zero);
            self.exit_if(is_outside);
        }
        self.write(target, value);
    }

    /// A constant limit, if decimals of 8 bytes can reach it.
    pub(super) fn limit(&self, operand: Operand) -> Option<i64> {
        let place = read_place(operand)?;
        match self.outline.constants.get(&place) {
            Some(NativeConstant::Small(limit)) => Some(limit.saturating_abs()),
            _ => None,
        }
    }

    /// Whether `-limit < value < limit`.
    pub(super) fn is_within(&mut self, value: Value, limit: i64) -> Value {
        let above = self.constant(types::I64, limit);
        let below = self.constant(types::I64, -limit);
        let is_below = self.builder.ins().icmp(IntCC::SignedLessThan, value, above);
        let ins = self.builder.ins();
        let is_above = ins.icmp(IntCC::SignedGreaterThan, value, below);
        self.builder.ins().band(is_below, is_above)
    }
}
