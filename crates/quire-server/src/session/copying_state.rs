//! A `COPY … FROM STDIN` between its messages.

use crate::copy::CopyReceiver;

/// A `COPY … FROM STDIN` whose rows come.
pub(super) struct Copying {
    pub(super) receiver: CopyReceiver,
    /// It came in a `Query`, which it ends.
    pub(super) is_simple: bool,
}
