//! The phone under a task: a fresh virtual one, laid out as the case says, and a session on it.
//!
//! It stands in for two things that a real phone has around it. Its owner accepts our key when the phone asks (fault `unauthorized`), and
//! says yes when the agent asks whether it may ([`Owner`]). And two things cost nothing: waiting, for which the phone's clock is moved on, and
//! pictures for a mind that reads words alone: they are one blank pixel, unless they are wanted.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::{AdbServer, Key};
use thumbwire_device::{Format, Image, Screenshot, Size};
use thumbwire_virtual_phone::world::BroadcastKeyboard;
use thumbwire_virtual_phone::{Rule, Setup, VirtualPhone};
use tokio::task::JoinHandle;

use super::task::{Case, Given};
use crate::action::{Action, Ask, Call, Failure, Outcome, Perform};
use crate::session::{OurKey, Phones, Session, VIRTUAL};

/// A phone under a task. Needs a tokio runtime.
pub struct Bench {
    /// The phone, for whoever judges.
    pub phone: VirtualPhone,
    perform: Arc<Stand>,
    owner: JoinHandle<()>,
}

/// Whose time passes while a mind waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// tokio's, which is held: it goes on by itself where nothing is to be done.
    Held,
    /// The world's: only the phone's clock is moved on.
    Real,
}

/// How long a phone's owner may take to accept our key.
const CONSENT: Duration = Duration::from_secs(7);

impl Bench {
    /// A phone just switched on, on which these rules let things go wrong. Without `pictures` screenshots are blank and do not reach it.
    pub fn new(seed: u64, faults: &[Rule], time: Time, pictures: bool) -> Self {
        let phone = Self::phone_of(seed);
        faults.iter().for_each(|rule| phone.add_fault(rule.clone()));
        // No adb server is asked: the phone is named.
        let key = OurKey { source: Box::new(key), name: "thumbwire@eval".into(), consent: CONSENT };
        let phones = Phones::new(AdbServer::default()).with_virtual(phone.clone()).with_key(key);
        let session = Session::new(phones, Some(VIRTUAL.into()));
        let perform = Arc::new(Stand { phone: phone.clone(), inner: session, time, pictures });
        let asked = phone.clone();
        let owner = tokio::spawn(async move {
            loop {
                asked.until_key_shown().await;
                asked.answer_key(true);
                tokio::task::yield_now().await;
            }
        });
        Self { phone, perform, owner }
    }

    /// The phone of a seed, just switched on.
    pub fn phone_of(seed: u64) -> VirtualPhone {
        // Letters beyond ASCII have no key (`docs/sharp-edges.md`).
        let keyboards = vec![BroadcastKeyboard::AdbKeyboard];
        VirtualPhone::new(Setup { seed, keyboards, ..Setup::default() })
    }

    /// Puts on the phone what stands there before the task.
    pub fn lay(&self, case: &Case) {
        for given in &case.given {
            match given {
                Given::Kept(package, key, value) => {
                    self.phone.world(|world| world.keep(package, key, Some(value)));
                }
                Given::Setting(table, name, value) => {
                    self.phone.world(|world| world.put_setting(table, name, value));
                }
                Given::File(path, bytes) => {
                    // A case that names a folder which is not there fails its oracle.
                    let _ = self.phone.files(|files| files.write(path, &vec![b'x'; *bytes], 0o660));
                }
                Given::Notice(package, title, text) => self.phone.world(|world| {
                    let _ = world.grant(package, "android.permission.POST_NOTIFICATIONS");
                    world.notify(package, title, text);
                }),
            }
        }
    }

    /// What acts on it.
    pub fn perform(&self) -> Arc<dyn Perform> {
        Arc::clone(&self.perform) as Arc<dyn Perform>
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.owner.abort();
    }
}

/// One key for all phones of a process: making it takes long.
fn key() -> Result<Arc<Key>, String> {
    static KEY: OnceLock<Result<Arc<Key>, String>> = OnceLock::new();
    KEY.get_or_init(|| Key::generate().map(Arc::new).map_err(|error| error.to_string())).clone()
}

/// A session that spares what costs time and tells nobody anything.
struct Stand {
    phone: VirtualPhone,
    inner: Session,
    time: Time,
    pictures: bool,
}

/// One white pixel, as PNG.
const BLANK: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\xdac\xf8\x0f\0\x01\x01\x01\0\x1c\xb0\x8c\x99\0\0\0\0IEND\xaeB`\x82";

#[async_trait]
impl Perform for Stand {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::Wait(time) => {
                self.phone.world(|world| world.advance(world.uptime().saturating_add(time)));
                match self.time {
                    // What happens outside the phone's clock, such as a cable's silence, passes as well.
                    Time::Held => self.inner.perform(call, action).await,
                    Time::Real => Ok(Outcome::Done),
                }
            }
            Action::Screenshot(_) if !self.pictures => {
                let image = Image { format: Format::Png, bytes: BLANK.into() };
                Ok(Outcome::Picture(Screenshot {
                    image,
                    size: Size { width: 1, height: 1 },
                    blank: None,
                }))
            }
            _ => self.inner.perform(call, action).await,
        }
    }
}

/// Says yes to whatever it is asked.
pub struct Owner;

#[async_trait]
impl Ask for Owner {
    async fn ask(&self, _question: &str) -> Option<String> {
        Some("yes".into())
    }
}
