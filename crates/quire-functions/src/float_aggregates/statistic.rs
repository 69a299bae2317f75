//! Which statistics there are, and what each is of the moments.

use super::moments::Moments;

/// A statistic of a column, or of the columns y and x of `f(y, x)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Statistic {
    VariancePop,
    VarianceSamp,
    DeviationPop,
    DeviationSamp,
    CovariancePop,
    CovarianceSamp,
    Correlation,
    MeanX,
    MeanY,
    SquaresX,
    SquaresY,
    Products,
    Slope,
    Intercept,
    SquaredCorrelation,
}

impl Statistic {
    /// The statistic that a function of DataFusion computes; none for `regr_count`, which counts.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "var_pop" => Self::VariancePop,
            "var" => Self::VarianceSamp,
            "stddev_pop" => Self::DeviationPop,
            "stddev" => Self::DeviationSamp,
            "covar_pop" => Self::CovariancePop,
            "covar_samp" => Self::CovarianceSamp,
            "corr" => Self::Correlation,
            "regr_avgx" => Self::MeanX,
            "regr_avgy" => Self::MeanY,
            "regr_sxx" => Self::SquaresX,
            "regr_syy" => Self::SquaresY,
            "regr_sxy" => Self::Products,
            "regr_slope" => Self::Slope,
            "regr_intercept" => Self::Intercept,
            "regr_r2" => Self::SquaredCorrelation,
            _ => return None,
        })
    }

    /// The statistic of rows with these moments; NULL where there are too few, or none is defined.
    pub(super) fn value(self, moments: Moments) -> Option<f64> {
        let Moments {
            count,
            x,
            y,
            products,
        } = moments;
        if count < self.least_count() {
            return None;
        }
        Some(match self {
            Self::VariancePop => x.squares / count,
            Self::VarianceSamp => x.squares / (count - 1.0),
            Self::DeviationPop => (x.squares / count).sqrt(),
            Self::DeviationSamp => (x.squares / (count - 1.0)).sqrt(),
            Self::CovariancePop => products / count,
            Self::CovarianceSamp => products / (count - 1.0),
            Self::Correlation if x.squares == 0.0 || y.squares == 0.0 => return None,
            Self::Correlation => products / (x.squares * y.squares).sqrt(),
            Self::MeanX => x.sum / count,
            Self::MeanY => y.sum / count,
            Self::SquaresX => x.squares,
            Self::SquaresY => y.squares,
            Self::Products => products,
            // Values of x that are all the same have no line.
            Self::Slope | Self::Intercept | Self::SquaredCorrelation if x.squares == 0.0 => {
                return None;
            }
            Self::Slope => products / x.squares,
            Self::Intercept => (y.sum - x.sum * products / x.squares) / count,
            // A line through values of y that are all the same explains them.
            Self::SquaredCorrelation if y.squares == 0.0 => 1.0,
            Self::SquaredCorrelation => (products * products) / (x.squares * y.squares),
        })
    }

    fn least_count(self) -> f64 {
        match self {
            Self::VarianceSamp | Self::DeviationSamp | Self::CovarianceSamp => 2.0,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::common::Result;

    use super::*;

    #[test]
    fn the_last_digit_is_postgresqls() -> Result<()> {
        let rows = [(0.1, 1.7), (0.2, 2.9), (0.7, -3.3), (1e10, 4.1)];
        let (mut of_x, mut of_y, mut pairs) = <(Moments, Moments, Moments)>::default();
        for (x, y) in rows {
            of_x.add(x)?;
            of_y.add(y)?;
            pairs.add_pair(x, y)?;
        }
        // What PostgreSQL 15 gives for these rows.
        for (statistic, moments, expected) in [
            (Statistic::DeviationSamp, of_x, 4_999_999_999.833333),
            (Statistic::DeviationPop, of_x, 4_330_127_018.777856),
            (Statistic::VarianceSamp, of_y, 10.569999999999999),
            (Statistic::CovarianceSamp, pairs, 9_166_666_665.696667),
            (Statistic::Correlation, pairs, 0.563902397553252),
            (Statistic::Slope, pairs, 3.6666666665231113e-10),
            (Statistic::Intercept, pairs, 0.4333333332775554),
            (Statistic::SquaredCorrelation, pairs, 0.3179859139663058),
        ] {
            assert_eq!(statistic.value(moments), Some(expected), "{statistic:?}");
        }
        assert_eq!(Statistic::CovarianceSamp.value(Moments::default()), None);
        Ok(())
    }
}
