//! Row tables at the level of the engine: transactions over one tree, with rows in the layout of row tables.

use std::path::Path;
use std::sync::Arc;

use quire_tables::SqlType;
use quire_kv::btree::TreeOptions;
use quire_kv::mvcc::{ LockWait, Mvcc, MvccOptions, RowLockMode, Synchronous, KvTransaction, TransactionOptions, TreeId, TreeSpec, };
use quire_tables::row_table::{ EncodedRow, FieldStorage, PrimaryKeyPart, RowColumn, RowLayout, RowLayoutSpec, RowSection, StoredValue, TupleValue, };
use quire_store::disk::{DeviceProfile, ThrottledDisk};
use quire_store::log::{VolumeLog, LogOptions};
use quire_store::pool::{PageCodec, PageTarget, Pool, PoolOptions, PoolStats};
use quire_store::{Disk, FileDisk, PageId, Volume, VolumeOptions};

use crate::rows::Row;
use crate::{Failure, Peer, Worker};

const TREE: TreeId = TreeId::new(1);

/// How the table is opened.
#[derive(Clone)]
pub struct Setup {
    pub pool_bytes: usize,
    pub codec: PageCodec,
    pub compression_threads: usize,
    pub device: Option<DeviceProfile>,
    pub target: Option<PageTarget>,
}

pub struct Quire {
    mvcc: Mvcc,
    pool: Pool,
    volume: Volume,
    layout: Arc<RowLayout>,
    throttled: Option<Arc<ThrottledDisk>>,
}

impl Quire {
    pub fn open(path: &Path, setup: &Setup) -> Result<Self, Failure> {
        let file: Arc<dyn Disk> = Arc::new(FileDisk::open_or_create(path)?);
        let throttled = setup
            .device
            .map(|device| Arc::new(ThrottledDisk::new(Arc::clone(&file), device)));
        let disk = match &throttled {
            Some(throttled) => Arc::clone(throttled) as Arc<dyn Disk>,
            None => file,
        };
        let volume = Volume::open_or_create(disk, VolumeOptions::default())?;
        let options = PoolOptions {
            budget_bytes: setup.pool_bytes,
            compression_threads: setup.compression_threads,
            ..PoolOptions::default()
        };
        let pool = Pool::new(&volume, options);
        let log = VolumeLog::open(&volume, LogOptions::default())?;
        let spec = TreeSpec {
            id: TREE,
            root: PageId::new(16).ok_or("no page")?,
            codec: match setup.target {
                Some(target) => pool.with_target(setup.codec, TREE.get(), target),
                None => setup.codec,
            },
            options: TreeOptions::default(),
        };
        if volume.next_page() == PageId::new(16) {
            // The root of the one tree.
            let _ = volume.allocate_page();
        }
        let mvcc = Mvcc::open(&volume, &pool, &log, &[spec], MvccOptions::default())?;
        Ok(Self {
            mvcc,
            pool,
            volume,
            layout: Arc::new(layout()?),
            throttled,
        })
    }

    pub fn pool_stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// Reads and writes of the device since it was opened.
    pub fn device_counts(&self) -> (u64, u64) {
        let statistics = self.throttled.as_ref().map(|disk| disk.statistics());
        statistics.map_or((0, 0), |statistics| (statistics.reads, statistics.writes))
    }

    /// Bytes of the images of all pages, after a checkpoint.
    pub fn live_bytes(&self) -> Result<u64, Failure> {
        self.mvcc.checkpoint()?;
        Ok(self.volume.check().live_bytes)
    }

    pub fn close(self) -> Result<u64, Failure> {
        let Self {
            mvcc, pool, volume, ..
        } = self;
        mvcc.checkpoint()?;
        drop((mvcc, pool));
        let file = volume.file();
        volume.close()?;
        Ok(std::fs::metadata(&*file)?.len())
    }
}

fn layout() -> Result<RowLayout, Failure> {
    let column = |sql_type, storage| RowColumn {
        sql_type,
        nullable: false,
        storage,
        dropped: false,
    };
    let columns = vec![
        column(SqlType::BigInt, FieldStorage::NullSuppressed),
        column(SqlType::Integer, FieldStorage::NullSuppressed),
        column(SqlType::Text, FieldStorage::NullSuppressed),
        column(SqlType::Text, FieldStorage::NullSuppressed),
    ];
    let key = PrimaryKeyPart {
        ordinal: 0,
        descending: false,
    };
    Ok(RowLayout::new(&RowLayoutSpec {
        sections: vec![RowSection {
            columns,
            missing: Vec::new(),
        }],
        primary_key: vec![key],
        page_bytes: 16_384,
    })?)
}

