//! How much is compressed until a page is full? Paper 4, §IV-D.
//!
//! Records go into the modification log, which is all of a compressed page that compressed records do not take. When it is full, the
//! uncompressed page is compressed anew, with the records of the log in it; what they become smaller is the next log. So each log is
//! shorter than the one before it, until none holds a record.

/// A compressed page of fixed size, and what compression makes of its records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressedPage {
    page_bytes: f64,
    compression_fraction: f64,
}

impl CompressedPage {
    /// A page of the paper's *PS c* bytes, whose records keep the share *r* of their bytes.
    ///
    /// `None` unless the size is positive and finite, and *r* between 0 and 1, neither of them included: with 0 no page is ever full, with 1
    /// the first compression gains nothing. From 0.001 on sums keep nine digits or more; smaller *r* cost digits.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// assert!(CompressedPage::new(8_192.0, 0.3).is_some());
    /// assert_eq!(CompressedPage::new(8_192.0, 1.0), None);
    /// ```
    pub fn new(page_bytes: f64, compression_fraction: f64) -> Option<Self> {
        let is_page = page_bytes > 0.0
            && page_bytes.is_finite()
            && compression_fraction > 0.0
            && compression_fraction < 1.0;
        is_page.then_some(Self {
            page_bytes,
            compression_fraction,
        })
    }

