//! What clients can read without a tool: the screen of each phone, and the files of their own
//! calls.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thumbwire_device::{FormatPreference, TreeDetail};

use super::{NoArgs, phone_app, pictures};
use crate::action::{
    Call, ClientId, ListedDevice, Perform, SnapshotOptions, TypedPerform as _, request,
};
use crate::kept_files::{KeptFile, KeptFiles, ReadError};
use crate::toolset::resources::{
    ResourceContents, ResourceData, ResourceError, ResourceInfo, ResourceProvider, ResourceTemplate,
};
use crate::toolset::{APP_MIME, Content, Reply};

const SCREEN: &str = "thumbwire://screen/";
const SCREENSHOT: &str = "thumbwire://screenshot/";
const FILES: &str = "thumbwire://files/";

const SCREEN_IS: &str = "The elements on the phone's screen now, as a list";
const SCREENSHOT_IS: &str = "A picture of the phone's screen now";

/// The resources of the toolset `mobile`.
pub struct MobileResources {
    files: Arc<KeptFiles>,
}

impl MobileResources {
    /// With the files that `files` has noted.
    pub fn new(files: Arc<KeptFiles>) -> Self {
        Self { files }
    }
}

#[async_trait]
impl ResourceProvider for MobileResources {
    fn templates(&self) -> Vec<ResourceTemplate> {
        let template =
            |uri, name, description, mime| ResourceTemplate { uri, name, description, mime };
        vec![
            template("thumbwire://screen/{device}", "screen", SCREEN_IS, "text/plain"),
            template("thumbwire://screenshot/{device}", "screenshot", SCREENSHOT_IS, "image/png"),
        ]
    }

    async fn list(&self, call: &Call, perform: &dyn Perform) -> Vec<ResourceInfo> {
        let listing = request::ListDevices { platform: None, connect: false };
        let devices = perform.request(call, listing).await.unwrap_or_default();
        let ready = devices.iter().filter(|device| device.state == ListedDevice::READY);
        let screens = ready.flat_map(|device| {
            let info = |start: &str, name: &str, description: &str, mime: &str| ResourceInfo {
                uri: format!("{start}{}", encoded(&device.id)),
                name: format!("{name} of {}", device.id),
                description: description.into(),
                mime: mime.into(),
                bytes: None,
            };
            [
                info(SCREEN, "screen", SCREEN_IS, "text/plain"),
                info(SCREENSHOT, "screenshot", SCREENSHOT_IS, "image/png"),
            ]
        });
        screens.chain(self.files.of(&call.client).iter().map(described)).collect()
    }

