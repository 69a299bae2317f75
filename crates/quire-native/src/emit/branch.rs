//! Branches.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use quire_exec::avm::{Banks, Operand, OperandKind};

use super::{Emitter, OWN};
use crate::operation::{Arithmetic, NativeOperation, NumberWidth};
use crate::outline::{NativeStep, read_place};

impl Emitter<'_, '_> {
    /// Does an instruction that may branch; false if it is none.
    pub(super) fn branch(&mut self, operation: NativeOperation, step: &NativeStep) -> bool {
        let operands = step.operands.as_slice();
        match (operation, operands) {
            (NativeOperation::BranchWhen(relation, number), &[left, right, _]) => {
                let (left, right) = (self.read(left), self.read(right));
                let truth = self.relation(relation, number, left.value, right.value);
                self.branch_if(truth, step);
            }
            (NativeOperation::BranchUnless(relation, number), &[left, right, _]) => {
                let (left, right) = (self.read(left), self.read(right));
                let truth = self.relation(relation, number, left.value, right.value);
                let to = self.target(step);
                let after = self.builder.create_block();
                if let Some(null) = self.either(left.null, right.null) {
                    let is_value = self.builder.create_block();
                    self.builder.ins().brif(null, to, &[], is_value, &[]);
                    self.builder.switch_to_block(is_value);
                }
                self.builder.ins().brif(truth, after, &[], to, &[]);
                self.builder.switch_to_block(after);
            }
            (NativeOperation::BranchTruth(wanted), &[value, _]) => {
                let value = self.read(value).value;
                let zero = self.constant(types::I64, 0);
                let condition = if wanted {
                    IntCC::NotEqual
                } else {
                    IntCC::Equal
                };
                let truth = self.builder.ins().icmp(condition, value, zero);
                self.branch_if(truth, step);
            }
            (NativeOperation::BranchNull, &[value, _]) => {
                let null = self.null_of_operand(value);
                self.branch_if(null, step);
            }
            (NativeOperation::BranchIn, &[value, set, _]) => self.branch_in(value, set, step),
            (NativeOperation::Rescale, &[value, factor, limit, target, _]) => {
                self.rescale([value, factor, limit, target], step);
            }
            _ => return false,
        }
        true
    }

    fn branch_if(&mut self, condition: Value, step: &NativeStep) {
        let to = self.target(step);
        let after = self.builder.create_block();
        self.builder.ins().brif(condition, to, &[], after, &[]);
        self.builder.switch_to_block(after);
    }

    fn null_of_operand(&mut self, operand: Operand) -> Value {
        match read_place(operand) {
            Some(place) => self.null_of(place),
            // Strings are the interpreter's; whether they are NULL is seen where it leaves that.
            None => {
                let first = std::mem::offset_of!(Banks, text_nulls);
                let offset = (first + usize::from(operand.number)) as i32;
                self.fetch(types::I8, OWN, self.banks, offset)
            }
        }
    }

    fn branch_in(&mut self, value: Operand, set: Operand, step: &NativeStep) {
        let outline = self.outline;
        let value = self.read(value).value;
        let sets = match set.kind {
            OperandKind::WordSet => &outline.word_sets,
            _ => &outline.wide_sets,
        };
        let members = sets.get(usize::from(set.number));
        for member in members.into_iter().flatten() {
            let member = self.constant(types::I64, *member);
            let is_member = self.builder.ins().icmp(IntCC::Equal, value, member);
            self.branch_if(is_member, step);
        }
    }

    /// Writes a product below a limit, or branches.
    fn rescale(&mut self, [value, factor, limit, target]: [Operand; 4], step: &NativeStep) {
        let (value, factor) = (self.read(value).value, self.read(factor).value);
        let to: Block = self.target(step);
        let product = match self.limit(limit) {
            Some(limit) => {
                let (product, overflows) = self.builder.ins().smul_overflow(value, factor);
                let is_within = self.is_within(product, limit);
                // A product outside 8 bytes is not below a limit of 8 bytes.
                let fits = self.builder.create_block();
                self.builder.ins().brif(overflows, to, &[], fits, &[]);
                self.builder.switch_to_block(fits);
                let after = self.builder.create_block();
                self.builder.ins().brif(is_within, after, &[], to, &[]);
                self.builder.switch_to_block(after);
                product
            }
            None => self.computed(Arithmetic::Multiply, NumberWidth::Decimal, value, factor),
        };
        self.write(target, product);
    }
}
