//! Why a message was not answered as it wanted.

use std::io;

use crate::copy::CopyFailure;
use crate::failure::ServerFailure;
use crate::malformed::Malformed;

#[derive(Debug)]
pub(crate) enum SessionStop {
    /// The client is told.
    Failed(ServerFailure),
    /// The client cannot be told: the connection is lost.
    Broken,
}

impl From<ServerFailure> for SessionStop {
    fn from(failure: ServerFailure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for SessionStop {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl From<quire::Error> for SessionStop {
    fn from(error: quire::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<CopyFailure> for SessionStop {
    fn from(failure: CopyFailure) -> Self {
        Self::Failed(failure.into())
    }
}

impl From<Malformed> for SessionStop {
    fn from(malformed: Malformed) -> Self {
        Self::Failed(malformed.into())
    }
}
