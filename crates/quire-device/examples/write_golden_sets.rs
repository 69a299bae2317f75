//! Writes the reference volume of data sets of a version of the format, 1 or 2:
//! `cargo run -p quire-device --example write_golden_sets -- VERSION FILE`.

use std::error::Error;
use std::path::PathBuf;

#[path = "../tests/device/golden_content.rs"]
mod golden_content;

use golden_content::{SETS, make, make_with_dictionary, orders, sparse, text_of};

fn main() -> Result<(), Box<dyn Error>> {
    let version = std::env::args().nth(1).ok_or("which version?")?;
    let path = std::env::args_os().nth(2).map(PathBuf::from);
    let path = path.ok_or("which file?")?;
    if path.exists() {
        let path = path.display();
        return Err(format!("{path} exists; a golden file is never replaced").into());
    }
    let bytes = match version.as_str() {
        "1" => make()?,
        "2" => make_with_dictionary()?,
        _ => return Err(format!("there is no version {version}; write 1 or 2").into()),
    };
    std::fs::write(&path, &bytes)?;
    println!("{} bytes in {}", bytes.len(), path.display());
    if version == "2" {
        println!("learnt: orders of {} bytes", orders().len());
        return Ok(());
    }
    for set in SETS {
        let bytes = text_of(set).len();
        println!("{set}: text of {bytes} bytes, sparse of {}", sparse().len());
    }
    Ok(())
}
