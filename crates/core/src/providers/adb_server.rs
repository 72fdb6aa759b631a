//! The phones of a running adb server, on USB or on the network.
//!
//! Ids come in two forms: a serial, or `transport_id=N` if the serial is missing or not unique. The
//! server is never started from here.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt as _};
use thumbwire_adb::{self as adb, AdbServer, DeviceEntry, DeviceTracker};
use thumbwire_device::Platform;
use thumbwire_device::android::HelperMode;
use tokio::time::{sleep, timeout};

use super::{DeviceChange, DeviceProvider, OpenResult, ReadyDevices, adb_direct};
use crate::action::{Cause, DeviceKind, Failure, ListedDevice};

/// How long the adb server may take to list devices. It does not contact them for that: it answers
/// at once or hangs.
const LISTING: Duration = Duration::from_secs(3);

/// The delay before connecting again to a server that is not running.
const RETRY: Duration = Duration::from_secs(5);

/// The prefix of ids that are transport ids. They contain no colon, so they are not addresses.
const NUMBERED: &str = "transport_id=";

/// The serial prefix of Android emulators.
const EMULATOR: &str = "emulator-";

/// The phones of an adb server.
pub struct AdbServerProvider {
    server: AdbServer,
    retry: Duration,
    helper: HelperMode,
}

impl AdbServerProvider {
    /// The phones of this server. Connects to nothing yet.
    pub fn new(server: AdbServer) -> Self {
        Self { server, retry: RETRY, helper: HelperMode::default() }
    }

    /// Sets the delay after which a watch connects again to a server that is not running.
    pub fn with_retry(self, retry: Duration) -> Self {
        Self { retry, ..self }
    }

    /// Uses the helper of its phones in this way.
    pub fn with_helper(self, helper: HelperMode) -> Self {
        Self { helper, ..self }
    }
}

#[async_trait]
impl DeviceProvider for AdbServerProvider {
    fn name(&self) -> &'static str {
        "adb server"
    }

    /// If no adb server is running, the list is empty; that is not an error.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        let refused = |reason: String| {
            Failure::from(Cause::DeviceError { text: format!("the adb server failed: {reason}") })
        };
        match timeout(LISTING, self.server.devices()).await {
            Ok(Ok(attached)) => Ok(listed(&attached)),
            Ok(Err(adb::Error::NotReachable { .. })) => Ok(Vec::new()),
            Ok(Err(error)) => Err(refused(format!("failed to {error}"))),
            Err(_) => {
                let reason = format!("no answer within {LISTING:?}");
                Err(refused(reason))
            }
        }
    }

    /// Uses the server's device tracking. A server that is not running has no phones; the watch
    /// retries from time to time.
    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let watch = Watch {
            server: self.server.clone(),
            retry: self.retry,
            tracker: None,
            ready: ReadyDevices::default(),
            changes: VecDeque::new(),
        };
        stream::unfold(watch, |mut watch| async { Some((watch.next().await, watch)) }).boxed()
    }

    /// An address is the same phone for each server; a serial is not: emulators of two servers
    /// have the same ones.
    fn name_on_computer(&self, id: &str) -> Option<String> {
        let is_address = id.contains(':');
        let name = match is_address {
            true => id.to_owned(),
            false => format!("{id} of {}", self.server.address()),
        };
        Some(name.replace("localhost", "127.0.0.1"))
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        let listed = match self.list().await {
            Ok(listed) => listed,
            Err(failure) => return Ok(OpenResult::Unknown(failure)),
        };
        let Some(phone) = find_phone(listed, id, self.server.is_local()) else {
            return Ok(OpenResult::NotMine(Some("the adb server does not list it".into())));
        };
        if let Some(failure) = phone.not_ready() {
            return Err(failure);
        }
        let number = phone.id.strip_prefix(NUMBERED).and_then(|number| number.parse().ok());
        let transport = match number {
            Some(number) => self.server.device_by_transport_id(id, number),
            None => self.server.device(&phone.id),
        };
        let opened = adb_direct::attach(id, self.helper, transport).await;
        opened.map(OpenResult::Opened).map_err(|error| Failure::of_device(id, &error))
    }
}

/// The server's list and its changes.
struct Watch {
    server: AdbServer,
    retry: Duration,
    tracker: Option<DeviceTracker>,
    ready: ReadyDevices,
    /// The changes not returned yet.
    changes: VecDeque<DeviceChange>,
}

