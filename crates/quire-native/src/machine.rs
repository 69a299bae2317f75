//! The only place that runs what was compiled: executable memory, and calls into it.
use std::fmt;
use std::mem::MaybeUninit;

use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use quire_exec::avm::{Banks, NativeCode, NativeExit, NativeFrame, RegisterSet};

use crate::emit::{REJECTED, TAKEN, emit, signature};
use crate::outline::{Outline, TUPLES_MAX};
use crate::span::Span;

/// Bytes that code may read behind the end of a tuple.
const SLACK_BYTES: usize = 16;

// SAFETY: of those who call one: as `MachineCode::run` says.
/// A compiled program: registers, slots, spans, number of an entry; the instruction at which it stopped, or `TAKEN` or `REJECTED`.
type Function = unsafe extern "C" fn(*mut Banks, *mut i128, *const Span, u32) -> u32;

/// The machine code of a program, and what that has addresses of.
pub(crate) struct MachineCode {
    function: Function,
    /// None only while this is dropped.
    module: Option<JITModule>,
    /// Its decoding tables and dictionaries are where the code looks for them: they are on the heap, and nothing changes them.
    outline: Outline,
    /// For each instruction: its number among the entries plus one, or 0.
    entries: Vec<u32>,
}

impl fmt::Debug for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineCode")
            .field("entries", &self.outline.entries)
            .finish_non_exhaustive()
    }
}

impl MachineCode {
    /// Compiles a program.
    pub(crate) fn new(isa: &OwnedTargetIsa, outline: Outline) -> Result<Self, Box<ModuleError>> {
        let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
        let function = match define(&mut module, isa, &outline) {
            Ok(function) => function,
            Err(error) => {
                // SAFETY: nothing of the module has an address that anybody knows.
                unsafe { module.free_memory() };
                return Err(error);
            }
        };
        let mut entries = vec![0; outline.steps.len()];
        for (number, at) in (1..).zip(&outline.entries) {
            if let Some(entry) = entries.get_mut(*at) {
                *entry = number;
            }
        }
        Ok(Self {
            function,
            module: Some(module),
            outline,
            entries,
        })
    }

    /// The spans of the tuples that the code reads. None if one is not such that the code may read it: shorter than its parts of fixed
    /// length, or without room behind it.
    #[inline]
    fn spans(&self, frame: &NativeFrame<'_>) -> Option<[MaybeUninit<Span>; TUPLES_MAX]> {
        let mut spans = [const { MaybeUninit::uninit() }; TUPLES_MAX];
        for ((register, head_bytes), span) in self.outline.tuples.iter().zip(&mut spans) {
            let (buffer, bytes) = frame.tuple(*register)?;
            if bytes < *head_bytes || buffer.len() < bytes.saturating_add(SLACK_BYTES) {
                return None;
            }
            span.write(Span {
                start: buffer.as_ptr(),
                bytes: bytes as u64,
            });
        }
        Some(spans)
    }
}

fn define(
    module: &mut JITModule,
    isa: &OwnedTargetIsa,
    outline: &Outline,
) -> Result<Function, Box<ModuleError>> {
    let mut context = Context::new();
    context.func.signature = signature(&**isa);
    emit(
        &mut context.func,
        &mut FunctionBuilderContext::new(),
        outline,
        &**isa,
    );
    let id = module.declare_anonymous_function(&context.func.signature)?;
    module.define_function(id, &mut context)?;
    module.finalize_definitions()?;
    let address = module.get_finalized_function(id);
    // SAFETY: the address is that of a function with this signature (`emit::signature`) and the calling convention of C, in
    // memory that is executable from now on and is freed when the module is. A pointer to code has the size of one to data on every
    // machine that there is code for.
    Ok(unsafe { std::mem::transmute::<*const u8, Function>(address) })
}

impl NativeCode for MachineCode {
    #[inline]
    fn enters(&self, instruction: usize) -> bool {
        self.entries
            .get(instruction)
            .is_some_and(|entry| *entry != 0)
    }

    fn run(&self, registers: &mut RegisterSet, from: usize) -> NativeExit {
        let mut frame = registers.native_frame();
        let interpret = NativeExit::Interpret {
            instruction: from,
            is_usual: false,
        };
        let entry = self.entries.get(from).copied().unwrap_or(0);
        let (Some(entry), Some(spans)) = (entry.checked_sub(1), self.spans(&frame)) else {
            return interpret;
        };
        let slots = frame.slots();
        if slots.len() < self.outline.slot_count {
            return interpret;
        }
        let slots = slots.as_mut_ptr();
        // SAFETY: the function reads and writes registers, whose numbers have 8 bits, within `Banks`; a mark of NULL it makes 0 or 1. Of
        // slots it has those that the verifier has seen to be below `slot_count`, and these exist. Of tuples it reads the first
        // `head_bytes` bytes, and 8 bytes each from places that it has compared with `bytes`: `spans` has seen that so many and `SLACK_BYTES`
        // more are there. The code reads the spans of the tuple registers of `self.outline` only, all of which `spans` has written. `frame` borrows all of it while the function runs; registers and slots are borrowed
        // to be written, and do not overlap. Tables and dictionaries are those of `self.outline`. The function does not unwind and calls nothing.
        let code = unsafe { (self.function)(frame.banks(), slots, spans.as_ptr().cast(), entry) };
        match code {
            TAKEN => NativeExit::Stopped(true),
            REJECTED => NativeExit::Stopped(false),
            at => {
                let step = self.outline.steps.get(at as usize);
                NativeExit::Interpret {
                    instruction: at as usize,
                    is_usual: step.is_some_and(|step| step.operation.is_none()),
                }
            }
        }
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: only `run` calls the function; it borrows `self`, so it is not running, and there will be no other call.
            unsafe { module.free_memory() };
        }
    }
}
