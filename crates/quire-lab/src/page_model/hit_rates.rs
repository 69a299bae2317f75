//! How often does the buffer pool have a page? Paper 4, §IV-C, equations 3 to 5.
//!
//! The paper has proportions and names no factor. Here it is 1, which is the hit rate of pages that are all accessed equally often.

/// Shares of all accesses to leaves that find the page in the buffer pool. Both are from 0 to 1, and so is their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitRates {
    uncompressed: f64,
    compressed: f64,
}

impl HitRates {
    /// Rates that were measured: *H u*, hits of uncompressed pages, and *H c*, hits of pages that are in the pool compressed alone.
    ///
    /// `None` if one of them, or their sum, is not from 0 to 1.
    ///
    /// ```
    /// use quire_lab::page_model::HitRates;
    ///
    /// // Table VI, lz4hc.
    /// let hits = HitRates::new(0.7254, 0.1146).ok_or("no hit rates")?;
    /// assert!((hits.misses() - 0.16).abs() < 1e-9);
    /// assert_eq!(HitRates::new(0.7, 0.4), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn new(uncompressed: f64, compressed: f64) -> Option<Self> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let are_shares =
            is_share(uncompressed) && is_share(compressed) && is_share(uncompressed + compressed);
        are_shares.then_some(Self {
            uncompressed,
            compressed,
        })
    }

    /// Equation 3: of a pool without compression, by *D / BS*, the size of the data over that of the pool. A pool as large as the data
    /// or larger has every page.
    ///
    /// `None` unless the quotient is positive and finite.
    ///
    /// ```
    /// use quire_lab::page_model::HitRates;
    ///
    /// let hits = HitRates::of_uncompressed_pool(4.0).ok_or("no pool")?;
    /// assert_eq!(hits.uncompressed(), 0.25);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of_uncompressed_pool(data_to_pool: f64) -> Option<Self> {
        let is_quotient = data_to_pool > 0.0 && data_to_pool.is_finite();
        is_quotient.then(|| Self {
            uncompressed: (1.0 / data_to_pool).min(1.0),
            compressed: 0.0,
        })
    }

    /// Equations 4 and 5: of a pool that keeps each uncompressed page compressed, too. `compressed_share` is the paper's *R*, the share
    /// of the pool that compressed pages take; `compression_fraction` its *r*, bytes of compressed data over those of the data.
    /// The paper counts the data in its uncompressed size. What the pool holds of it ends at all of it.
    ///
    /// `None` unless *D / BS* is positive and finite, *R* from 0 to 1, *r* above 0 and at most 1, and *R* at least *r / (1 + r)*: with less
    /// there is no room for the compressed copies of the uncompressed pages.
    ///
    /// ```
    /// use quire_lab::page_model::HitRates;
    ///
    /// // Half of the pool for each: a pool of 8 pages has 4 uncompressed ones and, at 2 to 1, 8 compressed ones, of which
    /// // 4 are copies. The data has 16 pages.
    /// let hits = HitRates::of_compressed_pool(2.0, 0.5, 0.5).ok_or("no pool")?;
    /// assert_eq!((hits.uncompressed(), hits.compressed()), (0.25, 0.25));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of_compressed_pool(
        data_to_pool: f64,
        compressed_share: f64,
        compression_fraction: f64,
    ) -> Option<Self> {
        let (share, fraction) = (compressed_share, compression_fraction);
        let is_pool = data_to_pool > 0.0
            && data_to_pool.is_finite()
            && (0.0..=1.0).contains(&share)
            && fraction > 0.0
            && fraction <= 1.0;
        // What compressed pages take beside the copies of the uncompressed ones.
        let alone = (1.0 + fraction) * share - fraction;
        (is_pool && alone >= 0.0).then(|| {
            let uncompressed = ((1.0 - share) / data_to_pool).min(1.0);
            let compressed = alone / (data_to_pool * fraction);
            Self {
                uncompressed,
                compressed: compressed.min(1.0 - uncompressed),
            }
        })
    }

    /// *H u*: the page is there uncompressed.
    pub fn uncompressed(self) -> f64 {
        self.uncompressed
    }

    /// *H c*: the page is there compressed, and not uncompressed.
    pub fn compressed(self) -> f64 {
        self.compressed
    }

    /// The page has to be read.
    pub fn misses(self) -> f64 {
        (1.0 - self.uncompressed - self.compressed).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts pages of a pool: uncompressed ones, and compressed ones that are no copies of them.
    #[test]
    fn rates_are_the_pages_of_the_pool_over_those_of_the_data() {
        let pool_pages = 1_000.0;
        for data_to_pool in [4.0, 11.0, 32.0] {
            for share in [0.5, 0.9, 1.0] {
                for fraction in [0.24, 0.3, 0.5, 1.0] {
                    let hits = HitRates::of_compressed_pool(data_to_pool, share, fraction);
                    let hits = hits.unwrap();
                    let uncompressed_pages = pool_pages * (1.0 - share);
                    let compressed_pages = pool_pages * share / fraction - uncompressed_pages;
                    let data_pages = pool_pages * data_to_pool;
                    let of_pages = uncompressed_pages / data_pages;
                    assert!((hits.uncompressed() - of_pages).abs() < 1e-12);
                    let of_pages = compressed_pages / data_pages;
                    assert!((hits.compressed() - of_pages.min(1.0)).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_pool_that_holds_all_data_hits_always() {
        let hits = HitRates::of_uncompressed_pool(0.5).unwrap();
        assert_eq!(hits.uncompressed(), 1.0);
        let hits = HitRates::of_compressed_pool(1.0, 0.9, 0.25).unwrap();
        assert!((hits.uncompressed() - 0.1).abs() < 1e-12);
        assert!((hits.compressed() - 0.9).abs() < 1e-12);
        assert!(hits.misses().abs() < 1e-12);
        let hits = HitRates::of_compressed_pool(0.01, 0.9, 0.25).unwrap();
        assert_eq!((hits.uncompressed(), hits.compressed()), (1.0, 0.0));
    }

    #[test]
    fn what_is_no_pool_has_no_rates() {
        for wrong in [0.0, -4.0, f64::NAN, f64::INFINITY] {
            assert_eq!(HitRates::of_uncompressed_pool(wrong), None);
            assert_eq!(HitRates::of_compressed_pool(wrong, 0.9, 0.3), None);
        }
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert_eq!(HitRates::of_compressed_pool(4.0, wrong, 0.3), None);
            assert_eq!(HitRates::new(wrong, 0.0), None);
            assert_eq!(HitRates::new(0.0, wrong), None);
        }
        for wrong in [0.0, -0.3, 1.1, f64::NAN] {
            assert_eq!(HitRates::of_compressed_pool(4.0, 0.9, wrong), None);
        }
        // A third for compressed pages is just enough for copies at 2 to 1.
        assert!(HitRates::of_compressed_pool(4.0, 0.34, 0.5).is_some());
        assert_eq!(HitRates::of_compressed_pool(4.0, 0.33, 0.5), None);
    }
}
