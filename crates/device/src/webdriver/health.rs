//! The health checks of a phone behind a server.

use crate::{Check, Error, Health, Tree};

/// The checks: the connection as it was found, then what these questions find. They are asked only if there is a connection.
pub(crate) async fn health(
    connected: Result<String, String>,
    is_locked: impl Future<Output = Result<bool, Error>>,
    tree: impl Future<Output = Result<Tree, Error>>,
) -> Health {
    let unknown = || Err("unknown: the phone does not respond".to_owned());
    let (screen, source) = match connected {
        Err(_) => (unknown(), unknown()),
        Ok(_) => {
            let screen = match is_locked.await {
                Ok(false) => Ok("on".into()),
                Ok(true) => Err("locked".into()),
                Err(error) => Err(format!("check failed to run: {error}")),
            };
            let source = match tree.await {
                Ok(tree) => Ok(format!("the screen has {} elements", tree.nodes.len())),
                Err(error) => Err(error.to_string()),
            };
            (screen, source)
        }
    };
    let checks = [("connectivity", connected), ("screen_state", screen), ("ui_service", source)];
    let checks = checks.map(|(name, found)| match found {
        Ok(details) => Check { name, passed: true, details },
        Err(details) => Check { name, passed: false, details },
    });
    Health { checks: checks.into() }
}
