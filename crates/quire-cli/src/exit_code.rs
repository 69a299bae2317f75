//! What the program says when it ends.

/// A statement or command failed.
pub const FAILURE: u8 = 1;

/// What a shell reports for a program ended by SIGINT.
pub const INTERRUPTED: u8 = 130;

/// What a shell reports for a program that SIGPIPE ended.
pub const NOBODY_READS: u8 = 141;

/// What was asked for could not be done: a file cannot be read, or an option is wrong.
pub const TROUBLE: u8 = 2;
