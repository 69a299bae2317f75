//! Which columns of a table are shown, and how wide, when not all of it fits the terminal.

/// Narrow columns make room for wide ones only down to this; before columns become narrower, some
/// are left out.
const NARROWEST_CUT_WIDTH: usize = 10;

/// What becomes of each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridLayout {
    /// Columns shown, in order, each with the terminal columns its text may take.
    pub columns: Vec<LaidOut>,
}

/// One place in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaidOut {
    /// The column of this index.
    Column { index: usize, width: usize },
    /// Stands for the columns left out.
    Gap,
}

/// Terminal columns that a gap takes.
pub const GAP_WIDTH: usize = 1;

/// Terminal columns that the lines and spaces around `column_count` columns take: `│ a │ b │`.
fn frame_width(column_count: usize) -> usize {
    3 * column_count + 1
}

/// Shares `width_limit` terminal columns among columns that would like to be `natural` wide.
pub fn lay_out(natural: &[usize], width_limit: Option<usize>) -> GridLayout {
    let all: Vec<usize> = (0..natural.len()).collect();
    let (Some(width_limit), false) = (width_limit, natural.is_empty()) else {
        return with_widths(natural, &all, usize::MAX);
    };
    if let Some(room) = room_for(natural, &all, 0, width_limit) {
        return with_widths(natural, &all, room);
    }
    let shown = outermost_that_fit(natural, width_limit);
    let gap_width = GAP_WIDTH + 3;
    let room = room_for(natural, &shown, gap_width, width_limit).unwrap_or_else(|| {
        width_limit
            .saturating_sub(frame_width(shown.len()) + gap_width)
            .max(1)
    });
    with_widths(natural, &shown, room)
}

/// The terminal columns left for text when these columns are shown, if each gets enough.
fn room_for(natural: &[usize], shown: &[usize], extra: usize, width_limit: usize) -> Option<usize> {
    let room = width_limit.checked_sub(frame_width(shown.len()) + extra)?;
    let needed: usize = shown
        .iter()
        .map(|&index| natural[index].min(NARROWEST_CUT_WIDTH))
        .sum();
    (needed <= room).then_some(room)
}

/// Takes columns from the left and the right end in turn while they fit; at least the first.
fn outermost_that_fit(natural: &[usize], width_limit: usize) -> Vec<usize> {
    let (mut left, mut right) = (1, natural.len());
    let shown = |left: usize, right: usize| -> Vec<usize> {
        (0..left).chain(right..natural.len()).collect()
    };
    let fits = |columns: &[usize]| room_for(natural, columns, GAP_WIDTH + 3, width_limit).is_some();
    loop {
        let takes_left = left <= natural.len() - right;
        let (next_left, next_right) = if takes_left {
            (left + 1, right)
        } else {
            (left, right - 1)
        };
        if next_left > next_right || !fits(&shown(next_left, next_right)) {
            return shown(left, right);
        }
        (left, right) = (next_left, next_right);
    }
}

fn with_widths(natural: &[usize], shown: &[usize], room: usize) -> GridLayout {
    let wanted: Vec<usize> = shown.iter().map(|&index| natural[index]).collect();
    let widths = share(&wanted, room);
    let mut columns = Vec::with_capacity(shown.len() + 1);
    let mut expected = 0;
    for (&index, width) in shown.iter().zip(widths) {
        if index != expected {
            columns.push(LaidOut::Gap);
        }
        columns.push(LaidOut::Column { index, width });
        expected = index + 1;
    }
    if expected != natural.len() {
        columns.push(LaidOut::Gap);
    }
    GridLayout { columns }
}

/// Cuts the widest until the sum fits: every column gets what it wants or the common cap, and what
/// the cap leaves over goes to the cut ones from the left.
fn share(wanted: &[usize], room: usize) -> Vec<usize> {
    let total = wanted
        .iter()
        .fold(0_usize, |sum, width| sum.saturating_add(*width));
    if total <= room {
        return wanted.to_vec();
    }
    let mut ascending = wanted.to_vec();
    ascending.sort_unstable();
    let (mut remaining, mut cap) = (room, 0);
    for (position, width) in ascending.iter().enumerate() {
        cap = remaining / (wanted.len() - position);
        if *width > cap {
            break;
        }
        remaining -= width;
    }
    let mut widths: Vec<usize> = wanted.iter().map(|width| (*width).min(cap)).collect();
    let mut left_over = room.saturating_sub(widths.iter().sum());
    for (width, wanted) in widths.iter_mut().zip(wanted) {
        if left_over > 0 && *width < *wanted {
            *width += 1;
            left_over -= 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::{LaidOut, frame_width, lay_out, share};

    fn column(index: usize, width: usize) -> LaidOut {
        LaidOut::Column { index, width }
    }

    #[test]
    fn without_a_limit_everything_is_as_wide_as_it_likes() {
        assert_eq!(
            lay_out(&[3, 500], None).columns,
            [column(0, 3), column(1, 500)]
        );
    }

    #[test]
    fn the_widest_are_cut_first() {
        assert_eq!(share(&[3, 50, 20], 40), [3, 19, 18]);
        assert_eq!(share(&[3, 50, 10], 40), [3, 27, 10]);
        assert_eq!(share(&[5, 5], 10), [5, 5]);
        assert_eq!(share(&[9, 9, 9], 8), [3, 3, 2]);
    }

    #[test]
    fn middle_columns_make_way_for_a_gap() {
        // Frame of five columns and a gap: 5*3+1 + 4 = 20; 60 - 20 = 40 for four columns of ten.
        let layout = lay_out(&[10; 9], Some(60));
        let expected = [
            column(0, 10),
            column(1, 10),
            LaidOut::Gap,
            column(7, 10),
            column(8, 10),
        ];
        // 4*3+1 + 4 = 17; 60 - 17 = 43 holds four columns of ten but not five.
        assert_eq!(layout.columns, expected);
    }

    #[test]
    fn one_column_too_wide_is_cut_not_hidden() {
        assert_eq!(lay_out(&[100], Some(40)).columns, [column(0, 36)]);
    }

    #[test]
    fn what_is_laid_out_fits_unless_the_terminal_is_tiny() {
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % bound
        };
        for _ in 0..5_000 {
            let natural: Vec<usize> = (0..1 + next(12)).map(|_| next(60) as usize + 1).collect();
            let limit = 20 + next(140) as usize;
            let layout = lay_out(&natural, Some(limit));
            let text: usize = layout
                .columns
                .iter()
                .map(|laid_out| match laid_out {
                    LaidOut::Column { width, .. } => *width,
                    LaidOut::Gap => super::GAP_WIDTH,
                })
                .sum();
            let total = text + frame_width(layout.columns.len());
            assert!(total <= limit, "{natural:?} in {limit}: {layout:?}");
        }
    }

    #[test]
    fn no_columns_and_no_room_are_harmless() {
        assert_eq!(lay_out(&[], Some(10)).columns, []);
        assert_eq!(lay_out(&[5, 5], Some(1)).columns.len(), 2);
    }
}
