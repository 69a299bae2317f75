//! Machine code for the programs of the tuple engine: the feature `native`, which is on by default.
//!
//! The code generator is a large share of a cold build and of an executable. A program that embeds Quire and never scans many rows of row tables can go
//! without it.

use std::sync::Arc;
#[cfg(feature = "native")]
use std::sync::OnceLock;

use quire_exec::avm::ProgramCompiler;

/// What makes machine code of programs. None without the feature, and on a processor for which there is no code generator: programs are
/// interpreted then.
#[cfg(feature = "native")]
pub(crate) fn program_compiler() -> Option<Arc<dyn ProgramCompiler>> {
    /// One for all databases: it depends on the processor only.
    static COMPILER: OnceLock<Option<Arc<dyn ProgramCompiler>>> = OnceLock::new();

    let made = COMPILER.get_or_init(|| {
        let compiler = quire_native::NativeCompiler::new().ok()?;
        Some(Arc::new(compiler))
    });
    made.clone()
}

#[cfg(not(feature = "native"))]
pub(crate) fn program_compiler() -> Option<Arc<dyn ProgramCompiler>> {
    None
}
