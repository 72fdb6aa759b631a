//! What is there only for phones before Android 7 (API 24): 5 and 6 at best effort, and 4.4, which
//! is the laboratory's.
//!
//! [`Legacy::of`] decides once, when a phone is opened. Such a phone has no shell v2, so that its
//! commands have no exit status and share one stream; before Android 5 it has no `exec:` either,
//! and all output comes through a terminal. `pm`, `am` and `input` are Java programs that take a
//! second each to start, so `dumpsys` answers where it can. The rest of the driver reads as if all
//! phones were newer, and asks [`Android::legacy`](super::Android) where one is not.

mod apps;
mod install;
mod pace;
mod resolver_table;
mod screenshot;
mod typing;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use thumbwire_adb::wire::banner::SHELL_V2;
use thumbwire_adb::{self as adb, Features, Stream, Transport};

use super::{Android, ShellCommand};
use crate::Error;

/// How long the first start of a Java program may take on Android 4.4, which compiles the
/// platform's classes for it (measured: 10 s).
pub(super) const FIRST_START: Duration = Duration::from_secs(20);

/// How long a recording may take to find out that it cannot begin. A real Android 4.4.4, emulated
/// in software, needs 580 ms to notice that it has no encoder.
pub(super) const RECORDING_BEGINS: Duration = Duration::from_millis(1_500);

/// The first API level whose programs do not run on Dalvik.
const WITHOUT_DALVIK: u32 = 21;

/// A phone before Android 7.
pub(super) struct Legacy {
    /// How fast it types.
    pace: pace::Pace,
    /// It has no `exec:`, as before Android 5.
    lacks_exec: AtomicBool,
}

impl Legacy {
    /// `None` for a phone with shell v2, which came with Android 7.
    pub(super) fn of(features: &Features) -> Option<Self> {
        let is_newer = features.has(SHELL_V2);
        (!is_newer).then(|| Self { pace: pace::Pace::default(), lacks_exec: false.into() })
    }

    /// The binary output of a command. Without `exec:` it comes through the shell's terminal, which
    /// writes each `\n` as `\r\n`.
    pub(super) async fn fetch(
        &self,
        transport: &dyn Transport,
        line: &ShellCommand,
        max: usize,
    ) -> Result<Bytes, adb::Error> {
        if let Some(stream) = self.open_exec(transport, line).await? {
            return adb::services::shell::read_to_end(stream, max).await.map(Bytes::from);
        }
        let stream = transport.open(&format!("shell:{}", line.as_str())).await?;
        let output = adb::services::shell::read_to_end(stream, max).await?;
        Ok(undo_terminal(&output).into())
    }

    /// Refuses extras that `am` would garble: before Android 5 programs run on Dalvik, which
    /// garbles characters above U+FFFF in arguments and appends whatever follows them in memory
    /// (measured on Android 4.4.4).
    pub(super) async fn check_extras(
        &self,
        device: &Android,
        what: &'static str,
        extras: &[(String, String)],
    ) -> Result<(), Error> {
        let has_emoji = extras.iter().any(|(key, value)| {
            key.chars().chain(value.chars()).any(|char| u32::from(char) > 0xFFFF)
        });
        if has_emoji && device.api_level().await? < WITHOUT_DALVIK {
            let reason = "an argument contains a character above U+FFFF, such as an emoji, which \
                          this phone's `am` garbles; remove it";
            return Err(Error::Refused { what, reason: reason.into() });
        }
        Ok(())
    }

    /// The key that wakes the screen: WAKEUP exists since API 20 (`android.view.KeyEvent`).
    pub(super) async fn wake_key(&self, device: &Android) -> Result<i64, Error> {
        const POWER: i64 = 26;
        const WAKEUP: i64 = 224;
        Ok(if device.api_level().await? < 20 { POWER } else { WAKEUP })
    }

    /// `None` if the phone has no `exec:`; this is remembered.
    async fn open_exec(
        &self,
        transport: &dyn Transport,
        line: &ShellCommand,
    ) -> Result<Option<Stream>, adb::Error> {
        if self.lacks_exec.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match adb::services::shell::exec(transport, line.as_str()).await {
            Ok(stream) => Ok(Some(stream)),
            Err(adb::Error::Refused { .. }) => {
                self.lacks_exec.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Begins the command of a program of ours. Phones before Android 5 store its compiled form in
/// `ANDROID_DATA`, whose default is not writable for us; without another value they abort (measured
/// on Android 4.4.4).
pub(super) const JAVA_PROGRAM: &str =
    "mkdir -p /data/local/tmp/dalvik-cache; ANDROID_DATA=/data/local/tmp";

/// Undoes what a terminal did to the bytes: it wrote each `\n` as `\r\n`.
fn undo_terminal(output: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(output.len());
    for (i, &byte) in output.iter().enumerate() {
        if byte != b'\r' || output.get(i + 1) != Some(&b'\n') {
            bytes.push(byte);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_phones_without_shell_v2_are_legacy() {
        assert!(Legacy::of(&Features::read("cmd,stat_v2")).is_some());
        assert!(Legacy::of(&Features::read("shell_v2,cmd")).is_none());
    }

    proptest! {
        #[test]
        fn bytes_through_a_terminal_are_restored(
            bytes in prop::collection::vec(prop::sample::select(vec![b'\r', b'\n', 0, b'x']), 0..40),
        ) {
            let through = bytes.iter().flat_map(|&byte| {
                if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] }
            });
            prop_assert_eq!(undo_terminal(&through.collect::<Vec<u8>>()), bytes);
        }
    }
}
