//! scrcpy's server as this phone implements it: the class `com.genymobile.scrcpy.Server`, which a
//! client pushes, starts, and reaches through sockets.
//!
//! Start with [`run`]: the arguments (`options`), the sockets, then video (`video`) and messages of
//! the client (`control`, `controller`) until one of them ends. No code of the server runs or is
//! copied; releases are told apart by the pushed file. Facts come from scrcpy's `doc/develop.md`,
//! its sources and its clients.
//!
//! ```text
//!  video socket   ◄─ video ◄─ FrameQueue ◄─ World::scene
//!  audio socket   ◄─ "disabled": the phone has no sound
//!  control socket ─► control ─► controller ─► World::finger, World::key …
//! ```

mod control;
mod controller;
mod options;
mod video;

use super::Invocation;
use control::ControlReader;
use controller::Controller;
use options::{Options, Protocol};
use std::io;
use thumbwire_adb::daemon::sockets::{Pipe, SocketError};
use thumbwire_virtual_phone::KeyCode;
use thumbwire_virtual_shell::io::Status;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

/// Has the reader read what a client sends, in pieces of this size.
#[cfg(fuzzing)]
pub(crate) fn read_control(release: u8, bytes: &[u8], piece: usize) {
    let protocols = [Protocol::V1_20, Protocol::V1_24, Protocol::V3_3];
    let mut messages = ControlReader::new(protocols[usize::from(release) % protocols.len()]);
    for piece in bytes.chunks(piece.max(1)) {
        messages.push(piece);
        while let Ok(Some(_)) = messages.next() {}
    }
}

/// The class that starts it.
pub(super) const CLASS: &str = "com.genymobile.scrcpy.Server";

/// Bytes of the field with the phone's name, which ends with a zero.
const NAME_FIELD: usize = 64;
/// The release of the server is in a text of its own: `The server version (3.3.4) does …`.
const VERSION: &[u8] = b"The server version (";

/// `CLASSPATH=JAR app_process FOLDER com.genymobile.scrcpy.Server VERSION [OPTION…]`; `dex` is
/// the JAR's code.
pub(super) async fn run(call: &Invocation, dex: &[u8]) -> Status {
    let options = match Options::parse(&call.args, &version(dex)) {
        Ok(options) => options,
        Err(why) => return Ok(fails(call, "java.lang.IllegalArgumentException", &why).await),
    };
    let (maker, brand) = call.phone.read(|phone| {
        let get = |name| phone.properties.get(name).to_owned();
        (get("ro.product.manufacturer"), get("ro.product.brand"))
    });
    let (model, android) = (&call.phone.setup().model, call.phone.setup().android);
    info(call, &format!("Device: [{maker}] {brand} {model} (Android {android})")).await;
    match serve(call, &options).await {
        Ok(()) => Ok(0),
        Err(why) => Ok(fails(call, "java.io.IOException", &why.to_string()).await),
    }
}

