//! A phone by address that falls silent without ending its connection, and comes back at a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::DirectTransport;
use thumbwire_adb::transport::Io;
use thumbwire_core::action::{Action, Call, Cause, Failure, ListedDevice, Perform as _};
use thumbwire_core::providers::{DeviceProvider, DeviceProviders, OpenResult};
use thumbwire_core::session::Session;
use thumbwire_device::android::Android;
use thumbwire_device::{Key, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::wire::ask;

/// A phone by address whose first connection stops carrying bytes after its greeting, without an end, as with a pulled
/// cable. Later ones are fine.
struct PulledOnce {
    phone: VirtualPhone,
    pulled: CancellationToken,
    dials: Arc<AtomicUsize>,
}

#[async_trait]
impl DeviceProvider for PulledOnce {
    fn name(&self) -> &'static str {
        "pulled once"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(Vec::new())
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        let (phone, pulled) = (self.phone.clone(), self.pulled.clone());
        let dials = Arc::clone(&self.dials);
        let direct = DirectTransport::with_connector("10.0.0.7:5555", move || {
            let (near, mut middle) = tokio::io::duplex(64 * 1024);
            let mut far = phone.in_memory();
            let first = dials.fetch_add(1, Ordering::SeqCst) == 0;
            let pulled = pulled.clone();
            tokio::spawn(async move {
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut middle, &mut far) => {}
                    () = pulled.cancelled(), if first => std::future::pending().await,
                }
            });
            std::future::ready(Ok(Box::new(near) as Box<dyn Io>))
        });
        let device = Android::attach(id, Arc::new(direct)).await.unwrap();
        Ok(OpenResult::Opened(Arc::new(device)))
    }
}

#[tokio::test(start_paused = true)]
async fn pulled_cable_is_noticed_in_time_and_the_next_call_connects_again() {
    let (pulled, dials) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let phone = VirtualPhone::new(Setup::default());
    let provider = PulledOnce { phone, pulled: pulled.clone(), dials: Arc::clone(&dials) };
    let id = "10.0.0.7:5555".to_owned();
    let session = Session::new(DeviceProviders::default().with(provider), Some(id.clone()));
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    pulled.cancel();
    let asked = Instant::now();
    let call = Call::with_timeout(Duration::from_secs(10));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    let reason = "it stopped answering".to_owned();
    assert_eq!(failure.cause, Cause::DeviceNotConnected { device: id, reason });
    assert_eq!(failure.side_effect, SideEffect::Possible);
    assert!(asked.elapsed() <= Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(dials.load(Ordering::SeqCst), 1);
    let asked = Instant::now();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert_eq!(dials.load(Ordering::SeqCst), 2);
}
