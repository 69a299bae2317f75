//! Is a tree what a tree must be? One function for each invariant.

use std::collections::HashSet;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::{RowPage, TreePageKind};
use quire_store::PageId;
use quire_store::pool::PageFrame;

use super::pages::read;
use super::tree::BTree;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFinding {
    /// Which invariant does not hold.
    pub invariant: &'static str,
    /// The page.
    pub page: PageId,
    /// What was found, and what was expected.
    pub what: String,
}

impl std::fmt::Display for TreeFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: page {}, {}", self.invariant, self.page, self.what)
    }
}

/// What a tree has, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// What is wrong. Nothing below a damaged page is looked at.
    pub findings: Vec<TreeFinding>,
    /// All pages of the tree, the root first.
    pub pages: Vec<PageId>,
    /// Pages that have entries.
    pub leaf_count: u64,
    /// Levels, that of the leaves included.
    pub height: u8,
    /// Entries of the leaves.
    pub entry_count: u64,
    /// Bytes that fences, slots and entries of the leaves take.
    pub used_bytes: u64,
}

/// What the page above says of a page.
struct ExpectedPage {
    page: PageId,
    /// Absent for the root.
    level: Option<u8>,
    lower: Vec<u8>,
    upper: Vec<u8>,
}

struct BTreeChecker {
    report: TreeReport,
    seen: HashSet<PageId>,
}

impl BTree {
    /// Reads all pages and checks what must hold in and between them. The structure is locked meanwhile: entries can be
    /// read and changed, but who needs a new page waits.
    #[must_use]
    pub fn check(&self) -> TreeReport {
        let _structure = self.lock_structure();
        let mut checker = BTreeChecker {
            report: TreeReport::default(),
            seen: HashSet::new(),
        };
        let mut pending = vec![ExpectedPage {
            page: self.root,
            level: None,
            lower: Vec::new(),
            upper: Vec::new(),
        }];
        while let Some(expected) = pending.pop() {
            if checker.page_is_reached_once(&expected)
                && let Some(frame) = checker.page_can_be_had(self, &expected)
                && let Some(children) = checker.page(self, &expected, &frame)
            {
                pending.extend(children.into_iter().rev());
            }
        }
        checker.report
    }
}

impl BTreeChecker {
    fn find(&mut self, invariant: &'static str, page: PageId, what: String) {
        self.report.findings.push(TreeFinding {
            invariant,
            page,
            what,
        });
    }

    fn page_is_reached_once(&mut self, expected: &ExpectedPage) -> bool {
        let page = expected.page;
        let is_first = self.seen.insert(page);
        if is_first {
            self.report.pages.push(page);
        } else {
            let what = "two pages refer to it, or one twice".to_owned();
            self.find("page_is_reached_once", page, what);
        }
        is_first
    }

    fn page_can_be_had(&mut self, tree: &BTree, expected: &ExpectedPage) -> Option<Arc<PageFrame>> {
        let page = expected.page;
        let what = match tree.pages.get(page) {
            Ok(Some(frame)) => return Some(frame),
            Ok(None) => "there is no such page".to_owned(),
            Err(error) => error.to_string(),
        };
        self.find("page_can_be_had", page, what);
        None
    }

    /// Checks one page; its children, unless it is too damaged to have any.
    fn page(
        &mut self,
        tree: &BTree,
        expected: &ExpectedPage,
        frame: &PageFrame,
    ) -> Option<Vec<ExpectedPage>> {
        let at = expected.page;
        let copied = read(frame, |page| page.bytes().to_vec());
        let what = match copied {
            Ok(Some(bytes)) => match RowPage::open(&bytes) {
                Ok(page) => return self.open_page(tree, expected, &page),
                Err(error) => error.to_string(),
            },
            Ok(None) => "it is free".to_owned(),
            Err(error) => error.to_string(),
        };
        self.find("page_is_a_row_page", at, what);
        None
    }

    fn open_page(
        &mut self,
        tree: &BTree,
        expected: &ExpectedPage,
        page: &RowPage<'_>,
    ) -> Option<Vec<ExpectedPage>> {
        self.page_has_the_length_of_the_tree(tree, expected, page);
        self.fences_are_those_of_the_parent(expected, page);
        if !self.level_is_one_below_the_parent(expected, page) {
            return None;
        }
        if page.kind() == TreePageKind::Leaf {
            self.values_are_in_the_leaf(expected, page);
            self.report.leaf_count += 1;
            self.report.entry_count += page.len() as u64;
            self.report.used_bytes += page.used_bytes() as u64;
            return None;
        }
        self.inner_page_has_children(expected, page);
        children(page).ok()
    }

    fn page_has_the_length_of_the_tree(
        &mut self,
        tree: &BTree,
        expected: &ExpectedPage,
        page: &RowPage<'_>,
    ) {
        let (bytes, page_bytes) = (page.page_bytes(), tree.page_bytes);
        if bytes != page_bytes {
            let what = format!("it has {bytes} bytes, the tree's pages have {page_bytes}");
            self.find("page_has_the_length_of_the_tree", expected.page, what);
        }
    }

    /// Those of the root are infinite.
    fn fences_are_those_of_the_parent(&mut self, expected: &ExpectedPage, page: &RowPage<'_>) {
        let fences = [page.lower_fence(), page.upper_fence()];
        let wanted = [expected.lower.as_slice(), &expected.upper];
        if fences != wanted {
            let [fences, wanted] = [fences, wanted].map(|[lower, upper]| {
                format!("{} to {}", lower.escape_ascii(), upper.escape_ascii())
            });
            let what = format!("its fences are {fences}, the page above it says {wanted}");
            self.find("fences_are_those_of_the_parent", expected.page, what);
        }
    }

    fn level_is_one_below_the_parent(
        &mut self,
        expected: &ExpectedPage,
        page: &RowPage<'_>,
    ) -> bool {
        let level = page.level();
        let what = match expected.level {
            Some(wanted) if wanted == level => return true,
            Some(wanted) => format!("it is of level {level}, expected {wanted}"),
            None if level > 0 => {
                self.report.height = level.saturating_add(1);
                return true;
            }
            None => "it is a leaf, and the root".to_owned(),
        };
        self.find("level_is_one_below_the_parent", expected.page, what);
        false
    }

    fn inner_page_has_children(&mut self, expected: &ExpectedPage, page: &RowPage<'_>) {
        if page.is_empty() {
            let what = "it has no entries".to_owned();
            self.find("inner_page_has_children", expected.page, what);
        }
    }

    fn values_are_in_the_leaf(&mut self, expected: &ExpectedPage, page: &RowPage<'_>) {
        let overflow = page.entries().flatten().filter(|entry| entry.overflow);
        let count = overflow.count();
        if count > 0 {
            let what = format!("{count} values refer to overflow pages, which trees do not have");
            self.find("values_are_in_the_leaf", expected.page, what);
        }
    }
}

/// What an inner page says of the pages below it.
fn children(page: &RowPage<'_>) -> Result<Vec<ExpectedPage>, Corrupt> {
    let key = |index: usize| page.entry(index).map(|entry| entry.key());
    (0..page.len())
        .map(|index| {
            Ok(ExpectedPage {
                page: page.child_at(index)?,
                level: page.level().checked_sub(1),
                lower: key(index)?,
                upper: if index + 1 < page.len() {
                    key(index + 1)?
                } else {
                    page.upper_fence().to_vec()
                },
            })
        })
        .collect()
}
