//! Reading the streams of words: one look-up a symbol, four streams in step.
//!
//! Each look-up depends on the one before and takes some 20 cycles, as the table of all places lies in the second-level
//! cache. So four streams are decoded at once: the look-ups of one run while those of the others wait. No branch of the
//! loop depends on what is decoded, and room for the text of a few symbols is checked once.

use super::dispatch;

/// Longest text of a symbol; so many bytes are copied for each.
pub(crate) const TEXT_BYTES: usize = 16;
/// Streams that are decoded in step.
pub(crate) const LANES: usize = 4;
/// Rows of a lane.
pub(crate) const LANE_ROWS: usize = 256;
/// Symbols decoded between two checks of the stream and the bounds; of 12 bits each at most, where at least 56 are there.
const UNROLL: usize = 4;
/// Steps of two lanes before those of the other two.
const STEPS: usize = 2;
/// Bytes beyond the text of a lane that decoding may write.
pub(crate) const SLACK: usize = (UNROLL + 1) * TEXT_BYTES;
/// Added to the progress of a lane where a value ends.
const VALUE_ENDED: u64 = 1 << 32;
/// Symbols that 12 bits can name.
pub(crate) const SYMBOLS: usize = 1 << 12;

/// Where the values of a lane end; the last places take what is written before a value has ended.
pub(crate) type ValueEnds = [u32; LANE_ROWS + UNROLL];

/// For each place (a context and a state in it) a symbol and the way to the next place; for each symbol its text.
pub(crate) struct WordTables {
    places: Box<[u32; 1 << 16]>,
    texts: Box<[[u8; TEXT_BYTES]; SYMBOLS]>,
    /// What a symbol adds to [`LaneState::progress`].
    steps: Box<[u64; SYMBOLS]>,
}

/// The entry of a place: the next place less the bits that are read (bits 0–15), the symbol (16–27), the number of bits to read (28–31).
pub(crate) fn place_entry(symbol: u16, bits: u32, next: u16) -> u32 {
    debug_assert!(usize::from(symbol) < SYMBOLS && bits <= 12);
    u32::from(next) | u32::from(symbol) << 16 | bits << 28
}

impl WordTables {
    /// Tables of `places`, and the texts of the symbols in their order. A symbol without text has 0 bytes; symbol 0 ends a value.
    pub(crate) fn new<'a>(
        places: Box<[u32; 1 << 16]>,
        symbols: impl Iterator<Item = &'a [u8]>,
    ) -> Self {
        let mut texts = Box::new([[0; TEXT_BYTES]; SYMBOLS]);
        let mut steps = Box::new([0; SYMBOLS]);
        let slots = texts.iter_mut().zip(steps.iter_mut());
        for ((text, step), bytes) in slots.zip(symbols) {
            for (to, from) in text.iter_mut().zip(bytes) {
                *to = *from;
            }
            *step = bytes.len().min(TEXT_BYTES) as u64;
        }
        steps[0] = VALUE_ENDED;
        Self {
            places,
            texts,
            steps,
        }
    }
}

/// How far a stream is read, and its text written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneState {
    /// Next byte of the stream to load.
    next: usize,
    buffer: u64,
    buffer_bits: u32,
    pub(crate) place: u16,
    /// Values ended, above 32 bits for the place in the text where the next symbol's goes: one addition a symbol.
    progress: u64,
}

impl LaneState {
    /// Starts writing at this place of the text.
    pub(crate) fn at(position: u32) -> Self {
        Self {
            progress: u64::from(position),
            ..Self::default()
        }
    }

