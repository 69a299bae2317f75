//! Paper 4, §IV: what page compression in a buffer pool costs, calculated from speeds, sizes and hit rates.

mod access_time;
mod codecs_here;
mod compressions;
mod figure_3;
mod figure_4;
mod hit_rates;
mod page_codec;
pub mod paper;
mod table_7;

pub use access_time::{compressed_access_us, transfer_us, uncompressed_access_us};
pub use compressions::CompressedPage;
pub use hit_rates::HitRates;
pub use page_codec::{COMPRESSED_PAGE_BYTES, PageCodecSpeed, UNCOMPRESSED_PAGE_BYTES};

use crate::{Figure, Lab, LabError};
use codecs_here::CodecsHere;

/// Table VII and figures 3 and 4, with the paper's codecs and with those of this machine on pages of `text`; without any it is made up.
pub(crate) fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    let here = CodecsHere::measure(lab, text)?;
    Ok(vec![
        table_7::figure(lab, &here),
        figure_3::figure(lab, &here),
        figure_4::figure(lab, &here),
    ])
}
