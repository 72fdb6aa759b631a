//! Starting a service with text extras, by `am`. What the service answers is not heard; `helper` is for that.
//!
//! Begin with [`Android::send`]. A service whose app may not be started from the background (Android 8) is started in the foreground at
//! the second attempt only: such a service has to show itself within some seconds, or the phone ends its app, and not every tool does.

use thumbwire_adb as adb;
use thumbwire_adb::services::shell;

use super::{Android, Line, Said, unreached};
use crate::error::excerpt;
use crate::{Acted, AppId, Error, Letter};

const WHAT: &str = "starting the service";

/// The longest command: adbd hands it to the shell as one argument, which Linux bounds at 32 pages with the NUL behind it
/// (`MAX_ARG_STRLEN`).
pub(super) const LONGEST_LINE: usize = (128 << 10) - 1;

/// More than `am` ever says.
const WORDS: usize = 1 << 20;

/// Since this level programs are not run by Dalvik, which garbles characters beyond U+FFFF in arguments, and adds what stands behind
/// them in memory (measured on Android 4.4.4).
const WHOLE_ARGUMENTS: u32 = 21;

impl Android {
    /// Starts a service. Nothing was sent where the error is [`Error::Refused`] or [`Error::NotReady`].
    pub(super) async fn post(&self, letter: &Letter) -> Result<(), Error> {
        let garbled = letter.extras.iter().any(|(key, value)| {
            key.chars().chain(value.chars()).any(|char| u32::from(char) > 0xFFFF)
        });
        if garbled && self.api_level().await? < WHOLE_ARGUMENTS {
            let why = "an argument holds a character beyond U+FFFF, such as an emoji, which this phone's am garbles; leave it out";
            return Err(Error::Refused { what: WHAT, why: why.into() });
        }
        let plain = start_command(letter, "am startservice -n")?;
        let mut started = self.start_by(&plain).await?;
        if started.is_for_background() {
            self.spare(&letter.to.app).await?;
            started = self.start_by(&plain).await?;
        }
        if started.is_for_background() {
            let shown = start_command(letter, "am start-foreground-service -n")?;
            started = self.start_by(&shown).await?;
        }
        started.into_result(letter)
    }

    /// Has the phone let an app start services from the background for 15 seconds, which its shell may ask for (so do Android's own tests,
    /// `ActivityManagerProcessStateTest`). Whether it did shows at the next start.
    pub(super) async fn spare(&self, app: &AppId) -> Result<(), Error> {
        self.ask(Line::new("cmd deviceidle tempwhitelist -d 15000").word(&app.0)?).await.map(drop)
    }

    async fn start_by(&self, line: &Line) -> Result<Started, Error> {
        let length = line.as_str().len();
        let too_long = |most: usize| Error::Refused {
            what: WHAT,
            why: format!(
                "it makes a command of {length} bytes, and this phone takes {most} at once; send less"
            ),
        };
        if length > LONGEST_LINE {
            return Err(too_long(LONGEST_LINE));
        }
        let said = shell::run_within(&*self.transport, line.as_str(), WORDS).await;
        let said = said.map_err(|error| match error {
            // Phones before Android 7 open no service with a name beyond a packet of 4 KiB.
            adb::Error::TooLarge { limit, .. } if limit < WORDS => too_long(limit),
            error => unreached(error, Acted::Maybe),
        })?;
        read_start(&Said::from(said))
    }
}

fn start_command(letter: &Letter, by: &'static str) -> Result<Line, Error> {
    let mut line = Line::new(by).word(&letter.to.to_string())?;
    for (key, value) in &letter.extras {
        line = line.then("--es").word(key)?.word(value)?;
    }
    Ok(line)
}

/// What `am` said.
#[derive(Debug, PartialEq, Eq)]
enum Started {
    Yes,
    No(Refusal),
}

/// Why nothing was started.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    NotFound,
    /// With the permission that is missing, or whose the service is.
    Denied(String),
    Background(String),
}

impl Started {
    fn is_for_background(&self) -> bool {
        matches!(self, Self::No(Refusal::Background(_)))
    }

    fn into_result(self, letter: &Letter) -> Result<(), Error> {
        let to = &letter.to;
        match self {
            Self::Yes => Ok(()),
            Self::No(Refusal::NotFound) => {
                let why = format!("there is no service {to}; list the app's tools again");
                Err(Error::Refused { what: WHAT, why })
            }
            Self::No(Refusal::Denied(said)) => {
                let why = format!("{to} does not let a computer start it: {said}");
                Err(Error::Refused { what: WHAT, why })
            }
            Self::No(Refusal::Background(said)) => {
                Err(Error::NotReady { what: "start the service", said })
            }
        }
    }
}

