//! adbd: serves the phone's services over the real ADB protocol.
//!
//! Start with [`serve`]. Implemented: `shell:`, `shell,v2,…:`, `exec:`, `abb:`, `abb_exec:`,
//! `sync:` (files in `store`), `framebuffer:`, `reboot:`, `reverse:`, `tcpip:`, `usb:` and the
//! phone's sockets (`tcp:`, `localabstract:` …). `root:`, `remount:` and similar get the reply of a
//! production build; `jdwp`, `track-jdwp` and `track-app` the reply of a phone without debuggable
//! apps. Everything else is refused, and no feature announces it.
//!
//! Old releases have `shell:` in a terminal only, without options; `release` says which.
//!
//! A command is one future. When its host closes the stream, the future is dropped and the command
//! ends, unless it uses the raw stream directly.

mod authorizer;
mod framebuffer;
mod restart;
mod store;

use crate::phone::VirtualPhone;
use authorizer::OwnerAuthorizer;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use store::Store;
use thumbwire_adb::connection::Settings;
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::sync;
use thumbwire_adb::daemon::{Handler, ServiceRefused, Services, handler};
use thumbwire_adb::wire::packet;
use thumbwire_adb::{Banner, Features, LinkStream};
use thumbwire_virtual_shell::io::{Input, Io, Output};
use thumbwire_virtual_shell::processes::jobs::JobList;
use thumbwire_virtual_shell::program::ProgramTable;
use thumbwire_virtual_shell::sh::Shell;
use thumbwire_virtual_shell::sh::terminal;
use thumbwire_virtual_shell::system::sleep_real;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;

/// Serves one host until it disconnects; its shells start `programs`.
pub(crate) async fn serve<S>(phone: VirtualPhone, programs: &'static ProgramTable, io: S)
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    // A protocol error closes the connection; there is nobody to report it to.
    let face = Arc::new(AdbdServices { phone: phone.clone(), programs });
    let _ = match phone.requires_auth_now() {
        false => thumbwire_adb::daemon::serve(io, face).await,
        true => {
            thumbwire_adb::daemon::serve_with_auth(io, face, Arc::new(OwnerAuthorizer(phone))).await
        }
    };
}

/// How long a command survives its host if it neither reads nor writes; on a real phone it would
/// run forever.
const LINGER: Duration = Duration::from_secs(60);

struct AdbdServices {
    phone: VirtualPhone,
    programs: &'static ProgramTable,
}

impl Services for AdbdServices {
    fn banner(&self) -> Banner {
        let setup = self.phone.setup();
        let features = Features::read(self.phone.release().features);
        Banner::phone(&setup.product, &setup.model, &setup.device, features)
    }

    fn settings(&self) -> Settings {
        let settings = Settings::phone(self.banner());
        match self.phone.release().small_packets {
            false => settings,
            true => Settings {
                version: packet::VERSION_WITH_SUMS,
                max_payload: packet::MIN_MAX_PAYLOAD,
                ..settings
            },
        }
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let serve = self.find(service)?;
        let open = self.phone.open_service(service);
        Ok(handler(move |stream| async move {
            let _open = open;
            serve(stream).await;
        }))
    }
}

