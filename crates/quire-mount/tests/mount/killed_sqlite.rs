//! SQLite in a data set whose process is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use quire_device::{DataSetProperties, SynchronousWrites};

use crate::killed::Server;
use crate::mounting::{
    Mount, Place, Running, can_mount, create_sets, has_program, open_sets, options, text,
};
use crate::random::{Random, seeds};

/// Inserts and changes rows, and says so when a transaction is durable. A commit in the mode `delete` is the removal of the journal. SQLite syncs
/// that with `extra` only, and reports success without it if it cannot open the directory, as when the server is killed in between: so
/// the writer syncs the directory itself. In the other modes a sync of its own would hide one that is missing.
const WRITER: &str = "
import os, random, sqlite3, sys
path, mode, seed = sys.argv[1:]
random.seed(int(seed))
base = sqlite3.connect(path, isolation_level=None)
base.execute('pragma journal_mode = ' + mode)
base.execute('pragma synchronous = extra')
base.execute('create table if not exists t (id integer primary key, word text, version integer)')
for number in range(1, 1000000):
    base.execute('begin')
    base.execute('insert into t values (?, ?, 0)', (number, 'word' * random.randrange(1, 500)))
    base.execute('update t set version = version + 1 where id = ?', (random.randrange(1, number + 1),))
    base.execute('commit')
    if mode == 'delete':
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
    print(number, flush=True)
";

const READER: &str = "
import sqlite3, sys
base = sqlite3.connect(sys.argv[1])
print(base.execute('pragma integrity_check').fetchone()[0])
print(*base.execute('select count(*), coalesce(max(id), 0), coalesce(sum(version), 0) from t').fetchone())
";

fn run(seed: u64) {
    let mut random = Random(seed);
    let place = Place::new("sqlite");
    let mode = random.pick(&["wal", "delete", "truncate", "persist"]);
    let writeback_cache = random.chance(50);
    let properties = DataSetProperties {
        record_bytes: Some(random.pick(&[4 << 10, 128 << 10])),
        synchronous: random.chance(50).then_some(SynchronousWrites::Logged),
        ..DataSetProperties::default()
    };
    println!("seed {seed}: {mode}, {properties:?}, writeback_cache {writeback_cache}");
    drop(create_sets(&place, properties));
    let mut server = Server::start(&place, writeback_cache);
    let path = place.directory().join("base.sqlite");
    let mut command = Command::new("python3");
    command
        .arg("-c")
        .arg(WRITER)
        .arg(&path)
        .arg(mode)
        .arg(seed.to_string());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut writer = Running(command.spawn().unwrap());
    let committed = writer.0.stdout.take().unwrap();
    let counted = thread::spawn(move || {
        let numbers = BufReader::new(committed).lines();
        let last = numbers.map_while(Result::ok).last();
        last.map_or(0, |line| line.parse::<u64>().unwrap())
    });
    thread::sleep(Duration::from_millis(100 + random.below(900)));
    server.kill();
    writer
        .wait(30)
        .expect("the writer ends when the mount is gone");
    let committed = counted.join().unwrap();
    place.unmount_stale();
    let mount = Mount::new(&place, open_sets(&place), options(&place));
    if committed > 0 {
        let mut command = Command::new("python3");
        command.arg("-c").arg(READER).arg(&path);
        let found = text(&mut command, 60);
        let (sound, numbers) = found.trim().split_once('\n').unwrap();
        assert_eq!(sound, "ok");
        let numbers: Vec<u64> = numbers.split(' ').map(|one| one.parse().unwrap()).collect();
        let [rows, last, versions] = numbers[..] else {
            panic!("{found}")
        };
        // The last transaction may be durable without anybody having been told.
        assert!(
            rows == committed || rows == committed + 1,
            "{rows} of {committed}"
        );
        assert_eq!((last, versions), (rows, rows));
    }
    mount.end();
}

#[test]
fn sqlite_has_what_it_has_committed_after_a_kill() {
    if !can_mount() || !has_program("python3") {
        return;
    }
    for seed in seeds(3) {
        run(seed);
    }
}
