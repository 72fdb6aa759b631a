//! screenshotr, iOS's own service for screenshots. lockdownd starts it on phones with a developer disk image, up to iOS 16.
//!
//! Begin with [`Screenshotr::start`]. Its messages are those of Apple's DeviceLink: arrays whose first item names the message
//! (`device_link_service.c` and `screenshotr.c` of libimobiledevice).

use std::time::Duration;

use bytes::Bytes;
use plist::{Dictionary, Value};
use thumbwire_base::{truncate, visible::visible};
use tokio::time::timeout;

use super::lockdown::{Lockdown, LockdownError, MessageStream};
use super::usbmux::{UsbmuxClient, text};

/// The service, as lockdownd knows it.
pub(super) const SERVICE: &str = "com.apple.mobile.screenshotr";

/// How long lockdownd may take to start the service, with the greeting.
const STARTING: Duration = Duration::from_secs(5);

/// How long a screenshot may take. A phone needs about a second, and Wi-Fi some more.
const TAKING: Duration = Duration::from_secs(15);

/// The limit on a greeting, which has about 300 bytes.
const LONGEST_GREETING: usize = 64 << 10;

/// The limit on the message with a picture. A PNG of an iPad's screen has up to 20 MB, in XML a third more.
const LONGEST_PICTURE: usize = 64 << 20;

const VERSION_EXCHANGE: &str = "DLMessageVersionExchange";
const DEVICE_READY: &str = "DLMessageDeviceReady";
const PROCESS_MESSAGE: &str = "DLMessageProcessMessage";

/// A connection with the service, which is ready to take a screenshot.
pub(super) struct Screenshotr(MessageStream);

impl Screenshotr {
    /// Starts the service on the phone with this UDID.
    ///
    /// # Errors
    /// [`LockdownError::Refused`] with `InvalidService` if the phone does not have it: no developer disk image is mounted,
    /// or its iOS is 17 or later. Otherwise as [`Lockdown::start_session`].
    pub(super) async fn start(client: &UsbmuxClient, udid: &str) -> Result<Self, LockdownError> {
        let starting = async {
            let mut lockdown = Lockdown::connect(client, udid).await?;
            lockdown.start_session().await?;
            Self::greet(lockdown.start_service(SERVICE).await?).await
        };
        timeout(STARTING, starting).await.unwrap_or(Err(LockdownError::TimedOut(STARTING)))
    }

    /// Agrees on the phone's version of DeviceLink. Only the exchange changed between versions, not the messages used here.
    async fn greet(mut messages: MessageStream) -> Result<Self, LockdownError> {
        let hello = messages.receive_value(STARTING, LONGEST_GREETING).await?;
        let [_, Value::Integer(major), ..] = items(&hello, VERSION_EXCHANGE)? else {
            return Err(LockdownError::Protocol(format!("{VERSION_EXCHANGE} without a version")));
        };
        let version = Value::Integer(*major);
        let accepted = ["DLMessageVersionExchange", "DLVersionsOk"];
        let mut answer: Vec<Value> = accepted.map(Value::from).into();
        answer.push(version);
        messages.send(answer).await?;
        let ready = messages.receive_value(STARTING, LONGEST_GREETING).await?;
        items(&ready, DEVICE_READY)?;
        Ok(Self(messages))
    }

    /// The screen as a file: a PNG, or a TIFF from very old releases.
    ///
    /// # Errors
    /// If the phone does not send one in time, or something else.
    pub(super) async fn take(mut self) -> Result<Bytes, LockdownError> {
        let mut request = Dictionary::new();
        request.insert("MessageType".into(), Value::from("ScreenShotRequest"));
        self.0.send(vec![Value::from(PROCESS_MESSAGE), request.into()]).await?;
        let answer = self.0.receive_value(TAKING, LONGEST_PICTURE).await?;
        let picture = read_picture(answer)?;
        // So that the service ends at once. The picture has arrived, whatever becomes of this.
        let goodbye = ["DLMessageDisconnect", "___EmptyParameterString___"].map(Value::from);
        let _ = self.0.send(Vec::from(goodbye)).await;
        Ok(picture)
    }
}

