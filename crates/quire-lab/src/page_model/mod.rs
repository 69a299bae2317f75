//! Paper 4, §IV: what page compression in a buffer pool costs, calculated from speeds, sizes and hit rates.

mod access_time;
mod compressions;
mod hit_rates;
mod page_codec;
pub mod paper;

pub use access_time::{compressed_access_us, transfer_us, uncompressed_access_us};
pub use compressions::CompressedPage;
pub use hit_rates::HitRates;
pub use page_codec::{COMPRESSED_PAGE_BYTES, PageCodecSpeed, UNCOMPRESSED_PAGE_BYTES};
