//! How many hosts an adbd serves at once. Nobody waits here: the clock is paused.

use std::time::Duration;
use thumbwire_adb::{DirectTransport, run};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::time::timeout;

/// A host that connects over the network when it first needs to.
fn host(phone: &VirtualPhone) -> DirectTransport {
    let served = phone.clone();
    DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn thumbwire_base::Io> = Box::new(served.over_network());
        async move { Ok(io) }
    })
}

/// Whether the phone answers that host within ten seconds.
async fn answers(host: &DirectTransport) -> bool {
    let answer = timeout(Duration::from_secs(10), run(host, "echo ready")).await;
    answer.is_ok_and(|answer| answer.is_ok_and(|output| output.stdout.starts_with(b"ready")))
}

#[tokio::test(start_paused = true)]
async fn adbd_of_4_4_answers_no_second_host() {
    let phone = VirtualPhone::new(Setup::of_release("4.4").expect("a release"));
    let (first, second, third) = (host(&phone), host(&phone), host(&phone));
    assert!(answers(&first).await);
    assert!(!answers(&second).await, "another host is served");
    assert!(answers(&first).await, "which goes on");
    // A cable is no network.
    let cable = phone.clone();
    let wired = DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn thumbwire_base::Io> = Box::new(cable.in_memory());
        async move { Ok(io) }
    });
    assert!(answers(&wired).await);
    drop(first);
    assert!(answers(&third).await, "made after the first left");
    drop(third);
    assert!(answers(&host(&phone)).await);
}

#[tokio::test(start_paused = true)]
async fn connection_that_was_not_answered_never_is() {
    let phone = VirtualPhone::new(Setup::of_release("4.4").expect("a release"));
    let (first, waiting) = (host(&phone), host(&phone));
    assert!(answers(&first).await);
    let mut asked = tokio::spawn(async move { run(&waiting, "echo ready").await.is_ok() });
    assert!(timeout(Duration::from_secs(1), &mut asked).await.is_err());
    drop(first);
    assert!(timeout(Duration::from_secs(2), &mut asked).await.is_err());
    assert!(answers(&host(&phone)).await, "a new one is");
}

#[tokio::test(start_paused = true)]
async fn later_releases_serve_several_hosts() {
    for release in ["9", "14"] {
        let phone = VirtualPhone::new(Setup::of_release(release).expect("a release"));
        let (first, second) = (host(&phone), host(&phone));
        assert!(answers(&first).await && answers(&second).await && answers(&first).await);
    }
}
