//! Why a message was not answered as it wanted.

use std::io;

use crate::copy::CopyFailure;
use crate::failure::Failure;
use crate::malformed::Malformed;

/// See the module.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The client is told.
    Failed(Failure),
    /// The client cannot be told: the connection is lost.
    Broken,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl From<quire::Error> for Stop {
    fn from(error: quire::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<CopyFailure> for Stop {
    fn from(failure: CopyFailure) -> Self {
        Self::Failed(failure.into())
    }
}

impl From<Malformed> for Stop {
    fn from(malformed: Malformed) -> Self {
        Self::Failed(malformed.into())
    }
}
