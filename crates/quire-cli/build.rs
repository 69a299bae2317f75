//! Asks the linker for a small executable, where it can make one.
//!
//! Identical functions are folded into one, and the relocations of a position-independent executable are packed (DT_RELR): 118.0 MB become
//! 109.6 MB. Both are options of LLD, rustc's default linker for Linux on x86-64; another linker may not know them, so each is tried first.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const OPTIONS: [&str; 2] = ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let is_native = env::var("HOST")? == env::var("TARGET")?;
    // What the executable is linked with elsewhere cannot be tried here.
    if !is_native || env::var("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(());
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let source = folder.join("probe.rs");
    fs::write(&source, "fn main() {}\n")?;
    let mut known = Vec::new();
    for option in OPTIONS {
        known.push(option);
        // With the options before it, as they are used.
        if links(&known, &source, &folder)? {
            println!("cargo:rustc-link-arg-bins={option}");
        } else {
            known.pop();
        }
    }
    Ok(())
}

/// Whether an empty program is linked with the options, and runs.
fn links(options: &[&str], source: &Path, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let program = folder.join("probe");
    let options = options
        .iter()
        .flat_map(|option| ["-C".to_owned(), format!("link-arg={option}")]);
    let linked = Command::new(env::var("RUSTC")?)
        .args(options)
        .arg("-o")
        .args([&program, source])
        .stderr(Stdio::null())
        .status()?;
    Ok(linked.success()
        && Command::new(program)
            .status()
            .is_ok_and(|ran| ran.success()))
}
