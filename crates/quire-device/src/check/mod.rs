//! Checking a volume of data sets against every rule that a sound one keeps.
//!
//! All is read as of one commit, so nothing has to wait; what is in memory only is not looked at. Memory: a few bytes for each page and
//! each file.

mod files;
mod trees;

use std::collections::BTreeSet;
use std::fmt;

use quire_format::data_set::{
    DataSetDefinition, DataSetHead, DataSetTable, DataSetTotals, DeadPages, LoggedWrites,
};
use quire_store::{CATALOG_PAGE, PageId};

use crate::context::DeviceContext;
use crate::error::DeviceStorageError;
use crate::tree::PageReader;
use crate::volume::DataSetVolume;
use files::FileCheck;
use trees::{CheckedTree, TreeCheck};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSetFinding {
    /// The rule that is broken.
    pub invariant: &'static str,
    /// The data set or snapshot concerned; empty for the volume as a whole.
    pub set: String,
    /// What is wrong, with page and offset where there is one place.
    pub what: String,
}

impl fmt::Display for DataSetFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            invariant,
            set,
            what,
        } = self;
        write!(formatter, "{invariant}: {set}: {what}")
    }
}

/// What [`DataSetVolume::check`] found.
#[derive(Clone, Debug, Default)]
pub struct DataSetCheckReport {
    /// Empty when every rule holds.
    pub findings: Vec<DataSetFinding>,
    /// Data sets and snapshots.
    pub trees: u64,
    /// Their inodes.
    pub inodes: u64,
    /// Nodes and records, each once.
    pub pages: u64,
}

impl DataSetVolume {
    /// Reads all data sets and snapshots, decompresses each record, and compares them with every rule they should keep: what
    /// they refer to is there and whole, nothing else is, and the sums are right. The pages themselves are compared with their checksums.
    #[must_use]
    pub fn check(&self) -> DataSetCheckReport {
        let mut check = SetCheck {
            context: &self.context,
            reader: self.context.reader(),
            report: DataSetCheckReport::default(),
            seen: BTreeSet::from([CATALOG_PAGE]),
        };
        let table = check.reader.decoded(CATALOG_PAGE, DataSetTable::decode);
        let Some(table) = check.accept("the_table_is_whole", "", table) else {
            return check.report;
        };
        for set in &table.sets {
            check.set(set);
        }
        check.nothing_else_is_there();
        check.report
    }
}

/// A check in progress.
struct SetCheck<'a> {
    context: &'a DeviceContext,
    reader: PageReader,
    report: DataSetCheckReport,
    /// All pages that something refers to.
    seen: BTreeSet<PageId>,
}

