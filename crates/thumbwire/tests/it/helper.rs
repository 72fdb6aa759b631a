//! The helper on the virtual phone, as `--helper` has it used.

use std::time::Duration;

use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, Component, Error, ServiceReply, ServiceRequest, StartServiceError};
use thumbwire_virtual_android::{Setup, VirtualPhone};

const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// Asks for the reply of a service that does not exist: only the helper can find out.
async fn reply_of_nobody(phone: &VirtualPhone, mode: HelperMode) -> Result<ServiceReply, Error> {
    let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(mode);
    let device = DeviceProviders::default().with(provider).open(VIRTUAL).await.unwrap();
    let request = ServiceRequest {
        to: Component { app: AppId("org.example.nobody".into()), class: ".Service".into() },
        extras: Vec::new(),
        callbacks: Vec::new(),
        result_extras: Vec::new(),
    };
    let services = device.app_services().unwrap();
    let reply = services.call_service(&request, Duration::from_secs(5)).await;
    device.restore_borrowed().await;
    reply
}

#[tokio::test]
async fn helper_is_written_to_the_phone_only_when_asked() {
    let phone = VirtualPhone::new(Setup { helper: false, ..Setup::default() });
    let has_file = || phone.files(|files| files.read(JAR).is_ok());
    for mode in [HelperMode::Off, HelperMode::Installed] {
        let error = reply_of_nobody(&phone, mode).await.unwrap_err();
        assert!(matches!(error, Error::HelperMissing { .. }), "{mode:?}: {error}");
        assert!(!has_file(), "{mode:?}");
    }
    let not_found = ServiceReply::NotStarted(StartServiceError::NotFound);
    assert_eq!(reply_of_nobody(&phone, HelperMode::Push).await.unwrap(), not_found);
    assert!(has_file(), "it stays there");
    assert_eq!(reply_of_nobody(&phone, HelperMode::Installed).await.unwrap(), not_found);
    let error = reply_of_nobody(&phone, HelperMode::Off).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
}
