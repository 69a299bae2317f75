//! Where `unsafe` may live.

use super::Finding;
use crate::rust_source::RustSource;
use crate::tree::{TextFile, Tree};

/// Crates with a room for `unsafe`; their root denies it and the named module allows it again.
const CRATES_WITH_A_ROOM: [&str; 4] = ["quire-cli", "quire-codec", "quire-native", "quire-python"];
/// The rooms: files whose `unsafe` was read line by line.
const ROOMS: [&str; 17] = [
    "crates/quire-cli/src/allocator.rs",
    "crates/quire-codec/src/kernel/bits.rs",
    "crates/quire-codec/src/kernel/bits512.rs",
    "crates/quire-codec/src/kernel/exceptions.rs",
    "crates/quire-codec/src/kernel/gather.rs",
    "crates/quire-codec/src/kernel/mod.rs",
    "crates/quire-codec/src/kernel/packed_scan.rs",
    "crates/quire-codec/src/kernel/packed_select.rs",
    "crates/quire-codec/src/kernel/packed_steps.rs",
    "crates/quire-codec/src/kernel/running_sum.rs",
    "crates/quire-codec/src/kernel/select.rs",
    "crates/quire-codec/src/kernel/transpose/lanes.rs",
    "crates/quire-codec/src/kernel/transpose/mod.rs",
    "crates/quire-codec/src/kernel/word_lanes.rs",
    "crates/quire-native/src/machine.rs",
    "crates/quire-python/src/capsule.rs",
    "crates/quire-store/examples/read_ahead_speed/uring.rs",
];
/// A `SAFETY:` remark has to stand this close above its block.
const REMARK_LINES_MAX: usize = 8;

/// `unsafe` occurs in the named rooms only, each time with its reason; every other crate root forbids it.
pub fn unsafe_stays_in_named_rooms(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let (Some(owner), Some(source)) = (tree.owner_of(&file.path), file.rust.as_ref()) else {
            continue;
        };
        let has_room = CRATES_WITH_A_ROOM.contains(&owner.name.as_str());
        if is_crate_root(&file.path) {
            let wanted = if has_room {
                "#![deny(unsafe_code)]"
            } else {
                "#![forbid(unsafe_code)]"
            };
            if !source
                .attributes()
                .iter()
                .any(|(_, attribute)| *attribute == wanted)
            {
                findings.push(Finding::new(
                    "unsafe",
                    &file.path,
                    0,
                    format!("this crate root lacks {wanted}"),
                ));
            }
        }
        if !ROOMS.contains(&file.path.as_str()) {
            findings.extend(source.lines_with_word("unsafe").map(|line| {
                Finding::new(
                    "unsafe",
                    &file.path,
                    line,
                    "`unsafe` outside the rooms named in xtask/src/tidy/unsafe_rooms.rs",
                )
            }));
        } else {
            findings.extend(unexplained_blocks(file, source));
        }
    }
    findings
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs") || path.contains("/src/bin/")
}

fn unexplained_blocks(file: &TextFile, source: &RustSource) -> Vec<Finding> {
    let comments: Vec<&str> = source.comments.lines().collect();
    let is_explained = |line: usize| {
        let first = line.saturating_sub(REMARK_LINES_MAX);
        comments[first..line]
            .iter()
            .any(|comment| comment.contains("SAFETY:") || comment.contains("# Safety"))
    };
    source
        .lines_with_word("unsafe")
        .filter(|line| !is_explained(*line))
        .map(|line| {
            Finding::new(
                "unsafe",
                &file.path,
                line,
                "`unsafe` without a `// SAFETY:` remark above it",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    const STORE: (&str, &str) = (
        "crates/quire-store/Cargo.toml",
        "[package]\nname = \"quire-store\"\n",
    );
    const CODEC: (&str, &str) = (
        "crates/quire-codec/Cargo.toml",
        "[package]\nname = \"quire-codec\"\n",
    );

    /// One of the codec's.
    const ROOM: &str = "crates/quire-codec/src/kernel/bits.rs";

    #[test]
    fn a_root_that_forbids_nothing_is_found() {
        let findings = unsafe_stays_in_named_rooms(&tree_of(&[
            STORE,
            ("crates/quire-store/src/lib.rs", "//! x\n"),
        ]));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("forbid"));
    }

    #[test]
    fn unsafe_outside_a_room_is_found_and_the_word_in_prose_is_not() {
        let source = "#![deny(unsafe_code)]\n// unsafe\nfn f() { unsafe { g() } }\n";
        let findings = unsafe_stays_in_named_rooms(&tree_of(&[
            CODEC,
            ("crates/quire-codec/src/lib.rs", source),
        ]));
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.line)
                .collect::<Vec<_>>(),
            [3]
        );
    }

    #[test]
    fn unsafe_in_a_room_needs_its_reason() {
        let good = "// SAFETY: it is.\nunsafe { g() }\n";
        assert_eq!(
            unsafe_stays_in_named_rooms(&tree_of(&[CODEC, (ROOM, good)])),
            []
        );
        let bad = "fn f() {\n    unsafe { g() }\n}\n";
        assert_eq!(
            unsafe_stays_in_named_rooms(&tree_of(&[CODEC, (ROOM, bad)])).len(),
            1
        );
    }
}