impl Peer for Quire {
    fn worker(&self) -> Result<Box<dyn Worker>, Failure> {
        Ok(Box::new(QuireWorker {
            mvcc: self.mvcc.clone(),
            layout: Arc::clone(&self.layout),
            encoded: EncodedRow::default(),
            key: Vec::new(),
            tuple: Vec::new(),
            row: Row::default(),
            open: None,
        }))
    }
}

struct QuireWorker {
    mvcc: Mvcc,
    layout: Arc<RowLayout>,
    encoded: EncodedRow,
    key: Vec<u8>,
    tuple: Vec<u8>,
    row: Row,
    open: Option<KvTransaction>,
}

fn text(
    layout: &RowLayout,
    key: &[u8],
    tuple: &[u8],
    ordinal: usize,
    into: &mut String,
) -> Result<(), Failure> {
    into.clear();
    match layout.field(key, tuple, ordinal, &mut Vec::new())? {
        StoredValue::Value(TupleValue::Bytes(bytes)) => {
            into.push_str(std::str::from_utf8(bytes)?);
            Ok(())
        }
        other => Err(format!("no text: {other:?}").into()),
    }
}

fn integer(layout: &RowLayout, key: &[u8], tuple: &[u8], ordinal: usize) -> Result<i64, Failure> {
    match layout.field(key, tuple, ordinal, &mut Vec::new())? {
        StoredValue::Value(TupleValue::Integer(value)) => Ok(value),
        other => Err(format!("no integer: {other:?}").into()),
    }
}

fn decode(layout: &RowLayout, key: &[u8], tuple: &[u8], row: &mut Row) -> Result<(), Failure> {
    row.k = integer(layout, key, tuple, 1)?;
    text(layout, key, tuple, 2, &mut row.c)?;
    text(layout, key, tuple, 3, &mut row.pad)
}

impl QuireWorker {
    fn encode_key(&mut self, id: i64) -> Result<(), Failure> {
        self.key.clear();
        self.layout
            .encode_key(&[TupleValue::Integer(id)], &mut self.key)?;
        Ok(())
    }

    fn encode(&mut self) -> Result<(), Failure> {
        let row = &self.row;
        let values = [
            TupleValue::Integer(row.id),
            TupleValue::Integer(row.k),
            TupleValue::Bytes(row.c.as_bytes()),
            TupleValue::Bytes(row.pad.as_bytes()),
        ];
        self.layout.encode_row(&values, 0, &mut self.encoded)?;
        Ok(())
    }

    fn options(is_durable: bool) -> TransactionOptions {
        let synchronous = if is_durable {
Synchronous::Full
} else {
Synchronous::Normal
};
        TransactionOptions {
            synchronous,
            ..TransactionOptions::default()
        }
    }
}

impl Worker for QuireWorker {
    fn select(&mut self, id: i64) -> Result<usize, Failure> {
        self.encode_key(id)?;
        let Self {
            mvcc,
            layout,
            key,
            row,
            ..
        } = self;
        let found = mvcc.get(TREE, key, |tuple| decode(layout, key, tuple, row))?;
        found.ok_or("a row is missing")??;
        Ok(self.row.c.len() + self.row.pad.len())
    }

    fn update(&mut self, id: i64, is_durable: bool) -> Result<(), Failure> {
        self.encode_key(id)?;
        let mut transaction = self.mvcc.begin(Self::options(is_durable));
        transaction.lock_row(TREE, &self.key, RowLockMode::Exclusive, LockWait::Wait)?;
        let tuple = &mut self.tuple;
        let found = transaction.get_latest(TREE, &self.key, |value| {
            tuple.clear();
            tuple.extend_from_slice(value);
        })?;
        found.ok_or("a row is missing")?;
        decode(&self.layout, &self.key, &self.tuple, &mut self.row)?;
        self.row.id = id;
        self.row.k += 1;
        self.encode()?;
        transaction.put(TREE, &self.encoded.key, &self.encoded.tuple)?;
        transaction.commit()?;
        Ok(())
    }

    fn begin(&mut self, is_durable: bool) -> Result<(), Failure> {
        self.open = Some(self.mvcc.begin(Self::options(is_durable)));
        Ok(())
    }

    fn insert(&mut self, id: i64) -> Result<(), Failure> {
        self.row.fill(id);
        self.encode()?;
        let transaction = self.open.as_mut().ok_or("no transaction")?;
        transaction.put(TREE, &self.encoded.key, &self.encoded.tuple)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        let transaction = self.open.take().ok_or("no transaction")?;
        transaction.commit()?;
        Ok(())
    }
}
