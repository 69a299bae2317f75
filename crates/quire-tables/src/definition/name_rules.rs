//! Which names definitions may have.

use super::MAX_NAME_BYTES;
use crate::error::DefinitionError;

pub(crate) fn check_name(kind: &'static str, name: &str) -> Result<(), DefinitionError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(DefinitionError::Name {
            kind,
            name: name.to_owned(),
        });
    }
    Ok(())
}
