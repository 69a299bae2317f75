//! Aggregates: the slots of the present group, 16 bytes each. A slot that has seen nothing has only its highest bit set.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use quire_exec::avm::Operand;

use super::{Emitter, OWN};
use crate::operation::{Arithmetic, ComparisonOperator, NativeOperation, NumberWidth};
use crate::outline::NativeStep;

/// Both halves of a slot.
#[derive(Clone, Copy)]
struct SlotHalves {
    low: Value,
    high: Value,
}

impl Emitter<'_, '_> {
    /// Does an instruction that changes a slot; false if it is none.
    pub(super) fn accumulate(&mut self, operation: NativeOperation, step: &NativeStep) -> bool {
        let operands = step.operands.as_slice();
        match (operation, operands) {
            (NativeOperation::Count, &[slot]) => {
                let state = self.state(slot);
                let one = self.constant(types::I64, 1);
                let zero = self.constant(types::I64, 0);
                let sum = self.sum_of(
                    state,
                    SlotHalves {
                        low: one,
                        high: zero,
                    },
                );
                self.set_state(slot, sum);
            }
            (NativeOperation::Sum(number), &[value, slot]) => {
                let value = self.read(value);
                let after = self.skip_null(value.null);
                self.add(number, value.value, slot);
                self.join(after);
            }
            (NativeOperation::SumProduct(number), &[left, right, slot]) => {
                let (left, right) = (self.read(left), self.read(right));
                let null = self.either(left.null, right.null);
                let after = self.skip_null(null);
                let product = self.computed(Arithmetic::Multiply, number, left.value, right.value);
                self.add(number, product, slot);
                self.join(after);
            }
            (NativeOperation::Least(number), &[value, slot]) => {
                self.extreme(ComparisonOperator::Less, number, value, slot);
            }
            (NativeOperation::Greatest(number), &[value, slot]) => {
                self.extreme(ComparisonOperator::Greater, number, value, slot);
            }
            _ => return false,
        }
        true
    }

    /// Goes on behind what follows if a value is NULL.
    fn skip_null(&mut self, null: Option<Value>) -> Option<Block> {
        let null = null?;
        let [is_value, after] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(null, after, &[], is_value, &[]);
        self.builder.switch_to_block(is_value);
        Some(after)
    }

    fn join(&mut self, after: Option<Block>) {
        if let Some(after) = after {
            self.builder.ins().jump(after, &[]);
            self.builder.switch_to_block(after);
        }
    }

    fn state(&mut self, slot: Operand) -> SlotHalves {
        let offset = 16 * i32::from(slot.number);
        SlotHalves {
            low: self.fetch(types::I64, OWN, self.slots, offset),
            high: self.fetch(types::I64, OWN, self.slots, offset + 8),
        }
    }

    fn set_state(&mut self, slot: Operand, state: SlotHalves) {
        let offset = 16 * i32::from(slot.number);
        let ins = self.builder.ins();
        ins.store(OWN, state.low, self.slots, offset);
        let ins = self.builder.ins();
        ins.store(OWN, state.high, self.slots, offset + 8);
    }

    /// Whether a slot has seen nothing.
    fn is_nothing(&mut self, state: SlotHalves) -> Value {
        let highest = self.constant(types::I64, i64::MIN);
        let high = self.builder.ins().bxor(state.high, highest);
        let both = self.builder.ins().bor(state.low, high);
        let zero = self.constant(types::I64, 0);
        self.builder.ins().icmp(IntCC::Equal, both, zero)
    }

    fn sum_of(&mut self, left: SlotHalves, right: SlotHalves) -> SlotHalves {
        let left = self.builder.ins().iconcat(left.low, left.high);
        let right = self.builder.ins().iconcat(right.low, right.high);
        let sum = self.builder.ins().iadd(left, right);
        let (low, high) = self.builder.ins().isplit(sum);
        SlotHalves { low, high }
    }

    /// Adds to a sum. One that 16 bytes do not hold is the interpreter's.
    fn add(&mut self, number: NumberWidth, value: Value, slot: Operand) {
        let known = self.state(slot);
        let is_nothing = self.is_nothing(known);
        let zero = self.constant(types::I64, 0);
        let low = self.builder.ins().select(is_nothing, zero, known.low);
        if number == NumberWidth::Double {
            let (sum, value) = (self.float_of(number, low), self.float_of(number, value));
            let sum = self.builder.ins().fadd(sum, value);
            let low = self.word_of(number, sum);
            let high = self.constant(types::I64, 1);
            self.set_state(slot, SlotHalves { low, high });
            return;
        }
        let high = self.builder.ins().select(is_nothing, zero, known.high);
        let sign = self.sign(value);
        let sum = self.sum_of(
            SlotHalves { low, high },
            SlotHalves {
                low: value,
                high: sign,
            },
        );
        // Both sides have one sign, and the sum the other.
        let left = self.builder.ins().bxor(high, sum.high);
        let right = self.builder.ins().bxor(sign, sum.high);
        let both = self.builder.ins().band(left, right);
        let overflows = self.builder.ins().icmp(IntCC::SignedLessThan, both, zero);
        self.exit_if(overflows);
        self.set_state(slot, sum);
    }

    /// Keeps a value if it is more extreme.
    fn extreme(
        &mut self,
        relation: ComparisonOperator,
        number: NumberWidth,
        value: Operand,
        slot: Operand,
    ) {
        let value = self.read(value).value;
        let known = self.state(slot);
        let is_nothing = self.is_nothing(known);
        let zero = self.constant(types::I8, 0);
        let is_known = self.builder.ins().icmp(IntCC::Equal, is_nothing, zero);
        if number == NumberWidth::Decimal {
            let is_large = self.is_large(known.low, known.high);
            let is_large = self.builder.ins().band(is_large, is_known);
            self.exit_if(is_large);
        }
        let is_better = self.relation(relation, number, value, known.low);
        let is_kept = self.builder.ins().bor(is_nothing, is_better);
        let high = match number {
            NumberWidth::Double | NumberWidth::Real => self.constant(types::I64, 1),
            _ => self.sign(value),
        };
        let [kept, after] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(is_kept, kept, &[], after, &[]);
        self.builder.switch_to_block(kept);
        self.set_state(slot, SlotHalves { low: value, high });
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }
}
