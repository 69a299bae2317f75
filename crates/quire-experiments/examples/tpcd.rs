//! Tables 3, 4 and 5 of the paper, without the shell: `cargo run --release -p quire-experiments --example tpcd -- SCALE FOLDER [ROUNDS]`.

use quire_experiments::tpcd::{Device, Setup, TpcdCompression};
use quire_lab::render;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let scale = arguments.next().ok_or("name the scale")?.parse()?;
    let folder = arguments.next().ok_or("name a folder")?.into();
    let rounds = arguments.next().map_or(Ok(1), |rounds| rounds.parse())?;
    let setup = Setup {
        scale,
        device: Device::Paper,
        compression: TpcdCompression::Paper,
        with_tpch: true,
        has_keys: false,
        rounds,
        folder,
    };
    let figures = quire_experiments::tpcd::figures(&setup, &mut |what| eprintln!("{what}"))?;
    for figure in figures {
        println!("{}", render::text(&figure));
    }
    Ok(())
}
