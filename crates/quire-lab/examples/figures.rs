//! The laboratory without the shell and all that it needs.
//!
//! `cargo run --release -p quire-lab --example figures -- TOPIC [--quick] [FILE …]` prints what `quire lab TOPIC` prints, for
//! codecs, transforms, dual-format, postings, document-numbers, length-decoding, iterator-models and page-model. `figures -- dbgen`
//! prints figure 6.2 over the columns that TPC-H's generator makes, in place of those that the laboratory draws.

use quire_codec::BytesVector;
use quire_lab::codecs::{LineitemColumn, LineitemValues, figure_6_2};
use quire_lab::{Experiment, Figure, Lab, MeasureEffort, render};
use std::error::Error;
use tpchgen::generators::{LineItem, LineItemGenerator};

const DBGEN_ROWS: usize = 1 << 17;
const DBGEN_ROWS_QUICK: usize = 1 << 12;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut topic, mut effort, mut texts) = (None, MeasureEffort::Full, Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => effort = MeasureEffort::Quick,
            _ if topic.is_none() => topic = Some(argument),
            file => texts.push(std::fs::read(file)?),
        }
    }
    let lab = Lab::new(effort);
    let experiment = match topic.as_deref() {
        Some("codecs") => Experiment::Codecs,
        Some("transforms") => Experiment::Transforms,
        Some("dual-format") => Experiment::DualFormat,
        Some("postings") => Experiment::Postings,
        Some("document-numbers") => Experiment::DocumentNumbers,
        Some("length-decoding") => Experiment::LengthDecoding,
        Some("iterator-models") => Experiment::IteratorModels,
        Some("page-model") => Experiment::PageModel,
        Some("dbgen") => {
            print(&figure_6_2(&lab, &dbgen_columns(effort))?.0);
            return Ok(());
        }
        _ => {
            return Err(
                "name codecs, dbgen, transforms, dual-format, postings, document-numbers, \
                        length-decoding, iterator-models or page-model"
                    .into(),
            );
        }
    };
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    print(&experiment.run(&lab, &texts)?);
    Ok(())
}

fn print(figures: &[Figure]) {
    for figure in figures {
        println!("{}", render::text(figure));
    }
}

/// The columns that the laboratory draws, as dbgen makes them at scale 1.
fn dbgen_columns(effort: MeasureEffort) -> Vec<LineitemColumn> {
    let row_count = match effort {
        MeasureEffort::Full => DBGEN_ROWS,
        MeasureEffort::Quick => DBGEN_ROWS_QUICK,
    };
    let generator = LineItemGenerator::new(1.0, 1, 1);
    let rows: Vec<LineItem<'_>> = generator.iter().take(row_count).collect();
    let numbers = |name, value: fn(&LineItem<'_>) -> i64| LineitemColumn {
        name,
        values: LineitemValues::Numbers(rows.iter().map(|row| value(row) as i32).collect()),
    };
    let strings = |name, value: for<'a> fn(&LineItem<'a>) -> &'a str| {
        let mut column = BytesVector::new();
        for row in &rows {
            column.data.extend_from_slice(value(row).as_bytes());
            column.offsets.push(column.data.len() as u32);
        }
        LineitemColumn {
            name,
            values: LineitemValues::Strings(column),
        }
    };
    vec![
        numbers("l_orderkey", |row| row.l_orderkey),
        numbers("l_linenumber", |row| i64::from(row.l_linenumber)),
        numbers("l_quantity", |row| row.l_quantity),
        numbers("l_extendedprice", |row| row.l_extendedprice.into_inner()),
        numbers("l_discount", |row| row.l_discount.into_inner()),
        numbers("l_suppkey", |row| row.l_suppkey),
        numbers("l_shipdate", |row| i64::from(row.l_shipdate.into_inner())),
        numbers("l_commitdate", |row| {
            i64::from(row.l_commitdate.into_inner())
        }),
        strings("l_returnflag", |row| row.l_returnflag),
        strings("l_shipmode", |row| row.l_shipmode),
        strings("l_shipinstruct", |row| row.l_shipinstruct),
        strings("l_comment", |row| row.l_comment),
    ]
}
