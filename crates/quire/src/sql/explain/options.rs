//! What `EXPLAIN` is asked for, in PostgreSQL's older and newer form.

use datafusion::sql::sqlparser::ast::{AnalyzeFormat, AnalyzeFormatKind, Statement, UtilityOption};
use quire_error::Error;
use quire_sql::reject::not_supported;

/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExplainMode {
    Algebra,
    /// The tuple engine's iterators and programs.
    Programs,
    /// The plan of the executor that would run the query.
    Plan,
    /// What every rule of the planner makes of the plan of batches.
    Rules,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExplainFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExplainOptions {
    pub(super) mode: ExplainMode,
    pub(super) format: ExplainFormat,
    /// Whether the query is run.
    pub(super) is_analyzed: bool,
}

impl ExplainOptions {
    /// The options of an `EXPLAIN`, and the statement that is explained.
    pub(super) fn of(statement: Statement) -> Result<(Self, Statement), Error> {
        let Statement::Explain {
            statement: explained,
            analyze,
            verbose,
            format,
            options,
            ..
        } = statement
        else {
            return Err(Error::new("XX000", "internal error: not EXPLAIN"));
        };
        if !matches!(
            explained.as_ref(),
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
        ) {
            return Err(not_supported(
                "EXPLAIN of a statement other than a query or a change of rows",
            ));
        }
        let mut chosen = Self {
            mode: if verbose {
                ExplainMode::Rules
            } else {
                ExplainMode::Plan
            },
            format: format.map_or(Ok(ExplainFormat::Text), |format| format_of(&format))?,
            is_analyzed: analyze,
        };
        for option in options.unwrap_or_default() {
            chosen.apply(&option)?;
        }
        let is_tree = matches!(chosen.mode, ExplainMode::Plan | ExplainMode::Programs);
        if chosen.format == ExplainFormat::Json && !is_tree {
            return Err(not_supported("EXPLAIN (ALGEBRA or VERBOSE) as JSON"));
        }
        Ok((chosen, *explained))
    }

    fn apply(&mut self, option: &UtilityOption) -> Result<(), Error> {
        let argument = option.arg.as_ref().map(ToString::to_string);
        let argument = argument.unwrap_or_default().to_lowercase();
        let argument = argument.trim_matches('\'');
        let is_on = !matches!(argument, "off" | "false" | "0");
        match option.name.value.to_lowercase().as_str() {
            "algebra" => self.mode = ExplainMode::Algebra,
            "avm" => self.mode = ExplainMode::Programs,
            "analyze" => self.is_analyzed = is_on,
            // The other modes show more already.
            "verbose" if is_on && self.mode == ExplainMode::Plan => self.mode = ExplainMode::Rules,
            "format" => self.format = named_format(argument)?,
            // They only change what PostgreSQL prints beside the plan.
            "verbose" | "costs" | "buffers" | "timing" | "summary" | "settings" | "wal" => {}
            other => {
                let option = format!("EXPLAIN option {}", other.to_uppercase());
                return Err(not_supported(option));
            }
        }
        Ok(())
    }
}

fn format_of(format: &AnalyzeFormatKind) -> Result<ExplainFormat, Error> {
    let (AnalyzeFormatKind::Keyword(format) | AnalyzeFormatKind::Assignment(format)) = format;
    match format {
        AnalyzeFormat::JSON => Ok(ExplainFormat::Json),
        AnalyzeFormat::TEXT | AnalyzeFormat::TREE => Ok(ExplainFormat::Text),
        other => named_format(&other.to_string().to_lowercase()),
    }
}

fn named_format(name: &str) -> Result<ExplainFormat, Error> {
    match name {
        "json" => Ok(ExplainFormat::Json),
        "text" | "tree" => Ok(ExplainFormat::Text),
        other => {
            let error = not_supported(format!("EXPLAIN format {}", other.to_uppercase()));
            Err(error.with_hint("FORMAT TEXT and FORMAT JSON are there."))
        }
    }
}
