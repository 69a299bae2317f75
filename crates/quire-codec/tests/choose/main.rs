//! The choice against every codec that could have been chosen, and against what the caller asks for.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod beneath;
mod columns;
mod oracle;
