//! ALP.
