//! Assignments: `compression=zstd-3`.

use quire_format::data_set::DataSetProperties;

use super::names::{PropertyError, PropertyName};

/// Sets what `name=value` says.
///
/// ```
/// use quire_device::{DataSetProperties, properties_text, set_property};
///
/// let mut properties = DataSetProperties::default();
/// set_property(&mut properties, "compression=zstd-3")?;
/// set_property(&mut properties, "recordsize=128K")?;
/// assert_eq!(properties_text(&properties), "compression=zstd recordsize=128k");
/// let error = set_property(&mut properties, "recordsize=3k").unwrap_err();
/// assert_eq!(error.to_string(), "recordsize cannot be \"3k\"; it is a power of two from 4k to 1m");
/// # Ok::<(), quire_device::PropertyError>(())
/// ```
///
/// # Errors
/// [`PropertyError`]; then nothing is changed.
pub fn set_property(
    properties: &mut DataSetProperties,
    assignment: &str,
) -> Result<(), PropertyError> {
    let Some((name, value)) = assignment.split_once('=') else {
        return Err(PropertyError::NotAnAssignment {
            text: assignment.to_owned(),
        });
    };
    name.parse::<PropertyName>()?.set(properties, value)
}

/// The properties that some assignments make; later ones win.
///
/// # Errors
/// [`PropertyError`] for the first that is wrong.
pub fn parse_properties<T: AsRef<str>>(
    assignments: impl IntoIterator<Item = T>,
) -> Result<DataSetProperties, PropertyError> {
    let mut properties = DataSetProperties::default();
    for assignment in assignments {
        set_property(&mut properties, assignment.as_ref())?;
    }
    Ok(properties)
}

/// What is set, as assignments with spaces between.
#[must_use]
pub fn properties_text(properties: &DataSetProperties) -> String {
    let assignments = PropertyName::ALL.into_iter().filter_map(|name| {
        let value = name.get(properties)?;
        Some(format!("{name}={value}"))
    });
    assignments.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::EffectiveProperties;

    #[test]
    fn each_property_is_read_as_it_is_written() {
        for assignment in [
            "compression=off",
            "compression=gzip-9",
            "compression=lzjb-zfs",
            "compression=zstd-fast-3",
            "compression=auto",
            "recordsize=4k",
            "recordsize=1m",
            "sectors=none",
            "sectors=512",
            "sectors=4096",
            "gain=0",
            "gain=1000",
            "sync=compressed",
            "sync=logged",
            "quota=10g",
        ] {
            let properties = parse_properties([assignment]).unwrap();
            assert_eq!(properties_text(&properties), assignment);
            let mut cleared = properties;
            let (name, _) = assignment.split_once('=').unwrap();
            set_property(&mut cleared, &format!("{name}=inherit")).unwrap();
            assert_eq!(cleared, DataSetProperties::default(), "{assignment}");
        }
        for none in ["quota=none", "quota=0"] {
            let properties = parse_properties(["quota=1k", none]).unwrap();
            assert_eq!(properties.quota_bytes, None);
        }
        let default = EffectiveProperties::default();
        let values = PropertyName::ALL.map(|name| name.effective(&default));
        assert_eq!(values, ["lz4", "128k", "none", "125", "compressed", "none"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        let mut properties = parse_properties(["compression=zstd-9", "quota=5m"]).unwrap();
        let before = properties;
        for (assignment, parts) in [
            ("compression", ["name=value", "compression"]),
            ("compresion=lz4", ["compresion", "recordsize"]),
            ("compression=zstd-23", ["zstd-23", "zstd-22"]),
            ("compression=", ["compression", "lzjb"]),
            ("recordsize=2k", ["2k", "4k to 1m"]),
            ("recordsize=2m", ["2m", "4k to 1m"]),
            ("recordsize=5000", ["5000", "power of two"]),
            ("recordsize=4g", ["4g", "power of two"]),
            ("sectors=1024", ["1024", "512 or 4096"]),
            ("gain=1001", ["1001", "0 to 1000"]),
            ("gain=-1", ["-1", "0 to 1000"]),
            ("sync=standard", ["standard", "logged"]),
            ("quota=much", ["much", "10g"]),
        ] {
            let error = set_property(&mut properties, assignment)
                .unwrap_err()
                .to_string();
            for part in parts {
                assert!(error.contains(part), "{assignment}: {error}");
            }
            assert_eq!(properties, before);
        }
    }
}
