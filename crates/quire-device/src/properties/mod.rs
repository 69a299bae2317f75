//! Properties of data sets as text, as ZFS's command line has them.

mod names;
mod size_text;
mod text;

pub use names::{PropertyError, PropertyName};
pub(crate) use names::{parse_record_bytes, parse_sectors, sectors_text};
pub(crate) use size_text::size_text;
pub use text::{parse_properties, properties_text, set_property};
