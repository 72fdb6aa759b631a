//! The line discipline between a host's terminal and an interactive shell: echo, erase, interrupt,
//! end of input.
//!
//! Start with [`attach`]. A host that requests a pty sends single key presses and expects them
//! echoed; the shell reads whole lines. Only what makes `adb shell` usable is here: no history, no
//! cursor keys, no window sizes.

use crate::io::{Input, Output};
use std::future::Future;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::Notify;

/// Maximum length of a line, as in a kernel's canonical mode.
const MAX_LENGTH: usize = 4096;

/// An attached terminal.
pub struct PtySession<F> {
    /// Whole lines for the shell.
    pub lines: Input,
    /// Notified at each Ctrl-C.
    pub interrupt: Arc<Notify>,
    /// Turns key presses into lines until the host closes its end; poll it alongside the shell.
    pub driver: F,
}

/// Attaches a line discipline to key presses; echoes to `screen`.
pub fn attach(keys: Input, screen: Output) -> PtySession<impl Future<Output = ()>> {
    let (writer, reader) = tokio::io::duplex(64 * 1024);
    let interrupt = Arc::new(Notify::new());
    let driver = drive(keys, screen, writer, Arc::clone(&interrupt));
    PtySession { lines: Input::new(reader), interrupt, driver }
}

async fn drive(keys: Input, screen: Output, writer: DuplexStream, interrupt: Arc<Notify>) {
    // Dropped at Ctrl-D, so that the shell reads EOF.
    let mut writer = Some(writer);
    let mut line: Vec<u8> = Vec::new();
    loop {
        let chunk = keys.chunk().await;
        if chunk.is_empty() {
            return;
        }
        let mut echo = Vec::new();
        for byte in chunk {
            match byte {
                b'\r' | b'\n' => {
                    line.push(b'\n');
                    echo.push(b'\n');
                    let _ = screen.write(&std::mem::take(&mut echo)).await;
                    if let Some(writer) = &mut writer {
                        // A shell that has ended reads no more lines.
                        let _ = writer.write_all(&std::mem::take(&mut line)).await;
                    }
                }
                0x03 => {
                    line.clear();
                    echo.extend(b"^C\n");
                    interrupt.notify_one();
                }
                0x04 if line.is_empty() => drop(writer.take()),
                0x04 => {
                    if let Some(writer) = &mut writer {
                        let _ = writer.write_all(&std::mem::take(&mut line)).await;
                    }
                }
                0x7f | 0x08 => {
                    // Erases one character, whatever its length in UTF-8.
                    while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                    echo.extend(b"\x08 \x08");
                }
                0x15 => {
                    echo.extend(b"\x08 \x08".repeat(line.len()));
                    line.clear();
                }
                _ if line.len() >= MAX_LENGTH => echo.push(0x07),
                byte => {
                    line.push(byte);
                    if byte < 0x20 && byte != b'\t' {
                        echo.extend([b'^', byte ^ 0x40]);
                    } else {
                        echo.push(byte);
                    }
                }
            }
        }
        let _ = screen.write(&echo).await;
    }
}