    /// Where the next text goes.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.progress as u32 as usize
    }

    /// Values ended.
    #[inline(always)]
    pub(crate) fn ended(&self) -> usize {
        (self.progress >> 32) as usize
    }

    /// Reads `bits` of the stream, 12 at most.
    pub(crate) fn read(&mut self, stream: &[u8], bits: u32) -> u16 {
        self.refill(stream);
        let value = self.buffer & ((1 << bits) - 1);
        self.skip(bits);
        value as u16
    }

    /// Bits of the stream that have been read.
    pub(crate) fn bits_read(&self) -> usize {
        8 * self.next - self.buffer_bits as usize
    }

    #[inline(always)]
    fn skip(&mut self, bits: u32) {
        self.buffer >>= bits;
        self.buffer_bits = self.buffer_bits.wrapping_sub(bits);
    }

    /// Fills the buffer to at least 56 bits; with zeros beyond the end of the stream, which the check at
    /// the end of the lane notices.
    #[inline(always)]
    fn refill(&mut self, stream: &[u8]) {
        let word = match stream.get(self.next..self.next + 8) {
            Some(bytes) => {
                let mut word = [0u8; 8];
                word.copy_from_slice(bytes);
                u64::from_le_bytes(word)
            }
            None => last_word(stream, self.next),
        };
        self.buffer |= word << self.buffer_bits;
        self.next += (63 - self.buffer_bits as usize) >> 3;
        self.buffer_bits |= 56;
    }

    /// Decodes one symbol.
    ///
    /// # Safety
    /// `text` has [`TEXT_BYTES`] bytes from the position on, and `ends` a place for the end of the present value.
    #[inline(always)]
    unsafe fn step(&mut self, tables: &WordTables, text: &mut [u8], ends: &mut ValueEnds) {
        let entry = tables.places[usize::from(self.place)];
        let bits = entry >> 28;
        let symbol = (entry >> 16) as usize % SYMBOLS;
        let low = self.buffer & ((1u64 << bits) - 1);
        self.place = (entry as u16).wrapping_add(low as u16);
        self.skip(bits);
        debug_assert!(self.position() + TEXT_BYTES <= text.len() && self.ended() < ends.len());
        // SAFETY: the caller says that these bytes and this place are there.
        unsafe {
            let target = text.as_mut_ptr().add(self.position());
            target
                .cast::<[u8; TEXT_BYTES]>()
                .write_unaligned(tables.texts[symbol]);
            let ended = self.ended();
            self.progress += tables.steps[symbol];
            // Written for every symbol and kept for those that end a value: cheaper than asking.
            *ends.get_unchecked_mut(ended) = self.progress as u32;
        }
    }

    /// Decodes until the lane has ended, or more is written than it has text.
    /// `text` has [`SLACK`] bytes more.
    pub(crate) fn run(
        &mut self,
        tables: &WordTables,
        stream: &[u8],
        end: LaneLimit,
        text: &mut [u8],
        ends: &mut ValueEnds,
    ) {
        end.check(text);
        while self.ended() < end.values && self.position() <= end.position {
            self.refill(stream);
            // SAFETY: the position is at most that of the end, behind which the text has `SLACK` bytes, and fewer
            // than `LANE_ROWS` values have ended.
            unsafe { self.step(tables, text, ends) };
        }
    }
}

/// What a lane has once all of it is decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneLimit {
    pub(crate) values: usize,
    /// Where its text ends.
    pub(crate) position: usize,
}

impl LaneLimit {
    /// What [`LaneState::step`] relies on.
    fn check(self, text: &[u8]) {
        assert!(self.values <= LANE_ROWS && self.position + SLACK <= text.len());
        assert!(text.len() <= u32::MAX as usize);
    }
}

/// The bytes of a stream from `next` on, and zeros behind its end.
#[cold]
fn last_word(stream: &[u8], next: usize) -> u64 {
    let mut word = [0u8; 8];
    let rest = stream.get(next..).unwrap_or_default();
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

/// One vector's streams, and what each has.
pub(crate) struct LaneStreams<'a> {
    pub(crate) streams: [&'a [u8]; LANES],
    pub(crate) limits: [LaneLimit; LANES],
}

dispatch! {
    /// Decodes the four lanes in step until one of them nears its last value. The text has [`SLACK`] bytes behind
    /// that of each lane.
    pub(crate) fn run_together(
        tables: &WordTables,
        of: &LaneStreams<'_>,
        lanes: &mut [LaneState; LANES],
        text: &mut [u8],
        ends: &mut [ValueEnds; LANES],
    ) = run_lanes
}

#[inline(always)]
fn run_lanes(
    tables: &WordTables,
    of: &LaneStreams<'_>,
    lanes: &mut [LaneState; LANES],
    text: &mut [u8],
    ends: &mut [ValueEnds; LANES],
) {
    of.limits.iter().for_each(|limit| limit.check(text));
    // Copied, so that the compiler may keep them in registers: nothing else can see them change.
    let mut running = *lanes;
    let has_more = |lane: &LaneState, limit: &LaneLimit| {
        lane.ended() + UNROLL <= limit.values && lane.position() <= limit.position
    };
    while running
        .iter()
        .zip(&of.limits)
        .all(|(lane, limit)| has_more(lane, limit))
    {
        for (lane, stream) in running.iter_mut().zip(of.streams) {
            lane.refill(stream);
        }
        for _ in 0..UNROLL / STEPS {
            // The state of two lanes is meant to fit the registers.
            for pair in [[0, 1], [2, 3]] {
                for _ in 0..STEPS {
                    for lane in pair {
                        // SAFETY: before the first of `UNROLL` steps a lane's position was at most that of its end, and
                        // each step adds at most `TEXT_BYTES`, for all of which `SLACK` has room; and so many values had not
                        // ended yet, each step ending one at most.
                        unsafe { running[lane].step(tables, text, &mut ends[lane]) };
                    }
                }
            }
        }
    }
    *lanes = running;
}
