//! One file, changed at random in every way, against bytes in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use nix::fcntl::{FallocateFlags, fallocate};
use quire_device::{DataSetCodec, DataSetProperties};
use quire_mount::MountOptions;

use crate::mounting::{
    Mount, Place, Running, can_mount, create_sets, has_program, open_sets, options,
};
use crate::random::{Random, seeds};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// Operations of a seed.
const OPERATIONS: u32 = 1000;

/// Writes through a mapping, which takes another process: safe Rust has none.
struct Mapper {
    _running: Running,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

const MAPPER: &str = "
import mmap, sys
for line in sys.stdin:
    path, offset, length, byte, size = line.rsplit(' ', 4)
    offset, length, byte, size = int(offset), int(length), int(byte), int(size)
    with open(path, 'r+b') as file, mmap.mmap(file.fileno(), size) as mapped:
        mapped[offset:offset + length] = bytes([byte]) * length
        if byte % 2: mapped.flush()
    print('done', flush=True)
";

impl Mapper {
    fn new() -> Self {
        let mut command = Command::new("python3");
        command.arg("-c").arg(MAPPER);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running(command.spawn().unwrap());
        Self {
            orders: running.0.stdin.take().unwrap(),
            answers: BufReader::new(running.0.stdout.take().unwrap()),
            _running: running,
        }
    }

    fn fill(&mut self, path: &str, offset: u64, length: usize, byte: u8, size: usize) {
        writeln!(self.orders, "{path} {offset} {length} {byte} {size}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

/// The file and what it should have.
struct Pair {
    file: File,
    path: String,
    model: Vec<u8>,
}

impl Pair {
    fn place(&self, random: &mut Random) -> (u64, usize) {
        let longest = random.pick(&[10_u64, 5000, 200_000]);
        let length = 1 + random.below(longest);
        let offset = random.below(FILE_BYTES_MAX - length);
        (offset, length as usize)
    }

    fn grow(&mut self, end: usize) {
        let length = self.model.len().max(end);
        self.model.resize(length, 0);
    }

    /// Positions within the file; `None` if they are behind its end.
    fn within(&self, offset: u64, length: usize) -> Option<(usize, usize)> {
        let start = offset as usize;
        let end = (start + length).min(self.model.len());
        (start < end).then_some((start, end))
    }

    fn write(&mut self, random: &mut Random) {
        let (offset, length) = self.place(random);
        let bytes = random.content(length);
        self.file.write_all_at(&bytes, offset).unwrap();
        self.grow(offset as usize + length);
        self.model[offset as usize..][..length].copy_from_slice(&bytes);
    }

    fn read(&self, random: &mut Random) {
        let (offset, length) = self.place(random);
        let mut found = vec![0xee; length];
        let count = self.file.read_at(&mut found, offset).unwrap();
        let expected = self.within(offset, length);
        let expected = expected.map_or(&[][..], |(start, end)| &self.model[start..end]);
        assert!(found[..count] == *expected, "read of {length} at {offset}");
    }

    fn resize(&mut self, random: &mut Random) {
        let size = random.below(FILE_BYTES_MAX);
        self.file.set_len(size).unwrap();
        self.model.resize(size as usize, 0);
    }

    fn allocate(&mut self, random: &mut Random) {
        let (offset, length) = self.place(random);
        let keep = FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let punch = FallocateFlags::FALLOC_FL_PUNCH_HOLE | keep;
        let zero = FallocateFlags::FALLOC_FL_ZERO_RANGE;
        let flags = random.pick(&[
            FallocateFlags::empty(),
            keep,
            punch,
            punch,
            zero,
            zero | keep,
        ]);
        fallocate(&self.file, flags, offset as i64, length as i64).unwrap();
        if !flags.contains(keep) {
            self.grow(offset as usize + length);
        }
        if flags.intersects(punch | zero)
            && flags != keep
            && let Some((start, end)) = self.within(offset, length)
        {
            self.model[start..end].fill(0);
        }
    }

    fn map(&mut self, random: &mut Random, mapper: &mut Mapper) {
        let (offset, length) = self.place(random);
        if let Some((start, end)) = self.within(offset, length) {
            let byte = random.next_u64() as u8;
            let size = self.model.len();
            mapper.fill(&self.path, offset, end - start, byte, size);
            self.model[start..end].fill(byte);
        }
    }

    fn compare(&self) {
        let found = std::fs::read(&self.path).unwrap();
        assert_eq!(found.len(), self.model.len());
        let differs = found.iter().zip(&self.model).position(|(a, b)| a != b);
        assert_eq!(differs, None, "first byte that differs");
    }
}

fn run(seed: u64, writeback_cache: bool) {
    let mut random = Random(seed);
    let place = Place::new("content");
    let codec = random.pick(&["lz4", "zstd-1", "off", "auto"]);
    let properties = DataSetProperties {
        compression: DataSetCodec::from_name(codec),
        record_bytes: Some(random.pick(&[4 << 10, 16 << 10, 128 << 10, 1 << 20])),
        ..DataSetProperties::default()
    };
    println!("seed {seed}: {properties:?}, writeback_cache {writeback_cache}");
    let mount_options = MountOptions {
        writeback_cache,
        // Written back while operations go on.
        write_back_bytes: 1 << 20,
        ..options(&place)
    };
    let mut mount = Mount::new(
        &place,
        create_sets(&place, properties),
        mount_options.clone(),
    );
    let path = mount.mounted.directory().join("file");
    let open = || {
        let mut how = File::options();
        how.read(true).write(true).create(true).truncate(false);
        how.open(&path).unwrap()
    };
    let mut pair = Pair {
        file: open(),
        path: path.to_string_lossy().into_owned(),
        model: Vec::new(),
    };
    let mut mapper = Mapper::new();
    for _ in 0..OPERATIONS {
        match random.below(100) {
            0..35 => pair.write(&mut random),
            35..70 => pair.read(&mut random),
            70..78 => pair.resize(&mut random),
            78..90 => pair.allocate(&mut random),
            90..95 => pair.map(&mut random, &mut mapper),
            95..97 => pair.file.sync_data().unwrap(),
            97 => pair.compare(),
            98 => pair.file = open(),
            _ if random.chance(20) => {
                let Pair { file, path, model } = pair;
                drop(file);
                mount.end();
                mount = Mount::new(&place, open_sets(&place), mount_options.clone());
                pair = Pair {
                    file: open(),
                    path,
                    model,
                };
                pair.compare();
            }
            _ => {}
        }
    }
    pair.compare();
    drop(pair);
    mount.end();
}

#[test]
fn a_file_has_the_bytes_that_a_model_has() {
    if !can_mount() || !has_program("python3") {
        return;
    }
    for seed in seeds(4) {
        run(seed, seed % 2 == 0);
    }
}