impl SetCheck<'_> {
    fn report(&mut self, invariant: &'static str, set: &str, what: impl Into<String>) {
        self.report.findings.push(DataSetFinding {
            invariant,
            set: set.to_owned(),
            what: what.into(),
        });
    }

    fn accept<T>(
        &mut self,
        invariant: &'static str,
        set: &str,
        result: Result<T, DeviceStorageError>,
    ) -> Option<T> {
        result
            .map_err(|error| self.report(invariant, set, error.to_string()))
            .ok()
    }

    fn set(&mut self, set: &DataSetDefinition) {
        self.seen.insert(set.head);
        let head = self.reader.decoded(set.head, DataSetHead::decode);
        let Some(head) = self.accept("heads_are_whole", &set.name, head) else {
            return;
        };
        if head.id != set.id {
            let what = format!("its head is that of data set {}", head.id);
            self.report("heads_are_whole", &set.name, what);
        }
        for page in &head.log {
            self.seen.insert(*page);
            let log = self.reader.decoded(*page, LoggedWrites::decode);
            self.accept("logs_are_whole", &set.name, log);
        }
        let origin = set.origin.map_or(0, |origin| origin.boundary);
        let is_own = |page: &PageId| page.get() >= origin;
        let (mut own, before) = self.snapshots(set, is_own);
        // Of one that is being removed, parts of files are left.
        let next_inode = (!set.is_dying).then_some(head.next_inode);
        let tree = self.tree(&set.name, head.root, next_inode);
        self.totals_agree(&set.name, tree.as_ref(), &head.totals);
        let pages = tree.map(|tree| tree.pages);
        self.lists_agree(
            &set.name,
            &head.dead,
            (before.as_ref(), pages.as_ref()),
            is_own,
        );
        own.extend(pages.iter().flatten().copied().filter(is_own));
        let is_whole = set.snapshots.iter().all(|snapshot| !snapshot.is_dying);
        if is_whole && pages.is_some() {
            self.used_bytes_agree(&set.name, &own, head.used_bytes);
        }
    }

    /// Checks the snapshots of a data set. Returns their own pages, and the pages of the newest.
    fn snapshots(
        &mut self,
        set: &DataSetDefinition,
        is_own: impl Fn(&PageId) -> bool + Copy,
    ) -> (BTreeSet<PageId>, Option<BTreeSet<PageId>>) {
        let mut own: BTreeSet<PageId> = BTreeSet::new();
        // What the snapshot before has, less what this one has, is on the list of this one.
        let mut before: Option<BTreeSet<PageId>> = None;
        for snapshot in &set.snapshots {
            let name = format!("{}@{}", set.name, snapshot.name);
            // Pages of a snapshot that is being removed are missing.
            let tree = if snapshot.is_dying {
                None
            } else {
                self.tree(&name, snapshot.root, Some(u64::MAX))
            };
            self.pages_are_older(&name, tree.as_ref(), snapshot.boundary);
            self.totals_agree(&name, tree.as_ref(), &snapshot.totals);
            let pages = tree.map(|tree| tree.pages);
            self.lists_agree(
                &name,
                &snapshot.dead,
                (before.as_ref(), pages.as_ref()),
                is_own,
            );
            own.extend(pages.iter().flatten().copied().filter(is_own));
            before = pages;
        }
        (own, before)
    }

    /// Walks a tree, and compares its files with each other if numbers of inodes are below `next_inode`. `None` when it is damaged, which
    /// is reported.
    fn tree(
        &mut self,
        name: &str,
        root: Option<PageId>,
        next_inode: Option<u64>,
    ) -> Option<CheckedTree> {
        self.report.trees += 1;
        let mut files = FileCheck::default();
        let noted = next_inode.map(|_| &mut files);
        let mut check = TreeCheck::new(self.context, &self.reader, &self.seen, noted);
        let walked = check.walk(root);
        let tree = check.into_tree();
        self.seen.extend(tree.pages.iter().copied());
        self.accept("trees_are_whole", name, walked)?;
        if let Some(next_inode) = next_inode {
            self.report.inodes += files.inode_count();
            for what in files.findings(next_inode, root.is_some()) {
                self.report("files_agree", name, what);
            }
        }
        Some(tree)
    }

    fn pages_are_older(&mut self, name: &str, tree: Option<&CheckedTree>, boundary: u64) {
        let newest = tree.and_then(|tree| tree.pages.last().copied());
        if let Some(newest) = newest.filter(|newest| newest.get() >= boundary) {
            let what = format!("page {newest} is not below the boundary {boundary}");
            self.report("pages_of_snapshots_are_older", name, what);
        }
    }

    fn totals_agree(&mut self, name: &str, tree: Option<&CheckedTree>, totals: &DataSetTotals) {
        if let Some(tree) = tree.filter(|tree| tree.totals != *totals) {
            let what = format!("its tree takes {:?}, and {totals:?} are noted", tree.totals);
            self.report("totals_agree", name, what);
        }
    }

    /// The lists of dead pages have what the tree before has of its own, and the tree behind has not.
    fn lists_agree(
        &mut self,
        name: &str,
        lists: &[PageId],
        (before, behind): (Option<&BTreeSet<PageId>>, Option<&BTreeSet<PageId>>),
        is_own: impl Fn(&PageId) -> bool,
    ) {
        let mut listed = BTreeSet::new();
        for list in lists {
            self.seen.insert(*list);
            let pages = self.reader.decoded(*list, DeadPages::decode);
            let Some(DeadPages { pages }) = self.accept("lists_are_whole", name, pages) else {
                return;
            };
            for page in pages {
                if !listed.insert(page) {
                    self.report("lists_agree", name, format!("page {page} is dead twice"));
                }
            }
        }
        let Some(behind) = behind else {
            return;
        };
        match before {
            Some(before) => {
                let expected: BTreeSet<PageId> =
                    before.difference(behind).copied().filter(is_own).collect();
                if let Some(page) = expected.symmetric_difference(&listed).next() {
                    let what =
                        format!("page {page} is dead, or on a list of the dead, but not both");
                    self.report("lists_agree", name, what);
                }
            }
            // While the snapshot before is being removed, its pages are on the list.
            None => self.seen.extend(listed),
        }
    }

    fn used_bytes_agree(&mut self, name: &str, own: &BTreeSet<PageId>, used_bytes: u64) {
        let pages = own.iter();
        let bytes = pages.map(|page| u64::from(self.reader.pin.payload_bytes(*page).unwrap_or(0)));
        let bytes: u64 = bytes.sum();
        if bytes != used_bytes {
            let what = format!("its own pages take {bytes} bytes, and {used_bytes} are noted");
            self.report("used_bytes_agree", name, what);
        }
    }

    /// Each page of the volume is something's.
    fn nothing_else_is_there(&mut self) {
        let pages = self.reader.pin.pages();
        self.report.pages = pages.len() as u64;
        if !self.report.findings.is_empty() {
            // What damaged trees have is not known.
            return;
        }
        for page in pages {
            if !self.seen.contains(&page) {
                let what = format!("nothing refers to page {page}");
                self.report("nothing_else_is_there", "", what);
            }
        }
    }
}
