//! Which of our planning steps a session has switched off.

use datafusion::common::config::ConfigOptions;
use quire_functions::QuireOptions;

/// Whether a step runs. It does where nobody has registered our options.
pub(super) fn is_on(options: &ConfigOptions, switch: impl Fn(&QuireOptions) -> bool) -> bool {
    let options = options.extensions.get::<QuireOptions>();
    options.is_none_or(switch)
}
