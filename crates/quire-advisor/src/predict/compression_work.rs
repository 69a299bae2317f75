//! How much is compressed until a page is full? Paper 4, §IV-D: the sum that equation 6 stands for, which is not the one that is printed there
//! (`quire-lab`, `page_model`).

/// Bytes that are compressed for each byte of records that a page takes, when it is compressed anew as often as the log beside its compressed records
/// is full. `image_bytes` is the paper's *PS c*, `fraction` its *r*.
///
/// `None` if compression gains nothing, or the record is not shorter than the image.
pub(super) fn compressed_bytes_per_byte(
    image_bytes: f64,
    fraction: f64,
    record_bytes: f64,
) -> Option<f64> {
    let has_sense = fraction > 0.0
        && fraction < 1.0
        && record_bytes > 0.0
        && record_bytes * fraction < image_bytes;
    if !has_sense {
        return None;
    }
    let kept = 1.0 - fraction;
    let count = ((record_bytes * fraction / image_bytes).ln() / kept.ln()).ceil();
    let terms = count + 1.0;
    // The sum of a 0 to a n, over the records of a full page: PS c / r.
    Some(terms - kept * (1.0 - kept.powf(terms)) / fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quire_lab::page_model::CompressedPage;

    #[test]
    fn the_sum_is_that_of_the_model_of_the_paper() {
        for fraction in [0.24, 0.3, 0.51, 0.9] {
            for record_bytes in [64.0, 612.0, 4_096.0] {
                let page = CompressedPage::new(8_192.0, fraction).unwrap();
                let count = page.compressions(record_bytes).unwrap();
                let expected = page.total_bytes(count) / (8_192.0 / fraction);
                let ours = compressed_bytes_per_byte(8_192.0, fraction, record_bytes).unwrap();
                assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");
            }
        }
        assert_eq!(compressed_bytes_per_byte(8_192.0, 1.0, 64.0), None);
        assert_eq!(compressed_bytes_per_byte(8_192.0, 0.5, 20_000.0), None);
    }
}