impl AdbdServices {
    /// What serves this service.
    fn find(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let phone = self.phone.clone();
        let programs = self.programs;
        let release = phone.release();
        if service.len() > release.longest_service {
            return Err(ServiceRefused);
        }
        let features = Features::read(release.features);
        if let Some((name @ ("abb" | "abb_exec"), rest)) = service.split_once(':')
            && features.has(name)
        {
            return Ok(system_service(phone, programs, name, rest));
        }
        // Other service names are C strings.
        let service = service.split('\0').next().unwrap_or_default();
        match service {
            // An empty process list, then the stream closes.
            "jdwp" => return Ok(print_line("")),
            "track-jdwp" => return Ok(tracking_nothing()),
            "track-app" if features.has("track_app") => return Ok(tracking_nothing()),
            _ => {}
        }
        let (name, rest) = service.split_once(':').ok_or(ServiceRefused)?;
        if !release.raw_shells && (name.contains(',') || name == "exec") {
            return Err(ServiceRefused);
        }
        let rest = rest.to_owned();
        let mut options = name.split(',');
        Ok(match options.next() {
            Some("shell") => {
                let mode = Mode::read(options, rest.is_empty() || !release.raw_shells);
                let request = CommandRequest {
                    programs,
                    service: name.to_owned(),
                    what: CommandSource::Text(rest),
                    pty: mode.pty,
                };
                match mode.framed {
                    true => handler(move |stream| framed(phone, request, stream)),
                    false => handler(move |stream| plain(phone, request, stream)),
                }
            }
            Some("exec") => {
                let request = CommandRequest {
                    programs,
                    service: "exec".to_owned(),
                    what: CommandSource::Text(rest),
                    pty: false,
                };
                handler(move |stream| plain(phone, request, stream))
            }
            Some("sync") => handler(move |stream| async move {
                // The host has already received the error.
                let _ = sync::serve(stream, &Store(phone), &features).await;
            }),
            Some("framebuffer") => handler(move |stream| framebuffer::serve(phone, stream)),
            Some("reboot") => handler(move |stream| async move {
                phone.with(|phone| {
                    let uptime = phone.world.uptime();
                    phone.kernel.log.begin("reboot", &["reboot".to_owned(), rest], uptime)
                });
                // The host sees the stream end first, as with a real phone that is about to reboot.
                drop(stream);
                phone.defer(VirtualPhone::reboot);
            }),
            Some("tcpip") => restart::to_tcp(phone, &rest),
            Some("usb") => restart::to_usb(phone),
            Some("root") => print_line("adbd cannot run as root in production builds\n"),
            Some("unroot") => print_line("adbd not running as root\n"),
            Some("remount") => print_line("Not running as root. Try \"adb root\" first.\n"),
            Some("disable-verity" | "enable-verity") => {
                print_line("verity cannot be disabled/enabled - USER build\n")
            }
            Some("reverse") if !phone.release().reverse => return Err(ServiceRefused),
            _ => return phone.sockets().serve(service).unwrap_or(Err(ServiceRefused)),
        })
    }
}

/// The options of a shell service.
#[derive(Clone, Copy)]
struct Mode {
    /// Shell v2 framing: separate streams and an exit status.
    framed: bool,
    /// Whether the command runs in a terminal.
    pty: bool,
}

impl Mode {
    /// Reads the options in any order. `pty` is the default if neither `pty` nor `raw` is given: a
    /// command runs raw, an interactive shell gets a terminal, and on an old phone both get one.
    /// Source: `services.cpp` and `shell_service.cpp` of adbd; capture `329-shell-binary`.
    fn read<'a>(options: impl Iterator<Item = &'a str>, pty: bool) -> Self {
        let mut mode = Self { framed: false, pty };
        for option in options {
            match option {
                "v2" => mode.framed = true,
                "pty" => mode.pty = true,
                "raw" => mode.pty = false,
                // `TERM=xterm-256color`, and options of later versions.
                _ => {}
            }
        }
        mode
    }
}

/// A command and how it was requested.
struct CommandRequest {
    /// What its shell can start.
    programs: &'static ProgramTable,
    /// The service name, for the command log.
    service: String,
    what: CommandSource,
    /// Whether it runs in a terminal.
    pty: bool,
}

enum CommandSource {
    /// A command line for the shell; `None` starts an interactive shell.
    Text(String),
    /// A system service and its arguments; no shell sees them.
    Service(Vec<String>),
}

/// `abb:` (shell v2 framing) and `abb_exec:` (raw): run what `cmd` would, without starting it.
/// Arguments are separated by NULs, and an empty one does not count (`parseCmdArgs` in adbd's
/// `abb.cpp`).
fn system_service(
    phone: VirtualPhone,
    programs: &'static ProgramTable,
    name: &str,
    arguments: &str,
) -> Handler {
    let arguments = arguments.split('\0').filter(|argument| !argument.is_empty());
    let what = CommandSource::Service(arguments.map(str::to_owned).collect());
    let request = CommandRequest { programs, service: name.to_owned(), what, pty: false };
    match name {
        "abb" => handler(move |stream| framed(phone, request, stream)),
        _ => handler(move |stream| plain(phone, request, stream)),
    }
}

