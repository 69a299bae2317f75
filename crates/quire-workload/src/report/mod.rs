//! x
/// x
pub fn text(_: &crate::driver::WorkloadResult) -> String {
    String::new()
}
