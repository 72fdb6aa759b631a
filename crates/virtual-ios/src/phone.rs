//! The phone as a whole: its world and WebDriverAgent's session behind one lock.
//!
//! Commands never hold the lock while they wait: they take it for one step and let time pass
//! through `time`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_virtual_phone::time::WorldClock;
use thumbwire_virtual_phone::{Platform, World};
use thumbwire_webdriver::Orientation;

use crate::faults::{FaultRule, Faults};
use crate::session::Session;
use crate::setup::Setup;
use crate::tree;

/// Limit on the remembered commands.
const MAX_RECORDS: usize = 4_096;

/// An iPhone in memory. A clone is another handle to the same phone.
#[derive(Clone)]
pub struct VirtualIphone {
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
    state: Mutex<State>,
    /// Held by the command that runs: WebDriverAgent runs one at a time.
    turn: tokio::sync::Mutex<()>,
}

/// A command that a client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// Such as `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The HTTP status of the response.
    pub status: u16,
}

/// All of the phone's mutable state.
pub(crate) struct State {
    pub(crate) world: World,
    /// WebDriverAgent has one session at most.
    pub(crate) session: Option<Session>,
    /// How many sessions there were.
    pub(crate) sessions: u64,
    pub(crate) orientation: Orientation,
    /// Whether the system's colors are dark.
    pub(crate) is_dark: bool,
    pub(crate) faults: Faults,
    records: VecDeque<CommandRecord>,
    clock: WorldClock,
}

impl State {
    /// Moves the world's clock forward without waiting.
    pub(crate) fn advance(&mut self, time: Duration) {
        self.clock.advance(&mut self.world, time);
    }

    /// Pixels of a point.
    pub(crate) fn scale(&self) -> f64 {
        tree::scale(&self.world)
    }

    /// The bundle identifier of the app in front, which is SpringBoard on the home and lock
    /// screens.
    pub(crate) fn front_bundle(&self) -> String {
        tree::front_bundle(&self.world)
    }
}

impl std::fmt::Debug for VirtualIphone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualIphone").field("setup", &self.inner.setup).finish_non_exhaustive()
    }
}

impl VirtualIphone {
    /// A phone that has just booted and shows its home screen.
    pub fn new(setup: Setup) -> Self {
        let world = thumbwire_virtual_phone::Setup {
            seed: setup.seed,
            display: setup.display,
            platform: Platform::Ios,
            ..thumbwire_virtual_phone::Setup::default()
        };
        let mut world = World::new(world);
        world.set_screen_lock(setup.screen_lock.clone());
        let state = State {
            world,
            session: None,
            sessions: 0,
            orientation: Orientation::Portrait,
            is_dark: false,
            faults: Faults::default(),
            records: VecDeque::new(),
            clock: WorldClock::new(setup.clock),
        };
        Self {
            inner: Arc::new(Inner {
                setup,
                state: Mutex::new(state),
                turn: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// The configuration it was made from.
    pub fn setup(&self) -> &Setup {
        &self.inner.setup
    }

    /// Its UDID, made from the seed.
    pub fn udid(&self) -> String {
        format!("00008120-{:016X}", self.inner.setup.seed)
    }

    /// Gives direct access to the phone's world, to inspect it or to change it without the driver
    /// knowing.
    pub fn world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        self.with(|phone| with(&mut phone.world))
    }

    /// The commands that clients sent, oldest first. Only the last few thousand are kept.
    pub fn commands(&self) -> Vec<CommandRecord> {
        self.with(|phone| phone.records.iter().cloned().collect())
    }

    /// Adds a fault.
    pub fn add_fault(&self, rule: FaultRule) {
        self.with(|phone| phone.faults.add(rule));
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.with(|phone| phone.faults.clear());
    }

    pub(crate) fn record(&self, record: CommandRecord) {
        self.with(|phone| {
            if phone.records.len() >= MAX_RECORDS {
                phone.records.pop_front();
            }
            phone.records.push_back(record);
        });
    }

    /// The turn to run a command; the next one waits until it is dropped.
    pub(crate) async fn take_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.inner.turn.lock().await
    }

    /// Runs one step on the phone's state. The lock is held meanwhile, so `step` must not block.
    pub(crate) fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> T {
        let mut state = lock(&self.inner.state);
        let state = &mut *state;
        state.clock.sync(&mut state.world);
        step(state)
    }
}
