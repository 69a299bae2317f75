//! Extended attributes that nobody has set: what compression has made of a file. They can be read, and are not listed, so that copies do
//! not have them.

use quire_device::{DataSet, DataSetCodec, FileError, MeasuredCodec, ROOT_INODE};

/// Names that begin so cannot be set.
const PREFIX: &[u8] = b"user.quire.";

/// Whether a name is one of these.
pub(crate) fn is_virtual(name: &[u8]) -> bool {
    name.starts_with(PREFIX)
}

/// The value of an attribute whose name is virtual; of the root that of the data set. `None` if there is none.
pub(crate) fn value(set: &DataSet, inode: u64, name: &[u8]) -> Result<Option<String>, FileError> {
    let Some(name) = name.strip_prefix(PREFIX) else {
        return Ok(None);
    };
    Ok(if inode == ROOT_INODE {
        set_value(set, name)
    } else {
        file_value(set, inode, name)?
    })
}

fn set_value(set: &DataSet, name: &[u8]) -> Option<String> {
    let statistics = set.statistics();
    Some(match name {
        b"compressratio" => format!("{:.2}", statistics.compression_ratio()),
        b"used" => statistics.used_bytes.to_string(),
        b"logicalused" => statistics.logical_bytes().to_string(),
        b"compression" => set.properties().compression.to_string(),
        b"recordsize" => set.properties().record_bytes.to_string(),
        _ => return None,
    })
}

fn file_value(set: &DataSet, inode: u64, name: &[u8]) -> Result<Option<String>, FileError> {
    let space = set.space(inode)?;
    Ok(Some(match name {
        b"compressratio" if space.stored_bytes == 0 => "1.00".to_owned(),
        b"compressratio" => {
            let ratio = space.raw_bytes as f64 / space.stored_bytes as f64;
            format!("{ratio:.2}")
        }
        b"used" => space.stored_bytes.to_string(),
        b"logicalused" => space.raw_bytes.to_string(),
        b"compression" => match space.measured {
            Some(measured) => {
                let MeasuredCodec { codec, level, .. } = measured;
                let name = DataSetCodec::Fixed { codec, level }.to_string();
                match measured.dictionary {
                    Some(_) => name + " with a dictionary",
                    None => name,
                }
            }
            None => set.properties().compression.to_string(),
        },
        b"recordsize" => set.attributes(inode)?.record_bytes.to_string(),
        _ => return Ok(None),
    }))
}
