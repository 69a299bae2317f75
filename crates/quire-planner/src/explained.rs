//! Plans of batches as the tree that `EXPLAIN` shows.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::metrics::{MetricValue, MetricsSet};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use quire_exec::explained::{ExplainedOperator, MeasuredOperator, OperatorEstimate};
use quire_functions::SUFFIX_MARK;

use crate::optimize::shared_subplan;

/// The operators of a plan, with what is expected of each and, once the plan has run, what each did.
pub fn explained_plan(plan: &Arc<dyn ExecutionPlan>) -> ExplainedOperator {
    explained(plan, &StatisticsContext::new())
}

/// The context knows the statistics of what it has been asked for.
fn explained(plan: &Arc<dyn ExecutionPlan>, context: &StatisticsContext) -> ExplainedOperator {
    // It only gives its thread back now and then.
    if let (true, [input]) = (plan.is::<CooperativeExec>(), plan.children().as_slice()) {
        return explained(input, context);
    }
    let inputs = plan.children().into_iter().chain(shared_subplan(plan));
    let inputs = inputs.map(|input| explained(input, context)).collect();
    let statistics = context.compute(plan.as_ref(), &StatisticsArgs::new());
    let row_count = statistics
        .ok()
        .and_then(|it| it.num_rows.get_value().copied());
    let estimate = row_count.map(|rows| OperatorEstimate {
        row_count: rows as f64,
        cost_ns: None,
    });
    let (heading, details) = described(plan.as_ref());
    ExplainedOperator {
        heading,
        details,
        estimate,
        measured: plan.metrics().and_then(|metrics| measured(&metrics)),
        remarks: Vec::new(),
        inputs,
    }
}

/// What an operator is, and what it does in particular.
fn described(plan: &dyn ExecutionPlan) -> (String, Vec<String>) {
    let text = without_marks(&OneLine(plan).to_string());
    let name = plan.name().split('(').next().unwrap_or_default();
    let behind = text.strip_prefix(name).unwrap_or(&text);
    let behind = behind.trim_start_matches(':').trim();
    // A scan is known by its table.
    let table = behind
        .strip_prefix("table=")
        .filter(|_| plan.is::<DataSourceExec>());
    let (heading, details) = match table.map(|behind| behind.split_once(", ")) {
        Some(Some((table, behind))) => (format!("scan of {table}"), behind),
        _ => (heading_of(plan.name()), behind),
    };
    (heading, details.lines().map(str::to_owned).collect())
}

/// Names that our planner has told apart are shown as people wrote them.
fn without_marks(text: &str) -> String {
    let mut parts = text.split(SUFFIX_MARK);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += part.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    shown
}

/// An operator as DataFusion shows it.
struct OneLine<'p>(&'p dyn ExecutionPlan);

impl Display for OneLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(DisplayFormatType::Default, f)
    }
}

/// The name of an operator in words: `hash join` of `HashJoinExec`, `sort` of `SortExec(TopK)`.
fn heading_of(name: &str) -> String {
    let name = name.split('(').next().unwrap_or(name);
    let name = name.strip_suffix("Exec").unwrap_or(name);
    let mut heading = String::with_capacity(name.len() + 4);
    for (place, letter) in name.char_indices() {
        if letter.is_uppercase() && place > 0 {
            heading.push(' ');
        }
        heading.extend(letter.to_lowercase());
    }
    heading
}

/// The counters of an operator; nothing if it has not run.
fn measured(metrics: &MetricsSet) -> Option<MeasuredOperator> {
    let metrics = metrics.aggregate_by_name();
    let row_count = metrics.output_rows()? as u64;
    let time_ns = metrics.elapsed_compute().unwrap_or(0) as u64;
    let counters = metrics.iter().filter_map(|metric| {
        let value = metric.value();
        let is_counter = matches!(
            value,
            MetricValue::SpillCount(_)
                | MetricValue::SpilledBytes(_)
                | MetricValue::Count { .. }
                | MetricValue::Gauge { .. }
                | MetricValue::PeakMemoryUsage { .. }
        );
        // Of batches and of how DataFusion finds its rows.
        let is_inner = value.name().contains("batches") || value.name().contains("array_map");
        let counted = value.as_usize() as u64;
        let is_shown = is_counter && !is_inner && counted > 0;
        is_shown.then(|| (value.name().replace('_', " "), counted))
    });
    Some(MeasuredOperator {
        row_count,
        own_time: Duration::from_nanos(time_ns),
        counters: counters.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::heading_of;

    #[test]
    fn names_become_words() {
        assert_eq!(heading_of("HashJoinExec"), "hash join");
        assert_eq!(heading_of("RecursiveQuery"), "recursive query");
        assert_eq!(heading_of("SortExec(TopK)"), "sort");
    }
}
