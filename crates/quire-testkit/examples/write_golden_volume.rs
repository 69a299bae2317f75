//! Writes the reference volumes of the current format version into a folder:
//! `cargo run --release -p quire-testkit --example write_golden_volume -- FOLDER [NAME…]`: all of them, or those with these names.

use std::path::PathBuf;

use quire_testkit::engine::{GOLDEN_PAX_NAME, make_golden_pax};
use quire_testkit::store::{GOLDEN_NAMES, make_golden_files};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("which folder?")?;
    let names: Vec<String> = std::env::args().skip(2).collect();
    let files = GOLDEN_NAMES.into_iter().zip(make_golden_files()?);
    let files = files.chain([(GOLDEN_PAX_NAME, make_golden_pax()?)]);
    for (name, bytes) in files {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
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
