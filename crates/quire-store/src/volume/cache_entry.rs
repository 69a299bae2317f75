//! What the warm cache holds under which names.

use std::any::Any;
use std::sync::Arc;

/// What an entry costs besides its payload, so that empty payloads are not free of charge.
const ENTRY_BYTES: usize = 96;

/// What somebody has made of pages. Only its maker knows what it is.
pub(super) type DerivedValue = Arc<dyn Any + Send + Sync>;

/// The name of an entry: the byte at which its image starts, or the first of its images; and what it is of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CacheName {
    offset: u64,
    /// 0 for the payload, a number and 1 for what was made of it.
    part: u64,
}

/// What was made of images.
#[derive(Debug)]
pub(super) struct DerivedEntry {
    /// Where all of them start.
    pub(super) images: Box<[u64]>,
    pub(super) value: DerivedValue,
    /// What it takes, by its maker.
    pub(super) bytes: usize,
}

enum CacheContent {
    Payload(Arc<[u8]>),
    Derived(DerivedEntry),
}

/// One entry, and whether it was used since it was last at the end of the queue.
pub(super) struct CacheEntry {
    content: CacheContent,
    marked: bool,
}

impl CacheName {
    pub(super) fn payload(offset: u64) -> Self {
        Self { offset, part: 0 }
    }

    /// `None` for no images.
    pub(super) fn derived(images: &[u64], number: u32) -> Option<Self> {
        let offset = *images.first()?;
        let part = u64::from(number) + 1;
        Some(Self { offset, part })
    }

    /// Where the image starts, of a payload.
    pub(super) fn payload_offset(self) -> Option<u64> {
        (self.part == 0).then_some(self.offset)
    }

    /// A number whose upper bits depend on all of the name: what is made of one image is in many shards.
    pub(super) fn mixed(self) -> u64 {
        let parts = self.part.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (self.offset ^ parts).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl CacheEntry {
    pub(super) fn payload(payload: Arc<[u8]>) -> Self {
        Self {
            content: CacheContent::Payload(payload),
            marked: false,
        }
    }

    pub(super) fn derived(derived: DerivedEntry) -> Self {
        Self {
            content: CacheContent::Derived(derived),
            marked: false,
        }
    }

    /// What a payload of so many bytes costs.
    pub(super) fn payload_cost_bytes(payload_bytes: usize) -> usize {
        payload_bytes + ENTRY_BYTES
    }

    pub(super) fn cost_bytes(&self) -> usize {
        match &self.content {
            CacheContent::Payload(payload) => Self::payload_cost_bytes(payload.len()),
            CacheContent::Derived(derived) => {
                let around = size_of_val(&*derived.images) + ENTRY_BYTES;
                derived.bytes.saturating_add(around)
            }
        }
    }

    /// The payload, which counts as a use.
    pub(super) fn use_payload(&mut self) -> Option<Arc<[u8]>> {
        let CacheContent::Payload(payload) = &self.content else {
            return None;
        };
        self.marked = true;
        Some(Arc::clone(payload))
    }

    /// What was made of these images, which counts as a use.
    pub(super) fn use_derived(&mut self, images: &[u64]) -> Option<DerivedValue> {
        match &self.content {
            CacheContent::Derived(derived) if *derived.images == *images => {
                self.marked = true;
                Some(Arc::clone(&derived.value))
            }
            _ => None,
        }
    }

    /// Whether it was made of these images.
    pub(super) fn is_derived_from(&self, images: &[u64]) -> bool {
        matches!(&self.content, CacheContent::Derived(derived) if *derived.images == *images)
    }

    /// Whether an entry of the same name says the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match &other.content {
            CacheContent::Payload(_) => matches!(self.content, CacheContent::Payload(_)),
            CacheContent::Derived(derived) => self.is_derived_from(&derived.images),
        }
    }

    /// Whether one of its images starts where `is_gone` is true.
    pub(super) fn lies_at(&self, name: CacheName, is_gone: &dyn Fn(u64) -> bool) -> bool {
        match &self.content {
            CacheContent::Payload(_) => is_gone(name.offset),
            CacheContent::Derived(derived) => derived.images.iter().any(|image| is_gone(*image)),
        }
    }

    /// Takes the mark off; whether there was one.
    pub(super) fn take_mark(&mut self) -> bool {
        std::mem::take(&mut self.marked)
    }
}
