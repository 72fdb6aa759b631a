//! What real servers sent.

use thumbwire_test_support::captured_files;

use thumbwire_webdriver::{
    ErrorCode, NewSessionResponse, ResponseError, ServerStatus, parse_response,
};

/// The captures of a folder, by name.
fn captures(folder: &str) -> Vec<(String, String)> {
    captured_files(folder).iter().map(|file| (file.name(), file.text())).collect()
}

#[test]
fn every_status_of_webdriveragent_is_read() {
    for (name, text) in captures("ios/status") {
        let response =
            parse_response(200, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let session = response.session.as_ref().map(|session| session.as_str().len());
        match name.as_str() {
            "wda-command_ok_old.json" => assert!(response.value.is_null() && session == Some(36)),
            "wda-session_created_ios12.json" => {
                let created = NewSessionResponse::from_response(&response).unwrap();
                assert_eq!(Some(&created.session), response.session.as_ref());
                assert_eq!(created.capabilities.text("sdkVersion"), Some("12.5.5"));
            }
            "wda-status_ios15_no-session.json" => {
                let status = ServerStatus::from_response(&response).unwrap();
                assert_eq!(
                    (status.ready, status.os_version.as_deref(), session),
                    (Some(true), Some("15.4.1"), None)
                );
                assert_eq!(status.ip.as_deref(), Some("169.254.83.75"));
            }
            "wda-status_old_with-session.json" => {
                let status = ServerStatus::from_response(&response).unwrap();
                assert_eq!(
                    (status.ready, status.simulator_version.as_deref()),
                    (None, Some("12.0"))
                );
                assert!(response.session.is_some());
            }
            other => panic!("{other} is new: say what it shows"),
        }
    }
}

#[test]
fn every_error_of_webdriveragent_is_read() {
    for (name, text) in captures("ios/errors") {
        let status =
            name.rsplit_once('_').and_then(|(_, end)| end.strip_suffix(".json")?.parse().ok());
        let Err(ResponseError::Failed(error)) = parse_response(status.unwrap(), text.as_bytes())
        else {
            panic!("{name} is a failure");
        };
        assert_eq!(error.code, ErrorCode::InvalidSessionId);
        assert_eq!(error.message, "Session does not exist");
        assert!(error.stacktrace.contains("raiseNoSessionException"));
    }
}
