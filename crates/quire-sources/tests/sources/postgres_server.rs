//! A server of PostgreSQL for the tests: made in a folder of its own, on the loopback and a free port, shared by the tests that run
//! at the same time, and stopped when the last of them ends.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use quire_sources::SourceDatabase;

use crate::folder::SourceTestFolder;

const USER: &str = "ada";
const START_SECONDS_MAX: u64 = 120;
/// Roles of tests: one with a password, and one that no rule lets in without TLS.
const RULES: &str = "host all guarded 127.0.0.1/32 scram-sha-256\nhostssl all encrypted 127.0.0.1/32 trust\nhost all ada 127.0.0.1/32 trust\n";

pub struct PostgresTestServer {
    /// After the process, so that it is removed later.
    child: Child,
    pub port: u16,
    programs: PathBuf,
    owner: Option<(u32, u32)>,
    folder: SourceTestFolder,
}

/// The newest version that is installed.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| entry.ok());
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    folders.retain(|(_, folder)| folder.join("postgres").exists());
    folders.into_iter().max().map(|(_, folder)| folder)
}

fn id(option: &str, user: &[&str]) -> u32 {
    let output = Command::new("id").arg(option).args(user).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// The server that tests share now; `None`, said in a line, where PostgreSQL is not installed.
pub fn server() -> Option<Arc<PostgresTestServer>> {
    static SHARED: Mutex<Weak<PostgresTestServer>> = Mutex::new(Weak::new());
    let Some(programs) = programs() else {
        println!("skipped: there is no /usr/lib/postgresql/*/bin/postgres");
        return None;
    };
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(PostgresTestServer::start(programs));
    *shared = Arc::downgrade(&server);
    Some(server)
}

impl PostgresTestServer {
    fn start(programs: PathBuf) -> Self {
        let folder = SourceTestFolder::new();
        // PostgreSQL refuses to be root.
        let owner =
            (id("-u", &[]) == 0).then(|| (id("-u", &["postgres"]), id("-g", &["postgres"])));
        if let Some((user, group)) = owner {
            std::os::unix::fs::chown(&folder.0, Some(user), Some(group)).unwrap();
        }
        let data = folder.file("data");
        let made = command(&programs, "initdb", owner)
            .arg("-D")
            .arg(&data)
            .args([
                "-U",
                USER,
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                "--no-sync",
            ])
            .output();
        let made = made.unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        fs::write(data.join("pg_hba.conf"), RULES).unwrap();
        let port = free_port();
        let log = fs::File::create(folder.file("log")).unwrap();
        let settings = [
            format!("port={port}"),
            "listen_addresses=127.0.0.1".into(),
            "unix_socket_directories=".into(),
            "fsync=off".into(),
            "max_connections=60".into(),
        ];
        let mut postgres = command(&programs, "postgres", owner);
        postgres
            .arg("-D")
            .arg(&data)
            .args(settings.iter().flat_map(|setting| ["-c", setting]));
        let child = postgres
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Self {
            child,
            port,
            programs,
            owner,
            folder,
        };
        let end = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
        while Client::connect(&server.address("postgres"), NoTls).is_err() {
            let has_ended = server.child.try_wait().unwrap().is_some();
            assert!(
                !has_ended && Instant::now() < end,
                "{}",
                fs::read_to_string(server.folder.file("log")).unwrap()
            );
            sleep(Duration::from_millis(50));
        }
        server
    }

    pub fn address(&self, database: &str) -> String {
        format!("postgresql://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// A new database with these statements done, a client of it, and its address.
    pub fn database(&self, statements: &str) -> (Client, String) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("shop{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut client = Client::connect(&self.address("postgres"), NoTls).unwrap();
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let address = self.address(&name);
        let mut client = Client::connect(&address, NoTls).unwrap();
        client.batch_execute(statements).unwrap();
        (client, address)
    }

    /// The same, opened as a source.
    pub fn source(&self, statements: &str) -> SourceDatabase {
        SourceDatabase::open(&self.database(statements).1).unwrap()
    }
}

impl Drop for PostgresTestServer {
    fn drop(&mut self) {
        let mut stop = command(&self.programs, "pg_ctl", self.owner);
        stop.arg("-D")
            .arg(self.folder.file("data"))
            .args(["-m", "immediate", "-w", "stop"]);
        if !stop.output().is_ok_and(|stopped| stopped.status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn command(programs: &Path, name: &str, owner: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(programs.join(name));
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    command.current_dir("/");
    command
}