async fn framed(phone: VirtualPhone, request: CommandRequest, stream: LinkStream) {
    let ShellIo { stdin, stdout, stderr, control } = ShellIo::new(stream);
    let stdin = Input::new(stdin);
    let status = tokio::select! {
        biased;
        () = control.closed() => return,
        status = run(phone, request, stdin, stdout, stderr) => status,
    };
    control.exit(u8::try_from(status & 0xff).unwrap_or(255)).await;
}

async fn plain(phone: VirtualPhone, request: CommandRequest, stream: LinkStream) {
    let stream = Shared(Arc::new(stream));
    let pty = request.pty;
    let input = Input::new(stream.clone());
    let mut running = pin!(run(phone.clone(), request, input, stream.clone(), stream.clone()));
    tokio::select! {
        biased;
        () = stream.0.closed() => {},
        _ = &mut running => return,
    }
    // Closing a terminal ends its command. Without a terminal nothing notifies the command, whose
    // stdin and stdout are the stream itself: it reads what was sent before (all of an `adb
    // exec-in`), then EOF, and cannot write (`shell_service.cpp` of adbd).
    if !pty {
        tokio::select! {
            _ = running => {},
            () = sleep_real(Some(LINGER)) => {},
        }
    }
}

async fn run<O, E>(
    phone: VirtualPhone,
    CommandRequest { programs, service, what, pty }: CommandRequest,
    stdin: Input,
    stdout: O,
    stderr: E,
) -> i32
where
    O: AsyncWrite + Send + Unpin + 'static,
    E: AsyncWrite + Send + Unpin + 'static,
{
    let mut shell = Shell::new(Arc::new(phone.clone()), programs, &service);
    let house = EndJobsOnDrop(shell.jobs());
    if !pty {
        // adbd forwards bytes until nobody can write to either pipe any more, background commands
        // included, and only then asks for the shell's status (`Subprocess::PassDataStreams` in
        // `shell_service.cpp`). With a raw stream the commands hold the socket itself.
        let (held, mut released) = watch::channel(());
        let held = Arc::new(held);
        let stdout = Output::new(OutputHandle(stdout, Arc::clone(&held)));
        let io = Io::new(stdin, stdout, Output::new(OutputHandle(stderr, held)));
        let status = match what {
            CommandSource::Text(command) if command.is_empty() => shell.interact(&io, None).await,
            CommandSource::Text(command) => shell.run(&command, None, &io).await,
            CommandSource::Service(arguments) => shell.call("cmd", arguments, &io).await,
        };
        drop((io, shell));
        while released.changed().await.is_ok() {}
        phone.adopt_jobs(&house.0);
        return status;
    }
    // A terminal ends with its shell; the kernel then sends SIGHUP to every process on it.
    let CommandSource::Text(command) = what else { return 1 };
    // A terminal has one output for stdout and stderr.
    let screen = Output::terminal(stdout);
    let attached = terminal::attach(stdin, screen.clone());
    let io = Io::new(attached.lines, screen.clone(), screen);
    let running = async {
        if command.is_empty() {
            return shell.interact(&io, Some(&attached.interrupt)).await;
        }
        tokio::select! {
            status = shell.run(&command, None, &io) => status,
            () = attached.interrupt.notified() => 130,
        }
    };
    let keys = async {
        attached.driver.await;
        // The host sends no more input, but may still be reading.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        status = running => status,
        () = keys => 0,
    }
}

/// Writes a line and closes: adbd's reply to requests that a production build refuses.
fn print_line(what: &'static str) -> Handler {
    handler(move |mut stream| async move {
        // The host may have disconnected; that is fine.
        let _ = stream.write_all(what.as_bytes()).await;
    })
}

/// An empty list (four digits of length) that never changes. Source: `process_list_msg` in adbd's
/// `jdwp_service.cpp`.
fn tracking_nothing() -> Handler {
    handler(|mut stream| async move {
        let _ = stream.write_all(b"0000").await;
        stream.closed().await;
    })
}

/// Ends background commands when dropped, because their host has disconnected.
struct EndJobsOnDrop(Arc<JobList>);

impl Drop for EndJobsOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// An output, plus a token that shows that somebody may still write to it.
struct OutputHandle<W>(
    W,
    #[expect(dead_code, reason = "it is held only to be dropped")] Arc<watch::Sender<()>>,
);

impl<W: AsyncWrite + Unpin> AsyncWrite for OutputHandle<W> {
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

/// One stream for stdin, stdout and stderr.
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
