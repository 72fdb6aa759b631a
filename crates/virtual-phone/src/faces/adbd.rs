//! The phone as adbd shows it: services by name, over the real wire.
//!
//! Begin at [`serve`]. Served: `shell:`, `shell,v2,…:`, `exec:`, `abb:`, `abb_exec:`, `sync:` (its files are in `store`), `framebuffer:`,
//! `reboot:`, `reverse:`, `tcpip:`, `usb:` and the phone's places (`tcp:`, `localabstract:` …); `root:`, `remount:` and the like are
//! answered with the words of a phone in production, `jdwp`, `track-jdwp` and `track-app` as by one whose apps are not to be debugged;
//! all else is refused, and no feature announces it.
//!
//! A phone of old has `shell:` in a terminal only, and no options; what of this it has stands in `release`.
//!
//! A command is one future; when its host closes the stream, the future is dropped and the command has ended, unless it reads and writes
//! the stream as it is.

mod framebuffer;
mod restart;
mod store;

use crate::owner::Owner;
use crate::phone::VirtualPhone;
use crate::sh::Shell;
use crate::sh::eval::jobs::House;
use crate::sh::io::{Input, Io, Output};
use crate::sh::terminal;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use store::Store;
use thumbwire_adb::connection::Settings;
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::sync;
use thumbwire_adb::daemon::{Handler, Refused, Services, handler};
use thumbwire_adb::wire::packet;
use thumbwire_adb::{Banner, Features, LinkStream};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;

/// Serves one host until it goes away.
pub(crate) async fn serve<S>(phone: VirtualPhone, io: S)
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    // A host that breaks the protocol has lost its connection; there is nobody else to tell.
    let face = Arc::new(Face(phone.clone()));
    let _ = match phone.guards_now() {
        false => thumbwire_adb::daemon::serve(io, face).await,
        true => thumbwire_adb::daemon::serve_guarded(io, face, Arc::new(Owner(phone))).await,
    };
}

