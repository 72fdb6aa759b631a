//! The client of usbmuxd and lockdownd against a daemon in the test's own process (`daemon`), and
//! that daemon against libimobiledevice's own tools.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "the driver's tests use more of it")]
mod daemon;
#[allow(dead_code, reason = "other tests use more of it")]
mod pairing;

use std::time::Duration;

use thumbwire_usbmux::{
    Connection, InstalledApp, Lockdown, LockdownError, UsbmuxClient, UsbmuxDevice, UsbmuxError,
    installed_apps,
};

use daemon::{Daemon, Fault, Phone, UDID};
use pairing::Pairing;

#[tokio::test]
async fn phones_are_listed_once_and_by_cable_if_there_is_one() {
    let network = Phone { connection: "Network", ..Phone::new(UDID) };
    let old = "0123456789abcdef0123456789abcdef01234567";
    let phones = [
        network.clone(),
        // As older daemons write it.
        Phone { udid: UDID.replace('-', ""), ..Phone::new(UDID) },
        Phone { udid: old.into(), ..network },
    ];
    let daemon = Daemon::start(phones).await;
    let device = |id, udid: &str, connection| UsbmuxDevice { id, udid: udid.into(), connection };
    let expected = [device(2, UDID, Connection::Usb), device(3, old, Connection::Network)];
    assert_eq!(daemon.client().list().await.unwrap(), expected);
}

#[tokio::test]
async fn messages_that_are_too_long_or_none_are_refused() {
    let daemon = Daemon::start([Phone::new(UDID)]).await;
    for fault in [Fault::Huge, Fault::Garbage, Fault::Deep] {
        daemon.set_fault(Some(fault));
        let error = daemon.client().list().await.unwrap_err();
        assert!(matches!(error, UsbmuxError::Protocol(_)), "{fault:?}: {error}");
    }
    daemon.set_fault(Some(Fault::Close));
    let error = daemon.client().list().await.unwrap_err();
    assert!(matches!(error, UsbmuxError::Lost(_)), "{error}");
}

#[tokio::test]
async fn phone_with_another_certificate_than_the_paired_one_is_refused() {
    let phone = Phone { shown: Pairing::other(), ..Phone::new(UDID) };
    let daemon = Daemon::start([phone]).await;
    let mut lockdown = Lockdown::connect(&daemon.client(), UDID).await.unwrap();
    let error = lockdown.start_session().await.unwrap_err();
    assert!(matches!(error, LockdownError::Tls(_)), "{error}");
    assert!(error.to_string().contains("invalid peer certificate"), "{error}");
}

#[tokio::test]
async fn daemon_that_hangs_is_given_up() {
    let daemon = Daemon::start([Phone::new(UDID)]).await;
    daemon.set_fault(Some(Fault::Hang));
    let limit = Duration::from_millis(50);
    let error = daemon.client().with_limit(limit).list().await.unwrap_err();
    assert!(matches!(error, UsbmuxError::TimedOut(_)), "{error}");
}

#[tokio::test]
async fn installed_apps_of_a_paired_phone_are_listed_without_hidden_parts_of_ios() {
    let daemon = Daemon::start([Phone::new(UDID)]).await;
    let apps = installed_apps(&daemon.client(), UDID).await.unwrap();
    let app = |bundle_id: &str, is_system| InstalledApp { bundle_id: bundle_id.into(), is_system };
    let expected = [
        app("com.apple.Preferences", true),
        app("com.example.a-b", false),
        app("com.example.bank", false),
    ];
    assert_eq!(apps, expected);
}

#[tokio::test]
async fn computer_without_a_daemon_says_so() {
    let client = UsbmuxClient::new("UNIX:/nonexistent/usbmuxd".parse().unwrap());
    let error = client.list().await.unwrap_err();
    assert!(matches!(error, UsbmuxError::NoDaemon { .. }), "{error}");
    assert!(error.to_string().starts_with("no usbmuxd at UNIX:/nonexistent/usbmuxd"), "{error}");
}

#[tokio::test]
async fn phones_that_come_and_go_are_reported() {
    let daemon = Daemon::start([Phone::new(UDID)]).await;
    let mut events = daemon.client().listen().await.unwrap();
    events.next().await.unwrap();
    daemon.unplug(1);
    events.next().await.unwrap();
    assert_eq!(daemon.client().list().await.unwrap(), []);
    daemon.plug(Phone::new(UDID));
    events.next().await.unwrap();
    assert_eq!(daemon.client().list().await.unwrap()[0].id, 2);
}

/// What one of libimobiledevice's tools prints when it asks the daemon; `None` if it is not
/// installed.
async fn run_tool(daemon: &Daemon, program: &str, arguments: &[&str]) -> Option<String> {
    let output = tokio::process::Command::new(thumbwire_test_support::program(program)?)
        .args(arguments)
        .env("USBMUXD_SOCKET_ADDRESS", daemon.address.to_string())
        .output()
        .await;
    let output = output.unwrap();
    let (out, errors) = (&output.stdout, &output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(errors)
    );
    Some(String::from_utf8_lossy(out).trim_end().to_owned())
}

/// So that both ends of the protocol are judged by somebody else's program.
#[tokio::test]
async fn libimobiledevice_reads_what_the_daemon_of_these_tests_says() {
    let network = Phone { connection: "Network", ..Phone::new("00008110-000A11112222801E") };
    let daemon = Daemon::start([Phone::new(UDID), network]).await;
    let Some(listed) = run_tool(&daemon, "idevice_id", &["-l"]).await else { return };
    assert_eq!(listed, UDID);
    let network = run_tool(&daemon, "idevice_id", &["-n"]).await.unwrap();
    assert_eq!(network.split(' ').next(), Some("00008110-000A11112222801E"));
    // Over TLS, with the keys of the pair record.
    let info = ["-u", UDID, "-k", "ProductType"];
    assert_eq!(run_tool(&daemon, "ideviceinfo", &info).await.unwrap(), "iPhone12,8");
    let mode = ["-u", UDID, "-q", "com.apple.security.mac.amfi", "-k", "DeveloperModeStatus"];
    assert_eq!(run_tool(&daemon, "ideviceinfo", &mode).await.unwrap(), "true");
    let asked = daemon.requests();
    for kind in ["ListDevices", "ReadPairRecord", "Connect"] {
        assert!(asked.iter().any(|it| it == kind), "{kind} is not in {asked:?}");
    }
}
