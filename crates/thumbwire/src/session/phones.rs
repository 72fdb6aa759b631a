//! Which phones there are, and how to get a handle on one.
//!
//! Four kinds of ids: a serial that a running adb server knows, `transport_id=N` where its serial names several phones or
//! none, `HOST:PORT` of an adbd that is reached directly, and `virtual`, the phone built in. A phone that the server knows
//! is reached through the server, so that the same phone is never held twice. To add a driver, add its way of listing and
//! opening here.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::transport::Io;
use thumbwire_adb::{self as adb, AdbServer, Direct, Key, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::{Acted, Device, Error, Platform, Scaled};
use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::action::{Cause, Failure, Listed};

/// The id of the built-in phone.
pub const VIRTUAL: &str = "virtual";

/// How long the adb server may take to list its phones. It does not ask them for that: it answers at once or hangs.
const LISTING: Duration = Duration::from_secs(3);

/// Where phones come from.
pub struct Phones {
    server: AdbServer,
    /// Listed only once it was asked for: nobody gets the virtual phone without wanting it.
    virtual_phone: Mutex<Option<VirtualPhone>>,
    key: Option<OurKey>,
    /// The longer side of the pictures that are served, in pixels; `None` is the screen's own.
    max_side: Option<u32>,
}

/// The key by which phones know this computer.
pub struct OurKey {
    /// Gets it, or says in words why there is none. Asked when the first phone wants it.
    pub source: Box<dyn Fn() -> Result<Arc<Key>, String> + Send + Sync>,
    /// What a phone that does not know it shows its owner.
    pub name: String,
    /// How long the owner may take to accept it.
    pub consent: Duration,
}

impl OurKey {
    /// The same way to a phone, with the key for one that asks.
    fn shown_by(&self, direct: Direct) -> Result<Direct, Failure> {
        let key = (self.source)().map_err(|said| Failure::from(Cause::PhoneFailed { said }))?;
        Ok(direct.with_key(key, &self.name).with_consent_within(self.consent))
    }
}

impl Phones {
    /// The phones that an adb server knows, those that are named by address, and the built-in one when it is named.
    pub fn new(server: AdbServer) -> Self {
        Self { server, virtual_phone: Mutex::default(), key: None, max_side: None }
    }

    /// The same, with a key for those that ask for one.
    pub fn with_key(self, key: OurKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The same, with pictures of at most so many pixels on the longer side. All coordinates are pixels of those.
    pub fn with_max_side(self, pixels: u32) -> Self {
        Self { max_side: Some(pixels), ..self }
    }

    /// The same, with a virtual phone that the caller holds as well.
    pub fn with_virtual(self, phone: VirtualPhone) -> Self {
        Self { virtual_phone: Mutex::new(Some(phone)), ..self }
    }

    /// All that are there now. No adb server running means that none is attached that way, not an error.
    pub async fn list(&self) -> Result<Vec<Listed>, Failure> {
        let refused = |why: String| {
            let said = format!("the adb server does not list its phones: {why}");
            Failure::from(Cause::PhoneFailed { said })
        };
        let attached = match timeout(LISTING, self.server.devices()).await {
            Ok(Ok(attached)) => attached,
            Ok(Err(adb::Error::NotReachable { .. })) => Vec::new(),
            Ok(Err(error)) => return Err(refused(format!("failed to {error}"))),
            Err(_) => {
                let why =
                    format!("no answer within {LISTING:?}; `adb kill-server` ends one that hangs");
                return Err(refused(why));
            }
        };
        let listed = attached.iter().map(|phone| Listed {
            id: id_among(&attached, phone),
            platform: Platform::Android,
            model: phone.property("model").unwrap_or_default().replace('_', " "),
            state: phone.state.to_string(),
            properties: phone.properties.clone(),
        });
        let mut listed: Vec<_> = listed.collect();
        if let Some(phone) = &*self.virtual_phone.lock().await {
            // As an adb server would list it.
            let Setup { product, model, device, .. } = phone.setup();
            let told = [("product", product), ("model", model), ("device", device)];
            let told = told.map(|(name, value)| (name.to_owned(), value.replace(' ', "_")));
            listed.push(Listed {
                id: VIRTUAL.into(),
                platform: Platform::Android,
                model: model.clone(),
                state: "device".into(),
                properties: told.into(),
            });
        }
        Ok(listed)
    }

    /// A handle on the phone of this id, connected. A phone that asks for a key is shown ours; its owner has some
    /// seconds to accept it.
    pub async fn open(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        let opened = match self.way(id).await? {
            Way::BuiltIn(phone) => {
                let connect = move || {
                    let io: Box<dyn Io> = Box::new(phone.in_memory());
                    std::future::ready(Ok(io))
                };
                let direct = || Direct::with("the virtual phone", connect.clone());
                match (attach(id, direct()).await, &self.key) {
                    // One that was told to forget its hosts asks like any other.
                    (Err(Error::Unauthorized { .. }), Some(key)) => {
                        attach(id, key.shown_by(direct())?).await
                    }
                    (opened, _) => opened,
                }
            }
            Way::Server => attach(id, self.server.device(id)).await,
            Way::Numbered(number) => attach(id, self.server.device_numbered(id, number)).await,
            Way::Direct => match (attach(id, Direct::tcp(id)).await, &self.key) {
                // Asked for only now: most phones that are reached directly want none.
                (Err(Error::Unauthorized { .. }), Some(key)) => {
                    attach(id, key.shown_by(Direct::tcp(id))?).await
                }
                (opened, _) => opened,
            },
        };
        let device = opened.map_err(|error| Failure::of_device(id, &error))?;
        Ok(match self.max_side {
            Some(pixels) => Arc::new(Scaled::new(device, pixels)),
            None => device,
        })
    }

    /// How the phone of this id is reached. Nothing is connected yet.
    async fn way(&self, id: &str) -> Result<Way, Failure> {
        if id == VIRTUAL {
            let mut phone = self.virtual_phone.lock().await;
            let phone = phone.get_or_insert_with(|| VirtualPhone::new(Setup::default()));
            return Ok(Way::BuiltIn(phone.clone()));
        }
        let address = is_address(id);
        let listed = match self.list().await {
            // An adb server that is ill does not stand between us and a phone that is named by its address.
            Err(failure) if address => {
                tracing::warn!("{id} is reached directly: {}", failure.cause);
                Vec::new()
            }
            listed => listed?,
        };
        match listed.into_iter().find(|phone| phone.id == id) {
            Some(phone) if phone.is_ready() => {
                let number = id.strip_prefix(NUMBERED).and_then(|number| number.parse().ok());
                Ok(number.map_or(Way::Server, Way::Numbered))
            }
            Some(phone) => Err(not_ready(&phone)),
            None if address => Ok(Way::Direct),
            None => Err(not_connected(id, "no adb server knows it".into())),
        }
    }
}

/// A way to a phone.
enum Way {
    BuiltIn(VirtualPhone),
    Server,
    /// Through the server, by the `transport_id` of its list.
    Numbered(u64),
    Direct,
}

/// Whether a phone of this id can be reached without an adb server.
pub(super) fn is_address(id: &str) -> bool {
    id.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).is_some()
}

/// How an id begins that is a number of the adb server's list. It has no colon: it is no address.
const NUMBERED: &str = "transport_id=";

/// By what one of these phones is chosen: its serial, or its number where the serial names none or several of them.
fn id_among(all: &[adb::Listed], phone: &adb::Listed) -> String {
    let serial = &phone.serial;
    let names_it = serial != "(no serial number)"
        && all.iter().filter(|other| other.serial == *serial).count() == 1;
    match phone.property("transport_id") {
        Some(number) if !names_it => format!("{NUMBERED}{number}"),
        _ => serial.clone(),
    }
}

async fn attach(id: &str, transport: impl Transport + 'static) -> Result<Arc<dyn Device>, Error> {
    Ok(Arc::new(Android::attach(id, Arc::new(transport)).await?))
}

/// The failure that a phone in such a state means.
pub(super) fn not_ready(phone: &Listed) -> Failure {
    let device = phone.id.clone();
    match phone.state.as_str() {
        "unauthorized" => Cause::DeviceNotAuthorized { device },
        state => Cause::DeviceNotReady { device, state: state.to_owned() },
    }
    .into()
}

fn not_connected(id: &str, why: String) -> Failure {
    Failure::of_device(id, &Error::NotConnected { why, acted: Acted::No })
}
