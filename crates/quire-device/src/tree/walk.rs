//! The pages of a tree.

use quire_format::data_set::{DataSetItem, RecordPointer};
use quire_store::PageId;

use super::read::{PageReader, open_node};
use crate::error::DeviceStorageError;

impl PageReader {
    /// Shows the pages of a tree, nodes, records and dictionaries, each node before what is below it. What is below a node for which `is_wanted` is false is
    /// not shown, and not read.
    ///
    /// A node is written after what is below it, so all of that has lower numbers than the node.
    pub(crate) fn walk_pages(
        &self,
        root: Option<PageId>,
        is_wanted: &mut dyn FnMut(PageId) -> bool,
    ) -> Result<(), DeviceStorageError> {
        match root {
            Some(root) => self.walk_node(root, None, is_wanted),
            None => Ok(()),
        }
    }

    fn walk_node(
        &self,
        page: PageId,
        level: Option<u8>,
        is_wanted: &mut dyn FnMut(PageId) -> bool,
    ) -> Result<(), DeviceStorageError> {
        if !is_wanted(page) {
            return Ok(());
        }
        let payload = self.payload(page)?;
        let corrupt = |corrupt| self.corrupt(page, &corrupt);
        let node = open_node(&payload, level).map_err(corrupt)?;
        for index in 0..node.count() {
            if let Some(below) = node.level().checked_sub(1) {
                let child = node.child(index).map_err(corrupt)?;
                self.walk_node(child, Some(below), is_wanted)?;
                continue;
            }
            let key = node.key(index).map_err(corrupt)?;
            match DataSetItem::decode(&key).map_err(corrupt)? {
                DataSetItem::Record(..) => {
                    let value = node.value(index).map_err(corrupt)?;
                    is_wanted(RecordPointer::decode(value).map_err(corrupt)?.page);
                }
                DataSetItem::Dictionary(_, page) => {
                    is_wanted(page);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
