//! Chores of the repository, run as `cargo xtask NAME`. Which of them exist, and what each one answers, is in `USAGE`.
#![forbid(unsafe_code)]

mod demo;
mod generate;
mod imports;
mod rust_source;
mod tidy;
mod tpch;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy                 check the rules of STYLE.md that a machine can check
  tidy --tighten       lower the ratchets to what the sources have reached (never raises one)
  imports CRATE        print which file of a crate imports which, and the files that do so in a circle
  gen                  rewrite the documents that are generated from code
  tpch --output DIR [--scale 1] [--format csv|tbl] [--threads 2]
                       write the eight TPC-H tables
  demo [--scale 1] [--data FILE] [--columns] [--work DIR] [--quire PROGRAM]
                       load data as a user would, show the sizes, run queries
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (chore, options) = match arguments.split_first() {
        Some((chore, options)) => (chore.as_str(), options),
        None => ("help", &[][..]),
    };
    let result = match chore {
        "tidy" => tidy::run(&repository_root(), options),
        "imports" => print_imports(&repository_root(), options),
        "gen" => generate::write_all(&repository_root()),
        "tpch" => tpch::run(options),
        "demo" => demo::run(&repository_root(), options),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => Err(format!("no chore is called {other:?}\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {chore}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn print_imports(root: &Path, options: &[String]) -> Result<(), String> {
    let [name] = options else {
        return Err("give the name of one crate".to_owned());
    };
    let tree = tree::Tree::read(root)?;
    let found = tree.crates.iter().find(|member| member.name == *name);
    let member = found.ok_or_else(|| format!("no crate is called {name:?}"))?;
    let imports = imports::Imports::read(&tree, member);
    for (file, targets) in &imports.of {
        for target in targets {
            println!("{file} -> {target}");
        }
    }
    for circle in imports.circles() {
        println!("circle: {}", circle.join(" "));
    }
    Ok(())
}

/// The folder above `xtask/`.
///
/// Cargo names it when it starts the program. The place of compilation is not asked first: a cached build may come from another clone.
fn repository_root() -> PathBuf {
    let compiled_in = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest_folder =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(compiled_in, PathBuf::from);
    manifest_folder
        .parent()
        .map_or(manifest_folder.clone(), PathBuf::from)
}
