//! Where a statement hears that it is cancelled, beside the places where it waits anyway.

mod asking_filter;
mod planning;
mod yielding_joins;

pub(super) use planning::StopWhenCancelled;
pub use yielding_joins::yielding_joins;
