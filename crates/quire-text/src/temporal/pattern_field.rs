//! What a number in the place of a pattern's field looks like.

use super::pattern::PatternField;

impl PatternField {
    /// Whether it belongs to an ISO week date, or to dates that do not go together with these; `None` for what goes with both.
    pub(super) fn is_of_iso_week(self) -> Option<bool> {
        match self {
            Self::IsoYear(_) | Self::IsoWeek | Self::IsoDayOfYear | Self::IsoDayOfWeek => {
                Some(true)
            }
            Self::Year(_)
            | Self::WeekOfYear
            | Self::DayOfYear
            | Self::DayOfWeek
            | Self::Month
            | Self::DayOfMonth
            | Self::WeekOfMonth => Some(false),
            _ => None,
        }
    }

    /// Digits that its number has at most, unless another follows without a separator. `letters`: those of the pattern.
    pub(super) fn digit_count_max(self, letters: usize) -> usize {
        match self {
            Self::Hour12 | Self::Hour24 | Self::Minute | Self::Second => 2,
            Self::Fraction(digits) => digits as usize,
            Self::IsoDayOfYear => 3,
            Self::IsoDayOfWeek => 1,
            _ => letters,
        }
    }
}
