//! Starts a service with string extras, by `am`. The service's reply is not received; use `helper`
//! for that.
//!
//! Start with [`Android::send_intent`]. If the app may not be started from the background (Android
//! 8), a second attempt starts the service in the foreground. Only then, because a foreground
//! service must show a notification within seconds or the phone kills its app, and not every tool
//! does that.

use thumbwire_adb as adb;
use thumbwire_adb::services::shell;

use super::{Android, CommandOutput, ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{AppId, Error, ServiceRequest, SideEffect};

const WHAT: &str = "starting the service";

/// The longest command: adbd passes it to the shell as one argument, which Linux limits to 32 pages
/// including the NUL (`MAX_ARG_STRLEN`).
pub(super) const MAX_LINE: usize = (128 << 10) - 1;

/// More than `am` ever prints.
const MAX_OUTPUT: usize = 1 << 20;

impl Android {
    /// Starts a service. Nothing was sent if the error is [`Error::Refused`] or
    /// [`Error::NotReady`].
    pub(super) async fn send_intent(&self, request: &ServiceRequest) -> Result<(), Error> {
        if let Some(legacy) = &self.legacy {
            legacy.check_extras(self, WHAT, &request.extras).await?;
        }
        let user = self.user().await?;
        let plain = start_command(request, "am startservice", user)?;
        let mut started = self.start_by(&plain).await?;
        if started.is_for_background() {
            self.allow_background_start(&request.to.app).await?;
            started = self.start_by(&plain).await?;
        }
        if started.is_for_background() {
            let shown = start_command(request, "am start-foreground-service", user)?;
            started = self.start_by(&shown).await?;
        }
        started.into_result(request)
    }

    /// Allows an app to start services from the background for 15 seconds. The shell user may do so
    /// (Android's own tests do, `ActivityManagerProcessStateTest`). The next start shows whether it
    /// worked.
    pub(super) async fn allow_background_start(&self, app: &AppId) -> Result<(), Error> {
        self.ask(ShellCommand::new("cmd deviceidle tempwhitelist -d 15000").arg(&app.0)?)
            .await
            .map(drop)
    }

    async fn start_by(&self, line: &ShellCommand) -> Result<StartResult, Error> {
        let length = line.as_str().len();
        let too_long = |max: usize| Error::Refused {
            what: WHAT,
            reason: format!(
                "the command has {length} bytes, but this phone accepts {max}; send less"
            ),
        };
        if length > MAX_LINE {
            return Err(too_long(MAX_LINE));
        }
        let output = shell::run_with_limits(&*self.transport, line.as_str(), MAX_OUTPUT).await;
        let output = output.map_err(|error| match error {
            // Phones before Android 7 open no service whose name exceeds a packet of 4 KiB.
            adb::Error::TooLarge { limit, .. } if limit < MAX_OUTPUT => too_long(limit),
            error => transport_error(error, SideEffect::Possible),
        })?;
        read_start(&CommandOutput::from(output))
    }
}

fn start_command(
    request: &ServiceRequest,
    by: &'static str,
    user: Option<u32>,
) -> Result<ShellCommand, Error> {
    let mut line = ShellCommand::new(by).for_user(user).then("-n").arg(&request.to.to_string())?;
    for (key, value) in &request.extras {
        line = line.then("--es").arg(key)?.arg(value)?;
    }
    Ok(line)
}

/// What `am` reported.
#[derive(Debug, PartialEq, Eq)]
enum StartResult {
    Yes,
    No(StartRefusal),
}

/// Why nothing was started.
#[derive(Debug, PartialEq, Eq)]
enum StartRefusal {
    NotFound,
    /// The missing permission, or the service's owner.
    Denied(String),
    Background(String),
}

impl StartResult {
    fn is_for_background(&self) -> bool {
        matches!(self, Self::No(StartRefusal::Background(_)))
    }

    fn into_result(self, request: &ServiceRequest) -> Result<(), Error> {
        let to = &request.to;
        match self {
            Self::Yes => Ok(()),
            Self::No(StartRefusal::NotFound) => {
                let reason = format!("no such service: {to}; list the app's tools again");
                Err(Error::Refused { what: WHAT, reason })
            }
            Self::No(StartRefusal::Denied(message)) => {
                let reason = format!("{to} cannot be started from a computer: {message}");
                Err(Error::Refused { what: WHAT, reason })
            }
            Self::No(StartRefusal::Background(message)) => {
                Err(Error::NotReady { what: "start the service", text: message })
            }
        }
    }
}

/// Parses `am startservice`: `Starting service: Intent {…}` and, on failure, a line with the
/// reason. On old phones the status is always 0 (capture `145-am-startservice`). Source of the
/// lines: `runStartService` in AOSP's `ActivityManagerShellCommand.java`; their content comes from
/// `ActiveServices.startServiceLocked`.
fn read_start(output: &CommandOutput) -> Result<StartResult, Error> {
    let all = format!("{}\n{}", output.out, output.err);
    let begun = all.lines().any(|line| line.trim_start().starts_with("Starting service:"));
    // That line contains names chosen by the caller.
    let rest = || all.lines().map(str::trim).filter(|line| !line.starts_with("Starting service:"));
    let error = rest().find_map(|line| line.strip_prefix("Error: "));
    let refusal = match error {
        Some(reason) if reason.starts_with("Not found;") => Some(StartRefusal::NotFound),
        Some(reason) if reason.starts_with("Requires permission ") => {
            Some(StartRefusal::Denied(excerpt(reason)))
        }
        Some(reason)
            if reason.starts_with("app is in background") || reason.contains("not allowed") =>
        {
            Some(StartRefusal::Background(excerpt(reason)))
        }
        _ => None,
    };
    if let Some(refusal) = refusal {
        return Ok(StartResult::No(refusal));
    }
    let text = rest().collect::<Vec<_>>().join("\n");
    if text.contains("TransactionTooLargeException") {
        let reason = "it is larger than the phone can deliver at once; send less".into();
        return Err(Error::Refused { what: WHAT, reason });
    }
    if let Some(line) = rest().find(|line| line.contains("java.lang.SecurityException")) {
        return Ok(StartResult::No(StartRefusal::Denied(excerpt(line))));
    }
    // A vendor's warnings may accompany a successful start.
    let thrown = text.contains("Exception") || error.is_some();
    let failed = output.status.is_some_and(|status| status != 0);
    if !begun || thrown || failed {
        return Err(Error::Failed { what: "start the service", text: excerpt(text) });
    }
    Ok(StartResult::Yes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Component;

    fn request(extras: &[(&str, &str)]) -> ServiceRequest {
        ServiceRequest {
            to: Component { app: AppId("com.x".into()), class: "com.x.Tool$Inner".into() },
            extras: extras.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            callbacks: vec!["callback".into()],
            result_extras: vec!["response".into()],
        }
    }

    fn output(out: &str, err: &str, status: Option<i32>) -> CommandOutput {
        CommandOutput { out: out.into(), err: err.into(), status }
    }

    const BEGUN: &str = "Starting service: Intent { cmp=com.x/.ErrorException (has extras) }\n";

    #[test]
    fn request_extras_are_quoted() {
        let line =
            start_command(&request(&[("k", "{\"a\":\"it's $(x)\"}")]), "am startservice", Some(0));
        let expected = r#"am startservice --user 0 -n 'com.x/com.x.Tool$Inner' --es 'k' '{"a":"it'\''s $(x)"}'"#;
        assert_eq!(line.unwrap().as_str(), expected);
        assert!(start_command(&request(&[("k", "\0")]), "am", None).is_err());
    }

    #[test]
    fn am_output_tells_whether_it_started() {
        assert_eq!(read_start(&output(BEGUN, "", Some(0))).unwrap(), StartResult::Yes);
        assert_eq!(
            read_start(&output(&BEGUN.replace('\n', "\r\n"), "", None)).unwrap(),
            StartResult::Yes
        );
        let no = |line: &str| match read_start(&output(BEGUN, line, Some(255))).unwrap() {
            StartResult::No(refusal) => {
                // The same output in one stream, with status 0.
                let old = output(&format!("{BEGUN}{line}"), "", None);
                assert_eq!(read_start(&old).unwrap(), StartResult::No(refusal), "{line}");
                read_start(&output(BEGUN, line, Some(255))).unwrap().into_result(&request(&[]))
            }
            StartResult::Yes => panic!("{line}"),
        };
        // The first is from a capture; the others follow the source, as reported by users.
        let out = |line: &str| no(line).unwrap_err();
        let error = out("Error: Not found; no service started.\n");
        assert!(
            matches!(&error, Error::Refused { reason, .. } if reason.contains("no such service: com.x/")),
            "{error}"
        );
        let error = out("Error: Requires permission not exported from uid 10285\n");
        assert!(
            matches!(&error, Error::Refused { reason, .. } if reason.contains("uid 10285")),
            "{error}"
        );
        let error = out("Error: app is in background uid null\n");
        assert!(matches!(&error, Error::NotReady { .. }), "{error}");
        let error = out("java.lang.SecurityException: Permission Denial: user 10\n");
        assert!(
            matches!(&error, Error::Refused { reason, .. } if reason.contains("user 10")),
            "{error}"
        );
    }

    #[test]
    fn missing_start_line_means_not_started() {
        for (out, err, status) in [
            ("/system/bin/sh: am: not found\r\n", "", None),
            ("", "", Some(0)),
            (BEGUN, "java.lang.NullPointerException: x\n", Some(255)),
            (BEGUN, "Error: Argument expected after \"--es\"\n", Some(255)),
            (BEGUN, "", Some(137)),
        ] {
            let read = read_start(&output(out, err, status));
            assert!(matches!(read, Err(Error::Failed { .. })), "{out} {err} {status:?}: {read:?}");
        }
        let large = "android.os.TransactionTooLargeException: data parcel size 1048972 bytes\n";
        assert!(matches!(read_start(&output(BEGUN, large, Some(255))), Err(Error::Refused { .. })));
    }

    proptest! {
        #[test]
        fn no_input_panics(out in "\\PC*", err in "(\\PC|\n)*", status in any::<Option<i32>>()) {
            let _ = read_start(&output(&out, &err, status));
        }
    }
}
