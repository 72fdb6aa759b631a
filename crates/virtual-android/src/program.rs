//! A call of one of the phone's own programs.
//!
//! The shell calls programs with an [`Invocation`](shell::Invocation) that has a system;
//! [`Invocation::of`] is the one place where that system becomes the phone.

use crate::faults::Fault;
use crate::phone::VirtualPhone;
use std::any::Any;
use std::ops::{Deref, DerefMut};
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_android_system::release::formats::ExceptionFormat;
use thumbwire_virtual_shell::io::Status;
use thumbwire_virtual_shell::program::{self as shell, command_text};

/// A program's call and the phone it runs on.
#[derive(Clone)]
pub(crate) struct Invocation {
    pub(crate) phone: VirtualPhone,
    call: shell::Invocation,
}

impl Deref for Invocation {
    type Target = shell::Invocation;

    fn deref(&self) -> &shell::Invocation {
        &self.call
    }
}

impl DerefMut for Invocation {
    fn deref_mut(&mut self) -> &mut shell::Invocation {
        &mut self.call
    }
}

impl Invocation {
    /// A call of the shell; `None` if its system is not a phone.
    pub(crate) fn of(call: shell::Invocation) -> Option<Self> {
        let system: &dyn Any = &*call.system;
        let phone = system.downcast_ref::<VirtualPhone>()?.clone();
        Some(Self { phone, call })
    }

    /// The call for a program of the shell's table.
    pub(crate) fn into_call(self) -> shell::Invocation {
        self.call
    }

    /// The phone's Android release.
    pub(crate) fn release(&self) -> &'static Release {
        self.phone.release()
    }

    /// Whether a fault rule triggers now.
    pub(crate) fn fault_triggers(&self, fault: Fault) -> bool {
        self.phone.trigger(fault, &command_text(&self.name, &self.args)).is_some()
    }

    /// Prints the exception of a system service's shell command, and returns its status. Source:
    /// Android's `ShellCommand` and `BasicShellCommandHandler`; the formats of 11 and later are in
    /// `shell/errors/settings-put_SecurityException.txt` and
    /// `pm-list_SecurityException_user150_samsung.txt` of the captures.
    pub(crate) async fn exception(&self, command: &str, what: &str) -> Status {
        let (named, trace) = match self.release().thrown {
            ExceptionFormat::Unnamed => {
                (String::new(), "\tat android.os.ShellCommand.exec(ShellCommand.java:103)\n")
            }
            ExceptionFormat::InOs => (
                format!(" '{command}'"),
                "\tat android.os.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:98)\n\
                 \tat android.os.ShellCommand.exec(ShellCommand.java:44)\n",
            ),
            ExceptionFormat::InModules => (
                format!(" '{command}'"),
                "\tat com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)\n\
                 \tat android.os.ShellCommand.exec(ShellCommand.java:38)\n",
            ),
        };
        self.err(format!("\nException occurred while executing{named}:\n{what}\n{trace}")).await;
        Ok(255)
    }
}
