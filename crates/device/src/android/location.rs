//! Simulated locations, by the commands of Android's location service since Android 12
//! (`LocationShellCommand.java`).

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{Error, Location, Platform, SimulatedLocation};

#[async_trait]
impl SimulatedLocation for Android {
    async fn set_location(&self, at: Location) -> Result<(), Error> {
        let output = self.ask(set_command(at)?).await?;
        read_set(&output)
    }
}

/// Replaces the GPS by a test provider at these coordinates. The location service silently ignores
/// callers that may not mock locations.
fn set_command(at: Location) -> Result<ShellCommand, Error> {
    let coordinates = format!("{:.7},{:.7}", at.latitude, at.longitude);
    ShellCommand::new(
        "appops set com.android.shell android:mock_location allow && \
         cmd location providers add-test-provider gps && \
         cmd location providers set-test-provider-enabled gps true && \
         cmd location providers set-test-provider-location gps --accuracy 5 --location",
    )
    .arg(&coordinates)
}

/// Parses the commands' output: nothing on success.
fn read_set(output: &CommandOutput) -> Result<(), Error> {
    let all = format!("{}\n{}", output.out, output.err);
    // Android 11 has `cmd location` without these commands, earlier releases have none.
    let lacks = ["Unknown command: providers", "No shell command implementation", "not found"];
    if lacks.iter().any(|mark| all.contains(mark)) {
        let what = "setting the location before Android 12";
        return Err(Error::Unsupported { what, platform: Platform::Android });
    }
    match all.trim() {
        "" => Ok(()),
        text => Err(Error::Failed { what: "set the location", text: excerpt(text) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_one_argument() {
        let at = Location::new(-33.8568, 151.2153).unwrap();
        let line = set_command(at).unwrap();
        assert!(
            line.as_str().ends_with("--location '-33.8568000,151.2153000'"),
            "{}",
            line.as_str()
        );
        assert_eq!(Location::new(91.0, 0.0), None);
        assert_eq!(Location::new(f64::NAN, 0.0), None);
    }

    #[test]
    fn old_releases_cannot_and_say_so() {
        let read = |out: &str, err: &str| {
            read_set(&CommandOutput { out: out.into(), err: err.into(), status: Some(0) })
        };
        assert!(read("", "").is_ok());
        for (out, err) in
            [("Unknown command: providers\n", ""), ("", "No shell command implementation.\n")]
        {
            let refused = read(out, err).unwrap_err();
            let what = "setting the location before Android 12 is not supported on Android";
            assert_eq!(refused.to_string(), what);
        }
        let failed = read("Error: java.lang.IllegalArgumentException: x\n", "").unwrap_err();
        assert!(failed.to_string().contains("IllegalArgumentException"), "{failed}");
    }
}
