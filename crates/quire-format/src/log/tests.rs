#![allow(clippy::unwrap_used)]

use super::*;
use crate::volume::PageId;

fn entry(records: &[u8], ends: Option<(u64, u32)>) -> LogEntry<'_> {
    LogEntry { ends, records }
}

fn body_of(entries: &[LogEntry<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    entries
        .iter()
        .for_each(|entry| push_entry(&mut body, entry));
    body
}

fn some_commits() -> (LogContent, Vec<u8>) {
    let content = LogContent::Commits {
        first: 0x0201,
        count: 2,
        ends_large: true,
    };
    let body = body_of(&[entry(b"abc", None), entry(b"z", Some((300, 2)))]);
    (content, body)
}

/// Every byte from the table in FORMAT.md, by hand.
#[test]
fn a_page_of_commits_has_the_documented_bytes() {
    let (content, body) = some_commits();
    let mut expected = vec![1, 1, 0, 1, 2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0];
    // No large transaction, 3 bytes; transaction 300 (0xac, 0x02) with 2 parts, 1 byte.
    expected.extend_from_slice(b"\x00\x03abc\xac\x02\x02\x01z");
    assert_eq!(LogPage::encode(content, &body), expected);
}

#[test]
fn a_part_has_the_documented_bytes() {
    let content = LogContent::Part {
        large: 7,
        ordinal: 1,
    };
    let expected = b"\x01\x02\x00\x00\x01\0\0\0\x07\0\0\0\0\0\0\0\x02\0\0\0hi";
    assert_eq!(LogPage::encode(content, b"hi"), expected);
}

#[test]
fn a_root_has_the_documented_bytes() {
    let root = LogRoot {
        first_page: PageId::new(300),
        truncated_to: 5,
    };
    assert_eq!(root.encode(), [1, 0xac, 2, 5]);
    for root in [root, LogRoot::default()] {
        assert_eq!(LogRoot::decode(&root.encode()), Ok(root));
    }
    for cut in 0..4 {
        assert!(LogRoot::decode(&root.encode()[..cut]).is_err());
    }
    assert!(LogRoot::decode(&[1, 0, 0, 0]).is_err(), "a rest");
    assert!(LogRoot::decode(&[2, 0, 0]).is_err(), "another version");
    let beyond = [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0];
    assert!(LogRoot::decode(&beyond).is_err(), "no page is called so");
}

#[test]
fn pages_round_trip_and_long_ones_are_compressed_when_it_pays() {
    let mut noise = vec![0_u8; 20_000];
    let mut state = 1_u64;
    noise.iter_mut().for_each(|byte| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *byte = (state >> 56) as u8;
    });
    let text = b"update accounts set balance = ".repeat(1_000);
    for (records, is_shorter) in [
        (&noise[..], false),
        (&text[..], true),
        (&text[..2_000], false),
    ] {
        let body = body_of(&[entry(records, None), entry(b"", Some((9, 0)))]);
        let content = LogContent::Commits {
            first: 1,
            count: 2,
            ends_large: true,
        };
        let payload = LogPage::encode(content, &body);
        assert_eq!(payload.len() < body.len(), is_shorter);
        let page = LogPage::decode(&payload).unwrap();
        assert_eq!(page.content, content);
        let found = page.body().unwrap();
        let entries: Result<Vec<_>, _> = LogEntries::new(&found, 2).collect();
        assert_eq!(
            entries.unwrap(),
            [entry(records, None), entry(b"", Some((9, 0)))]
        );
    }
}

#[test]
fn the_largest_records_fit_into_a_page() {
    let records = vec![7; RECORDS_BYTES_MAX];
    let body = body_of(&[entry(&records, Some((u64::MAX >> 8, u32::MAX)))]);
    let content = LogContent::Commits {
        first: u64::MAX >> 8,
        count: 1,
        ends_large: true,
    };
    let payload = LogPage::encode(content, &body);
    assert!(payload.len() <= crate::volume::MAX_PAYLOAD_BYTES);
    let page = LogPage::decode(&payload).unwrap();
    assert_eq!(page.body().unwrap(), body);
}

/// Reads everything a page claims to hold; how many bytes of records came out.
fn read_all(payload: &[u8]) -> Option<usize> {
    let page = LogPage::decode(payload).ok()?;
    let body = page.body().ok()?;
    let LogContent::Commits { count, .. } = page.content else {
        return Some(body.len());
    };
    let entries: Result<Vec<_>, _> = LogEntries::new(&body, count).collect();
    Some(entries.ok()?.iter().map(|entry| entry.records.len()).sum())
}

/// Payloads are protected by their image's checksum, but a hostile file can have a right one.
#[test]
fn hostile_pages_are_errors_or_values() {
    let (content, body) = some_commits();
    let short = LogPage::encode(content, &body);
    let long = LogPage::encode(
        LogContent::Commits {
            first: 3,
            count: 1,
            ends_large: false,
        },
        &body_of(&[entry(&b"again and ".repeat(800), None)]),
    );
    for payload in [&short, &long] {
        assert!(read_all(payload).is_some());
        (0..payload.len()).for_each(|cut| assert_eq!(read_all(&payload[..cut]), None));
        let mut random = 5_u64;
        for _ in 0..50_000 {
            let mut changed = payload.clone();
            for _ in 0..3 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let at = (random >> 33) as usize % changed.len();
                changed[at] = (random >> 25) as u8;
            }
            if let Some(bytes) = read_all(&changed) {
                assert!(bytes <= crate::volume::MAX_PAYLOAD_BYTES);
            }
        }
    }
}