    /// *F i*: bytes of the log after the `compression`-th compression, *(1 - r)^i PS c*.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// let page = CompressedPage::new(8_192.0, 0.5).ok_or("no page")?;
    /// assert_eq!(page.free_bytes(0), 8_192.0);
    /// assert_eq!(page.free_bytes(3), 1_024.0);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn free_bytes(self, compression: u32) -> f64 {
        (1.0 - self.compression_fraction).powf(f64::from(compression)) * self.page_bytes
    }

    /// *n*: the compression that leaves no room for a compressed record of `record_bytes`, which is the logarithm of
    /// *rec r / PS c* to the base *1 - r*, rounded up. 0 if an empty page does not hold the compressed record.
    ///
    /// `None` unless the size is positive and finite, or if the number is too large for its type.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// // A record of 2048 bytes leaves 1024, which the third log has.
    /// let page = CompressedPage::new(8_192.0, 0.5).ok_or("no page")?;
    /// assert_eq!(page.compressions(2_048.0), Some(3));
    /// assert_eq!(page.compressions(0.0), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn compressions(self, record_bytes: f64) -> Option<u32> {
        let is_record = record_bytes > 0.0 && record_bytes.is_finite();
        if !is_record {
            return None;
        }
        let compressed_record_bytes = record_bytes * self.compression_fraction;
        if compressed_record_bytes >= self.page_bytes {
            return Some(0);
        }
        let base = (-self.compression_fraction).ln_1p();
        let logarithm = (compressed_record_bytes / self.page_bytes).ln() / base;
        let rounded = logarithm.ceil();
        if rounded >= f64::from(u32::MAX) {
            return None;
        }
        // A logarithm that is a whole number may be rounded to either side of it.
        let mut number = rounded as u32;
        while number > 0 && self.free_bytes(number - 1) <= compressed_record_bytes {
            number -= 1;
        }
        while self.free_bytes(number) > compressed_record_bytes {
            number = number.checked_add(1)?;
        }
        Some(number)
    }

    /// *a i*: bytes of records that compression number *i + 1* takes, *(PS c / r)(1 - (1 - r)^(i + 1))*.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// // The first log, and after it half as much besides.
    /// let page = CompressedPage::new(8_192.0, 0.5).ok_or("no page")?;
    /// assert_eq!(page.compressed_bytes(0), 8_192.0);
    /// assert_eq!(page.compressed_bytes(1), 8_192.0 + 4_096.0);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn compressed_bytes(self, compression: u32) -> f64 {
        self.full_bytes() * self.filled_share(f64::from(compression) + 1.0)
    }

    /// Bytes of records that all compressions up to number *n + 1* take, the last of which fails: the sum of *a 0* to *a n*,
    /// *(PS c / r)((n + 1) - (1 - r)(1 - (1 - r)^(n + 1)) / r)*.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// let page = CompressedPage::new(8_192.0, 0.5).ok_or("no page")?;
    /// assert_eq!(page.total_bytes(1), 2.5 * 8_192.0);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn total_bytes(self, compressions: u32) -> f64 {
        let terms = f64::from(compressions) + 1.0;
        let kept = 1.0 - self.compression_fraction;
        let missing = kept * self.filled_share(terms) / self.compression_fraction;
        self.full_bytes() * (terms - missing)
    }

    /// Equation 6 as the paper prints it: *PS c (1 - (1 - r)^(n + 1)) / r + n PS c / r*. It is more than the sum that it stands for,
    /// [`CompressedPage::total_bytes`], by *PS c (1 - r)(1 - (1 - r)^n) / r²*.
    ///
    /// ```
    /// use quire_lab::page_model::CompressedPage;
    ///
    /// let page = CompressedPage::new(8_192.0, 0.5).ok_or("no page")?;
    /// assert_eq!(page.total_bytes_as_printed(1), 3.5 * 8_192.0);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn total_bytes_as_printed(self, compressions: u32) -> f64 {
        let steps = f64::from(compressions);
        self.full_bytes() * (self.filled_share(steps + 1.0) + steps)
    }

    /// Bytes of records in a page that is full of compressed ones, which no number of compressions reaches.
    fn full_bytes(self) -> f64 {
        self.page_bytes / self.compression_fraction
    }

    /// *1 - (1 - r)^steps*.
    fn filled_share(self, steps: f64) -> f64 {
        -(steps * (-self.compression_fraction).ln_1p()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_BYTES: f64 = 8_192.0;

    fn page(fraction: f64) -> CompressedPage {
        CompressedPage::new(PAGE_BYTES, fraction).unwrap()
    }

    fn fractions() -> impl Iterator<Item = f64> {
        (1..100).map(|percent| f64::from(percent) / 100.0)
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * other.abs()
    }

    /// §IV-D: *F (i + 1) = F i (1 - r)*, *a (i + 1) = a i + (PS c - r a i)*.
    #[test]
    fn closed_forms_are_what_the_recurrences_give() {
        for fraction in fractions() {
            let (mut free, mut compressed, mut total) = (PAGE_BYTES, PAGE_BYTES, 0.0);
            for step in 0..60 {
                total += compressed;
                let page = page(fraction);
                let place = format!("r = {fraction}, i = {step}");
                assert!(is_near(page.free_bytes(step), free), "{place}");
                assert!(is_near(page.compressed_bytes(step), compressed), "{place}");
                assert!(is_near(page.total_bytes(step), total), "{place}");
                free *= 1.0 - fraction;
                compressed += PAGE_BYTES - fraction * compressed;
            }
        }
    }

    /// Equation 6, written term by term, beside the sum that it should be.
    #[test]
    fn equation_6_as_printed_is_more_than_the_sum() {
        let example = page(0.5);
        assert_eq!(example.total_bytes_as_printed(1) / PAGE_BYTES, 3.5);
        assert_eq!(example.total_bytes(1) / PAGE_BYTES, 2.5);
        for fraction in fractions() {
            for steps in 0..60u32 {
                let page = page(fraction);
                let rest = (1.0 - fraction).powi(steps as i32 + 1);
                let first = (1.0 - rest) / fraction * PAGE_BYTES;
                let printed = first + f64::from(steps) * PAGE_BYTES / fraction;
                assert!(is_near(page.total_bytes_as_printed(steps), printed));
                let excess = printed - page.total_bytes(steps);
                let logs = (1..=steps).map(|step| (1.0 - fraction).powi(step as i32));
                let expected = PAGE_BYTES / fraction * logs.sum::<f64>();
                let place = format!("r = {fraction}, n = {steps}: {excess}");
                assert!((excess - expected).abs() <= 1e-9 * printed, "{place}");
            }
        }
    }

    /// Logs are made one after the other, until one is not longer than a compressed record.
    #[test]
    fn compressions_are_counted_until_no_record_fits() {
        for fraction in fractions() {
            for record_bytes in [
                1.0, 63.0, 64.0, 612.0, 1_000.0, 8_192.0, 10_000.0, 100_000.0,
            ] {
                let (mut free, mut count) = (PAGE_BYTES, 0);
                while free > record_bytes * fraction {
                    free *= 1.0 - fraction;
                    count += 1;
                }
                let found = page(fraction).compressions(record_bytes);
                assert_eq!(found, Some(count), "r = {fraction}, {record_bytes} bytes");
            }
        }
    }

    #[test]
    fn a_logarithm_that_is_whole_is_not_rounded_up() {
        for power in 1..13 {
            // The log after that many halvings is just as long as the compressed record.
            let record_bytes = 2.0 * PAGE_BYTES / f64::from(1 << power);
            assert_eq!(page(0.5).compressions(record_bytes), Some(power));
        }
    }

    /// The paper's figure 4: lz4hc of table III, pages of 8 KiB. The numbers are counted from §IV-D apart from this code.
    #[test]
    fn small_records_are_compressed_often() {
        let numbers = [64, 128, 256, 512, 612, 1_024, 2_048, 4_096, 8_192];
        let numbers = numbers.map(|bytes| page(0.3).compressions(f64::from(bytes)));
        let expected = [17, 16, 14, 12, 11, 10, 8, 6, 4].map(Some);
        assert_eq!(numbers, expected);
    }

    #[test]
    fn what_is_no_page_and_no_record_gives_none() {
        for wrong in [0.0, 1.0, -0.3, 1.3, f64::NAN] {
            assert_eq!(CompressedPage::new(PAGE_BYTES, wrong), None);
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(CompressedPage::new(wrong, 0.3), None);
            assert_eq!(page(0.3).compressions(wrong), None);
        }
        // So little is gained by each compression that their number has no end within its type.
        assert_eq!(page(1e-12).compressions(1.0), None);
    }
}
