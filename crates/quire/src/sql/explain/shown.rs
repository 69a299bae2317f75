//! What is known of a statement's plan, as text and as JSON.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use quire_error::Error;
use quire_exec::explained::ExplainedOperator;
use serde_json::{Map, Value, json};

use super::options::ExplainFormat;
use crate::outcome::{Outcome, Rows};

/// The column of every answer, which clients know from PostgreSQL.
pub(in crate::sql) fn shown_schema() -> SchemaRef {
    let field = Field::new("QUERY PLAN", DataType::Utf8View, false);
    Arc::new(Schema::new(vec![field]))
}

/// Each line as a row.
pub(super) fn lines(text: &str) -> Result<Outcome, Error> {
    rows(StringViewArray::from_iter_values(text.lines()))
}

fn rows(lines: StringViewArray) -> Result<Outcome, Error> {
    let batch = RecordBatch::try_new(shown_schema(), vec![Arc::new(lines)])?;
    Ok(Outcome::Rows(Rows::ready(batch).of_command("EXPLAIN")))
}

/// A plan, and how it was found.
#[derive(Default)]
pub(super) struct ShownPlan {
    /// The executor, where it was chosen by costs or was not the one that was asked.
    pub(super) reason: Option<String>,
    pub(super) operators: ExplainedOperator,
    pub(super) planning: Duration,
    /// Nothing of a plan that was not run.
    pub(super) execution: Option<Duration>,
}

impl ShownPlan {
    pub(super) fn outcome(&self, format: ExplainFormat) -> Result<Outcome, Error> {
        match format {
            ExplainFormat::Text => lines(&self.text()),
            ExplainFormat::Json => {
                let text = serde_json::to_string_pretty(&self.json());
                let text = text.map_err(|error| Error::new("XX000", error.to_string()))?;
                rows(StringViewArray::from_iter_values([text]))
            }
        }
    }

    /// Times are shown of plans that ran, as those of the others would differ from run to run without a use.
    fn text(&self) -> String {
        let reason = self.reason.iter().map(|reason| format!("{reason}\n"));
        let times = self.execution.iter().map(|&execution| {
            let (planning, execution) = (milliseconds(self.planning), milliseconds(execution));
            format!("planning {planning:.3} ms, execution {execution:.3} ms\n")
        });
        let plan = std::iter::once(self.operators.to_string());
        reason.chain(plan).chain(times).collect()
    }

    /// In the form of PostgreSQL's, an array of one object; times are milliseconds.
    fn json(&self) -> Value {
        let mut shown = Map::new();
        shown.insert("Plan".to_owned(), operator_json(&self.operators));
        let mut add = |name: &str, value: Value| shown.insert(name.to_owned(), value);
        add("Planning Time", json!(milliseconds(self.planning)));
        if let Some(reason) = &self.reason {
            add("Executor", json!(reason));
        }
        if let Some(execution) = self.execution {
            add("Execution Time", json!(milliseconds(execution)));
        }
        json!([shown])
    }
}

fn operator_json(operator: &ExplainedOperator) -> Value {
    let mut shown = Map::new();
    let mut add = |name: &str, value: Value| {
        shown.insert(name.to_owned(), value);
    };
    add("Node Type", json!(operator.heading));
    for (name, lines) in [
        ("Details", &operator.details),
        ("Remarks", &operator.remarks),
    ] {
        if !lines.is_empty() {
            add(name, json!(lines));
        }
    }
    if let Some(estimate) = operator.estimate {
        add("Plan Rows", json!(estimate.row_count.round() as u64));
        if let Some(cost_ns) = estimate.cost_ns {
            add("Total Cost", json!(cost_ns / 1e6));
        }
    }
    if let Some(measured) = &operator.measured {
        add("Actual Rows", json!(measured.row_count));
        add("Actual Own Time", json!(milliseconds(measured.own_time)));
        for (name, value) in &measured.counters {
            add(&title_of(name), json!(value));
        }
    }
    if !operator.inputs.is_empty() {
        let inputs: Vec<Value> = operator.inputs.iter().map(operator_json).collect();
        add("Plans", json!(inputs));
    }
    Value::Object(shown)
}

/// The words of a counter's name with capitals, as the names of PostgreSQL's are.
fn title_of(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    };
    name.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn counters_have_titles() {
        assert_eq!(title_of("bytes read"), "Bytes Read");
        assert_eq!(title_of(""), "");
    }
}
