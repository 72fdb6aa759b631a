//! Redirections: what a command's descriptors are.

use super::super::ast::{Mode, Redirect};
use super::{CommandError, Shell};
use crate::files::absolute;
use crate::io::{Descriptor, Input, Io, Output};
use std::io::Cursor;

impl Shell {
    /// Redirects descriptors. Messages as in mksh R59c, which Android has.
    pub(super) async fn redirect(
        &mut self,
        redirects: &[Redirect],
        io: &mut Io,
    ) -> Result<(), CommandError> {
        for redirect in redirects {
            let target = self.value(&redirect.target, io).await?;
            let descriptor = match redirect.mode {
                Mode::Text => Descriptor::Read(Input::new(Cursor::new(target + "\n"))),
                Mode::Here => Descriptor::Read(Input::new(Cursor::new(target))),
                Mode::Copy if target == "-" => {
                    io.set(redirect.fd, None);
                    continue;
                }
                Mode::Copy => {
                    let from = target.parse().ok().and_then(|fd| io.get(fd));
                    let fits = |from: &Descriptor| match redirect.fd {
                        0 => from.clone().input().is_some(),
                        1 | 2 => from.clone().output().is_some(),
                        _ => true,
                    };
                    from.filter(fits).ok_or_else(|| {
                        let fd =
                            if redirect.fd > 1 { redirect.fd.to_string() } else { String::new() };
                        let sign = if redirect.fd == 0 { '<' } else { '>' };
                        CommandError::new(format!("{fd}{sign}&{target} : bad file descriptor"))
                    })?
                }
                Mode::Read => Descriptor::Read(self.open_input(&target, io)?),
                Mode::Write | Mode::Both => {
                    Descriptor::Write(self.open_output(&target, false, io)?)
                }
                Mode::Append => Descriptor::Write(self.open_output(&target, true, io)?),
                Mode::ReadWrite => {
                    let output = self.open_output(&target, true, io)?;
                    Descriptor::ReadWrite(self.open_input(&target, io)?, output)
                }
            };
            if redirect.mode == Mode::Both {
                io.set(2, Some(descriptor.clone()));
            }
            io.set(redirect.fd, Some(descriptor));
        }
        Ok(())
    }

    pub(super) fn open_input(&self, target: &str, io: &Io) -> Result<Input, CommandError> {
        if target.is_empty() {
            return Err(CommandError::new("can't open : No such file or directory"));
        }
        let opened = io.open(&*self.system, &absolute(&self.cwd, target));
        opened.map_err(|error| CommandError::new(format!("can't open {target}: {error}")))
    }

    pub(super) fn open_output(
        &self,
        target: &str,
        appends: bool,
        io: &Io,
    ) -> Result<Output, CommandError> {
        if target.is_empty() {
            return Err(CommandError::new("can't create : No such file or directory"));
        }
        let (path, mode) = (absolute(&self.cwd, target), 0o666 & !self.umask);
        let opened = io.open_to_write(&self.system, &path, mode, appends);
        opened.map_err(|error| CommandError::new(format!("can't create {target}: {error}")))
    }
}
