//! The phone as adbd shows it: services by name, over the real wire.
//!
//! Begin at [`serve`]. Served: `shell:`, `shell,v2,…:`, `exec:`, `sync:`, `reboot:`, `reverse:` and the phone's places (`tcp:`,
//! `localabstract:` …); `root:`, `remount:` and the like are answered with the words of a phone in production; all else (`jdwp`,
//! `framebuffer:`, `abb`) is refused, and no feature announces it.
//!
//! A phone of old has `shell:` in a terminal only, and no options; what of this it has stands in `release`.
//!
//! A command is one future; when its host closes the stream, the future is dropped and the command has ended.

use crate::files::{Error, Kind, Opened};
use crate::owner::Owner;
use crate::phone::VirtualPhone;
use crate::sh::Shell;
use crate::sh::io::{Input, Io, Output};
use crate::sh::terminal;
use async_trait::async_trait;
use bytes::Bytes;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use thumbwire_adb::connection::Settings;
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::sync::{self, Upcoming};
use thumbwire_adb::daemon::{Handler, Refused, Services, handler};
use thumbwire_adb::wire::packet;
use thumbwire_adb::wire::sync::{Entry, Stat};
use thumbwire_adb::{Banner, Features, LinkStream};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

/// Serves one host until it goes away.
pub(crate) async fn serve<S>(phone: VirtualPhone, io: S)
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    // A host that breaks the protocol has lost its connection; there is nobody else to tell.
    let face = Arc::new(Face(phone.clone()));
    let _ = match phone.is_guarded() {
        false => thumbwire_adb::daemon::serve(io, face).await,
        true => thumbwire_adb::daemon::serve_guarded(io, face, Arc::new(Owner(phone))).await,
    };
}

struct Face(VirtualPhone);

impl Services for Face {
    fn banner(&self) -> Banner {
        let setup = self.0.setup();
        let features = Features::read(self.0.manners().features);
        Banner::phone(&setup.product, &setup.model, &setup.device, features)
    }

    fn settings(&self) -> Settings {
        let settings = Settings::phone(self.banner());
        match self.0.manners().small_packets {
            false => settings,
            true => Settings {
                version: packet::VERSION_WITH_SUMS,
                max_payload: packet::MIN_MAX_PAYLOAD,
                ..settings
            },
        }
    }

    fn open(&self, service: &str) -> Result<Handler, Refused> {
        let phone = self.0.clone();
        let release = phone.manners();
        if service.len() > release.longest_service {
            return Err(Refused);
        }
        let (name, rest) = service.split_once(':').ok_or(Refused)?;
        if !release.raw_shells && (name.contains(',') || name == "exec") {
            return Err(Refused);
        }
        let rest = rest.trim_end_matches('\0').to_owned();
        let mut options = name.split(',');
        Ok(match options.next() {
            Some("shell") => {
                let mode = Mode::read(options, rest.is_empty() || !release.raw_shells);
                let name = name.to_owned();
                if mode.framed {
                    handler(move |stream| framed(phone, name, rest, mode.pty, stream))
                } else {
                    handler(move |stream| plain(phone, name, rest, mode.pty, stream))
                }
            }
            Some("exec") => {
                handler(move |stream| plain(phone, "exec".to_owned(), rest, false, stream))
            }
            Some("sync") => handler(move |stream| async move {
                // The host has been told what was wrong.
                let _ = sync::serve(stream, &Store(phone)).await;
            }),
            Some("reboot") => handler(move |stream| async move {
                phone.with(|phone| {
                    let uptime = phone.world.uptime();
                    phone.log.begin("reboot", &["reboot".to_owned(), rest], uptime)
                });
                // The host sees the stream end first, as it does from a phone that is about to go down.
                drop(stream);
                tokio::task::yield_now().await;
                phone.unplug();
            }),
            Some("root") => saying("adbd cannot run as root in production builds\n"),
            Some("unroot") => saying("adbd not running as root\n"),
            Some("remount") => saying("Not running as root. Try \"adb root\" first.\n"),
            Some("disable-verity" | "enable-verity") => {
                saying("verity cannot be disabled/enabled - USER build\n")
            }
            Some("reverse") if !phone.manners().reverse => return Err(Refused),
            _ => return phone.sockets().serve(service).unwrap_or(Err(Refused)),
        })
    }
}

/// How a shell service wants its bytes.
#[derive(Clone, Copy)]
struct Mode {
    /// Frames of shell v2, with separate streams and an exit status.
    framed: bool,
    /// Through a terminal.
    pty: bool,
}

impl Mode {
    /// Options in any order; without `pty` or `raw` it is as `pty` says: a command runs raw, an interactive shell gets a terminal, and on
    /// an old phone both do. Source: `services.cpp` and `shell_service.cpp` of adbd; capture `329-shell-binary`.
    fn read<'a>(options: impl Iterator<Item = &'a str>, pty: bool) -> Self {
        let mut mode = Self { framed: false, pty };
        for option in options {
            match option {
                "v2" => mode.framed = true,
                "pty" => mode.pty = true,
                "raw" => mode.pty = false,
                // `TERM=xterm-256color` and what later versions may add.
                _ => {}
            }
        }
        mode
    }
}

async fn framed(
    phone: VirtualPhone,
    service: String,
    command: String,
    pty: bool,
    stream: LinkStream,
) {
    let ShellIo { stdin, stdout, stderr, control } = ShellIo::new(stream);
    let stdin = Input::new(stdin);
    let status = tokio::select! {
        biased;
        () = control.gone() => return,
        status = run(phone, &service, command, pty, stdin, stdout, stderr) => status,
    };
    control.exit(u8::try_from(status & 0xff).unwrap_or(255)).await;
}

