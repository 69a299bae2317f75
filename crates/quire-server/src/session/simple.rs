//! `Query`: statements in one text, run one after the other.

use quire::{Connection, Outcome, TransactionStatus};

use super::copying::may_copy;
use super::rows::{Columns, Source, tag_of};
use super::statement::unknown_statement;
use super::words::{Control, deallocated, first_word};
use super::{Session, Stop};
use crate::failure::Failure;
use crate::net::Sender;

impl Session {
    /// Runs the statements of a text. Several are one transaction, unless they say otherwise themselves.
    pub(super) fn query(&mut self, sql: &str, sender: &mut Sender) -> Result<(), Stop> {
        // A statement of the simple protocol takes the place of the unnamed one.
        self.statements.remove("");
        self.portals.remove("");
        match self.run_all(sql, sender) {
            Err(Stop::Failed(failure)) => self.fail(&failure, sender),
            other => other?,
        }
        if self.copying.is_some() {
            // What it answers, and that it is ready, follows the rows.
            return Ok(());
        }
        self.sync(sender)
    }

    fn run_all(&mut self, sql: &str, sender: &mut Sender) -> Result<(), Stop> {
        let statements =
            Connection::statements(sql).map_err(|error| Failure::of_statement(&error, sql, 0))?;
        if statements.is_empty() {
            sender.output.empty_query();
            return Ok(());
        }
        let (mut behind, mut characters) = (0, 0);
        for (index, statement) in statements.iter().enumerate() {
            let rest = sql.get(behind..).unwrap_or_default();
            let start = rest.find(statement.as_str()).unwrap_or(0);
            characters += rest.get(..start).unwrap_or_default().chars().count();
            let control = Control::of(statement);
            if statements.len() > 1 && control.is_none() {
                self.begin_implicit()?;
            }
            self.run_one(statement, control, characters, sender)?;
            if self.copying.is_some() && index + 1 < statements.len() {
                self.copying = None;
                let text = "COPY FROM STDIN must be the last statement of its message";
                return Err(Failure::error("0A000", text).into());
            }
            behind += start + statement.len();
            characters += statement.chars().count();
        }
        Ok(())
    }

    fn run_one(
        &mut self,
        sql: &str,
        control: Option<Control>,
        characters_before: usize,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        let place = |error: quire::Error| Failure::of_statement(&error, sql, characters_before);
        if control.is_some() {
            self.warn_of(control, sender);
        }
        if let Some(tag) = self.deallocate(sql)? {
            sender.output.command_complete(tag);
            return Ok(());
        }
        if may_copy(sql) && self.copy(sql, true, sender)? {
            return Ok(());
        }
        self.begin_timed();
        let ran = self.connection.execute(sql).map_err(place);
        let sent = ran
            .map_err(Stop::from)
            .and_then(|outcome| Self::send_outcome(outcome, sender));
        self.end_timed(sent)?;
        if control.is_some() {
            // Whatever it was, the client has taken the transaction into its own hands.
            self.is_implicit = false;
        }
        if matches!(first_word(sql).as_str(), "set" | "reset" | "discard") {
            self.announce_settings(sender);
        }
        Ok(())
    }

    fn send_outcome(outcome: Outcome, sender: &mut Sender) -> Result<(), Stop> {
        match outcome {
            Outcome::Rows(rows) => {
                let columns = Columns::new(rows.schema());
                let command = rows.command();
                columns.describe(&[], &mut sender.output);
                let count = Source::of_rows(rows).send(&columns, &[], u64::MAX, sender)?;
                sender.output.command_complete(&tag_of(command, count));
            }
            Outcome::Done(completion) => {
                for notice in completion.notices {
                    sender.output.notice(&Failure::notice(notice));
                }
                sender.output.command_complete(&completion.tag);
            }
        }
        Ok(())
    }

    /// Runs `DEALLOCATE`, which is about what only the session knows; returns its tag.
    pub(super) fn deallocate(&mut self, sql: &str) -> Result<Option<&'static str>, Failure> {
        if self.connection.transaction_status() == TransactionStatus::Failed {
            return Ok(None);
        }
        match deallocated(sql) {
            None => Ok(None),
            Some(None) => {
                self.statements.clear();
                Ok(Some("DEALLOCATE ALL"))
            }
            Some(Some(name)) => match self.statements.remove(&name) {
                Some(_) => Ok(Some("DEALLOCATE")),
                None => Err(unknown_statement(&name)),
            },
        }
    }

    /// What PostgreSQL warns of: a transaction in a transaction, and the end of none.
    pub(super) fn warn_of(&self, control: Option<Control>, sender: &mut Sender) {
        let is_idle = self.connection.transaction_status() == TransactionStatus::Idle;
        let warning = match control {
            Some(Control::Begin) if !is_idle && !self.is_implicit => {
                Failure::warning("25001", "there is already a transaction in progress")
            }
            Some(Control::End) if is_idle || self.is_implicit => {
                Failure::warning("25P01", "there is no transaction in progress")
            }
            _ => return,
        };
        sender.output.notice(&warning);
    }

    /// A statement begins, whose time may be limited.
    pub(super) fn begin_timed(&self) {
        self.shared
            .registry
            .begin(&self.peer, self.settings.statement_limit);
    }

    /// It has ended; if its time was up, that is what its failure says.
    pub(super) fn end_timed<T>(&self, ended: Result<T, Stop>) -> Result<T, Stop> {
        let is_late = self.peer.end();
        match ended {
            Err(Stop::Failed(mut failure)) if is_late && failure.sqlstate == "57014" => {
                failure.message = "canceling statement due to statement timeout".to_owned();
                Err(Stop::Failed(failure))
            }
            other => other,
        }
    }
}
