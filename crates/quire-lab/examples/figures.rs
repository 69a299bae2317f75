//! The laboratory without the shell and all that it needs.
//!
//! `cargo run --release -p quire-lab --example figures -- codecs|transforms|dual-format|postings|document-numbers|length-decoding|iterator-models [--quick] [FILE]` prints what
//! `quire lab` prints.

use quire_lab::{Experiment, Lab, MeasureEffort, render};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut experiment, mut effort, mut text) = (None, MeasureEffort::Full, None);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "codecs" => experiment = Some(Experiment::Codecs),
            "transforms" => experiment = Some(Experiment::Transforms),
            "dual-format" => experiment = Some(Experiment::DualFormat),
            "postings" => experiment = Some(Experiment::Postings),
            "document-numbers" => experiment = Some(Experiment::DocumentNumbers),
            "length-decoding" => experiment = Some(Experiment::LengthDecoding),
            "iterator-models" => experiment = Some(Experiment::IteratorModels),
            "--quick" => effort = MeasureEffort::Quick,
            file => text = Some(std::fs::read(file)?),
        }
    }
    let experiment = experiment.ok_or(
        "name codecs, transforms, dual-format, postings, document-numbers, length-decoding or iterator-models",
    )?;
    for figure in experiment.run(&Lab::new(effort), text.as_deref())? {
        println!("{}", render::text(&figure));
    }
    Ok(())
}
