//! What each message of a client does.
//!
//! | module | answers |
//! |---|---|
//! | `simple` | `Query`: several statements in one text |
//! | `extended` | `Parse`, `Bind`, `Describe`, `Execute`, `Close`, `Sync` |
//! | `copying` | `COPY` with the client |
//! | `commands` | statements about the session: prepared statements, cursors |
//! | `statement`, `portal` | what is kept under a name |
//! | `rows` | rows of either kind of answer as messages |
//! | `settings` | what clients are told of settings, and limits of time |
//! | `introspection` | a question of a driver that is asked otherwise |
//! | `words` | what the first words of a statement tell |

mod commands;
mod copying;
mod copying_state;
mod extended;
mod introspection;
mod portal;
mod rows;
mod script;
mod settings;
mod simple;
mod statement;
mod stop;
mod words;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use quire::{Connection, Outcome, TransactionStatus};

use crate::failure::ServerFailure;
use crate::net::{Peer, Sender};
use crate::server_state::ServerState;
use crate::wire::Frontend;
use copying_state::Copying;
use portal::Portal;
use script::QueryScript;
use settings::SessionSettings;
use statement::SharedStatement;
pub(crate) use stop::SessionStop;

/// One client's session.
pub(crate) struct ClientSession {
    shared: Arc<ServerState>,
    peer: Arc<Peer>,
    connection: Connection,
    settings: SessionSettings,
    /// Prepared statements by name; the unnamed one has the empty name.
    statements: HashMap<String, SharedStatement>,
    portals: HashMap<String, Portal>,
    /// A message failed: all are read past until `Sync`.
    is_skipping: bool,
    /// The transaction was begun for the client, and ends with the message or with `Sync`.
    is_implicit: bool,
    /// Rows come that the client copies.
    copying: Option<Copying>,
    /// What follows that `COPY` in its `Query`.
    script: Option<QueryScript>,
}

impl ClientSession {
    /// A session begins: the client is told its settings.
    pub(crate) fn begin(
        connection: Connection,
        shared: Arc<ServerState>,
        peer: Arc<Peer>,
        sender: &mut Sender,
    ) -> Self {
        let mut session = Self {
            shared,
            peer,
            connection,
            settings: SessionSettings::default(),
            statements: HashMap::new(),
            portals: HashMap::new(),
            is_skipping: false,
            is_implicit: false,
            copying: None,
            script: None,
        };
        session.settings.announce_fixed(sender);
        session.settings.announce(&session.connection, sender);
        session
    }

    /// Answers a message; `follows` is the kind of the next one, if that has come.
    pub(crate) fn handle(
        &mut self,
        message: Frontend<'_>,
        follows: Option<u8>,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        if self.copying.is_some() {
            return self.take_rows(&message, sender);
        }
        if self.is_skipping && message != Frontend::Sync {
            return Ok(());
        }
        let answered = match message {
            Frontend::Query(sql) => return self.query(sql, sender),
            Frontend::Sync => return self.sync(sender),
            Frontend::FunctionCall => {
                let failure = ServerFailure::error("0A000", "function calls are not supported");
                self.fail(&failure, sender);
                self.ready(sender);
                return Ok(());
            }
            Frontend::Parse {
                name,
                sql,
                parameter_oids,
            } => self.parse(name, sql, &parameter_oids, sender),
            Frontend::Bind(bind) => self.bind(&bind, sender),
            Frontend::Describe(target) => self.describe(target, sender),
            Frontend::Execute {
                portal,
                row_count_max,
            } => self.execute(portal, row_count_max, follows == Some(b'S'), sender),
            Frontend::Close(target) => {
                self.close(target, sender);
                Ok(())
            }
            // Outside of a COPY its messages are read past, as in PostgreSQL; the others were answered before.
            Frontend::Flush
            | Frontend::Terminate
            | Frontend::Password(_)
            | Frontend::CopyData(_)
            | Frontend::CopyDone
            | Frontend::CopyFail(_) => Ok(()),
        };
        self.or_skip(answered, sender)
    }

    /// Answers a message whose body is none.
    pub(crate) fn refuse(
        &mut self,
        failure: ServerFailure,
        kind: u8,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        if self.copying.is_some() {
            return self.refuse_rows(failure, sender);
        }
        if self.is_skipping && kind != b'S' {
            return Ok(());
        }
        self.fail(&failure, sender);
        match kind {
            b'Q' | b'S' | b'F' => self.sync(sender),
            _ => {
                self.is_skipping = true;
                Ok(())
            }
        }
    }

    /// After a failure everything is read past until `Sync`.
    fn or_skip(
        &mut self,
        answered: Result<(), SessionStop>,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        match answered {
            Err(SessionStop::Failed(failure)) => {
                self.fail(&failure, sender);
                self.is_skipping = true;
                Ok(())
            }
            other => other,
        }
    }

    fn fail(&mut self, failure: &ServerFailure, sender: &mut Sender) {
        self.connection.fail_transaction();
        sender.output.error(failure);
    }

    fn ready(&self, sender: &mut Sender) {
        sender
            .output
            .ready(match self.connection.transaction_status() {
                TransactionStatus::Idle => b'I',
                TransactionStatus::Open => b'T',
                TransactionStatus::Failed => b'E',
            });
    }

    fn sync(&mut self, sender: &mut Sender) -> Result<(), SessionStop> {
        self.is_skipping = false;
        match self.end_implicit() {
            Err(SessionStop::Failed(failure)) => self.fail(&failure, sender),
            other => other?,
        }
        if self.connection.transaction_status() == TransactionStatus::Idle {
            self.portals.clear();
        }
        self.ready(sender);
        Ok(())
    }

    /// Begins a transaction for statements that belong together.
    fn begin_implicit(&mut self) -> Result<(), SessionStop> {
        if self.connection.transaction_status() == TransactionStatus::Idle {
            self.run("BEGIN")?;
            self.is_implicit = true;
        }
        Ok(())
    }

    /// Ends it: what failed is undone.
    fn end_implicit(&mut self) -> Result<(), SessionStop> {
        if std::mem::take(&mut self.is_implicit) {
            match self.connection.transaction_status() {
                TransactionStatus::Idle => {}
                TransactionStatus::Open => {
                    self.run("COMMIT")?;
                }
                TransactionStatus::Failed => {
                    self.run("ROLLBACK")?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Result<Outcome, SessionStop> {
        Ok(self.connection.execute(sql)?)
    }

    /// Lets other sessions end this one by `end`.
    pub(crate) fn end_by(&mut self, end: Arc<dyn Fn() + Send + Sync>) {
        self.connection.end_by(end);
    }

    /// How long the client may say nothing.
    pub(crate) fn silence_limit(&self) -> Option<Duration> {
        if self.copying.is_some() {
            // A statement runs.
            return None;
        }
        self.settings.silence_limit(self.is_in_transaction())
    }

    /// What it is told then.
    pub(crate) fn silence_failure(&self) -> ServerFailure {
        if self.is_in_transaction() && self.settings.has_transaction_limit() {
            let text = "terminating connection due to idle-in-transaction timeout";
            return ServerFailure::fatal("25P03", text);
        }
        ServerFailure::fatal(
            "57P05",
            "terminating connection due to idle-session timeout",
        )
    }

    fn is_in_transaction(&self) -> bool {
        self.connection.transaction_status() != TransactionStatus::Idle
    }
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        self.shared.registry.remove(self.peer.process_id);
    }
}
