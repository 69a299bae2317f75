//! The bytes of long texts.

/// The first block has so many bytes; each further one has twice as many, up to the maximum.
const BLOCK_BYTES_MIN: usize = 4 << 10;
const BLOCK_BYTES_MAX: usize = 1 << 20;

/// Texts one behind the other, in blocks that never move.
#[derive(Debug, Default)]
pub(super) struct TextArena {
    blocks: Vec<Vec<u8>>,
    bytes: usize,
}

impl TextArena {
    /// Appends a text. Returns its place: the number of the block in the lower half, the offset in the upper one.
    pub(super) fn push(&mut self, text: &[u8]) -> u64 {
        let has_space = |block: &Vec<u8>| block.capacity() - block.len() >= text.len();
        if !self.blocks.last().is_some_and(has_space) {
            self.add_block(text.len());
        }
        let number = self.blocks.len() as u64 - 1;
        let Some(block) = self.blocks.last_mut() else {
            return 0;
        };
        let offset = block.len() as u64;
        block.extend_from_slice(text);
        number | offset << 32
    }

    #[cold]
    fn add_block(&mut self, text_bytes: usize) {
        let last = self.blocks.last().map_or(0, Vec::capacity);
        let bytes = (2 * last).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
        let block = Vec::with_capacity(bytes.max(text_bytes));
        self.bytes += block.capacity();
        self.blocks.push(block);
    }

    /// The `len` bytes at a place.
    #[inline]
    pub(super) fn get(&self, place: u64, len: usize) -> &[u8] {
        let (block, offset) = (place as u32 as usize, (place >> 32) as usize);
        &self.blocks[block][offset..offset + len]
    }

    /// What the blocks take.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_blocks(self) -> Vec<Vec<u8>> {
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_where_they_were_put() {
        let mut arena = TextArena::default();
        let text = |number: usize| vec![number as u8; number * 37 % 9000];
        let places: Vec<u64> = (0..3000).map(|number| arena.push(&text(number))).collect();
        let large = vec![7; 3 << 20];
        let place_of_large = arena.push(&large);
        for (number, place) in places.iter().enumerate() {
            let expected = text(number);
            assert_eq!(arena.get(*place, expected.len()), expected);
        }
        assert_eq!(arena.get(place_of_large, large.len()), large);
        let blocks = arena.blocks.iter().map(Vec::capacity).sum::<usize>();
        assert_eq!(arena.allocated_bytes(), blocks);
    }
}
