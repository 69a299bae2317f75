//! Code of a program: a function of one row.
//!
//! The function gets the addresses of the registers, of the slots of the present group, and of the spans of the tuples, and the number of an entry. It
//! returns the instruction at which it has stopped, or one of two numbers that no instruction has. Registers are variables within the
//! function, and whatever is written to one is stored at once, too. Decimals are held in 8 bytes; one that needs more is the
//! interpreter's.

mod accumulate;
mod attribute;
mod branch;
mod number;

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use quire_exec::avm::{Banks, Operand, OperandKind};

use crate::operation::NativeOperation;
use crate::outline::{
    NativeConstant, NativeRegister, NativeStep, Outline, read_place, written_place,
};

/// Returned when the program has ended, and the row is taken; or is left out.
pub(crate) const TAKEN: u32 = 1 << 16;
pub(crate) const REJECTED: u32 = TAKEN + 1;

/// Of registers and slots: only this code and its caller know them.
const OWN: MemFlagsData = MemFlagsData::trusted();

/// Of memory that does not change while the code runs and is there whatever the row: such loads may be made once for all.
const FIXED: MemFlagsData = MemFlagsData::new()
    .with_notrap()
    .with_readonly()
    .with_can_move();

/// Of the bytes of a tuple behind a check: they stay behind it.
const CHECKED: MemFlagsData = MemFlagsData::new().with_notrap();

/// A value, and whether it is NULL if it may be.
#[derive(Clone, Copy)]
struct NullableValue {
    value: Value,
    null: Option<Value>,
}

struct Emitter<'f, 'o> {
    builder: FunctionBuilder<'f>,
    outline: &'o Outline,
    /// Addresses of the registers, the slots and the spans of the tuples.
    banks: Value,
    slots: Value,
    spans: Value,
    /// Value and NULL of each register.
    variables: HashMap<NativeRegister, (Variable, Variable)>,
    /// Of instructions that branches lead to, or entries.
    blocks: HashMap<usize, Block>,
    /// Where the code stops for the interpreter, by instruction.
    exits: HashMap<usize, Block>,
    /// The present instruction.
    at: usize,
}

