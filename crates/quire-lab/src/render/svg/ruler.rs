//! Places of values along an axis.

use crate::{Axis, AxisScale};

/// Maps values to places on the page.
pub(super) struct Ruler {
    scale: AxisScale,
    /// Values at the two ends; exponents of ten if logarithmic.
    from: f64,
    to: f64,
    ends: (f64, f64),
    pub(super) ticks: Vec<f64>,
}

impl Ruler {
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        let (from, to, ticks): (f64, f64, Vec<f64>) = match axis.scale {
            AxisScale::Logarithmic if least > 0.0 && most.is_finite() => {
                let from = least.log10().floor();
                let to = most.log10().ceil().max(from + 1.0);
                let decades = from as i32..=to as i32;
                (from, to, decades.map(|decade| 10f64.powi(decade)).collect())
            }
            _ => {
                let most = if most > 0.0 { most } else { 1.0 };
                let step = round_step(most / 5.0);
                let count = (most / step).ceil();
                let ticks = (0..=count as u32)
                    .map(|tick| f64::from(tick) * step)
                    .collect();
                (0.0, count * step, ticks)
            }
        };
        let scale = if ticks_are_powers(&ticks) {
            axis.scale
        } else {
            AxisScale::Linear
        };
        Self {
            scale,
            from,
            to,
            ends,
            ticks,
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let value = match self.scale {
            AxisScale::Linear => value,
            AxisScale::Logarithmic => value.max(f64::MIN_POSITIVE).log10(),
        };
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }
}

/// Those of a linear ruler begin with 0.
fn ticks_are_powers(ticks: &[f64]) -> bool {
    ticks.first().is_some_and(|first| *first > 0.0)
}

/// The next of 1, 2, 5, 10 and so on that is not below `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    steps
        .into_iter()
        .find(|one| *one >= step * 0.999)
        .unwrap_or(step)
}
