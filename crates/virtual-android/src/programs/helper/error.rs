//! Why the helper could not do what a host asked, as the wire reports it.

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HelperError {
    /// The wire's error code.
    pub(super) code: &'static str,
    /// One sentence, including the phone's message if there is one.
    pub(super) message: String,
    /// What to try next.
    pub(super) advice: &'static str,
}

impl HelperError {
    pub(super) fn of(code: &'static str, message: &str) -> Self {
        Self { code, message: message.to_owned(), advice: "" }
    }

    pub(super) fn trying(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    pub(super) fn malformed(message: String) -> Self {
        Self { code: "malformed", message, advice: "" }
    }

    /// A field of a request that is missing or of another type: `` `NAME` is not WHAT ``.
    pub(super) fn wrong(name: &str, what: &str) -> Self {
        Self::malformed(format!("`{name}` is not {what}"))
    }

    pub(super) fn cancelled() -> Self {
        Self::of("cancelled", "the request was cancelled; the app may have acted")
    }

    pub(super) fn unsupported(op: &str) -> Self {
        let op: String = op.chars().take(100).collect();
        Self::of("unsupported", &format!("unknown op {op:?}"))
            .trying("use one of `ops` in the answer to hello")
    }
}
