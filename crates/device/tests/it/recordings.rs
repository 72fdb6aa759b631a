//! Recordings that end before they have begun.

use std::time::Duration;

use crate::common::Scripted;
use thumbwire_device::{Device as _, Error, RecordingOptions};

#[tokio::test]
async fn recording_that_ends_at_once_has_not_started() {
    for (said, expected) in [
        ("4711\n", "failed to record the screen"),
        ("some loader warns\n4711\nThe max width supported by codec is 1280\n", "smaller size"),
        ("", "failed to record the screen"),
    ] {
        let says = vec![("echo $$; echo 'thumbwire-recording 1'", said.as_bytes().to_vec())];
        let (_, device) = Scripted::attach(says).await;
        let options = RecordingOptions {
            path: "/sdcard/a.mp4".into(),
            time_limit: Duration::from_secs(10),
            bit_rate: None,
            size: None,
        };
        let capture = device.facets().screen_capture.unwrap();
        let Err(error) = capture.start_recording(&options).await else { panic!("{said:?}") };
        assert!(matches!(error, Error::Failed { .. } | Error::Refused { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
