//! Why an expression cannot be measured.

/// Why an expression could not be measured.
pub(crate) type ExpressionFailure = Box<dyn std::error::Error + Send + Sync>;
