//! Memory of operators that take all of it before they begin, and that can do without.

use std::sync::Arc;

use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// Reserves `bytes`. `None` if they are more than one part of `shares` of the memory, which other operators need, too, or if so much is not
/// there any more.
pub(crate) fn reserve_share(
    pool: &Arc<dyn MemoryPool>,
    name: &str,
    bytes: usize,
    shares: usize,
) -> Option<MemoryReservation> {
    if let MemoryLimit::Finite(limit) = pool.memory_limit()
        && bytes > limit / shares
    {
        return None;
    }
    let reservation = MemoryConsumer::new(name).register(pool);
    reservation.try_grow(bytes).ok().map(|()| reservation)
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    #[test]
    fn a_share_is_reserved_while_it_is_there() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(100));
        assert!(reserve_share(&pool, "test", 51, 2).is_none());
        let first = reserve_share(&pool, "test", 50, 2);
        let second = reserve_share(&pool, "test", 50, 2);
        assert!(first.is_some() && second.is_some());
        assert!(reserve_share(&pool, "test", 1, 2).is_none());
        drop(first);
        assert!(reserve_share(&pool, "test", 1, 2).is_some());
    }
}