/// Reads what `am startservice` said: `Starting service: Intent {…}` and, where it did not, a line of why. Its status is 0 in any case
/// on old phones (capture `145-am-startservice`). Source of the lines: `runStartService` in AOSP's `ActivityManagerShellCommand.java`;
/// what they hold comes from `ActiveServices.startServiceLocked`.
fn read_start(said: &Said) -> Result<Started, Error> {
    let all = format!("{}\n{}", said.out, said.err);
    let begun = all.lines().any(|line| line.trim_start().starts_with("Starting service:"));
    // That line holds names that a caller chose.
    let rest = || all.lines().map(str::trim).filter(|line| !line.starts_with("Starting service:"));
    let error = rest().find_map(|line| line.strip_prefix("Error: "));
    let refusal = match error {
        Some(why) if why.starts_with("Not found;") => Some(Refusal::NotFound),
        Some(why) if why.starts_with("Requires permission ") => Some(Refusal::Denied(excerpt(why))),
        Some(why) if why.starts_with("app is in background") || why.contains("not allowed") => {
            Some(Refusal::Background(excerpt(why)))
        }
        _ => None,
    };
    if let Some(refusal) = refusal {
        return Ok(Started::No(refusal));
    }
    let words = rest().collect::<Vec<_>>().join("\n");
    if words.contains("TransactionTooLargeException") {
        let why = "it is larger than what the phone hands on at once; send less".into();
        return Err(Error::Refused { what: WHAT, why });
    }
    if let Some(line) = rest().find(|line| line.contains("java.lang.SecurityException")) {
        return Ok(Started::No(Refusal::Denied(excerpt(line))));
    }
    // A vendor's warnings may stand beside a start that went well.
    let thrown = words.contains("Exception") || error.is_some();
    let failed = said.status.is_some_and(|status| status != 0);
    if !begun || thrown || failed {
        return Err(Error::Failed { what: "start the service", said: excerpt(words) });
    }
    Ok(Started::Yes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Component;

    fn letter(extras: &[(&str, &str)]) -> Letter {
        Letter {
            to: Component { app: AppId("com.x".into()), class: "com.x.Tool$Inner".into() },
            extras: extras.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            callbacks: vec!["callback".into()],
            wanted: vec!["response".into()],
        }
    }

    fn said(out: &str, err: &str, status: Option<i32>) -> Said {
        Said { out: out.into(), err: err.into(), status }
    }

    const BEGUN: &str = "Starting service: Intent { cmp=com.x/.ErrorException (has extras) }\n";

    #[test]
    fn every_word_of_a_letter_is_one_argument() {
        let line = start_command(&letter(&[("k", "{\"a\":\"it's $(x)\"}")]), "am startservice -n");
        let expected =
            r#"am startservice -n 'com.x/com.x.Tool$Inner' --es 'k' '{"a":"it'\''s $(x)"}'"#;
        assert_eq!(line.unwrap().as_str(), expected);
        assert!(start_command(&letter(&[("k", "\0")]), "am").is_err());
    }

    #[test]
    fn what_am_says_tells_whether_it_was_started() {
        assert_eq!(read_start(&said(BEGUN, "", Some(0))).unwrap(), Started::Yes);
        assert_eq!(
            read_start(&said(&BEGUN.replace('\n', "\r\n"), "", None)).unwrap(),
            Started::Yes
        );
        let no = |line: &str| match read_start(&said(BEGUN, line, Some(255))).unwrap() {
            Started::No(refusal) => {
                // The same words in one stream, and status 0.
                let old = said(&format!("{BEGUN}{line}"), "", None);
                assert_eq!(read_start(&old).unwrap(), Started::No(refusal), "{line}");
                read_start(&said(BEGUN, line, Some(255))).unwrap().into_result(&letter(&[]))
            }
            Started::Yes => panic!("{line}"),
        };
        // The first is a capture; the others are what the source prints, as people report them.
        let told = |line: &str| no(line).unwrap_err();
        let error = told("Error: Not found; no service started.\n");
        assert!(
            matches!(&error, Error::Refused { why, .. } if why.contains("no service com.x/")),
            "{error}"
        );
        let error = told("Error: Requires permission not exported from uid 10285\n");
        assert!(
            matches!(&error, Error::Refused { why, .. } if why.contains("uid 10285")),
            "{error}"
        );
        let error = told("Error: app is in background uid null\n");
        assert!(matches!(&error, Error::NotReady { .. }), "{error}");
        let error = told("java.lang.SecurityException: Permission Denial: user 10\n");
        assert!(matches!(&error, Error::Refused { why, .. } if why.contains("user 10")), "{error}");
    }

    #[test]
    fn a_phone_that_does_not_say_that_it_begins_has_not_begun() {
        for (out, err, status) in [
            ("/system/bin/sh: am: not found\r\n", "", None),
            ("", "", Some(0)),
            (BEGUN, "java.lang.NullPointerException: x\n", Some(255)),
            (BEGUN, "Error: Argument expected after \"--es\"\n", Some(255)),
            (BEGUN, "", Some(137)),
        ] {
            let read = read_start(&said(out, err, status));
            assert!(matches!(read, Err(Error::Failed { .. })), "{out} {err} {status:?}: {read:?}");
        }
        let large = "android.os.TransactionTooLargeException: data parcel size 1048972 bytes\n";
        assert!(matches!(read_start(&said(BEGUN, large, Some(255))), Err(Error::Refused { .. })));
    }

    proptest! {
        #[test]
        fn no_words_panic(out in "\\PC*", err in "(\\PC|\n)*", status in any::<Option<i32>>()) {
            let _ = read_start(&said(&out, &err, status));
        }
    }
}
