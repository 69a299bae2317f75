//! Who has locks: a transaction, and the session that it is of.

/// Number of a transaction that has locks, and of its session; never 0.
pub(super) type Owner = u64;

/// Low bits of an owner that say whose transaction it is.
const SESSION_BITS: u32 = 24;

/// A number for a transaction of a session.
pub(super) fn owner_of(number: u64, session: u32) -> Owner {
    number << SESSION_BITS | u64::from(session) & ((1 << SESSION_BITS) - 1)
}

/// Whose transaction it is.
pub(super) fn session_of(owner: Owner) -> u32 {
    (owner & ((1 << SESSION_BITS) - 1)) as u32
}

/// Tells it from others of the session.
pub(super) fn number_of(owner: Owner) -> u64 {
    owner >> SESSION_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_know_their_session() {
        let owner = owner_of(9, 4_194_303);
        assert_eq!((session_of(owner), number_of(owner)), (4_194_303, 9));
        assert_ne!(owner_of(1, 0), 0);
    }
}
