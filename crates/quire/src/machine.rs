//! What work costs on this machine, kept in the user's cache folder.
//!
//! Not in the database: a file moves between machines, may be opened only to read, and is opened by several. Beside the version of Quire and
//! the system, a machine is known by the model and number of its processors. What is stored of another machine, or cannot be read, is as if there
//! was nothing.

use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use quire_exec::costs::{CostModel, calibrate};

use quire_error::Error;

const FILE_NAME: &str = "costs";

/// Longer files are not read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// What tells machines apart, on one line.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "model name").then(|| value.trim())
    });
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (system, version) = (env::consts::OS, env!("CARGO_PKG_VERSION"));
    let processor = model.unwrap_or(env::consts::ARCH);
    format!("{processor}, {threads} threads, {system}, quire {version}")
}

/// `quire` in the user's cache folder, as the XDG Base Directory Specification says.
fn folder() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let cache = named("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(named("HOME")?).join(".cache")));
    Some(cache?.join("quire"))
}

/// What was measured here, if it was.
pub(crate) fn stored() -> Option<CostModel> {
    read(&folder()?.join(FILE_NAME), &machine())
}

fn read(path: &Path, machine: &str) -> Option<CostModel> {
    let is_short = fs::metadata(path).ok()?.len() <= FILE_BYTES_MAX;
    let text = is_short.then(|| fs::read_to_string(path).ok())??;
    CostModel::from_text(&text, machine)
}

/// Measures, and keeps what was found for everybody who asks for it later.
pub(crate) fn measure() -> Result<CostModel, Error> {
    let costs = calibrate(None);
    let folder = folder().ok_or_else(|| {
        Error::new("58P01", "there is no cache folder to keep the costs in")
            .with_hint("Set HOME or XDG_CACHE_HOME.")
    })?;
    write(&folder, &costs.to_text(&machine())).map_err(|error| {
        let text = format!(
            "the costs cannot be kept in \"{}\": {error}",
            folder.display()
        );
        Error::new("58030", text)
    })?;
    Ok(costs)
}

/// A reader sees the old file or the new one. It is not worth a sync: who finds it damaged measures again.
fn write(folder: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let unfinished = folder.join(format!("{FILE_NAME}.{}", std::process::id()));
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, folder.join(FILE_NAME))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_was_kept_is_found_and_anything_else_is_nothing() {
        let folder = env::temp_dir().join(format!("quire-costs-{}", std::process::id()));
        let path = folder.join(FILE_NAME);
        assert_eq!(read(&path, "m"), None);
        let mut costs = CostModel::default();
        costs.set("lookup", "123.25").unwrap();
        write(&folder, &costs.to_text("m")).unwrap();
        let found = read(&path, "m").unwrap();
        let lookup = found.shown().find(|shown| shown.name == "lookup");
        assert_eq!(lookup.unwrap().ns, 123.25);
        assert_eq!(read(&path, "another"), None);
        fs::write(&path, [0xff; 100]).unwrap();
        assert_eq!(read(&path, "m"), None);
        fs::write(&path, vec![b'x'; 100_000]).unwrap();
        assert_eq!(read(&path, "m"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
