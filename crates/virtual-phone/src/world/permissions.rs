//! Requests, grants and revokes permissions.

use crate::app::Event;
use crate::log::SYSTEM_PID;
use crate::overlays::{PermissionQuestion, Prompt};
use crate::permissions::{
    COARSE_LOCATION, FINE_LOCATION, OFTEN, PermissionAnswer, PermissionError, PermissionGroup,
    PermissionState, RuntimePermission,
};
use crate::world::World;

impl World {
    /// Whether an app holds a permission, e.g. `android.permission.CAMERA`.
    pub fn granted(&self, package: &str, permission: &str) -> bool {
        let Some(app) = self.apps.manifest(package) else {
            return false;
        };
        if !app.permissions.iter().any(|asked| asked == permission) {
            return false;
        }
        let Some(group) = PermissionGroup::of(permission, self.android()) else { return true };
        let held = self.permissions.decided(package, permission);
        held.map_or(app.system && group.given, |held| held.granted)
    }

    /// Grants a permission without asking the user, as `pm grant` does.
    ///
    /// # Errors
    /// See [`PermissionError`]; nothing changes then.
    pub fn grant(&mut self, package: &str, permission: &str) -> Result<(), PermissionError> {
        self.changeable(package, permission)?;
        self.permissions.decide(
            package,
            permission,
            PermissionState { granted: true, ..PermissionState::default() },
        );
        self.rebuild();
        Ok(())
    }

    /// Revokes a permission, as `pm revoke` does; a running app that held it is killed.
    ///
    /// # Errors
    /// See [`PermissionError`]; nothing changes then.
    pub fn revoke(&mut self, package: &str, permission: &str) -> Result<(), PermissionError> {
        self.changeable(package, permission)?;
        let held = self.granted(package, permission);
        self.permissions.decide(package, permission, PermissionState::default());
        if let (true, Some(pid)) = (held, self.pid_of(package)) {
            self.note("am_kill", &format!("[0,{pid},{package},0,permissions revoked]"));
            self.end(package);
        }
        self.rebuild();
        Ok(())
    }

    /// Clears all permission decisions, as `pm reset-permissions` does.
    pub fn reset_permissions(&mut self) {
        self.permissions.clear();
        self.rebuild();
    }

    /// The runtime permissions of an app, in manifest order; none if it is not installed, and none
    /// before Android 6.
    pub fn runtime_permissions(&self, package: &str) -> Vec<RuntimePermission> {
        let Some(at) = self.apps.position(package) else { return Vec::new() };
        let manifest = &self.apps[at].manifest;
        let asked = manifest
            .permissions
            .iter()
            .filter(|name| PermissionGroup::of(name, self.android()).is_some());
        let listed = asked.map(|name| {
            let held = self.permissions.decided(package, name);
            let granted = self.granted(package, name);
            let mut flags = match held {
                None if granted => vec!["GRANTED_BY_DEFAULT"],
                Some(held) if held.is_final(self.android()) && !granted => {
                    vec!["USER_SET", "USER_FIXED"]
                }
                Some(held) if held.by_person => vec!["USER_SET"],
                _ => Vec::new(),
            };
            if held.is_some_and(|held| held.once) {
                flags.push("ONE_TIME");
            }
            if self.device.android() >= 10 {
                flags.extend(["USER_SENSITIVE_WHEN_GRANTED", "USER_SENSITIVE_WHEN_DENIED"]);
            }
            RuntimePermission { name: name.clone(), granted, flags }
        });
        listed.collect()
    }

    /// Forgets all decisions of an app.
    pub fn forget_permissions(&mut self, package: &str) {
        self.permissions.forget(package);
    }

    /// Handles an app's request. The result is sent at once if there is nothing to ask, or if the
    /// user's denial is final.
    pub(crate) fn ask_permission(&mut self, package: &str, permission: &'static str) {
        let granted = self.granted(package, permission);
        let group = PermissionGroup::of(permission, self.android())
            .filter(|_| self.asks_for(package, permission));
        let Some(group) = group.filter(|_| !granted) else {
            self.send_event(package, Event::PermissionResult { permission, granted });
            return;
        };
        let held = self.permissions.decided(package, permission);
        let refused = held.map_or(0, |held| held.refused);
        if held.is_some_and(|held| held.is_final(self.android())) {
            self.send_event(package, Event::PermissionResult { permission, granted: false });
            return;
        }
        let label = self.apps.label_of(package);
        let package = package.to_owned();
        let precise = (permission == FINE_LOCATION).then_some(true);
        let old = self.android() < 10;
        let never = (old && refused > 0).then_some(false);
        self.push_overlay(Prompt {
            package,
            label,
            permission,
            group,
            refused,
            precise,
            never,
            old,
        });
    }

    /// Applies the user's answer to every permission of the group that the app requests.
    pub(crate) fn answer(&mut self, prompt: &PermissionQuestion, answer: PermissionAnswer) {
        let package = prompt.package.as_str();
        let Some(at) = self.apps.position(package) else { return };
        let asked = self.apps[at].manifest.permissions.clone();
        let theirs = asked
            .iter()
            .filter(|name| PermissionGroup::of(name, self.android()) == Some(prompt.group));
        let theirs: Vec<&String> = theirs.collect();
        for name in theirs {
            let before = self.permissions.decided(package, name);
            let refused = before.map_or(0, |held| held.refused);
            let held = match answer {
                PermissionAnswer::Nothing => continue,
                PermissionAnswer::Deny => {
                    let refused = refused.saturating_add(1).min(OFTEN).max(refused);
                    PermissionState { refused, by_person: true, ..PermissionState::default() }
                }
                PermissionAnswer::Never => PermissionState {
                    refused: u8::MAX,
                    by_person: true,
                    ..PermissionState::default()
                },
                // Only approximate location.
                PermissionAnswer::Allow | PermissionAnswer::Once
                    if prompt.precise == Some(false) && name == FINE_LOCATION =>
                {
                    continue;
                }
                PermissionAnswer::Allow | PermissionAnswer::Once => PermissionState {
                    granted: true,
                    once: answer == PermissionAnswer::Once,
                    refused: 0,
                    by_person: true,
                },
            };
            self.permissions.decide(package, name, held);
        }
        let line = format!("{} for {package}: {answer:?}", prompt.permission);
        self.write_log('V', "GrantPermissionsActivity", SYSTEM_PID, &line);
        let granted = self.granted(package, prompt.permission)
            || (prompt.precise == Some(false) && self.granted(package, COARSE_LOCATION));
        self.send_event(
            package,
            Event::PermissionResult { permission: prompt.permission, granted },
        );
    }

    fn changeable(&self, package: &str, permission: &str) -> Result<(), PermissionError> {
        let at = self.apps.position(package).ok_or(PermissionError::NoSuchPackage)?;
        if !self.apps[at].manifest.permissions.iter().any(|asked| asked == permission) {
            let known = permission.starts_with("android.permission.");
            return Err(if known {
                PermissionError::NotRequested
            } else {
                PermissionError::Unknown
            });
        }
        PermissionGroup::of(permission, self.android())
            .map(|_| ())
            .ok_or(PermissionError::NotChangeable)
    }

    fn asks_for(&self, package: &str, permission: &str) -> bool {
        let app = self.apps.manifest(package);
        app.is_some_and(|app| app.permissions.iter().any(|asked| asked == permission))
    }
}
