//! What text compresses as that of Baidu's services does?
//!
//! Paper 4 (table III, section VI-A) says of its data: integers and texts, more than 99 % of the bytes text, records of 612 bytes, and raw
//! data that zlib makes 0.24 and LZ4HC 0.30 as large. Records of a log of requests are made to have these ratios in pieces of 16 KiB: names
//! and values that repeat, from which both gain, words, and identifiers in hexadecimal, from which only a code by entropy gains.

use crate::SeededRandom;
use crate::workloads::english::sentences;

const TEXT_BYTES_LEAST: i64 = 500;
const TEXT_BYTES_MOST: i64 = 684;
/// Calibrated: `cargo test -p quire-workload text_compresses` fails where zlib and LZ4HC are more than 0.02 away.
const HEX_DIGITS: usize = 40;
const WORD_BYTES: i64 = 118;

const HOSTS: [&str; 8] = [
    "www.example.com",
    "tieba.example.com",
    "image.example.org",
    "zhidao.example.com",
    "music.example.net",
    "map.example.com",
    "news.example.org",
    "wenku.example.net",
];
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/28.0.1500.95 Safari/537.36",
    "Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 6_1_3 like Mac OS X) AppleWebKit/536.26 (KHTML, like Gecko) Version/6.0 Mobile/10B329",
    "Mozilla/5.0 (Linux; U; Android 4.1.2; en-us; GT-I9300) AppleWebKit/534.30 (KHTML, like Gecko) Mobile Safari/534.30",
];
/// Repeated to the length of a record, as flags and counters of a log are mostly the same.
const FLAGS: &str = "&exp=0&sample=none&cache=hit&retry=0&charset=utf-8&lang=zh&debug=false&module=frontend&region=north\
    &cluster=bj01&status=200&protocol=1.1&compressed=yes&spider=no&login=no&frame=0&source=direct&layout=default";

/// The text of a record: 592 bytes in the mean, in ASCII.
pub fn record_text(random: &mut SeededRandom) -> String {
    let bytes = random.between(TEXT_BYTES_LEAST, TEXT_BYTES_MOST) as usize;
    let host = random.pick(&HOSTS);
    let words = sentences(
        random.between(WORD_BYTES / 2, WORD_BYTES * 3 / 2) as usize,
        random,
    );
    let mut text = format!(
        "request=GET&host={host}&path=/item/{}.html&query={words}&user={}&client=10.{}.{}.{}&agent={}&ms={}",
        random.digits(6),
        hex(HEX_DIGITS, random),
        random.below(256),
        random.below(256),
        random.below(256),
        random.pick(&AGENTS),
        random.below(1_000),
    );
    while text.len() < bytes {
        text.push_str(FLAGS);
    }
    text.truncate(bytes);
    text
}

fn hex(digits: usize, random: &mut SeededRandom) -> String {
    (0..digits)
        .map(|_| char::from(*random.pick(b"0123456789abcdef")))
        .collect()
}
