//! `just bench-fleet`: what the way over NATS adds to a call, side by side in one run.
//!
//! A node and a door in this process, a real NATS server on loopback, and a virtual phone that
//! responds at once. Each action is performed by the node's session and through the door in turns.
//! Figures are medians and 95th percentiles of this machine: compare columns. Nothing is asserted.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/it/nats.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "it is a part of the tests")]
mod nats;

use std::sync::Arc;
use std::time::{Duration, Instant};

use thumbwire_core::action::{Action, Call, Perform as _, ScreenshotOptions, SnapshotOptions};
use thumbwire_core::providers::{DeviceProviders, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::Key;
use thumbwire_fleet::Door;
use thumbwire_fleet::node::{self, Node, NodeFiles};
use thumbwire_test_support::NatsServer;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::oneshot;

use nats::Connect as _;

const ROUNDS: usize = 300;

#[tokio::main]
async fn main() {
    let Some(server) = NatsServer::start() else { return };
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::named("p1", phone));
    let folder = tempfile::tempdir().expect("a folder");
    let session = Arc::new(Session::new(phones, SessionOptions::default()));
    let node = Node {
        name: "rack1".to_owned(),
        labels: Vec::new(),
        session: Arc::clone(&session),
        perform: Arc::clone(&session) as _,
        files: NodeFiles::new(folder.path()),
    };
    let (ready, listed) = oneshot::channel();
    let connection = server.connect("rack1").await;
    tokio::spawn(node::run(node, connection, ready, std::future::pending()));
    listed.await.expect("the node runs");
    let door = Door::open(server.connect("door").await).await.expect("a door");
    let options = SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
    let through = Session::new(DeviceProviders::default(), options);

    println!("{:24} {:>16} {:>16} {:>10}", "action, ms", "session", "over NATS", "added");
    for (name, action) in [
        ("press a key", Action::Press(Key::Home)),
        ("current app", Action::CurrentApp),
        ("snapshot", Action::Snapshot(SnapshotOptions::default())),
        ("screenshot", Action::Screenshot(ScreenshotOptions::default())),
    ] {
        let (mut direct_times, mut fleet_times) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS + 20 {
            let direct = timed(&session, "p1", &action).await;
            let over_nats = timed(&through, "rack1/p1", &action).await;
            // The first ones connect.
            if round >= 20 {
                direct_times.push(direct);
                fleet_times.push(over_nats);
            }
        }
        let [direct, over_nats] = [direct_times, fleet_times].map(figures);
        let added = over_nats.0 - direct.0;
        let shown = |(median, high): (f64, f64)| format!("{median:.2} ({high:.2})");
        println!("{name:24} {:>16} {:>16} {added:>10.2}", shown(direct), shown(over_nats));
    }
}

async fn timed(session: &Session, device: &str, action: &Action) -> Duration {
    let call = Call::with_timeout(Duration::from_secs(30)).on(Some(device.to_owned()));
    let began = Instant::now();
    session.perform(&call, action.clone()).await.expect("it succeeds");
    began.elapsed()
}

/// The median and the 95th percentile, in milliseconds.
fn figures(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    (at(50), at(95))
}
