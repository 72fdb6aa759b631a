//! A small system without Android: files, processes and a clock that moves when somebody sleeps.

use futures::future::{BoxFuture, FutureExt};
use std::ops::DerefMut;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thumbwire_base::lock;
use thumbwire_virtual_shell::files::Files;
use thumbwire_virtual_shell::io::{Input, Io, Output};
use thumbwire_virtual_shell::processes::ProcessRow;
use thumbwire_virtual_shell::program::ProgramTable;
use thumbwire_virtual_shell::programs::PROGRAMS;
use thumbwire_virtual_shell::sh::Shell;
use thumbwire_virtual_shell::system::{Kernel, ProgramStart, System, Userland};
use tokio::io::{AsyncReadExt as _, DuplexStream};

/// 10:00 on 5 March 2024.
const BOOT: u64 = 1_709_632_800;

static TABLE: ProgramTable = ProgramTable(&[PROGRAMS]);

/// A system with toybox.
const USERLAND: Userland = Userland {
    toybox: true,
    toybox_version: "0.8.9",
    toybox_0_8: true,
    outside_toybox: &["dd", "sh", "toolbox", "toybox"],
    only_programs: None,
    missing_programs: &["md5", "toolbox"],
    splitting: &[],
    utf8: true,
    ksh_version: Some("@(#)MIRBSD KSH R59 2020/10/31"),
    named_limits: true,
    not_found: "inaccessible or not found",
    path: "/system/bin",
    environment: &[("HOME", "/"), ("SHELL", "/bin/sh"), ("USER", "shell")],
    prompt_names_user: false,
    groups: "2000(shell)",
    kernel: "6.1.0",
    built: "Tue Mar  5 10:00:00 UTC 2024",
    utc: "UTC",
};

/// The system; a clone is another handle to it.
#[derive(Clone)]
pub(crate) struct Machine(Arc<Mutex<Kernel>>);

impl Machine {
    pub(crate) fn new() -> Self {
        let files = Files::new(BOOT, TABLE.names(&USERLAND), &[], &[]);
        let mut kernel = Kernel::new(files);
        kernel.set_clock(BOOT, Duration::ZERO, Duration::ZERO);
        Self(Arc::new(Mutex::new(kernel)))
    }

    /// Runs a script to the end of everything that it started. Returns its status, standard output
    /// and standard error.
    pub(crate) async fn all(&self, script: &str) -> (i32, String, String) {
        let (out, stdout) = pipe();
        let (err, stderr) = pipe();
        let io = Io::new(Input::empty(), stdout, stderr);
        let mut shell = Shell::new(Arc::new(self.clone()), &TABLE, "test");
        let status = async move { shell.run(script, None, &io).await };
        let (status, out, err) = tokio::join!(status, text(out), text(err));
        let crashes = lock(&self.0).crashes.clone();
        assert!(crashes.is_empty(), "programs panicked: {crashes:?}");
        (status & 0xff, out, err)
    }
}

fn pipe() -> (DuplexStream, Output) {
    let (reader, writer) = tokio::io::duplex(64 * 1024);
    (reader, Output::new(writer))
}

async fn text(mut reader: DuplexStream) -> String {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.expect("it is memory");
    String::from_utf8_lossy(&bytes).into_owned()
}

impl System for Machine {
    fn kernel(&self) -> Box<dyn DerefMut<Target = Kernel> + '_> {
        Box::new(lock(&self.0))
    }

    fn userland(&self) -> Userland {
        USERLAND
    }

    fn processes(&self) -> Vec<ProcessRow> {
        lock(&self.0).processes.rows().collect()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        async move {
            let mut left = time;
            let advance = |by: Duration| {
                let mut kernel = lock(&self.0);
                let now = kernel.uptime() + by;
                kernel.set_clock(BOOT + now.as_secs(), now, now);
                kernel.ring_alarms(now);
            };
            let next = |left| {
                let kernel = lock(&self.0);
                kernel.next_alarm_within(kernel.uptime(), left)
            };
            while let Some(first) = next(left) {
                advance(first);
                left = left.saturating_sub(first);
                tokio::task::yield_now().await;
            }
            advance(left);
        }
        .boxed()
    }

    fn follows_real_time(&self) -> bool {
        false
    }

    fn waits(&self) -> bool {
        false
    }

    fn wait_if_paused(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    fn start_program<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, ProgramStart> {
        std::future::ready(ProgramStart::default()).boxed()
    }

    fn end_program(&self, _: &str) {}
}
