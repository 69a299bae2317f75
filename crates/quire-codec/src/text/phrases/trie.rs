//! Finding the longest phrase at the start of some text.

use super::PHRASE_BYTES_MAX;

const NONE: u32 = u32::MAX;

/// Phrases by their bytes, each with a number. Edges are in one hash table; its keys are numbers of nodes, so
/// that chosen text cannot choose them, and what it looks up is bounded by the length of a phrase.
pub(super) struct Trie {
    /// Node and byte of an edge, and the node it leads to; `NONE` where there is no edge.
    edges: Vec<(u32, u32)>,
    edge_count: usize,
    /// The nodes that single bytes lead to.
    first: Box<[u32; 256]>,
    /// The number of the phrase that ends at each node, or `NONE`.
    phrases: Vec<u32>,
}

fn slot_of(key: u32, mask: usize) -> usize {
    (u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask
}

impl Trie {
    pub(super) fn new() -> Self {
        Self {
            edges: vec![(0, NONE); 1024],
            edge_count: 0,
            first: Box::new([NONE; 256]),
            phrases: vec![NONE],
        }
    }

    /// Where the edge is, or would be.
    fn find(&self, key: u32) -> usize {
        let mask = self.edges.len() - 1;
        let mut slot = slot_of(key, mask);
        while self.edges[slot].1 != NONE && self.edges[slot].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = vec![(0, NONE); self.edges.len() * 2];
        let edges = std::mem::replace(&mut self.edges, larger);
        for edge in edges.into_iter().filter(|edge| edge.1 != NONE) {
            let slot = self.find(edge.0);
            self.edges[slot] = edge;
        }
    }

    fn add_node(&mut self) -> u32 {
        // Nodes are at most as many as edges and bytes; 2²⁴ of them fit a key beside the byte.
        assert!(self.phrases.len() < 1 << 24, "too many phrases");
        self.phrases.push(NONE);
        self.phrases.len() as u32 - 1
    }

    /// The node that `byte` leads to, made if there is none.
    fn step(&mut self, node: u32, byte: u8) -> u32 {
        if node == 0 {
            if self.first[usize::from(byte)] == NONE {
                self.first[usize::from(byte)] = self.add_node();
            }
            return self.first[usize::from(byte)];
        }
        let key = node << 8 | u32::from(byte);
        let slot = self.find(key);
        if self.edges[slot].1 != NONE {
            return self.edges[slot].1;
        }
        let next = self.add_node();
        self.edges[slot] = (key, next);
        self.edge_count += 1;
        if self.edge_count * 2 > self.edges.len() {
            self.grow();
        }
        next
    }

    /// Gives `phrase` a number; false if it has one.
    pub(super) fn insert(&mut self, phrase: &[u8], number: u32) -> bool {
        let node = phrase.iter().fold(0, |node, byte| self.step(node, *byte));
        let place = &mut self.phrases[node as usize];
        let is_new = *place == NONE;
        if is_new {
            *place = number;
        }
        is_new
    }

    /// The longest phrase that `text` starts with: its number and its length.
    #[inline]
    pub(super) fn longest(&self, text: &[u8]) -> Option<(u32, usize)> {
        let mut node = self.first[usize::from(*text.first()?)];
        let (mut length, mut found) = (1, None);
        while node != NONE {
            let phrase = self.phrases[node as usize];
            if phrase != NONE {
                found = Some((phrase, length));
            }
            let Some(byte) = text.get(length).filter(|_| length < PHRASE_BYTES_MAX) else {
                break;
            };
            node = self.edges[self.find(node << 8 | u32::from(*byte))].1;
            length += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Trie;

    #[test]
    fn the_longest_of_all_phrases_is_found() {
        let text = b"abracadabra, cadabra! abra abrac";
        let mut trie = Trie::new();
        let mut phrases: Vec<&[u8]> = Vec::new();
        for length in [1, 2, 3, 5, 16] {
            for start in (0..=text.len() - length).step_by(length) {
                let phrase = &text[start..start + length];
                let is_new = !phrases.contains(&phrase);
                assert_eq!(trie.insert(phrase, phrases.len() as u32), is_new);
                if is_new {
                    phrases.push(phrase);
                }
            }
        }
        for start in 0..text.len() {
            let rest = &text[start..];
            let fitting = phrases.iter().filter(|phrase| rest.starts_with(phrase));
            let longest = fitting.map(|phrase| phrase.len()).max();
            let found = trie.longest(rest);
            assert_eq!(found.map(|one| one.1), longest);
            assert!(found.is_none_or(|one| rest.starts_with(phrases[one.0 as usize])));
        }
        assert_eq!(trie.longest(b"zabra"), None);
        assert_eq!(trie.longest(b""), None);
    }
}
