//! A file that is a device: a volume with one data set, in which there is one file, which is the disk of a database.

mod error;
mod file;
mod monitor;
mod open;
mod specification;
mod whole;

pub use error::DeviceOpenError;
pub use file::{open_data_sets, open_or_create_data_sets};
pub use monitor::{DeviceMonitor, DeviceStatistics};
pub use open::{DeviceOpenOptions, OpenedDevice, open_device, open_device_on};
pub use specification::{DeviceKind, DeviceSpecification, DeviceSpecificationError};