/// How long a command goes on whose host has gone and that neither reads nor writes; on a phone it would for ever.
const LINGER: Duration = Duration::from_secs(60);

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
        let features = Features::read(release.features);
        if let Some((name @ ("abb" | "abb_exec"), rest)) = service.split_once(':')
            && features.has(name)
        {
            return Ok(system_service(phone, name, rest));
        }
        // The name of any other is a C string.
        let service = service.split('\0').next().unwrap_or_default();
        match service {
            // The list of processes, and that was all.
            "jdwp" => return Ok(saying("")),
            "track-jdwp" => return Ok(tracking_nothing()),
            "track-app" if features.has("track_app") => return Ok(tracking_nothing()),
            _ => {}
        }
        let (name, rest) = service.split_once(':').ok_or(Refused)?;
        if !release.raw_shells && (name.contains(',') || name == "exec") {
            return Err(Refused);
        }
        let rest = rest.to_owned();
        let mut options = name.split(',');
        Ok(match options.next() {
            Some("shell") => {
                let mode = Mode::read(options, rest.is_empty() || !release.raw_shells);
                let asked =
                    Asked { service: name.to_owned(), what: What::Text(rest), pty: mode.pty };
                match mode.framed {
                    true => handler(move |stream| framed(phone, asked, stream)),
                    false => handler(move |stream| plain(phone, asked, stream)),
                }
            }
            Some("exec") => {
                let asked =
                    Asked { service: "exec".to_owned(), what: What::Text(rest), pty: false };
                handler(move |stream| plain(phone, asked, stream))
            }
            Some("sync") => handler(move |stream| async move {
                // The host has been told what was wrong.
                let _ = sync::serve(stream, &Store(phone), &features).await;
            }),
            Some("framebuffer") => handler(move |stream| framebuffer::serve(phone, stream)),
            Some("reboot") => handler(move |stream| async move {
                phone.with(|phone| {
                    let uptime = phone.world.uptime();
                    phone.log.begin("reboot", &["reboot".to_owned(), rest], uptime)
                });
                // The host sees the stream end first, as it does from a phone that is about to go down.
                drop(stream);
                phone.soon(VirtualPhone::reboot);
            }),
            Some("tcpip") => restart::to_tcp(phone, &rest),
            Some("usb") => restart::to_usb(phone),
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

/// A command, and how it was asked for.
struct Asked {
    /// The service's name, for the log.
    service: String,
    what: What,
    /// Through a terminal.
    pty: bool,
}

enum What {
    /// For the shell; none is an interactive one.
    Text(String),
    /// A system service and its arguments, which no shell sees.
    Service(Vec<String>),
}

/// `abb:` (framed as shell v2) and `abb_exec:` (bare): what `cmd` does, without starting it. The arguments have NULs between them, and
/// an empty one is none (`parseCmdArgs` in adbd's `abb.cpp`).
fn system_service(phone: VirtualPhone, name: &str, arguments: &str) -> Handler {
    let arguments = arguments.split('\0').filter(|argument| !argument.is_empty());
    let what = What::Service(arguments.map(str::to_owned).collect());
    let asked = Asked { service: name.to_owned(), what, pty: false };
    match name {
        "abb" => handler(move |stream| framed(phone, asked, stream)),
        _ => handler(move |stream| plain(phone, asked, stream)),
    }
}

async fn framed(phone: VirtualPhone, asked: Asked, stream: LinkStream) {
    let ShellIo { stdin, stdout, stderr, control } = ShellIo::new(stream);
    let stdin = Input::new(stdin);
    let status = tokio::select! {
        biased;
        () = control.gone() => return,
        status = run(phone, asked, stdin, stdout, stderr) => status,
    };
    control.exit(u8::try_from(status & 0xff).unwrap_or(255)).await;
}

async fn plain(phone: VirtualPhone, asked: Asked, stream: LinkStream) {
    let stream = Shared(Arc::new(stream));
    let pty = asked.pty;
    let input = Input::new(stream.clone());
    let mut running = pin!(run(phone.clone(), asked, input, stream.clone(), stream.clone()));
    tokio::select! {
        biased;
        () = stream.0.closed() => {},
        _ = &mut running => return,
    }
    // A terminal that goes away takes its command with it. Without one nobody tells the command, which has the stream itself as its input
    // and output: it reads what was sent before (all of an `adb exec-in`), then the end, and cannot write (`shell_service.cpp` of adbd).
    if !pty {
        tokio::select! {
            _ = running => {},
            () = phone.outside(Some(LINGER)) => {},
        }
    }
}

async fn run<O, E>(
    phone: VirtualPhone,
    Asked { service, what, pty }: Asked,
    stdin: Input,
    stdout: O,
    stderr: E,
) -> i32
where
    O: AsyncWrite + Send + Unpin + 'static,
    E: AsyncWrite + Send + Unpin + 'static,
{
    let mut shell = Shell::new(phone.clone(), &service);
    let house = Ending(shell.house());
    if !pty {
        // adbd passes bytes until nobody can write to either pipe any more, background commands included, and then only asks for the
        // shell's status (`Subprocess::PassDataStreams` in `shell_service.cpp`). Of a bare stream the commands have the socket itself.
        let (held, mut released) = watch::channel(());
        let held = Arc::new(held);
        let stdout = Output::new(Held(stdout, Arc::clone(&held)));
        let io = Io { stdin, stdout, stderr: Output::new(Held(stderr, held)) };
        let status = match what {
            What::Text(command) if command.is_empty() => shell.interact(&io, None).await,
            What::Text(command) => shell.run(&command, &io).await,
            What::Service(arguments) => shell.call("cmd", arguments, &io).await,
        };
        drop((io, shell));
        while released.changed().await.is_ok() {}
        house.0.leave_to(&phone);
        return status;
    }
    // A terminal ends with its shell, and the kernel sends SIGHUP to all that have it.
    let What::Text(command) = what else { return 1 };
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

/// A list that is empty, four digits of length, and is not going to change. Source: `process_list_msg` in adbd's `jdwp_service.cpp`.
fn tracking_nothing() -> Handler {
    handler(|mut stream| async move {
        let _ = stream.write_all(b"0000").await;
        stream.closed().await;
    })
}

/// Ends background commands when it is dropped: their host has gone.
struct Ending(Arc<House>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// An output, and a sign that somebody may still write to it.
struct Held<W>(
    W,
    #[expect(dead_code, reason = "it is there to be dropped")] Arc<watch::Sender<()>>,
);

impl<W: AsyncWrite + Unpin> AsyncWrite for Held<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
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
