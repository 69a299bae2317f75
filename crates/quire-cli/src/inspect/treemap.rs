//! Rectangles whose areas are shares: M. Bruls, K. Huizing, J. J. van Wijk, *Squarified Treemaps* (2000).

/// A rectangle; x goes right and y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    /// The same without a border of that width.
    pub fn within(self, border: f64, top: f64) -> Self {
        Self {
            x: self.x + border,
            y: self.y + top,
            width: (self.width - 2.0 * border).max(0.0),
            height: (self.height - border - top).max(0.0),
        }
    }

    fn shorter(self) -> f64 {
        self.width.min(self.height)
    }
}

/// Divides an area in the proportion of these sizes, which descend, into rectangles that are as square as a greedy choice makes them.
pub fn divided(sizes: &[f64], area: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().sum();
    let mut areas = Vec::with_capacity(sizes.len());
    if total <= 0.0 {
        return vec![
            Area {
                width: 0.0,
                height: 0.0,
                ..area
            };
            sizes.len()
        ];
    }
    let scale = area.width * area.height / total;
    let mut rest = area;
    let mut first = 0;
    while first < sizes.len() {
        let mut end = first + 1;
        let worst_of = |end: usize| worst(&sizes[first..end], scale, rest.shorter());
        while end < sizes.len() && worst_of(end + 1) <= worst_of(end) {
            end += 1;
        }
        rest = lay_out(&sizes[first..end], scale, rest, &mut areas);
        first = end;
    }
    areas
}

/// The greatest ratio of the sides of rectangles in a row along a side of that length.
fn worst(row: &[f64], scale: f64, side: f64) -> f64 {
    let sum: f64 = row.iter().sum::<f64>() * scale;
    let ratio = |size: &f64| {
        let size = (size * scale).max(f64::MIN_POSITIVE);
        let (side, sum) = (side * side, sum * sum);
        (side * size / sum).max(sum / (side * size))
    };
    row.iter().map(ratio).fold(0.0, f64::max)
}

/// Puts a row along the shorter side of what is left; what is left then.
fn lay_out(row: &[f64], scale: f64, rest: Area, areas: &mut Vec<Area>) -> Area {
    let sum: f64 = row.iter().sum::<f64>() * scale;
    let side = rest.shorter();
    let depth = if side > 0.0 { sum / side } else { 0.0 };
    let is_upright = rest.width >= rest.height;
    let mut along = 0.0;
    for size in row {
        let length = if depth > 0.0 {
            size * scale / depth
        } else {
            0.0
        };
        areas.push(if is_upright {
            Area {
                x: rest.x,
                y: rest.y + along,
                width: depth,
                height: length,
            }
        } else {
            Area {
                x: rest.x + along,
                y: rest.y,
                width: length,
                height: depth,
            }
        });
        along += length;
    }
    if is_upright {
        Area {
            x: rest.x + depth,
            width: (rest.width - depth).max(0.0),
            ..rest
        }
    } else {
        Area {
            y: rest.y + depth,
            height: (rest.height - depth).max(0.0),
            ..rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, divided};

    const WHOLE: Area = Area {
        x: 10.0,
        y: 20.0,
        width: 600.0,
        height: 400.0,
    };

    /// The example of the paper, section 3.1.
    #[test]
    fn the_first_rectangles_are_those_of_the_paper() {
        let whole = Area {
            x: 0.0,
            y: 0.0,
            width: 6.0,
            height: 4.0,
        };
        let areas = divided(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], whole);
        // Two of 3 × 2 on the left, then 4 and 3 side by side above.
        assert_eq!(
            areas[0],
            Area {
                x: 0.0,
                y: 0.0,
                width: 3.0,
                height: 2.0
            }
        );
        assert_eq!(
            areas[1],
            Area {
                x: 0.0,
                y: 2.0,
                width: 3.0,
                height: 2.0
            }
        );
        assert!((areas[2].width * areas[2].height - 4.0).abs() < 1e-9);
        assert!((areas[2].height - areas[3].height).abs() < 1e-9);
    }

    #[test]
    fn areas_are_shares_and_do_not_meet() {
        let sizes: Vec<f64> = (1..40).rev().map(|size| f64::from(size * size)).collect();
        let total: f64 = sizes.iter().sum();
        let areas = divided(&sizes, WHOLE);
        for (size, area) in sizes.iter().zip(&areas) {
            let share = area.width * area.height / (WHOLE.width * WHOLE.height);
            assert!((share - size / total).abs() < 1e-9);
            assert!(
                area.x >= WHOLE.x - 1e-6 && area.x + area.width <= WHOLE.x + WHOLE.width + 1e-6
            );
            assert!(
                area.y >= WHOLE.y - 1e-6 && area.y + area.height <= WHOLE.y + WHOLE.height + 1e-6
            );
        }
        for (place, one) in areas.iter().enumerate() {
            for other in &areas[place + 1..] {
                let across = (one.x + one.width).min(other.x + other.width) - one.x.max(other.x);
                let down = (one.y + one.height).min(other.y + other.height) - one.y.max(other.y);
                assert!(across < 1e-6 || down < 1e-6, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn nothing_has_no_area() {
        assert!(divided(&[], WHOLE).is_empty());
        assert!(
            divided(&[0.0, 0.0], WHOLE)
                .iter()
                .all(|area| area.width == 0.0)
        );
    }
}
