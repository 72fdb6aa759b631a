//! The tools of apps beside a server's own: on which phones, and only where the operator allows some app.

use std::sync::Arc;

use crate::session::{Session, VIRTUAL};
use crate::surface::Surface;
use crate::surface::bridged::{AppTools, Which};

/// The surface, `mobile` with what apps offer: those of the phone that the server was started with, else of all that are there. The built-in
/// phone counts where it was named.
pub(super) fn with_apps(surface: Surface, session: &Arc<Session>, device: Option<&str>) -> Surface {
    if surface.name != "mobile" || !session.may_call_apps() {
        return surface;
    }
    let which = match device {
        Some(id) => Which::Named(vec![id.to_owned()]),
        None => Which::ReadyBut(vec![VIRTUAL.to_owned()]),
    };
    let session = Arc::clone(session);
    surface.with_guests(Arc::new(AppTools::new(session, which)))
}
