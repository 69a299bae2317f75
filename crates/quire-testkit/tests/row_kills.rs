//! A process that commits rows to a real file is killed (SIGKILL), again and again.
//!
//! `QUIRE_KILLS` is how often.
#![allow(clippy::unwrap_used)]

mod child;
mod numbered;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use child::Scratch;
use numbered::Step;
use quire_kv::mvcc::Synchronous;
use quire_store::FileDisk;
use quire_tables::Engine;
use quire_testkit::random::{TestRandom, environment_number};
use quire_testkit::rows::verify_engine;

const CHILD_FILE: &str = "QUIRE_ROWS_CHILD_FILE";

/// What is there: rows with the numbers from `first` up to, without, `next`, and a number of loaded rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Contents {
    first: u64,
    next: u64,
    loaded_count: u64,
}

impl Contents {
    fn read(engine: &Engine) -> Self {
        let numbers = numbered::numbers(engine);
        let first = numbers.first().copied().unwrap_or(0);
        let next = first + numbers.len() as u64;
        assert!(numbers.iter().copied().eq(first..next), "a row is missing");
        Self {
            first,
            next,
            loaded_count: numbered::loaded_count(engine),
        }
    }

    /// Does something that leaves one row at least.
    fn random_step(&self, random: &mut TestRandom) -> (Step, Self) {
        let step = Step {
            inserted: self.next..self.next + 1 + random.below(5),
            deleted: self.first..self.first + random.below((self.next - self.first + 1).min(6)),
            loaded_count: match random.below(12) {
                0 => 1 + random.below(300),
                _ => 0,
            },
        };
        let after = Self {
            first: step.deleted.end,
            next: step.inserted.end,
            loaded_count: self.loaded_count + step.loaded_count,
        };
        (step, after)
    }

    fn say(&self, what: &str) {
        let Self {
            first,
            next,
            loaded_count,
        } = self;
        println!("{what} {first} {next} {loaded_count} .");
    }

    fn parse(line: &str, what: &str) -> Option<Self> {
        let words = line.split_once(what)?.1.strip_suffix(" .")?;
        let mut numbers = words.split_whitespace().map_while(|word| word.parse().ok());
        Some(Self {
            first: numbers.next()?,
            next: numbers.next()?,
            loaded_count: numbers.next()?,
        })
    }
}

fn open(path: &Path, seed: u64) -> Engine {
    let disk = Arc::new(FileDisk::open_or_create(path).unwrap());
    numbered::open(disk, seed, true)
}

/// The child: commits until it is killed, and says what it has committed.
#[test]
fn child_commits_rows_until_it_is_killed() {
    let Ok(path) = std::env::var(CHILD_FILE) else {
        return;
    };
    let engine = open(Path::new(&path), u64::from(std::process::id()));
    let mut contents = Contents::read(&engine);
    let mut random = TestRandom::new(contents.next);
    loop {
        let synchronous = [Synchronous::Full, Synchronous::Normal, Synchronous::Off];
        let synchronous = synchronous[random.below(3) as usize];
        let (step, after) = contents.random_step(&mut random);
        after.say("begun");
        numbered::commit(&engine, &step, synchronous).unwrap();
        contents = after;
        // A process that is killed loses nothing that it has written, synced or not. The others are in its memory.
        if synchronous != Synchronous::Off {
            contents.say("committed");
        }
        match random.below(40) {
            0 => engine.checkpoint().unwrap(),
            1 => drop(engine.clean().unwrap()),
            _ => {}
        }
    }
}

/// What a child said: what it may have committed, in order, and how many of these it surely has.
#[derive(Default)]
struct Said {
    begun: Vec<Contents>,
    committed_count: usize,
}

fn listen(output: ChildStdout, first_word: &Sender<()>) -> Said {
    let mut said = Said::default();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if let Some(contents) = Contents::parse(&line, "begun") {
            said.begun.push(contents);
            // The other side may have stopped waiting.
            let _ = first_word.send(());
        } else if let Some(contents) = Contents::parse(&line, "committed") {
            assert_eq!(said.begun.last(), Some(&contents));
            said.committed_count = said.begun.len();
        }
    }
    said
}

/// Runs the child for a moment after it has begun a commit, or, if it is not waited for, from its start on.
fn run_and_kill(path: &Path, life: Duration, waits: bool) -> Said {
    let test = "child_commits_rows_until_it_is_killed";
    let (child, output) = child::start(test, CHILD_FILE, path);
    let (first_word, has_begun) = channel();
    let listener = std::thread::spawn(move || listen(output, &first_word));
    if waits {
        has_begun.recv().expect("the child failed");
    }
    std::thread::sleep(life);
    child::kill(child);
    listener.join().unwrap()
}

#[test]
fn no_committed_row_is_lost_when_the_process_is_killed() {
    let path = Scratch::new("quire-row-kills");
    let mut random = TestRandom::new(environment_number("QUIRE_SEED", 1));
    let mut contents = Contents::default();
    let mut commits = 0;
    for round in 0..environment_number("QUIRE_KILLS", 30) {
        let life = Duration::from_millis(random.below(120));
        let said = run_and_kill(&path.0, life, random.chance(80));
        commits += said.committed_count;
        let engine = open(&path.0, round);
        let found = Contents::read(&engine);
        let mut allowed = vec![contents];
        allowed.extend(&said.begun);
        let allowed = &allowed[said.committed_count..];
        assert!(
            allowed.contains(&found),
            "round {round}: found {found:?}, allowed {allowed:?}"
        );
        verify_engine(&engine).unwrap();
        contents = found;
    }
    assert!(commits > 10, "the children must have got to work");
}
