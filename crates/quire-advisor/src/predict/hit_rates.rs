//! How often is a page in memory? Paper 4, §IV-C, equations 3 to 5, with the factor 1: pages that are all accessed equally often.

/// *H u* and *H c*: shares of all accesses that find the page, and that find only its image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PoolHits {
    pub(super) hot: f64,
    pub(super) warm: f64,
}

impl PoolHits {
    /// Equation 3: of a pool without images, by *D / BS*, the size of the data over that of the pool.
    pub(super) fn without_images(data_to_pool: f64) -> Self {
        Self {
            hot: (1.0 / data_to_pool).min(1.0),
            warm: 0.0,
        }
    }

    /// Equations 4 and 5: of a pool that keeps the image of each page as well. `image_share` is *R*, the share of the pool that images take, at least
    /// *r / (1 + r)*; `fraction` is *r*, bytes of images over those of the data, above 0 and at most 1.
    pub(super) fn with_images(data_to_pool: f64, image_share: f64, fraction: f64) -> Self {
        let hot = ((1.0 - image_share) / data_to_pool).min(1.0);
        let alone = (1.0 + fraction) * image_share - fraction;
        let warm = (alone / (data_to_pool * fraction)).max(0.0);
        Self {
            hot,
            warm: warm.min(1.0 - hot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quire_lab::page_model::HitRates;

    #[test]
    fn rates_are_those_of_the_model_of_the_paper() {
        for data_to_pool in [0.5, 1.0, 4.0, 11.0, 32.0] {
            let ours = PoolHits::without_images(data_to_pool);
            let paper = HitRates::of_uncompressed_pool(data_to_pool).unwrap();
            assert_eq!(ours.hot, paper.uncompressed());
            for (image_share, fraction) in [(0.5, 0.5), (0.9, 0.24), (0.9, 0.3), (1.0, 1.0)] {
                let ours = PoolHits::with_images(data_to_pool, image_share, fraction);
                let paper =
                    HitRates::of_compressed_pool(data_to_pool, image_share, fraction).unwrap();
                assert!((ours.hot - paper.uncompressed()).abs() < 1e-12);
                assert!((ours.warm - paper.compressed()).abs() < 1e-12);
            }
        }
    }
}