    async fn read(
        &self,
        uri: &str,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<ResourceContents, ResourceError> {
        if uri == phone_app::URI {
            let (uri, mime) = (uri.to_owned(), APP_MIME.to_owned());
            return Ok(ResourceContents { uri, mime, data: ResourceData::Text(phone_app::page()) });
        }
        if uri.starts_with(FILES) {
            let files = self.files.of(&call.client);
            let file = files.iter().find(|file| file_uri(file) == uri);
            return self.read_file(file.ok_or(ResourceError::NotFound)?).await;
        }
        let of_device = |start| uri.strip_prefix(start).and_then(decoded);
        let on = |device| call.clone().on(Some(device));
        let reply = match (of_device(SCREEN), of_device(SCREENSHOT)) {
            (Some(device), _) => {
                let look = request::Snapshot(SnapshotOptions::default());
                let snapshot = perform.request(&on(device), look).await;
                let snapshot = snapshot.map_err(ResourceError::Failed)?;
                pictures::render_accessibility_list(&NoArgs {}, snapshot)
            }
            (_, Some(device)) => {
                let png = FormatPreference::Only(thumbwire_device::Format::Png);
                let asked = pictures::take_screenshot(png).map_err(ResourceError::Unreadable)?;
                let screenshot = perform.request(&on(device), asked).await;
                let screenshot = screenshot.map_err(ResourceError::Failed)?;
                pictures::render_take_screenshot(&NoArgs {}, screenshot)
            }
            _ => return Err(ResourceError::NotFound),
        };
        contents(uri, reply)
    }

    async fn keep(&self, client: &ClientId, file: &Path) {
        // A trace grows until its task ends.
        self.files.note(client, file, true);
    }

    fn client_left(&self, client: &ClientId) {
        self.files.client_left(client);
    }

    fn mark(&self) -> u64 {
        self.files.next_number()
    }

    fn added_since(&self, mark: u64, client: &ClientId) -> Vec<ResourceInfo> {
        let files = self.files.of(client);
        files.iter().filter(|file| file.number >= mark).map(described).collect()
    }

    fn tells_changes(&self) -> bool {
        true
    }

    async fn list_changed(&self, mark: u64, client: &ClientId) -> u64 {
        self.files.added(mark, client).await
    }

    fn can_change(&self, uri: &str) -> bool {
        screen_of(uri).is_some()
    }

    /// Of the list of elements: a picture costs more, and seldom differs without it.
    async fn state(&self, uri: &str, call: &Call, perform: &dyn Perform) -> Option<u64> {
        // What the server sees for its subscribers, no client has seen.
        let call = Call { client: ClientId::Server, ..call.clone().on(Some(screen_of(uri)?)) };
        let options = SnapshotOptions { detail: TreeDetail::Full, max_age: Duration::from_secs(1) };
        let snapshot = perform.request(&call, request::Snapshot(options)).await.ok()?;
        let reply = pictures::render_accessibility_list(&NoArgs {}, snapshot);
        let Some(Content::Text(text)) = reply.content.first() else { return None };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Some(hasher.finish())
    }

    fn acts(&self) -> u64 {
        self.files.acts()
    }

    async fn acted(&self, acts: u64) {
        self.files.acted(acts).await;
    }
}

/// The device of a screen's URI.
fn screen_of(uri: &str) -> Option<String> {
    [SCREEN, SCREENSHOT].iter().find_map(|start| uri.strip_prefix(start).and_then(decoded))
}

impl MobileResources {
    async fn read_file(&self, file: &KeptFile) -> Result<ResourceContents, ResourceError> {
        let bytes = self.files.read(file).await.map_err(|error| match error {
            ReadError::Gone => ResourceError::NotFound,
            error => ResourceError::Unreadable(error.to_string()),
        })?;
        let mime = mime(&file.name());
        let data = match mime {
            "text/plain" => match String::from_utf8(bytes) {
                Ok(text) => ResourceData::Text(text),
                Err(error) => ResourceData::Bytes(error.into_bytes()),
            },
            _ => ResourceData::Bytes(bytes),
        };
        Ok(ResourceContents { uri: file_uri(file), mime: mime.into(), data })
    }
}

/// What a tool's reply holds first.
fn contents(uri: &str, reply: Reply) -> Result<ResourceContents, ResourceError> {
    let uri = uri.to_owned();
    match reply.content.into_iter().next() {
        Some(Content::Text(text)) if reply.is_error => Err(ResourceError::Unreadable(text)),
        Some(Content::Text(text)) => {
            Ok(ResourceContents { uri, mime: "text/plain".into(), data: ResourceData::Text(text) })
        }
        Some(Content::Image(image)) => {
            let data = ResourceData::Bytes(image.bytes.to_vec());
            Ok(ResourceContents { uri, mime: image.format.mime().into(), data })
        }
        _ => Err(ResourceError::NotFound),
    }
}

fn described(file: &KeptFile) -> ResourceInfo {
    ResourceInfo {
        uri: file_uri(file),
        name: file.name(),
        description: "A file of one of your calls".into(),
        mime: mime(&file.name()).into(),
        bytes: None,
    }
}

fn file_uri(file: &KeptFile) -> String {
    format!("{FILES}{}/{}", file.number, encoded(&file.name()))
}

/// The MIME type by a file's name; only types that our tools write.
fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("png") => "image/png",
        Some("webp") => "image/webp",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("mp4") => "video/mp4",
        // JSON Lines has no registered type.
        Some("log" | "txt" | "jsonl") => "text/plain",
        _ => "application/octet-stream",
    }
}

/// What a URI's path segment may hold as it is, of what ids and file names have.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// The text of a segment that [`encoded`] made; `None` if it made no such segment.
fn decoded(segment: &str) -> Option<String> {
    let is_code = |rest: &str| {
        rest.get(..2).is_some_and(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    // The decoder takes a `%` without a code for itself.
    if !segment.split('%').skip(1).all(is_code) {
        return None;
    }
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    (!segment.contains(['/', '?', '#']) && !text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_a_uri() {
        for id in ["emulator-5554", "192.168.1.5:5555", "a b/c?é%"] {
            assert_eq!(decoded(&encoded(id)).as_deref(), Some(id), "{}", encoded(id));
        }
        for broken in ["", "%", "%4", "%zz", "a/b", "a?b", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
