//! Advice as rows: the choices of each table, the best first.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray,
};
use quire_advisor::{AdvisedChoice, CompressionAdvice};
use quire_error::Error;

use super::sample::AdvisedTable;
use crate::outcome::{Outcome, Rows};

/// What is advised for one table.
pub(super) struct TableAdvice {
    pub(super) table: AdvisedTable,
    pub(super) advice: CompressionAdvice,
}

/// One row: a choice for a table, or one that was not measured.
struct AdviceRow<'a> {
    table: &'a str,
    /// 1 for the best; none if another choice is better whatever the weights, or if it was not measured.
    rank: Option<i32>,
    storage: String,
    measured: Option<&'a AdvisedChoice>,
    explanation: String,
    statements: String,
}

/// All choices.
pub(super) fn rows(advised: &[TableAdvice]) -> Result<Outcome, Error> {
    let rows: Vec<AdviceRow<'_>> = advised.iter().flat_map(rows_of).collect();
    let text = |value: &dyn Fn(&AdviceRow<'_>) -> String| {
        let array: StringViewArray = rows.iter().map(|row| Some(value(row))).collect();
        Arc::new(array) as ArrayRef
    };
    let number = |value: &dyn Fn(&AdvisedChoice) -> f64| {
        let array: Float64Array = rows.iter().map(|row| row.measured.map(value)).collect();
        Arc::new(array) as ArrayRef
    };
    let bytes: Int64Array = rows
        .iter()
        .map(|row| row.measured.map(|one| one.predicted.whole_bytes as i64))
        .collect();
    let ranks: Int32Array = rows.iter().map(|row| row.rank).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("table_name", text(&|row| row.table.to_owned())),
        ("rank", Arc::new(ranks)),
        ("storage", text(&|row| row.storage.clone())),
        ("bytes", Arc::new(bytes)),
        ("point_read_us", number(&|one| one.predicted.point_read_us)),
        (
            "page_access_us",
            number(&|one| one.predicted.page_access_us),
        ),
        ("scan_mb_s", number(&|one| one.predicted.scan_mb_s)),
        ("write_mb_s", number(&|one| one.measured.encode_mb_s)),
        (
            "longest_read_us",
            number(&|one| one.predicted.worst_response_us),
        ),
        ("processor_s", number(&|one| one.measured.processor_seconds)),
        ("benefit", number(&|one| one.rank.benefit)),
        ("explanation", text(&|row| row.explanation.clone())),
        ("statements", text(&|row| row.statements.clone())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )?;
    Ok(Outcome::Rows(Rows::ready(batch)))
}

fn rows_of(advised: &TableAdvice) -> Vec<AdviceRow<'_>> {
    let table = advised.table.name.as_str();
    let mut rows = Vec::new();
    for choice in &advised.advice.choices {
        let rank = choice.rank.rank.and_then(|rank| i32::try_from(rank).ok());
        rows.push(AdviceRow {
            table,
            rank,
            storage: choice.choice.storage_clause(),
            measured: Some(choice),
            explanation: choice.explanation.join("\n"),
            statements: with_semicolons(&choice.statements),
        });
    }
    for left_out in &advised.advice.left_out {
        rows.push(AdviceRow {
            table,
            rank: None,
            storage: left_out.choice.storage_clause(),
            measured: None,
            explanation: format!("Not measured: {}", left_out.reason),
            statements: String::new(),
        });
    }
    rows
}

fn with_semicolons(statements: &[String]) -> String {
    let ended = statements.iter().map(|statement| format!("{statement};"));
    ended.collect::<Vec<_>>().join("\n")
}
