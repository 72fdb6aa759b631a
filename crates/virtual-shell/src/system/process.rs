//! A program that runs, as the shell that started it holds it.

use super::System;
use crate::processes::{ProcessEntry, Signal};
use std::sync::Arc;

/// A running program's handle on its entry; dropping it removes the entry.
pub struct Process {
    system: Arc<dyn System>,
    running: Arc<ProcessEntry>,
}

impl Process {
    /// Adds a program to the process table, until the returned handle is dropped.
    pub fn start(system: &Arc<dyn System>, pid: u32, parent: u32, argv: &[String]) -> Self {
        let running = system.with(|kernel| kernel.processes.insert(pid, parent, argv));
        Self { system: Arc::clone(system), running }
    }

    /// Its table entry, which outlives the handle.
    pub fn running(&self) -> &Arc<ProcessEntry> {
        &self.running
    }

    /// Completes when an uncaught signal ends the program.
    pub async fn ended(&self) -> Signal {
        self.running.ended().await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.system.with(|kernel| kernel.processes.remove(&self.running));
    }
}
