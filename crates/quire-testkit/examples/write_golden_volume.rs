//! Writes the reference volumes of the current format version into a folder:
//! `cargo run --release -p quire-testkit --example write_golden_volume -- FOLDER`

use std::path::PathBuf;

use quire_testkit::store::{GOLDEN_NAMES, make_golden_files};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("which folder?")?;
    for (name, bytes) in GOLDEN_NAMES.iter().zip(make_golden_files()?) {
        let path = folder.join(name);
        if path.exists() {
            return Err(
                format!("{} exists; a golden file is never replaced", path.display()).into(),
            );
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
