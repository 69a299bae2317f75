//! Where the history is kept.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// `$XDG_STATE_HOME/quire/history`, by default below `~/.local/state`; its folder is made. `None`
/// when there is no home or the folder cannot be made.
pub fn file() -> Option<PathBuf> {
    let folder = folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))?;
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// The XDG base directory specification has a relative path ignored.
fn folder(state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let state_home = state_home
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let default = || {
        let home = home.map(PathBuf::from).filter(|path| path.is_absolute())?;
        Some(home.join(".local").join("state"))
    };
    Some(state_home.or_else(default)?.join("quire"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::folder;

    #[test]
    fn the_state_home_goes_before_the_home() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(
            folder(Some("/s".into()), Some("/h".into())),
            path("/s/quire")
        );
        assert_eq!(
            folder(None, Some("/h".into())),
            path("/h/.local/state/quire")
        );
        assert_eq!(
            folder(Some("relative".into()), Some("/h".into())),
            path("/h/.local/state/quire")
        );
        assert_eq!(folder(Some("".into()), None), None);
    }
}