/// The signature of the function.
pub(crate) fn signature(isa: &dyn TargetIsa) -> Signature {
    let pointer = isa.pointer_type();
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend([pointer; 3].map(AbiParam::new));
    signature.params.push(AbiParam::new(types::I32));
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Writes the function of a program.
pub(crate) fn emit(
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    outline: &Outline,
    isa: &dyn TargetIsa,
) {
    let mut builder = FunctionBuilder::new(function, context);
    let first = builder.create_block();
    builder.append_block_params_for_function_params(first);
    builder.switch_to_block(first);
    let &[banks, slots, spans, entry] = builder.block_params(first) else {
        return;
    };
    let mut emitter = Emitter {
        builder,
        outline,
        banks,
        slots,
        spans,
        variables: HashMap::new(),
        blocks: HashMap::new(),
        exits: HashMap::new(),
        at: 0,
    };
    emitter.enter(entry);
    emitter.steps();
    emitter.leave();
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(isa.frontend_config());
}

impl Emitter<'_, '_> {
    /// Goes to the entry with a number.
    fn enter(&mut self, entry: Value) {
        let outline = self.outline;
        let mut switch = Switch::new();
        let blocks: Vec<Block> = outline
            .entries
            .iter()
            .map(|_| self.builder.create_block())
            .collect();
        for (number, block) in (0..).zip(&blocks).skip(1) {
            switch.set_entry(number, *block);
        }
        let Some(first) = blocks.first() else {
            self.stop(REJECTED);
            return;
        };
        switch.emit(&mut self.builder, entry, *first);
        for (at, block) in outline.entries.iter().zip(&blocks) {
            self.at = *at;
            self.builder.switch_to_block(*block);
            if let Some(step) = outline.steps.get(*at) {
                for place in &step.live {
                    self.load(*place);
                }
            }
            let to = self.block(*at);
            self.builder.ins().jump(to, &[]);
        }
    }

    /// Loads a register that others have written. A decimal of more than 8 bytes is left to the interpreter.
    fn load(&mut self, place: NativeRegister) {
        let (address, nulls) = addresses(place);
        let null = self.fetch(types::I8, OWN, self.banks, nulls);
        let value = self.fetch(types::I64, OWN, self.banks, address);
        if matches!(place, NativeRegister::Wide(_)) {
            let high = self.fetch(types::I64, OWN, self.banks, address + 8);
            let is_large = self.is_large(value, high);
            let zero = self.constant(types::I8, 0);
            let is_value = self.builder.ins().icmp(IntCC::Equal, null, zero);
            let is_large = self.builder.ins().band(is_large, is_value);
            self.exit_if(is_large);
        }
        let (value_variable, null_variable) = self.variable(place);
        self.builder.def_var(value_variable, value);
        self.builder.def_var(null_variable, null);
    }

    /// Whether 16 bytes are more than the sign of their lower half.
    fn is_large(&mut self, low: Value, high: Value) -> Value {
        let sign = self.sign(low);
        self.builder.ins().icmp(IntCC::NotEqual, high, sign)
    }

    fn sign(&mut self, value: Value) -> Value {
        let bits = self.constant(types::I64, 63);
        self.builder.ins().sshr(value, bits)
    }

    fn steps(&mut self) {
        let outline = self.outline;
        let mut is_open = false;
        for (at, step) in outline.steps.iter().enumerate() {
            self.at = at;
            let is_target = outline.entries.contains(&at) || self.blocks.contains_key(&at);
            if is_target {
                let block = self.block(at);
                if is_open {
                    self.builder.ins().jump(block, &[]);
                }
                self.builder.switch_to_block(block);
            } else if !is_open {
                continue;
            }
            is_open = self.step(step);
        }
    }

    /// Does an instruction; whether the next one follows.
    fn step(&mut self, step: &NativeStep) -> bool {
        match step.operation {
            None => {
                let exit = self.exit();
                self.builder.ins().jump(exit, &[]);
                return false;
            }
            Some(NativeOperation::Stop(is_taken)) => {
                self.stop(if is_taken { TAKEN } else { REJECTED });
                return false;
            }
            Some(NativeOperation::Jump) => {
                let to = self.target(step);
                self.builder.ins().jump(to, &[]);
                return false;
            }
            Some(operation) => {
                if !self.number(operation, step)
                    && !self.branch(operation, step)
                    && !self.accumulate(operation, step)
                {
                    let exit = self.exit();
                    self.builder.ins().jump(exit, &[]);
                    return false;
                }
            }
        }
        true
    }

    /// The blocks at which the interpreter takes over.
    fn leave(&mut self) {
        let exits: Vec<(usize, Block)> = self.exits.drain().collect();
        for (at, block) in exits {
            self.builder.set_cold_block(block);
            self.builder.switch_to_block(block);
            // Programs have less than 65,536 instructions.
            self.stop(at as u32);
        }
    }

    fn stop(&mut self, code: u32) {
        let code = self.constant(types::I32, code.into());
        self.builder.ins().return_(&[code]);
    }

    /// The block of an instruction.
    fn block(&mut self, at: usize) -> Block {
        let builder = &mut self.builder;
        *self
            .blocks
            .entry(at)
            .or_insert_with(|| builder.create_block())
    }

    /// The block that an instruction branches to.
    fn target(&mut self, step: &NativeStep) -> Block {
        let to = step.to.unwrap_or(self.at);
        self.block(to)
    }

    /// Where the present instruction is left to the interpreter. It must not have changed anything.
    fn exit(&mut self) -> Block {
        let builder = &mut self.builder;
        *self
            .exits
            .entry(self.at)
            .or_insert_with(|| builder.create_block())
    }

    fn exit_if(&mut self, condition: Value) {
        let exit = self.exit();
        let after = self.builder.create_block();
        self.builder.ins().brif(condition, exit, &[], after, &[]);
        self.builder.switch_to_block(after);
    }

    fn constant(&mut self, of: Type, value: i64) -> Value {
        self.builder.ins().iconst(of, value)
    }

    fn fetch(&mut self, of: Type, flags: MemFlagsData, from: Value, offset: i32) -> Value {
        self.builder.ins().load(of, flags, from, offset)
    }

    fn variable(&mut self, place: NativeRegister) -> (Variable, Variable) {
        let builder = &mut self.builder;
        *self.variables.entry(place).or_insert_with(|| {
            let value = builder.declare_var(types::I64);
            (value, builder.declare_var(types::I8))
        })
    }

    /// What an operand reads. A register is not NULL where an instruction computes with it.
    fn read(&mut self, operand: Operand) -> NullableValue {
        if operand.kind == OperandKind::Attribute {
            return self.attribute(operand);
        }
        let value = match read_place(operand) {
            Some(place) => match self.outline.constants.get(&place) {
                Some(NativeConstant::Small(value)) => self.constant(types::I64, *value),
                Some(_) => self.constant(types::I64, 0),
                None => {
                    let (value, _) = self.variable(place);
                    self.builder.use_var(value)
                }
            },
            None => self.constant(types::I64, 0),
        };
        NullableValue { value, null: None }
    }

    /// Whether a register is NULL.
    fn null_of(&mut self, place: NativeRegister) -> Value {
        match self.outline.constants.get(&place) {
            Some(NativeConstant::Null) => self.constant(types::I8, 1),
            Some(_) => self.constant(types::I8, 0),
            None => {
                let (_, null) = self.variable(place);
                self.builder.use_var(null)
            }
        }
    }

    /// Writes a value to the register of a target.
    fn write(&mut self, target: Operand, value: Value) {
        let null = self.constant(types::I8, 0);
        self.write_both(target, value, null);
    }

    fn write_both(&mut self, target: Operand, value: Value, null: Value) {
        let Some(place) = written_place(target) else {
            return;
        };
        let (variable, null_variable) = self.variable(place);
        self.builder.def_var(variable, value);
        self.builder.def_var(null_variable, null);
        let (address, nulls) = addresses(place);
        self.builder.ins().store(OWN, value, self.banks, address);
        if matches!(place, NativeRegister::Wide(_)) {
            let high = self.sign(value);
            self.builder.ins().store(OWN, high, self.banks, address + 8);
        }
        self.builder.ins().store(OWN, null, self.banks, nulls);
    }

    /// Makes the register of a target NULL.
    fn write_null(&mut self, target: Operand) {
        let Some(place) = written_place(target) else {
            return;
        };
        let (variable, null_variable) = self.variable(place);
        let nothing = self.constant(types::I64, 0);
        let null = self.constant(types::I8, 1);
        self.builder.def_var(variable, nothing);
        self.builder.def_var(null_variable, null);
        let (_, nulls) = addresses(place);
        self.builder.ins().store(OWN, null, self.banks, nulls);
    }
}

/// Where a register and its mark of NULL are from the start of the registers.
fn addresses(place: NativeRegister) -> (i32, i32) {
    // Registers have numbers of 8 bits, and all of them together some kilobytes.
    let (first, bytes, nulls, number) = match place {
        NativeRegister::Word(number) => (
            offset_of!(Banks, words),
            8,
            offset_of!(Banks, word_nulls),
            number,
        ),
        NativeRegister::Wide(number) => (
            offset_of!(Banks, wides),
            16,
            offset_of!(Banks, wide_nulls),
            number,
        ),
    };
    let number = usize::from(number);
    ((first + bytes * number) as i32, (nulls + number) as i32)
}

/// Of bits that are taken for another type.
fn bit_flags() -> MemFlagsData {
    MemFlagsData::new()
}
