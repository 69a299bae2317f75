//! Runs scripts: their statements and commands, one after the other. A command may run another script.

use std::io::{self, BufRead};

use crate::commands;
use crate::rows_behind::{ProcessInput, RowLines, RowTypist, TypedLines, TypedScript};
use crate::script::{Item, ScriptReader};
use crate::shell::{Flow, ScriptPosition, Shell, ShellFailure};

impl Shell {
    /// Runs a script to its end or to where it stops.
    ///
    /// # Errors
    /// When results can no longer be written.
    pub fn run_script(&mut self, script: impl BufRead, name: Option<&str>) -> io::Result<Flow> {
        self.script_depth += 1;
        let script = ScriptReader::new(script);
        let result = self.run_items(script, name, |shell, item, script| match name {
            Some(_) => shell.run_item(item, name, script),
            None => shell.run_item(item, name, &mut ProcessInput),
        });
        self.script_depth -= 1;
        result
    }

    /// Runs what was typed at the prompt, by somebody who can be asked for rows.
    ///
    /// # Errors
    /// As [`Shell::run_script`].
    pub fn run_typed(&mut self, text: &str, typist: &mut dyn RowTypist) -> io::Result<Flow> {
        self.script_depth += 1;
        let script = TypedScript::new(io::Cursor::new(text.as_bytes().to_vec()));
        let result = self.run_items(script, None, |shell, item, script| {
            let mut lines = TypedLines::new(script, typist, shell.interrupts.clone());
            shell.run_item(item, None, &mut lines)
        });
        self.script_depth -= 1;
        result
    }

    /// Runs the standard input as a script.
    ///
    /// # Errors
    /// As [`Shell::run_script`].
    pub fn run_standard_input(&mut self) -> io::Result<Flow> {
        self.standard_input_depth = Some(self.script_depth + 1);
        let result = self.run_script(io::stdin().lock(), Some("<stdin>"));
        self.standard_input_depth = None;
        result
    }

    fn run_items<R: BufRead>(
        &mut self,
        mut script: ScriptReader<R>,
        name: Option<&str>,
        mut run: impl FnMut(&mut Self, &Item, &mut ScriptReader<R>) -> io::Result<Flow>,
    ) -> io::Result<Flow> {
        loop {
            let item = match script.next_item() {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(Flow::Continue),
                Err(error) => {
                    let line = script.line();
                    let place = name.map(|script| ScriptPosition { script, line });
                    return Ok(self.fail(&format!("cannot read on: {error}"), place));
                }
            };
            let flow = run(self, &item, &mut script)?;
            if flow != Flow::Continue {
                return Ok(flow);
            }
        }
    }

    fn run_item(
        &mut self,
        item: &Item,
        name: Option<&str>,
        lines: &mut dyn RowLines,
    ) -> io::Result<Flow> {
        let (result, line) = match item {
            Item::Command { text, line } => (commands::run(self, text, lines), *line),
            Item::Statement { text, line } => {
                let executed = self.execute_or_copy(text, lines);
                (executed.map(|()| Flow::Continue), *line)
            }
        };
        let was_interrupted = self.interrupts.take_interrupted();
        self.was_stopped |= was_interrupted && !self.is_interactive;
        let flow = match result {
            Err(ShellFailure::Output(error)) if !self.output.is_redirected() => return Err(error),
            Ok(Flow::Continue) if was_interrupted => Flow::Stop,
            Ok(flow) => flow,
            Err(failure) => {
                self.had_error = true;
                self.report(&failure, name.map(|script| ScriptPosition { script, line }));
                if self.settings.bail || was_interrupted {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            }
        };
        self.show_time();
        Ok(flow)
    }
}