/// The items of a message of DeviceLink, which must be the one with this name.
fn items<'a>(message: &'a Value, name: &str) -> Result<&'a [Value], LockdownError> {
    let items = message.as_array().map(Vec::as_slice).unwrap_or_default();
    match items.first().and_then(Value::as_string) {
        Some(first) if first == name => Ok(items),
        Some(other) => Err(unexpected(other, name)),
        None => Err(unexpected("a message without a name", name)),
    }
}

/// The picture in the answer.
fn read_picture(answer: Value) -> Result<Bytes, LockdownError> {
    const REPLY: &str = "ScreenShotReply";
    items(&answer, PROCESS_MESSAGE)?;
    let content = answer.into_array().and_then(|items| items.into_iter().nth(1));
    let mut content = content.and_then(Value::into_dictionary).unwrap_or_default();
    match text(&content, "MessageType") {
        Some(REPLY) => {}
        other => return Err(unexpected(other.unwrap_or("a message without a type"), REPLY)),
    }
    let picture = content.remove("ScreenShotData").and_then(Value::into_data);
    let missing = || LockdownError::Protocol("a screenshot without a picture".into());
    picture.map(Bytes::from).ok_or_else(missing)
}

fn unexpected(message: &str, expected: &str) -> LockdownError {
    let message = truncate(&visible(message), 100);
    LockdownError::Protocol(format!("{message}; expected {expected}"))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const HELLO: &str = "<array><string>DLMessageVersionExchange</string><integer>300</integer>\
                         <integer>0</integer></array>";
    const READY: &str = "<array><string>DLMessageDeviceReady</string></array>";
    const PICTURE: &str = "<array><string>DLMessageProcessMessage</string><dict>\
                           <key>MessageType</key><string>ScreenShotReply</string>\
                           <key>ScreenShotData</key><data>iVBORw==</data></dict></array>";

    async fn write(stream: &mut DuplexStream, body: &[u8]) {
        stream.write_u32(u32::try_from(body.len()).unwrap()).await.unwrap();
        stream.write_all(body).await.unwrap();
    }

    async fn read(stream: &mut DuplexStream) -> Value {
        let mut body = vec![0; usize::try_from(stream.read_u32().await.unwrap()).unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        Value::from_reader_xml(&body[..]).unwrap()
    }

    /// A picture from a phone that sends these messages, whatever it is told; the phone's end stays open.
    async fn take(messages: &[&str]) -> (Result<Bytes, LockdownError>, DuplexStream) {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        for message in messages {
            write(&mut far, format!("<plist version=\"1.0\">{message}</plist>").as_bytes()).await;
        }
        let taking = async { Screenshotr::greet(MessageStream::over(near)).await?.take().await };
        (taking.await, far)
    }

    #[tokio::test(start_paused = true)]
    async fn the_exchange_is_that_of_device_link() {
        let (picture, mut far) = take(&[HELLO, READY, PICTURE]).await;
        assert_eq!(picture.unwrap(), &b"\x89PNG"[..]);
        let strings = |strings: &[&str]| strings.iter().map(|text| Value::from(*text)).collect();
        let mut accepted: Vec<Value> = strings(&["DLMessageVersionExchange", "DLVersionsOk"]);
        accepted.push(Value::Integer(300.into()));
        assert_eq!(read(&mut far).await, Value::Array(accepted));
        let request = read(&mut far).await.into_array().unwrap();
        assert_eq!(request[0], Value::from("DLMessageProcessMessage"));
        let content = request[1].as_dictionary().unwrap();
        assert_eq!(text(content, "MessageType"), Some("ScreenShotRequest"));
        let goodbye = strings(&["DLMessageDisconnect", "___EmptyParameterString___"]);
        assert_eq!(read(&mut far).await, Value::Array(goodbye));
    }

    #[tokio::test(start_paused = true)]
    async fn other_messages_are_refused() {
        let check = async |messages: &[&str], expected: &str| {
            let error = take(messages).await.0.unwrap_err();
            assert!(matches!(error, LockdownError::Protocol(_)), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        };
        let content = |content: &str| {
            format!("<array><string>DLMessageProcessMessage</string>{content}</array>")
        };
        check(&["<dict/>"], "a message without a name; expected DLMessageVersionExchange").await;
        check(&["<array/>"], "a message without a name").await;
        check(&["<array><integer>1</integer></array>"], "a message without a name").await;
        check(&[READY], "DLMessageDeviceReady; expected DLMessageVersionExchange").await;
        check(&["<array><string>DLMessageVersionExchange</string></array>"], "without a version")
            .await;
        check(&["<array>"], "not a property list").await;
        check(&[&"<array>".repeat(5_000)], "nested too deeply").await;
        check(&[HELLO, HELLO], "expected DLMessageDeviceReady").await;
        check(&[HELLO, READY, READY], "expected DLMessageProcessMessage").await;
        for empty in ["", "<string>x</string>", "<dict/>"] {
            check(&[HELLO, READY, &content(empty)], "a message without a type").await;
        }
        let other = "<dict><key>MessageType</key><string>Odd\u{202e}</string></dict>";
        let expected = r"Odd\u{202e}; expected ScreenShotReply";
        check(&[HELLO, READY, &content(other)], expected).await;
        let text = "<dict><key>MessageType</key><string>ScreenShotReply</string>\
                    <key>ScreenShotData</key><string>x</string></dict>";
        check(&[HELLO, READY, &content(text)], "without a picture").await;
    }

    #[tokio::test(start_paused = true)]
    async fn picture_may_be_longer_than_other_messages() {
        let data = "A".repeat(6 << 20);
        let message = PICTURE.replace("iVBORw==", &data);
        let (near, mut far) = tokio::io::duplex(64 << 10);
        let messages = Screenshotr(MessageStream::over(near));
        let (picture, ()) = tokio::join!(messages.take(), async {
            let message = format!("<plist version=\"1.0\">{message}</plist>");
            write(&mut far, message.as_bytes()).await;
        });
        assert_eq!(picture.unwrap().len(), data.len() / 4 * 3);
    }

    #[tokio::test(start_paused = true)]
    async fn longer_messages_are_refused_before_they_are_read() {
        let (near, mut far) = tokio::io::duplex(1 << 10);
        far.write_u32(65_537).await.unwrap();
        let error = Screenshotr::greet(MessageStream::over(near)).await.err().unwrap();
        assert!(error.to_string().contains("65537 bytes; the limit is 65536"), "{error}");
        let (near, mut far) = tokio::io::duplex(1 << 10);
        far.write_u32(u32::MAX).await.unwrap();
        let error = Screenshotr(MessageStream::over(near)).take().await.unwrap_err();
        assert!(error.to_string().contains("4294967295 bytes; the limit is 67108864"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn phone_that_stops_in_the_middle_is_given_up() {
        for messages in [&[][..], &[HELLO], &[HELLO, READY]] {
            let (error, _far) = take(messages).await;
            let error = error.unwrap_err();
            assert!(matches!(error, LockdownError::TimedOut(_)), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn picture_that_ends_early_is_none() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        far.write_u32(1000).await.unwrap();
        far.write_all(b"bplist00").await.unwrap();
        let (taken, ()) = tokio::join!(Screenshotr(MessageStream::over(near)).take(), async {
            read(&mut far).await;
            drop(far);
        });
        let error = taken.unwrap_err();
        assert!(matches!(error, LockdownError::Lost(_)), "{error}");
    }
}
