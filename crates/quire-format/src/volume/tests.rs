#![allow(clippy::unwrap_used)]

use super::*;
use crate::document::StructureField;

fn some_superblock() -> Superblock {
    Superblock {
        generation: 7,
        clean: true,
        volume: 0x0102_0304_0506_0708,
        salt: 0xfeed,
        commit_sequence: 11,
        next_sequence: 13,
        next_page: 40,
        log_start: 5 * BLOCK_BYTES,
        map: Some((
            ChunkPointer {
                offset: 3 * BLOCK_BYTES,
                checksum: 0xabcd,
            },
            2,
        )),
        page_count: 9,
        live_bytes: 12_345,
        map_digest: 99,
        data_end: 4 * BLOCK_BYTES,
    }
}

fn some_run() -> RunHeader {
    RunHeader {
        kind: RunKind::Data,
        ordinal: 3,
        sequence: 17,
        after_commit: 16,
        durable_commit: 14,
        salt: 0xfeed,
        offset: 6 * BLOCK_BYTES,
        next: 8 * BLOCK_BYTES,
        body_bytes: 5_000,
    }
}

fn some_image() -> ImageHeader {
    ImageHeader {
        kind: ImageKind::Page(PageId::new(21).unwrap(), PageKind::Segment),
        payload_bytes: 123,
        sequence: 17,
        payload_checksum: checksum(b"payload"),
    }
}

fn some_chunk() -> MapChunk {
    let page = |number| PageId::new(number).unwrap();
    MapChunk {
        previous: Some(ChunkPointer {
            offset: 9 * BLOCK_BYTES,
            checksum: 5,
        }),
        removed_runs: vec![2 * BLOCK_BYTES, 4 * BLOCK_BYTES],
        added_runs: vec![
            RunExtent {
                offset: 10 * BLOCK_BYTES,
                block_count: 2,
            },
            RunExtent {
                offset: 12 * BLOCK_BYTES,
                block_count: 300,
            },
        ],
        removed_pages: vec![PageRange {
            first: page(16),
            count: 4,
        }],
        entries: vec![
            PageEntry {
                page: page(1),
                offset: 50_000,
                payload_bytes: 7,
                payload_checksum: 1,
            },
            PageEntry {
                page: page(20),
                offset: 41_024,
                payload_bytes: 900,
                payload_checksum: 2,
            },
            PageEntry {
                page: page(21),
                offset: 41_956,
                payload_bytes: 0,
                payload_checksum: 3,
            },
        ],
    }
}

#[test]
fn structures_round_trip() {
    let superblock = some_superblock();
    assert_eq!(Superblock::decode(&superblock.encode()), Ok(superblock));
    let empty = Superblock {
        map: None,
        clean: false,
        ..superblock
    };
    assert_eq!(Superblock::decode(&empty.encode()), Ok(empty));
    let run = some_run();
    assert_eq!(RunHeader::decode(&run.encode(), run.offset), Ok(run));
    for kind in [
        ImageKind::Freed,
        ImageKind::Commit,
        ImageKind::MapChunk,
        ImageKind::Filler,
        some_image().kind,
    ] {
        let image = ImageHeader {
            kind,
            ..some_image()
        };
        assert_eq!(ImageHeader::decode(&image.encode()), Ok(image));
    }
    let record = CommitRecord {
        batch_checksum: 1,
        image_count: 1 << 40,
        next_page: 77,
    };
    assert_eq!(CommitRecord::decode(&record.encode()), Ok(record));
    let freed = FreedPages {
        ranges: some_chunk().removed_pages,
    };
    assert_eq!(FreedPages::decode(&freed.encode()), Ok(freed));
    let chunk = some_chunk();
    assert_eq!(MapChunk::decode(&chunk.encode()), Ok(chunk));
}

/// Offsets computed by hand from the table, not by the encoder.
#[test]
fn fields_are_where_the_document_says() {
    let bytes = some_superblock().encode();
    assert_eq!(&bytes[..8], b"QUIRE\r\n\x1a");
    assert_eq!(bytes[8..12], [2, 0, 0, 0], "version");
    assert_eq!(bytes[24..32], [8, 7, 6, 5, 4, 3, 2, 1], "volume");
    assert_eq!(bytes[72..80], [0, 0x30, 0, 0, 0, 0, 0, 0], "map offset");
    assert!(bytes[120..508].iter().all(|byte| *byte == 0), "reserved");
    let bytes = some_run().encode();
    assert_eq!(&bytes[..8], b"QUIRErun");
    assert_eq!(bytes[10], 1, "kind");
    assert_eq!(bytes[16], 17, "sequence");
    assert_eq!(bytes[56..64], [14, 0, 0, 0, 0, 0, 0, 0], "durable commit");
    assert_eq!(bytes[64..68], [0x88, 0x13, 0, 0], "body bytes");
    let bytes = some_image().encode();
    assert_eq!(&bytes[..4], b"Qi\x04\x01");
    assert_eq!(bytes[4], 123);
    assert_eq!(bytes[8], 21);
}

/// CRC32C of `123456789` is the check value of the catalogue of parametrised CRC algorithms;
/// that of 32 zeros is in RFC 3720, B.4.
#[test]
fn the_checksum_is_crc32c() {
    assert_eq!(checksum(b"123456789"), 0xe306_9283);
    assert_eq!(checksum(&[0; 32]), 0x8a91_36aa);
    assert_eq!(checksum_append(checksum(b"12345"), b"6789"), 0xe306_9283);
}

