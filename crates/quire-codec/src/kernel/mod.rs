//! The loops that must be fast, compiled several times for what the processor has.
//!
//! Most kernels are one safe, scalar loop over fixed-size arrays, which the compiler vectorises. `dispatch!`
//! compiles it three times, for AVX-512, for AVX2 and for the baseline of the target, and picks at run time.
//! Where that is not enough there is a second version in AVX-512 instructions. All give the same values and
//! the same bytes. This module and its children are the only code of the crate that may say `unsafe`: to
//! enter a function compiled for features that were detected, to gather from a dictionary after all codes
//! were checked at once or limited to it, to load and store whole registers, to read a buffer that a kernel has
//! just filled, and to write the texts of a few words where room for the longest was checked once for all.

pub(crate) mod bits;
#[cfg(target_arch = "x86_64")]
mod bits512;
pub(crate) mod decimal;
pub(crate) mod digits;
pub(crate) mod exceptions;
pub(crate) mod gather;
pub(crate) mod glue;
pub(crate) mod order;
pub(crate) mod packed_scan;
pub(crate) mod packed_select;
pub(crate) mod packed_steps;
pub(crate) mod running_sum;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod transpose;
pub(crate) mod word_lanes;

use std::sync::atomic::{AtomicU8, Ordering};

/// Instruction sets the kernels are compiled for, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Backend {
    /// What every processor of the target has.
    Portable = 1,
    /// AVX2 with BMI.
    Avx2 = 2,
    /// AVX-512 F, BW, CD, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4 and later. Earlier processors with AVX-512
    /// run at a lower clock while they use it, and get AVX2.
    Avx512 = 3,
}

impl Backend {
    /// What this processor can run.
    pub fn detected() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2");
            if avx2 && avx512 {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Portable
    }
}

/// 0 until the first use, then a [`Backend`] that is no higher than what was detected.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

/// Restricts all kernels of the process to at most `limit`, for tests and measurements.
pub fn limit_backend(limit: Backend) {
    ACTIVE.store(limit.min(Backend::detected()) as u8, Ordering::Relaxed);
}

/// The backend in use.
#[inline]
pub fn active_backend() -> Backend {
    match ACTIVE.load(Ordering::Relaxed) {
        1 => Backend::Portable,
        2 => Backend::Avx2,
        3 => Backend::Avx512,
        _ => {
            let detected = Backend::detected();
            ACTIVE.store(detected as u8, Ordering::Relaxed);
            detected
        }
    }
}

/// Defines a function that runs `$body` compiled for the active backend.
#[macro_export]
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:expr) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                match $crate::active_backend() {
                    $crate::Backend::Avx512 => {
                        // SAFETY: the active backend never exceeds the detected one, so the processor
                        // has every feature `avx512` is compiled for.
                        return unsafe { avx512($($arg),*) };
                    }
                    $crate::Backend::Avx2 => {
                        // SAFETY: as above, for the features `avx2` is compiled for.
                        return unsafe { avx2($($arg),*) };
                    }
                    $crate::Backend::Portable => {}
                }
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use dispatch;
pub use select::mask_of;

/// Whether kernels written in AVX-512 instructions may be entered.
#[inline]
pub(crate) fn has_avx512() -> bool {
    cfg!(target_arch = "x86_64") && active_backend() == Backend::Avx512
}
