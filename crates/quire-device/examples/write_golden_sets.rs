//! Writes the reference volume of data sets of this version of the format:
//! `cargo run -p quire-device --example write_golden_sets -- FILE`.

use std::error::Error;
use std::path::PathBuf;

#[path = "../tests/device/golden_content.rs"]
mod golden_content;

use golden_content::{SETS, make, sparse, text_of};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or("which file?")?;
    if path.exists() {
        let path = path.display();
        return Err(format!("{path} exists; a golden file is never replaced").into());
    }
    std::fs::write(&path, make()?)?;
    for set in SETS {
        let bytes = text_of(set).len();
        println!("{set}: text of {bytes} bytes, sparse of {}", sparse().len());
    }
    Ok(())
}