#[test]
fn every_flipped_bit_of_a_fixed_structure_is_noticed() {
    let superblock = some_superblock().encode();
    let run = some_run().encode();
    let image = some_image().encode();
    for bit in 0..superblock.len() * 8 {
        let mut flipped = superblock;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(
            Superblock::decode(&flipped).is_err(),
            "superblock bit {bit}"
        );
    }
    for bit in 0..run.len() * 8 {
        let mut flipped = run;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(
            RunHeader::decode(&flipped, some_run().offset).is_err(),
            "run bit {bit}"
        );
    }
    for bit in 0..image.len() * 8 {
        let mut flipped = image;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(ImageHeader::decode(&flipped).is_err(), "image bit {bit}");
    }
}

#[test]
fn a_run_of_another_place_is_refused() {
    let run = some_run();
    assert!(RunHeader::decode(&run.encode(), run.offset + BLOCK_BYTES).is_err());
    assert!(RunHeader::decode(&run.encode()[..40], run.offset).is_err());
}

#[test]
fn a_superblock_of_another_version_is_told_apart_from_a_damaged_one() {
    for version in [0, 1, 3] {
        let mut bytes = some_superblock().encode();
        bytes[8] = version;
        assert_eq!(Superblock::decode(&bytes), Err(SuperblockError::Checksum));
        let sum = checksum(&bytes[..508]).to_le_bytes();
        bytes[508..].copy_from_slice(&sum);
        assert_eq!(
            Superblock::decode(&bytes),
            Err(SuperblockError::Version(u32::from(version)))
        );
    }
}

#[test]
fn a_run_does_not_claim_a_commit_that_was_not_made() {
    let run = RunHeader {
        durable_commit: 17,
        ..some_run()
    };
    assert!(RunHeader::decode(&run.encode(), run.offset).is_err());
}

/// Payloads are protected by their image's checksum, but a hostile file can have a right one.
#[test]
fn hostile_payloads_are_errors_or_values_and_cost_no_more_than_they_are_long() {
    let chunk = some_chunk().encode();
    let freed = FreedPages {
        ranges: some_chunk().removed_pages,
    }
    .encode();
    let record = CommitRecord {
        batch_checksum: 1,
        image_count: 2,
        next_page: 77,
    }
    .encode();
    (0..chunk.len()).for_each(|cut| assert!(MapChunk::decode(&chunk[..cut]).is_err()));
    (0..freed.len()).for_each(|cut| assert!(FreedPages::decode(&freed[..cut]).is_err()));
    (0..record.len()).for_each(|cut| assert!(CommitRecord::decode(&record[..cut]).is_err()));
    let mut random = 3_u64;
    for payload in [&chunk, &freed, &record] {
        for _ in 0..20_000 {
            let mut changed = payload.clone();
            for _ in 0..3 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let at = (random >> 33) as usize % changed.len();
                changed[at] = (random >> 25) as u8;
            }
            if let Ok(chunk) = MapChunk::decode(&changed) {
                assert!(chunk.item_count() <= changed.len());
                assert_eq!(MapChunk::decode(&chunk.encode()), Ok(chunk));
            }
            let _ = FreedPages::decode(&changed);
            let _ = CommitRecord::decode(&changed);
        }
    }
}

#[test]
fn the_largest_chunk_fits_into_an_image() {
    let entry = |at: u64| PageEntry {
        page: PageId::new(1 + at * 16_777_000).unwrap(),
        offset: if at.is_multiple_of(2) { 1 << 54 } else { 8192 },
        payload_bytes: u32::try_from(MAX_PAYLOAD_BYTES).unwrap(),
        payload_checksum: u32::MAX,
    };
    let entries = (0..CHUNK_ITEMS_MAX as u64).map(entry).collect();
    let chunk = MapChunk {
        entries,
        ..MapChunk::default()
    };
    assert_eq!(MapChunk::decode(&chunk.encode()), Ok(chunk));
}

#[test]
fn the_digest_depends_on_content_and_not_on_place() {
    let entry = some_chunk().entries[1];
    assert_eq!(
        entry.digest(),
        PageEntry {
            offset: 8192,
            ..entry
        }
        .digest()
    );
    assert_ne!(
        entry.digest(),
        PageEntry {
            payload_checksum: 3,
            ..entry
        }
        .digest()
    );
    assert_ne!(
        entry.digest(),
        PageEntry {
            payload_bytes: 901,
            ..entry
        }
        .digest()
    );
    assert_ne!(
        entry.digest(),
        PageEntry {
            page: PageId::new(22).unwrap(),
            ..entry
        }
        .digest()
    );
}

/// The documented fields of every structure of fixed length follow each other without a gap.
#[test]
fn documented_fields_tile_their_structures() {
    for structure in STRUCTURES {
        let Some(bytes) = structure.fixed_bytes else {
            continue;
        };
        let mut end = 0;
        for StructureField {
            offset,
            length,
            name,
            ..
        } in structure.fields
        {
            assert_eq!(*offset, Some(end), "{}: {name}", structure.name);
            end += length.parse::<usize>().unwrap();
        }
        assert_eq!(end, bytes, "{}", structure.name);
    }
}

#[test]
fn ranges_are_folded_and_unfolded() {
    let pages: Vec<PageId> = [1, 2, 3, 7, 9, 10]
        .into_iter()
        .map(|page| PageId::new(page).unwrap())
        .collect();
    let ranges = PageRange::from_sorted(pages.iter().copied());
    assert_eq!(ranges.len(), 3);
    let unfolded: Vec<PageId> = ranges.into_iter().flat_map(PageRange::pages).collect();
    assert_eq!(unfolded, pages);
}
