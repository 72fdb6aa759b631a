//! `-v` of the verbs that write a log.

/// How much is logged.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[group(skip)]
pub(super) struct LogFlag {
    /// Log more to standard error: `-v` what is done, `-vv` everything [default: $LOG_LEVEL, else
    /// $RUST_LOG, else warnings]
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl LogFlag {
    /// The log filter, if the flag is given.
    pub(super) fn filter(self) -> Option<&'static str> {
        match self.verbose {
            0 => None,
            1 => Some("info"),
            _ => Some("debug"),
        }
    }
}
