//! Runs steps about text that no field is named for: copying, erasing, the keyboard; and about an
//! app's permissions.

use std::path::Path;
use std::time::Duration;

use thumbwire_base::truncate;
use thumbwire_device::{AppId, InstallOptions, Key, KeyCode, Platform};

use super::assert::mismatch;
use super::case_runner::{CaseRunner, StepError};
use super::element_pattern::ElementPattern;
use super::parse::plain;
use super::report::FailureKind;
use super::run_step::anywhere;
use thumbwire_core::action::{Action, Cause, Observe, TextInput, WaitCondition, request};

/// The time limit of an installation. A large app takes minutes over Wi-Fi.
const INSTALLING: Duration = Duration::from_secs(600);

/// Android's code of the key that deletes the character before the cursor, `KEYCODE_DEL`.
const DELETE: Key = Key::Android(KeyCode(67));

impl CaseRunner<'_> {
    /// Copies the text of an element, else its hint or description.
    pub(super) async fn copy_text(
        &mut self,
        element: &ElementPattern,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let (snapshot, node) =
            self.until(timeout, async |runner| runner.find_one(element).await).await?;
        let node = &snapshot.tree.nodes[node];
        let texts = [&node.text, &node.hint, &node.description];
        let Some(text) = texts.into_iter().find(|text| !text.is_empty()) else {
            let what = format!("element {element} has no text to copy");
            return Err(StepError::new(FailureKind::Step, what));
        };
        self.state.copied = Some(text.to_string());
        Ok(())
    }

    /// Deletes characters before the cursor, or all of the field with focus.
    pub(super) async fn erase(
        &mut self,
        count: Option<u32>,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let Some(count) = count else {
            return self
                .type_text(TextInput { clear: true, ..TextInput::default() }, timeout)
                .await;
        };
        for _ in 0..count {
            self.must(request::Press(DELETE)).await?;
        }
        Ok(())
    }

    /// Hides the keyboard, if it is shown. On Android the key Back does it.
    pub(super) async fn hide_keyboard(&mut self) -> Result<(), StepError> {
        let Some(snapshot) = self.snapshot().await else { return Ok(()) };
        let is_keyboard = |at: usize| {
            snapshot.tree.nodes[at].class.ends_with("Keyboard") && !snapshot.shown(at).is_empty()
        };
        match self.context.platform {
            Platform::Android if snapshot.tree.keyboard.is_some() => {
                self.must(request::Press(Key::Back)).await
            }
            Platform::Ios if (0..snapshot.tree.nodes.len()).any(is_keyboard) => {
                let what = "an iPhone has no key that hides its keyboard; tap outside of the field, or submit it";
                Err(StepError::new(FailureKind::Step, what))
            }
            Platform::Android | Platform::Ios => Ok(()),
        }
    }

    /// Android has no keychain.
    pub(super) fn clear_keychain(&self) -> Result<(), StepError> {
        match self.context.platform {
            Platform::Android => Ok(()),
            Platform::Ios => {
                let what = "the keychain of an iPhone cannot be cleared; remove `clearKeychain`, or uninstall the app and install it again";
                Err(StepError::new(FailureKind::Step, what))
            }
        }
    }

    /// Sets permissions of an app. With `requested_only`, once for each app: a phone takes a while
    /// for all of them.
    pub(super) async fn set_permissions(
        &mut self,
        app: &AppId,
        permissions: &[(String, bool)],
        requested_only: bool,
    ) -> Result<(), StepError> {
        let grants = requested_only && permissions.iter().all(|(_, granted)| *granted);
        if grants && self.state.permitted.contains(app) {
            return Ok(());
        }
        for (permission, granted) in permissions {
            let (app, permission, granted) = (app.clone(), permission.clone(), *granted);
            match self.ask(request::SetPermission { app, permission, granted }).await {
                Ok(()) => {}
                Err(failure) => match &failure.cause {
                    // Not requested by the app, or unknown to this release. Maestro passes over
                    // those that a flow names, too.
                    Cause::DeviceError { .. } | Cause::Refused { .. } if requested_only => {}
                    Cause::DeviceError { .. } | Cause::Refused { .. } => {
                        self.note(failure.cause.to_string());
                    }
                    Cause::PlatformNotSupported { .. } if requested_only => return Ok(()),
                    _ => return Err(self.step_error(&failure)),
                },
            }
        }
        if grants {
            self.state.permitted.insert(app.clone());
        } else {
            self.state.permitted.remove(app);
        }
        Ok(())
    }

    /// Installs a package, or updates the app and keeps its data.
    pub(super) async fn install(&mut self, file: &Path) -> Result<(), StepError> {
        let path = absolute(file)?;
        let options = InstallOptions::default();
        let installed = self.perform_within(INSTALLING, Action::InstallApp { path, options }).await;
        installed.map(drop).map_err(|failure| self.step_error(&failure))
    }

    /// Copies a picture or film to where galleries look.
    pub(super) async fn add_media(&mut self, file: &Path) -> Result<(), StepError> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = if name.to_lowercase().ends_with(".mp4") { "Movies" } else { "Pictures" };
        let (path, to) = (absolute(file)?, format!("/sdcard/{folder}/{name}"));
        let push = Action::PushFile { path, to, overwrite: true };
        let pushed = self.perform_within(INSTALLING, push).await;
        pushed.map(drop).map_err(|failure| self.step_error(&failure))
    }

    /// Waits until the phone's clipboard has this text.
    pub(super) async fn expect_device_clipboard(
        &mut self,
        expected: &str,
        timeout: Duration,
    ) -> Result<(), StepError> {
        self.until(timeout, async |runner| {
            let text = runner.clipboard().await?;
            if text == expected {
                return Ok(());
            }
            Err(mismatch(format!(
                "the clipboard has {:?}, expected {expected:?}",
                truncate(&text, 200)
            )))
        })
        .await
    }

    /// Types what the phone's clipboard has.
    pub(super) async fn paste_device_clipboard(
        &mut self,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let text = self.clipboard().await?;
        self.type_text(anywhere(text), timeout).await
    }

    async fn clipboard(&mut self) -> Result<String, StepError> {
        Ok(self.must(request::ReadClipboard).await?.unwrap_or_default())
    }

    /// Waits until two looks in a row show the same screen. It is not a failure if none do.
    pub(super) async fn wait_until_idle(&mut self, time: Duration) -> Result<(), StepError> {
        let idle = Observe::Until { condition: WaitCondition::Idle, timeout: time };
        self.must(request::Observe(idle)).await.map(drop)
    }
}

/// The path of a local file, as the session takes it.
fn absolute(file: &Path) -> Result<String, StepError> {
    let path = std::path::absolute(file).map_err(|error| {
        let what = format!("cannot find {}: {error}", file.display());
        StepError::new(FailureKind::Step, what)
    })?;
    Ok(plain(&path).display().to_string())
}
