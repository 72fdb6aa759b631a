//! Wakes the phone and dismisses a lock screen that has no secret.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::input::swipe_command;
use super::{Android, ShellCommand};
use crate::{Device as _, Error, Foreground, Point};

/// `android.view.KeyEvent`: WAKEUP, which never turns a screen off.
const WAKEUP: i64 = 224;
const MENU: i64 = 82;
/// How long to wait for an effect, and the pause between two looks.
const MAX_WAIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);
/// `wm dismiss-keyguard` (AOSP, `WindowManagerShellCommand`).
const FIRST_WITH_DISMISS: u32 = 26;

impl Android {
    pub(super) async fn unlock_screen(&self) -> Result<Foreground, Error> {
        let mut front = self.read_front().await?;
        if front == Foreground::ScreenOff {
            let key = match &self.legacy {
                Some(legacy) => legacy.wake_key(self).await?,
                None => WAKEUP,
            };
            self.run_silent("wake the screen", ShellCommand::new("input keyevent").number(key))
                .await?;
            front = self.front_after(|front| *front != Foreground::ScreenOff).await?;
        }
        if front == Foreground::Keyguard {
            let dismiss = if self.api_level().await? < FIRST_WITH_DISMISS {
                // AOSP's keyguard unlocks with the menu key unless there is a secret.
                ShellCommand::new("input keyevent").number(MENU)
            } else {
                ShellCommand::new("wm dismiss-keyguard")
            };
            self.ask(dismiss).await?;
            front = self.front_after(|front| *front != Foreground::Keyguard).await?;
        }
        if front == Foreground::Keyguard {
            self.swipe_up().await?;
            front = self.front_after(|front| *front != Foreground::Keyguard).await?;
        }
        match front {
            Foreground::Keyguard => {
                let reason = "the phone is locked with a PIN, pattern or password; unlock it by hand, then call again";
                Err(Error::Refused { what: "unlocking", reason: reason.into() })
            }
            Foreground::ScreenOff => {
                let text = "the screen stays off after the wake-up key".into();
                Err(Error::Failed { what: "wake the screen", text })
            }
            front => Ok(front),
        }
    }
}

impl Android {
    async fn swipe_up(&self) -> Result<(), Error> {
        let size = self.screen_size().await?;
        let at = |part: i32| Point { x: size.width / 2, y: size.height * part / 10 };
        let duration = Duration::from_millis(300);
        let swipe = swipe_command(at(8), at(2), duration);
        self.run_silent("swipe the lock screen away", swipe).await
    }

    /// What is in front once it satisfies the condition, or after a while: animations take up to a
    /// second.
    async fn front_after(
        &self,
        is_reached: impl Fn(&Foreground) -> bool,
    ) -> Result<Foreground, Error> {
        let mut front = self.read_front().await?;
        let looking = async {
            while !is_reached(&front) {
                sleep(PAUSE).await;
                front = self.read_front().await?;
            }
            Ok(())
        };
        match timeout(MAX_WAIT, looking).await {
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) | Err(_) => Ok(front),
        }
    }
}
