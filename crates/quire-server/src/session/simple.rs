//! `Query`: statements in one text, run one after the other.

use quire::{Outcome, TransactionStatus};

use super::commands::SessionCommand;
use super::copying::may_copy;
use super::rows::{PortalSource, ResultColumns, tag_of};
use super::script::QueryScript;
use super::words::{TransactionCommand, first_word};
use super::{ClientSession, SessionStop};
use crate::failure::ServerFailure;
use crate::net::Sender;

impl ClientSession {
    /// Runs the statements of a text. Several are one transaction, unless they say otherwise themselves.
    pub(super) fn query(&mut self, sql: &str, sender: &mut Sender) -> Result<(), SessionStop> {
        // A statement of the simple protocol takes the place of the unnamed one.
        self.statements.remove("");
        self.portals.remove("");
        match QueryScript::of(sql) {
            Ok(script) => {
                if script.rest.is_empty() {
                    sender.output.empty_query();
                }
                self.run_script(script, sender)
            }
            Err(error) => {
                self.fail(&ServerFailure::of_statement(&error, sql, 0), sender);
                self.sync(sender)
            }
        }
    }

    /// Runs what is left of a `Query`. It rests while rows come that a statement of it copies.
    pub(super) fn run_script(
        &mut self,
        mut script: QueryScript,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        while let Some((statement, characters_before)) = script.rest.pop_front() {
            let ran = self.run_one(
                &statement,
                script.is_one_of_several,
                characters_before,
                sender,
            );
            match ran {
                Err(SessionStop::Failed(failure)) => {
                    self.fail(&failure, sender);
                    break;
                }
                other => other?,
            }
            if self.copying.is_some() {
                self.script = Some(script);
                return Ok(());
            }
        }
        self.sync(sender)
    }

    fn run_one(
        &mut self,
        sql: &str,
        is_one_of_several: bool,
        characters_before: usize,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let place =
            |error: quire::Error| ServerFailure::of_statement(&error, sql, characters_before);
        let control = TransactionCommand::of(sql);
        if control.is_some() {
            self.warn_of(control, sender);
        } else if is_one_of_several {
            self.begin_implicit()?;
        }
        if may_copy(sql) && self.copy(sql, true, sender)? {
            return Ok(());
        }
        let command = SessionCommand::of(sql)?;
        match &command {
            Some(command) => self.run_command(command, sender)?,
            None => {
                let ran = self.connection.execute(sql).map_err(place);
                Self::send_outcome(ran?, sender)?;
            }
        }
        if control.is_some() {
            // Whatever it was, the client has taken the transaction into its own hands.
            self.is_implicit = false;
        }
        if matches!(first_word(sql).as_str(), "set" | "reset" | "discard") {
            self.settings.announce(&self.connection, sender);
        }
        Ok(())
    }

    fn send_outcome(outcome: Outcome, sender: &mut Sender) -> Result<(), SessionStop> {
        match outcome {
            Outcome::Rows(rows) => {
                let columns = ResultColumns::new(rows.schema());
                let command = rows.command();
                columns.describe(&[], &mut sender.output);
                let count = PortalSource::of_rows(rows).send(&columns, &[], u64::MAX, sender)?;
                sender.output.command_complete(&tag_of(command, count));
            }
            Outcome::Done(completion) => Self::complete(completion, sender),
        }
        Ok(())
    }

    /// What PostgreSQL warns of: a transaction in a transaction, and the end of none.
    pub(super) fn warn_of(&self, control: Option<TransactionCommand>, sender: &mut Sender) {
        let is_idle = self.connection.transaction_status() == TransactionStatus::Idle;
        let warning = match control {
            Some(TransactionCommand::Begin) if !is_idle && !self.is_implicit => {
                ServerFailure::warning("25001", "there is already a transaction in progress")
            }
            Some(TransactionCommand::End) if is_idle || self.is_implicit => {
                ServerFailure::warning("25P01", "there is no transaction in progress")
            }
            _ => return,
        };
        sender.output.notice(&warning);
    }
}
