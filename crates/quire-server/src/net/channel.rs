//! The socket of one connection, encrypted or not.
//!
//! With TLS, whatever has come is decrypted before reading returns, and whatever is to be sent is sent before sending returns. So a
//! connection that waits in the poller has nothing that only rustls knows of, but a record that has not come in full.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustls::ServerConnection;

use super::input::{ReceiveBuffer, SocketFill};
use crate::auth::PROTOCOL;

/// What is encrypted at once.
const RECORD_BYTES: usize = 16 << 10;
/// How long a client that does not listen is waited for when the connection ends.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) struct Channel {
    stream: TcpStream,
    tls: OnceLock<Mutex<Encryption>>,
    is_stopped: AtomicBool,
}

struct Encryption {
    connection: ServerConnection,
    /// The client began with TLS, so it must have said for which protocol.
    needs_protocol: bool,
}

impl Channel {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            tls: OnceLock::new(),
            is_stopped: AtomicBool::new(false),
        }
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.get().is_some()
    }

    /// From now on there is TLS; it does not end before the connection does.
    pub(crate) fn encrypt(
        &self,
        connection: ServerConnection,
        needs_protocol: bool,
    ) -> io::Result<()> {
        let encryption = Mutex::new(Encryption {
            connection,
            needs_protocol,
        });
        let set = self.tls.set(encryption);
        set.map_err(|_| io::Error::other("the connection is encrypted already"))
    }

    /// Adds what comes to the input, and waits a moment if nothing does.
    pub(crate) fn receive(&self, input: &mut ReceiveBuffer) -> io::Result<SocketFill> {
        let Some(tls) = self.tls.get() else {
            return match received((&self.stream).read(input.room()))? {
                Received::Bytes(count) => {
                    input.add(count);
                    Ok(SocketFill::More)
                }
                Received::Filled(filled) => Ok(filled),
            };
        };
        let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
        match received(tls.connection.read_tls(&mut &self.stream))? {
            Received::Bytes(_) => tls.process(&self.stream, input),
            Received::Filled(filled) => Ok(filled),
        }
    }

    /// What waits in the input was read before there was TLS, and is not the client's words, but their encryption.
    pub(crate) fn decrypt_waiting(&self, input: &mut ReceiveBuffer) -> io::Result<()> {
        let encrypted = input.waiting().to_vec();
        input.take(encrypted.len());
        let mut encrypted = encrypted.as_slice();
        if let Some(tls) = self.tls.get() {
            let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
            while !encrypted.is_empty() {
                tls.connection.read_tls(&mut encrypted)?;
                tls.process(&self.stream, input)?;
            }
        }
        Ok(())
    }

    /// Sends everything; fails when the client does not take it for too long.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = self.tls.get() else {
            return (&self.stream).write_all(bytes);
        };
        let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.chunks(RECORD_BYTES) {
            tls.connection.writer().write_all(piece)?;
            tls.push(&self.stream)?;
        }
        Ok(())
    }

    /// Nothing more is read, whatever the client says: whoever waits for it goes on.
    pub(crate) fn stop_reading(&self) {
        self.is_stopped.store(true, Ordering::Release);
        // One that is gone says nothing either.
        let _ = self.stream.shutdown(Shutdown::Read);
    }

    /// Whether the connection was to stop reading.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Tells the client, if there is TLS, that nothing follows.
    pub(crate) fn end(&self) {
        if let Some(tls) = self.tls.get() {
            let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
            tls.connection.send_close_notify();
            // A client that has gone need not be told.
            let _ = self.stream.set_write_timeout(Some(FAREWELL));
            let _ = tls.push(&self.stream);
        }
    }
}

impl Encryption {
    /// Decrypts all that has come in full, and answers what TLS itself asks.
    fn process(&mut self, stream: &TcpStream, input: &mut ReceiveBuffer) -> io::Result<SocketFill> {
        let processed = self.connection.process_new_packets();
        // Also why it fails.
        self.push(stream)?;
        processed.map_err(io::Error::other)?;
        if self.needs_protocol && !self.connection.is_handshaking() {
            if self.connection.alpn_protocol() != Some(PROTOCOL) {
                return Err(io::Error::other("the client did not say what it speaks"));
            }
            self.needs_protocol = false;
        }
        let mut found = SocketFill::More;
        loop {
            match self.connection.reader().read(input.room()) {
                Ok(0) => found = SocketFill::Closed,
                Ok(count) => {
                    input.add(count);
                    found = SocketFill::More;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            // What was said before the end is answered first.
            let has_words = !input.waiting().is_empty();
            return Ok(if has_words { SocketFill::More } else { found });
        }
    }

    fn push(&mut self, mut stream: &TcpStream) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut stream) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What a read of the socket gave.
enum Received {
    Bytes(usize),
    Filled(SocketFill),
}

fn received(read: io::Result<usize>) -> io::Result<Received> {
    match read {
        Ok(0) => Ok(Received::Filled(SocketFill::Closed)),
        Ok(count) => Ok(Received::Bytes(count)),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Ok(Received::Filled(SocketFill::Nothing))
            }
            ErrorKind::Interrupted => Ok(Received::Filled(SocketFill::More)),
            _ => Err(error),
        },
    }
}
