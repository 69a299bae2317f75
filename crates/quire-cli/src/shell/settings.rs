//! What the user can set: by options at the start, by dot commands later.

use crate::render::{RenderFormat, RenderMode};

/// Rows that box and table show on a terminal.
const TERMINAL_ROW_LIMIT: usize = 40;

/// A limit of rows or columns shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayLimit {
    /// The terminal's, and none when the output goes elsewhere.
    Automatic,
    /// None.
    Unlimited,
    /// This many.
    At(usize),
}

impl DisplayLimit {
    fn resolve(self, on_terminal: Option<usize>) -> Option<usize> {
        match self {
            DisplayLimit::Automatic => on_terminal,
            DisplayLimit::Unlimited => None,
            DisplayLimit::At(count) => Some(count),
        }
    }

    /// The word or number the user would type.
    pub fn text(self) -> String {
        match self {
            DisplayLimit::Automatic => "auto".to_owned(),
            DisplayLimit::Unlimited => "0".to_owned(),
            DisplayLimit::At(count) => count.to_string(),
        }
    }
}

/// The state of all switches.
#[derive(Debug, Clone)]
pub struct ShellSettings {
    /// `None`: box on a terminal, CSV elsewhere.
    pub mode: Option<RenderMode>,
    /// Mode to which a second `\x` returns.
    pub mode_before_expanded: Option<RenderMode>,
    pub header: bool,
    pub null_text: Option<String>,
    pub max_rows: DisplayLimit,
    pub width: DisplayLimit,
    pub insert_table: String,
    /// Whether the time of each statement is shown.
    pub timer: bool,
    /// Whether statements are shown before they run.
    pub echo: bool,
    /// Whether a script stops at its first error.
    pub bail: bool,
    /// Whether statements without rows say what they did; `None`: on a terminal.
    pub changes: Option<bool>,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            mode: None,
            mode_before_expanded: None,
            header: true,
            null_text: None,
            max_rows: DisplayLimit::Automatic,
            width: DisplayLimit::Automatic,
            insert_table: "t".to_owned(),
            timer: false,
            echo: false,
            bail: true,
            changes: None,
        }
    }
}

impl ShellSettings {
    /// The mode in force.
    pub fn mode(&self, on_terminal: bool) -> RenderMode {
        self.mode.unwrap_or(if on_terminal {
            RenderMode::Box
        } else {
            RenderMode::Csv
        })
    }

    /// How rows look now. `terminal_width` is `None` when the output is no terminal.
    pub fn format(&self, terminal_width: Option<usize>, color: bool) -> RenderFormat {
        let is_terminal = terminal_width.is_some();
        RenderFormat {
            mode: self.mode(is_terminal),
            header: self.header,
            null_text: self.null_text.clone(),
            row_limit: self
                .max_rows
                .resolve(is_terminal.then_some(TERMINAL_ROW_LIMIT)),
            width_limit: self.width.resolve(terminal_width),
            insert_table: self.insert_table.clone(),
            color: color && is_terminal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DisplayLimit, ShellSettings};
    use crate::render::RenderMode;

    #[test]
    fn a_terminal_limits_what_is_shown_and_a_file_does_not() {
        let settings = ShellSettings::default();
        let on_terminal = settings.format(Some(100), true);
        assert_eq!(on_terminal.mode, RenderMode::Box);
        assert_eq!(
            (on_terminal.row_limit, on_terminal.width_limit),
            (Some(40), Some(100))
        );
        let to_file = settings.format(None, true);
        assert_eq!(to_file.mode, RenderMode::Csv);
        assert_eq!(
            (to_file.row_limit, to_file.width_limit, to_file.color),
            (None, None, false)
        );
    }

    #[test]
    fn limits_set_by_hand_hold_everywhere() {
        let settings = ShellSettings {
            max_rows: DisplayLimit::At(3),
            width: DisplayLimit::Unlimited,
            ..ShellSettings::default()
        };
        let format = settings.format(Some(80), false);
        assert_eq!((format.row_limit, format.width_limit), (Some(3), None));
        assert_eq!(settings.format(None, false).row_limit, Some(3));
    }
}
