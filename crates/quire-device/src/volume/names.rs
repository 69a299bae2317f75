//! The names of data sets and snapshots.

use crate::error::DataSetError;

/// Longest name of a data set, and of what is behind the `@`.
const NAME_BYTES_MAX: usize = 255;

fn is_part(part: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !part.is_empty() && part.chars().all(is_allowed)
}

/// Refuses what cannot be the name of a data set.
pub(super) fn check_set_name(name: &str) -> Result<(), DataSetError> {
    if name.len() <= NAME_BYTES_MAX && name.split('/').all(is_part) {
        return Ok(());
    }
    let name = name.to_owned();
    Err(DataSetError::InvalidName { name })
}

/// Refuses what cannot be the name of the first data set of a volume.
pub(crate) fn check_first_name(name: &str) -> Result<(), DataSetError> {
    check_set_name(name)?;
    match parent_of(name) {
        Some(parent) => {
            let name = parent.to_owned();
            Err(DataSetError::NotFound { name })
        }
        None => Ok(()),
    }
}

/// The data set and the name behind the `@`, which is one.
pub(super) fn split_snapshot(name: &str) -> Result<(&str, &str), DataSetError> {
    match name.split_once('@') {
        Some((set, snapshot)) if snapshot.len() <= NAME_BYTES_MAX && is_part(snapshot) => {
            Ok((set, snapshot))
        }
        _ => {
            let name = name.to_owned();
            Err(DataSetError::InvalidName { name })
        }
    }
}

/// The data set above.
pub(super) fn parent_of(name: &str) -> Option<&str> {
    Some(name.rsplit_once('/')?.0)
}

/// Whether `name` is below the data set `above`.
pub(super) fn is_below(name: &str, above: &str) -> bool {
    let rest = name.strip_prefix(above);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts_between_slashes() {
        for name in ["a", "a/b/c", "data-1_2.3:4"] {
            assert!(check_set_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(256);
        for name in ["", "/", "a/", "/a", "a//b", "a@b", "a b", "\u{e9}", &long] {
            assert!(check_set_name(name).is_err(), "{name}");
        }
        assert_eq!(split_snapshot("a/b@c").unwrap(), ("a/b", "c"));
        for name in ["a", "a@", "a@b/c", "a@b@c"] {
            assert!(split_snapshot(name).is_err(), "{name}");
        }
        assert_eq!(parent_of("a/b/c"), Some("a/b"));
        assert_eq!(parent_of("a"), None);
        assert!(is_below("a/b/c", "a") && !is_below("ab", "a") && !is_below("a", "a"));
    }
}
