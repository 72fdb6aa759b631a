//! Runs a program for another one (`xargs`, `find -exec`, `timeout`), which has no shell of its
//! own.

use super::{MAX_DEPTH, Shell, WEIGHT, builtins};
use crate::files::{FileType, absolute};
use crate::io::{Io, Status};
use futures::future::{BoxFuture, FutureExt};

impl Shell {
    /// Whether there is something to run under that name or path.
    pub(crate) fn finds(&self, name: &str) -> bool {
        let release = self.system.userland();
        if !name.contains('/') {
            return self.programs.find(name, &release).is_some()
                || builtins::program(name).is_some();
        }
        let path = absolute(&self.cwd, name);
        let stat = self.system.with(|kernel| kernel.files.stat(&path, true));
        stat.is_ok_and(|stat| stat.kind == FileType::File)
    }

    /// Runs a program with these arguments, unexpanded, and logs it. With `pid` it has that process
    /// id, as after `exec` if it is the caller's.
    pub(crate) fn launch<'a>(
        &'a mut self,
        argv: &'a [String],
        pid: Option<u32>,
        io: &'a Io,
    ) -> BoxFuture<'a, Status> {
        async move {
            if self.depth >= MAX_DEPTH {
                self.print_error(io, "nested too deeply").await;
                return Ok(126);
            }
            self.step().await;
            self.depth += WEIGHT;
            self.exec_pid = pid;
            let record =
                self.system.with(|kernel| kernel.log.begin(&self.service, argv, kernel.uptime()));
            self.system.wait_if_paused().await;
            let ended = self.program(argv, io).await;
            let status = match ended {
                Ok(status) => status,
                Err(crate::io::Abort::Killed(signal)) => signal.status(),
                Err(_) => 1,
            };
            self.system.with(|kernel| kernel.log.finish(record, status));
            self.depth -= WEIGHT;
            ended
        }
        .boxed()
    }
}