/// The release of the server.
fn version(dex: &[u8]) -> String {
    let at = dex.windows(VERSION.len()).position(|part| part == VERSION);
    let rest = at.map_or(&[][..], |at| &dex[at + VERSION.len()..]);
    let end = rest.iter().position(|byte| *byte == b')').unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

async fn fails(call: &Invocation, exception: &str, why: &str) -> i32 {
    call.err(format!("[server] ERROR: {why}\n{exception}: {why}\n")).await;
    1
}

/// Prints a line for the client's user; nobody has to read it.
async fn info(call: &Invocation, text: &str) {
    let _ = call.out(format!("[server] INFO: {text}\n")).await;
}

async fn warn(call: &Invocation, text: &str) {
    call.err(format!("[server] WARN: {text}\n")).await;
}

/// Opens the sockets of a client for video, audio and control, those that it wants.
async fn connect(call: &Invocation, options: &Options) -> Result<[Option<Pipe>; 3], SocketError> {
    let (sockets, name) = (call.phone.sockets(), format!("localabstract:{}", options.socket));
    let mut listener = if options.tunnel_forward { Some(sockets.listen(&name)?) } else { None };
    let mut dummy = options.tunnel_forward && options.send_dummy_byte;
    let has_control = options.control || options.protocol == Protocol::V1_20;
    let mut opened = [None, None, None];
    for (wanted, place) in [options.video, options.audio, has_control].iter().zip(&mut opened) {
        if !wanted {
            continue;
        }
        let mut pipe = match &mut listener {
            Some(listener) => listener.accept().await.ok_or(SocketError::ConnectionRefused)?,
            None => sockets.connect(&name).await?,
        };
        if std::mem::take(&mut dummy) {
            // An adb server accepts a connection before the phone does; this tells.
            pipe.write_all(&[0]).await.map_err(|_| SocketError::ConnectionRefused)?;
        }
        *place = Some(pipe);
    }
    Ok(opened)
}

async fn serve(call: &Invocation, options: &Options) -> io::Result<()> {
    let phone = &call.phone;
    let refused = |why: SocketError| io::Error::other(why.to_string());
    let mut opened = connect(call, options).await.map_err(refused)?;
    if options.send_device_meta {
        let mut name = phone.setup().model.clone();
        name.truncate(name.floor_char_boundary(NAME_FIELD - 1));
        let mut meta = name.into_bytes();
        meta.resize(NAME_FIELD, 0);
        if options.protocol != Protocol::V3_3 {
            let screen = phone.read(|phone| *phone.world.display());
            let (width, height) = video::size(&screen, options.max_size);
            meta.extend([width as u16, height as u16].map(u16::to_be_bytes).concat());
        }
        if let Some(first) = opened.iter_mut().flatten().next() {
            // A client that is gone is noticed below.
            let _ = first.write_all(&meta).await;
        }
    }
    let [video, mut audio, control] = opened;
    if let Some(audio) = &mut audio {
        let why = match phone.release().major < 11 {
            true => "Audio disabled: it is not supported before Android 11",
            false => "Audio disabled: failed to start audio capture",
        };
        warn(call, why).await;
        let _ = audio.write_all(&[0; 4]).await;
    }
    let reset = Notify::new();
    // The end of one ends all, and is how a client leaves.
    tokio::select! {
        () = show(call, options, &reset, video) => {},
        why = obey(call, options, &reset, control) => {
            if let Err(why) = why {
                warn(call, &format!("Controller error: {why}")).await;
            }
        },
    }
    Ok(())
}

/// Sends the video until the client closes its socket; forever without one.
async fn show(call: &Invocation, options: &Options, reset: &Notify, client: Option<Pipe>) {
    let Some(client) = client else { return std::future::pending().await };
    let (mut reader, mut writer) = tokio::io::split(client);
    let mut nowhere = tokio::io::sink();
    tokio::select! {
        _ = video::stream(&call.phone, options, reset, &mut writer) => {},
        _ = tokio::io::copy(&mut reader, &mut nowhere) => {},
    }
}

/// Performs the messages of the client until it closes its socket; without one or if it may not
/// control the phone, forever.
async fn obey(
    call: &Invocation,
    options: &Options,
    reset: &Notify,
    client: Option<Pipe>,
) -> io::Result<()> {
    let Some(client) = client else { return std::future::pending().await };
    let (mut reader, mut writer) = tokio::io::split(client);
    if !options.control {
        tokio::io::copy(&mut reader, &mut tokio::io::sink()).await?;
        return Ok(());
    }
    if options.power_on {
        call.phone.with(|phone| {
            if !phone.world.screen_on() {
                phone.world.key(KeyCode::POWER);
            }
        });
    }
    let mut messages = ControlReader::new(options.protocol);
    let mut controller = Controller::new(call, options, reset);
    let mut bytes = vec![0; 16 * 1024];
    loop {
        while let Some(message) = messages.next().map_err(io::Error::other)? {
            if let Some(reply) = controller.perform(message).await {
                writer.write_all(&reply).await?;
            }
            tokio::task::yield_now().await;
        }
        let changed = call.phone.changed();
        if options.clipboard_autosync
            && let Some(message) = controller.clipboard_change()
        {
            writer.write_all(&message).await?;
        }
        tokio::select! {
            read = reader.read(&mut bytes) => match read? {
                0 => return Ok(()),
                count => messages.push(&bytes[..count]),
            },
            () = changed, if options.clipboard_autosync => {},
        }
    }
}
