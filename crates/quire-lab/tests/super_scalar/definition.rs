//! The layout as its definition says, bit by bit and without a thought for speed: what other tests compare
//! with.

use crate::columns::mask;

/// What a segment is to hold, every number as the bits of a `u64`.
pub struct Definition<'a> {
    /// 1 PFOR, 2 PFOR-DELTA, 3 PDICT.
    pub scheme: u8,
    pub type_id: u8,
    pub value_bytes: usize,
    pub width: usize,
    pub escaped: bool,
    pub base: u64,
    /// With PDICT.
    pub dictionary: &'a [u64],
    pub reuse: bool,
}

impl Definition<'_> {
    fn wrap(&self, number: u64) -> u64 {
        number & mask(8 * self.value_bytes)
    }

    /// The code a value would have if it fitted.
    fn code(&self, input: u64) -> Option<u64> {
        match self.scheme {
            3 => {
                let place = self.dictionary.iter().position(|&value| value == input);
                place.map(|place| place as u64)
            }
            _ => Some(self.wrap(input.wrapping_sub(self.base))),
        }
    }

    fn fits(&self, code: Option<u64>) -> bool {
        code.is_some_and(|code| {
            if self.escaped {
                code < mask(self.width)
            } else {
                code <= mask(self.width)
            }
        })
    }

    /// The codes of a group, and which places are exceptions.
    fn group(&self, inputs: &[u64]) -> (Vec<u64>, Vec<usize>) {
        let mut codes: Vec<u64> = inputs
            .iter()
            .map(|&input| self.code(input).unwrap_or_default())
            .collect();
        let needed: Vec<bool> = inputs
            .iter()
            .map(|&input| !self.fits(self.code(input)))
            .collect();
        let mut exceptions: Vec<usize> = Vec::new();
        for place in 0..inputs.len() {
            let compulsory = !self.escaped
                && needed[place..].contains(&true)
                && exceptions
                    .last()
                    .is_some_and(|last| (place - last - 1) as u64 == mask(self.width));
            if needed[place] || compulsory {
                exceptions.push(place);
            }
        }
        for (number, &place) in exceptions.iter().enumerate() {
            codes[place] = match (self.escaped, exceptions.get(number + 1)) {
                (true, _) => mask(self.width),
                (false, Some(next)) => (next - place - 1) as u64,
                (false, None) => 0,
            };
        }
        (codes, exceptions)
    }

    fn inputs(&self, values: &[u64]) -> Vec<u64> {
        match self.scheme {
            2 => {
                let before = std::iter::once(self.start(values)).chain(values.iter().copied());
                let pairs = values.iter().zip(before);
                pairs
                    .map(|(value, before)| self.wrap(value.wrapping_sub(before)))
                    .collect()
            }
            _ => values.to_vec(),
        }
    }

    /// The first running total.
    fn start(&self, values: &[u64]) -> u64 {
        let first = values.first().copied().unwrap_or_default();
        self.wrap(first.wrapping_sub(self.base))
    }

    /// The segment.
    pub fn segment(&self, values: &[u64]) -> Vec<u8> {
        let inputs = self.inputs(values);
        let mut entries = Vec::new();
        let mut codes = Vec::new();
        let mut exceptions = Vec::new();
        for inputs in inputs.chunks(128) {
            let (group_codes, places) = self.group(inputs);
            entries.push(places.first().unwrap_or(&0) + 128 * exceptions.len());
            codes.extend(group_codes);
            exceptions.extend(places.iter().map(|&place| inputs[place]));
        }
        let mut body = Vec::new();
        for entry in entries {
            body.extend((entry as u32).to_le_bytes());
        }
        if self.scheme == 2 {
            for group in 0..values.len().div_ceil(128) {
                let total = match group {
                    0 => self.start(values),
                    _ => values[128 * group - 1],
                };
                body.extend(&total.to_le_bytes()[..self.value_bytes]);
            }
        }
        if self.scheme == 3 && !self.reuse {
            for value in self.dictionary {
                body.extend(&value.to_le_bytes()[..self.value_bytes]);
            }
        }
        let codes_start = 40 + body.len();
        body.extend(pack(&codes, self.width));
        for exception in exceptions.iter().rev() {
            body.extend(&exception.to_le_bytes()[..self.value_bytes]);
        }
        let mut segment = self.header(values.len(), exceptions.len(), codes_start, body.len());
        segment.extend(body);
        segment
    }

    fn header(
        &self,
        value_count: usize,
        exception_count: usize,
        codes_start: usize,
        body_bytes: usize,
    ) -> Vec<u8> {
        let kind = match (self.scheme, self.reuse) {
            (3, false) => 1,
            (3, true) => 2,
            _ => 0,
        };
        let marking = if self.escaped { 2 } else { 1 };
        let mut header = vec![
            1,
            self.scheme,
            self.type_id,
            self.width as u8,
            marking,
            kind,
            0,
            0,
        ];
        header.extend((value_count as u32).to_le_bytes());
        header.extend((exception_count as u32).to_le_bytes());
        header.extend(if self.scheme == 3 {
            [0; 8]
        } else {
            self.base.to_le_bytes()
        });
        header.extend((codes_start as u32).to_le_bytes());
        header.extend((40 + body_bytes as u32).to_le_bytes());
        match self.scheme {
            3 => {
                header.extend((self.dictionary.len() as u32).to_le_bytes());
                header.extend(self.fingerprint().to_le_bytes());
            }
            _ => header.extend([0; 8]),
        }
        header
    }

    /// FNV-1a: <https://datatracker.ietf.org/doc/html/rfc9923>.
    fn fingerprint(&self) -> u32 {
        let mut hash = 2_166_136_261u32;
        for value in self.dictionary {
            for byte in &value.to_le_bytes()[..self.value_bytes] {
                hash ^= u32::from(*byte);
                hash = hash.wrapping_mul(16_777_619);
            }
        }
        hash
    }
}

/// One bit after the other, least significant first, up to a multiple of 32 codes.
fn pack(codes: &[u64], width: usize) -> Vec<u8> {
    let mut packed = vec![0u8; codes.len().next_multiple_of(32) * width / 8];
    for (index, code) in codes.iter().enumerate() {
        for bit in 0..width {
            let place = index * width + bit;
            packed[place / 8] |= ((code >> bit & 1) as u8) << (place % 8);
        }
    }
    packed
}