impl Watch {
    async fn next(&mut self) -> DeviceChange {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return change;
            }
            let attached = match &mut self.tracker {
                Some(tracker) => tracker.next().await,
                None => match self.server.track_devices().await {
                    Ok(tracker) => self.tracker.insert(tracker).next().await,
                    Err(error) => Err(error),
                },
            };
            match attached {
                Ok(attached) => self.changes.extend(self.ready.update(listed(&attached))),
                Err(error) => {
                    tracing::debug!("cannot watch the adb server's devices: {error}");
                    self.tracker = None;
                    self.changes.extend(self.ready.update(Vec::new()));
                    if self.changes.is_empty() {
                        sleep(self.retry).await;
                    }
                }
            }
        }
    }
}

fn listed(attached: &[DeviceEntry]) -> Vec<ListedDevice> {
    let listed = attached.iter().map(|phone| {
        let id = find_id(attached, phone);
        let emulator = phone.serial.starts_with(EMULATOR);
        ListedDevice {
            id,
            platform: Platform::Android,
            model: phone.property("model").unwrap_or_default().replace('_', " "),
            state: phone.state.to_string(),
            kind: if emulator { DeviceKind::Emulator } else { DeviceKind::Physical },
            properties: phone.properties.clone(),
        }
    });
    listed.collect()
}

/// The listed phone with this id, else one that the server reaches at the same address of this
/// computer: a phone that serves one host must not be connected to again.
fn find_phone(listed: Vec<ListedDevice>, id: &str, local: bool) -> Option<ListedDevice> {
    if let Some(phone) = listed.iter().find(|phone| phone.id == id) {
        return Some(phone.clone());
    }
    let port = local_port(id).filter(|_| local && !id.starts_with(EMULATOR))?;
    let mut same = listed.into_iter().filter(|phone| local_port(&phone.id) == Some(port));
    let first = same.next()?;
    Some(if first.is_ready() { first } else { same.find(ListedDevice::is_ready).unwrap_or(first) })
}

/// The port of this computer where the adbd with this id listens. An emulator is named by the port
/// of its console; the next one is adbd's.
fn local_port(id: &str) -> Option<u16> {
    if let Some(console) = id.strip_prefix(EMULATOR) {
        return console.parse::<u16>().ok()?.checked_add(1);
    }
    let (host, port) = id.rsplit_once(':')?;
    let local = host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1";
    local.then(|| port.parse().ok()).flatten()
}

/// The id that selects this phone: its serial, or its transport id if the serial is missing or not
/// unique.
fn find_id(all: &[DeviceEntry], phone: &DeviceEntry) -> String {
    let serial = &phone.serial;
    let names_it = serial != "(no serial number)"
        && all.iter().filter(|other| other.serial == *serial).count() == 1;
    match phone.property("transport_id") {
        Some(number) if !names_it => format!("{NUMBERED}{number}"),
        _ => serial.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_this_computer_finds_its_listed_phone_by_any_name() {
        let list = |rows: &[(&str, &str)]| {
            let lines = rows.iter().map(|(serial, state)| format!("{serial} {state} model:M\n"));
            listed(&adb::wire::devices::read_devices(&lines.collect::<String>()))
        };
        let check = |rows: &[(&str, &str)], id: &str, local: bool, expected: Option<&str>| {
            let found = find_phone(list(rows), id, local).map(|phone| phone.id);
            assert_eq!(found.as_deref(), expected, "{id} in {rows:?}");
        };
        let here = [("R58M1", "device"), ("localhost:5603", "device"), ("emulator-5554", "device")];
        check(&here, "127.0.0.1:5603", true, Some("localhost:5603"));
        check(&here, "localhost:5603", true, Some("localhost:5603"));
        check(&here, "LOCALHOST:5555", true, Some("emulator-5554"));
        check(&here, "127.0.0.1:5555", true, Some("emulator-5554"));
        check(&here, "127.0.0.1:5554", true, None);
        check(&here, "10.0.0.7:5555", true, None);
        check(&here, "R58M1", true, Some("R58M1"));
        check(&here, "emulator-5602", true, None);
        // A server elsewhere means its own computer by these names.
        check(&here, "127.0.0.1:5555", false, None);
        check(&here, "localhost:5603", false, Some("localhost:5603"));
        let both = [("emulator-5554", "offline"), ("localhost:5555", "device")];
        check(&both, "127.0.0.1:5555", true, Some("localhost:5555"));
        check(&both[..1], "127.0.0.1:5555", true, Some("emulator-5554"));
        check(&both, "emulator-5554", true, Some("emulator-5554"));
    }

    #[test]
    fn server_is_local_by_its_address() {
        for (address, local) in [
            ("localhost:5037", true),
            ("127.0.0.1:5037", true),
            ("[::1]:5037", true),
            ("10.0.0.7:5037", false),
            ("build-host:5037", false),
        ] {
            assert_eq!(AdbServer::new(address).is_local(), local, "{address}");
        }
    }
}
