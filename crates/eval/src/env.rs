//! The environment of a task: a fresh virtual phone in the case's initial state, and a session on
//! it.
//!
//! It replaces two things around a real phone: an owner who accepts our key when the phone asks
//! (fault `unauthorized`), and a user who says yes when the agent asks for permission
//! ([`YesUser`]). And two things are free: waiting, which advances the phone's clock, and
//! screenshots for a text-only policy, which are one blank pixel unless requested.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::Key;
use thumbwire_device::{Format, Image, Screenshot, Size};
use thumbwire_virtual_android::{Rule, VirtualPhone};
use tokio::task::JoinHandle;

use super::phone::EvalPhone;
use super::task::{InitialState, TaskInstance};
use thumbwire_core::action::{
    Action, AskUser, Call, Failure, Outcome, Perform, Question, ScreenshotAndControls,
    TypedPerform as _, UserAnswer, request,
};
use thumbwire_core::providers::{
    DeviceProviders, HostKey, VirtualIphoneProvider, VirtualPhoneProvider,
};
use thumbwire_core::session::Session;

/// The environment of a task. Requires a tokio runtime.
pub struct TaskEnv {
    /// The phone, for the judge.
    pub phone: EvalPhone,
    perform: Arc<EnvPerform>,
    owner: Option<JoinHandle<()>>,
}

/// Which clock passes while a policy waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeMode {
    /// tokio's paused clock, which advances by itself when there is nothing to do.
    Paused,
    /// The real clock; only the phone's clock is advanced.
    Real,
}

/// How long a phone's owner takes at most to accept our key.
const CONSENT: Duration = Duration::from_secs(7);

impl TaskEnv {
    /// The environment of this phone, with these fault rules, which an iPhone ignores. Without
    /// `pictures`, screenshots are blank and never reach the phone.
    pub fn new(phone: EvalPhone, faults: &[Rule], time: TimeMode, pictures: bool) -> Self {
        let phones = DeviceProviders::default();
        let (phones, owner) = match &phone {
            EvalPhone::Android(phone) => {
                faults.iter().for_each(|rule| phone.add_fault(rule.clone()));
                let (source, name) = (Box::new(key), "thumbwire@eval".into());
                let key = Arc::new(HostKey { source, name, consent: CONSENT });
                let owner = tokio::spawn(accept_keys(phone.clone()));
                (phones.with(VirtualPhoneProvider::new(phone.clone()).with_key(key)), Some(owner))
            }
            EvalPhone::Ios(phone) => (phones.with(VirtualIphoneProvider::new(phone.clone())), None),
        };
        let session = Session::new(phones, Some(phone.id().into()));
        let perform = Arc::new(EnvPerform { phone: phone.clone(), inner: session, time, pictures });
        Self { phone, perform, owner }
    }

    /// Sets up the phone's initial state.
    pub fn apply(&self, case: &TaskInstance) {
        for given in &case.given {
            match given {
                InitialState::AppValue(package, key, value) => {
                    self.phone.world(|world| world.set_preference(package, key, Some(value)));
                }
                InitialState::Setting(table, name, value) => {
                    self.phone.world(|world| world.put_setting(table, name, value));
                }
                InitialState::File(path, bytes) => {
                    self.phone.write_file(path, *bytes);
                }
                InitialState::Notification(package, title, text) => self.phone.world(|world| {
                    let _ = world.grant(package, "android.permission.POST_NOTIFICATIONS");
                    world.notify(package, title, text);
                }),
            }
        }
    }

    /// The `Perform` for this phone.
    pub fn perform(&self) -> Arc<dyn Perform> {
        Arc::clone(&self.perform) as Arc<dyn Perform>
    }
}

impl Drop for TaskEnv {
    fn drop(&mut self) {
        if let Some(owner) = &self.owner {
            owner.abort();
        }
    }
}

/// The owner, who accepts each key that the phone asks about.
async fn accept_keys(phone: VirtualPhone) {
    loop {
        phone.wait_for_key().await;
        phone.answer_key(true);
        tokio::task::yield_now().await;
    }
}

/// One key for all phones of a process: generating it is slow.
fn key() -> Result<Arc<Key>, String> {
    static KEY: OnceLock<Result<Arc<Key>, String>> = OnceLock::new();
    KEY.get_or_init(|| Key::generate().map(Arc::new).map_err(|error| error.to_string())).clone()
}

/// A session that skips what is slow, and reports nothing.
struct EnvPerform {
    phone: EvalPhone,
    inner: Session,
    time: TimeMode,
    pictures: bool,
}

/// One white pixel, as PNG.
const BLANK: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\xdac\xf8\x0f\0\x01\x01\x01\0\x1c\xb0\x8c\x99\0\0\0\0IEND\xaeB`\x82";

fn blank() -> Screenshot {
    let image = Image { format: Format::Png, bytes: BLANK.into() };
    Screenshot { image, size: Size { width: 1, height: 1 }, blank: None }
}

#[async_trait]
impl Perform for EnvPerform {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::Wait(time) => {
                self.phone.world(|world| world.advance(world.uptime().saturating_add(time)));
                match self.time {
                    // Time outside the phone, such as a cable's silence, passes as well.
                    TimeMode::Paused => self.inner.perform(call, action).await,
                    TimeMode::Real => Ok(Outcome::Done),
                }
            }
            Action::Screenshot(_) if !self.pictures => Ok(blank().into()),
            Action::ScreenshotAndControls(_) if !self.pictures => {
                let listing = request::Controls { max_age: Duration::ZERO };
                let controls = self.inner.request(call, listing).await?;
                Ok(ScreenshotAndControls { screenshot: blank(), controls }.into())
            }
            _ => self.inner.perform(call, action).await,
        }
    }
}

/// Says yes to every question.
pub struct YesUser;

#[async_trait]
impl AskUser for YesUser {
    async fn ask(&self, _question: &Question) -> UserAnswer {
        UserAnswer::Text("yes".into())
    }
}