async fn plain(
    phone: VirtualPhone,
    service: String,
    command: String,
    pty: bool,
    stream: LinkStream,
) {
    let stream = Shared(Arc::new(stream));
    let run = run(
        phone,
        &service,
        command,
        pty,
        Input::new(stream.clone()),
        stream.clone(),
        stream.clone(),
    );
    tokio::select! {
        biased;
        () = stream.0.closed() => {},
        _ = run => {},
    }
}

async fn run<O, E>(
    phone: VirtualPhone,
    service: &str,
    command: String,
    pty: bool,
    stdin: Input,
    stdout: O,
    stderr: E,
) -> i32
where
    O: AsyncWrite + Send + Unpin + 'static,
    E: AsyncWrite + Send + Unpin + 'static,
{
    let mut shell = Shell::new(phone, service);
    if !pty {
        let io = Io { stdin, stdout: Output::new(stdout), stderr: Output::new(stderr) };
        return if command.is_empty() {
            shell.interact(&io, None).await
        } else {
            shell.run(&command, &io).await
        };
    }
    // A terminal has one output for both.
    let screen = Output::terminal(stdout);
    let attached = terminal::attach(stdin, screen.clone());
    let io = Io { stdin: attached.lines, stdout: screen.clone(), stderr: screen };
    let running = async {
        if command.is_empty() {
            return shell.interact(&io, Some(&attached.interrupt)).await;
        }
        tokio::select! {
            status = shell.run(&command, &io) => status,
            () = attached.interrupt.notified() => 130,
        }
    };
    let keys = async {
        attached.driver.await;
        // The host sends no more keys, but may still be reading.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        status = running => status,
        () = keys => 0,
    }
}

/// Writes a line and closes, as adbd answers requests that a phone in production does not follow.
fn saying(what: &'static str) -> Handler {
    handler(move |mut stream| async move {
        // A host that has gone needs no answer.
        let _ = stream.write_all(what.as_bytes()).await;
    })
}

/// One stream for input and both outputs.
#[derive(Clone)]
struct Shared(Arc<LinkStream>);

impl AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut &*self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Shared {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_write(cx, data)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut &*self.0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut &*self.0).poll_shutdown(cx)
    }
}

/// The phone's files as the sync protocol asks for them.
struct Store(VirtualPhone);

#[async_trait]
impl sync::Files for Store {
    async fn stat(&self, path: &str) -> Option<Stat> {
        // Version 1's STAT is `lstat`, as in adbd's `file_sync_service.cpp`.
        self.0.files(|files| files.stat(path, false)).ok().map(|stat| told(&stat))
    }

    async fn list(&self, path: &str) -> Vec<Entry> {
        self.0.files(|files| {
            let Ok(entries) = files.list(path) else { return Vec::new() };
            let here = files
                .stat(path, true)
                .into_iter()
                .flat_map(|stat| [(".".to_owned(), stat.clone()), ("..".to_owned(), stat)]);
            here.chain(entries).map(|(name, stat)| Entry { name, stat: told(&stat) }).collect()
        })
    }

    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String> {
        let contents = self.0.files(|files| files.read(path));
        contents
            .map(|contents| Box::new(Cursor::new(contents)) as Box<dyn AsyncRead + Send + Unpin>)
            .map_err(|why| format!("open failed: {why}"))
    }

    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn Upcoming>, String> {
        let opened = self.0.files(|files| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for end in folder.match_indices('/').map(|(at, _)| at).skip(1).chain([folder.len()]) {
                if end > 0 && files.stat(&folder[..end], true).is_err() {
                    files
                        .make_directory(&folder[..end], 0o771)
                        .map_err(|why| format!("secure_mkdirs failed: {why}"))?;
                }
            }
            let refused = |why: Error| format!("couldn't create file: {why}");
            match files.stat(path, true) {
                Ok(stat) if stat.kind == Kind::Directory => Err(refused(Error::IsADirectory)),
                _ => files.open_to_write(path, mode & 0o777, false).map_err(refused),
            }
        })?;
        Ok(Box::new(Upload { phone: self.0.clone(), path: path.to_owned(), opened, whole: false }))
    }
}

fn told(stat: &crate::files::Stat) -> Stat {
    // The protocol has 32 bits for each.
    Stat { mode: stat.full_mode(), size: stat.size as u32, mtime: stat.modified as u32 }
}

struct Upload {
    phone: VirtualPhone,
    path: String,
    opened: Opened,
    whole: bool,
}

/// Half a file is no file: adbd's `handle_send_file` removes it when the host leaves or the disk is full.
impl Drop for Upload {
    fn drop(&mut self) {
        if let (Opened::File(id), false) = (&self.opened, self.whole) {
            self.phone.files(|files| files.discard(&self.path, *id));
        }
    }
}

#[async_trait]
impl Upcoming for Upload {
    async fn chunk(&mut self, data: Bytes) -> Result<(), String> {
        match self.opened {
            Opened::File(id) => self
                .phone
                .files(|files| files.append(id, &data))
                .map_err(|why| format!("write failed: {why}")),
            Opened::Special(_) => Ok(()),
        }
    }

    async fn done(mut self: Box<Self>, mtime: u32) -> Result<(), String> {
        self.whole = true;
        // As adbd does: a time that cannot be set is no failure of the upload.
        let _ = self.phone.files(|files| files.set_modified(&self.path, u64::from(mtime)));
        Ok(())
    }
}
