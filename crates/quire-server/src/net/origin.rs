//! Connections whose session has not begun, counted by where they come from: so that one address which opens many and says nothing
//! does not keep others out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bits of an address of version 6 that one customer of a network has for all machines.
const SUBNET_MASK: u128 = u128::MAX << 64;

/// Where a connection comes from: one machine, or one network of version 6.
pub(crate) fn origin_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & SUBNET_MASK))
        }
        other => other,
    }
}

/// How many such connections each origin has. There is an entry for each that has one, so there are no more than connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newcomers {
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Newcomer {
    origin: IpAddr,
    all: Newcomers,
}

impl Newcomers {
    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more.
    pub(crate) fn enter(&self, origin: IpAddr) -> Newcomer {
        *self.counts().entry(origin).or_default() += 1;
        Newcomer {
            origin,
            all: self.clone(),
        }
    }

    /// How many an origin has.
    pub(crate) fn count(&self, origin: IpAddr) -> usize {
        self.counts().get(&origin).copied().unwrap_or(0)
    }

    /// How many there are.
    pub(crate) fn total(&self) -> usize {
        self.counts().values().sum()
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let mut counts = self.all.counts();
        if let Some(count) = counts.get_mut(&self.origin) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn newcomers_are_counted_while_they_are_there() {
        let newcomers = Newcomers::default();
        let [ada, bob] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let first = newcomers.enter(ada);
        let _others = [newcomers.enter(ada), newcomers.enter(bob)];
        assert_eq!((newcomers.count(ada), newcomers.count(bob)), (2, 1));
        assert_eq!(newcomers.total(), 3);
        drop(first);
        assert_eq!(newcomers.count(ada), 1);
        drop(_others);
        assert!(newcomers.counts().is_empty());
    }

    #[test]
    fn a_network_of_version_6_is_one_origin() {
        let origin = |text: &str| origin_of(text.parse().unwrap());
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:2"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:10.0.0.1"), origin("10.0.0.1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
        assert_eq!(origin("::1").to_string(), "::1");
    }
}
