//! Adds app tools to a server's own tools, if the operator allows any app.

use std::sync::Arc;

use thumbwire_core::action::Perform;
use thumbwire_core::providers::BUILT_IN;
use thumbwire_core::session::Session;
use thumbwire_core::toolset::Toolset;
use thumbwire_core::toolset::app_tools::{AppToolSource, DeviceFilter};

/// The toolset; `mobile` includes the tools of apps on the server's phones or, without `--device`,
/// on all connected phones. Built-in phones count only if they were named.
pub(super) fn with_apps(toolset: Toolset, session: &Arc<Session>, named: &[String]) -> Toolset {
    if toolset.name != "mobile" || !session.may_call_apps() {
        return toolset;
    }
    let which = match named {
        [] => DeviceFilter::AllReadyExcept(BUILT_IN.map(str::to_owned).into()),
        named => DeviceFilter::Named(named.to_vec()),
    };
    let source = AppToolSource::new(Arc::clone(session) as Arc<dyn Perform>, which);
    session.events().add(Arc::new(source.device_events()));
    toolset.with_dynamic_tools(Arc::new(source))
}

/// Rescans the apps when a phone connects or disconnects, if the tools are those of all phones.
/// Runs until the program exits.
pub(super) fn follow_devices(session: &Arc<Session>, named: &[String]) {
    if named.is_empty() && session.may_call_apps() {
        tokio::spawn(session.watch_devices());
    }
}
