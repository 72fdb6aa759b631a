//! iOS, apart from the server that drives it: `source` gives page sources their meaning, for live
//! phones and saved files alike; `points` converts to pixels, `keys` says what presses a key.
//! Without the feature `ios` only saved sources are read.

#[cfg(feature = "ios")]
pub(crate) mod keys;
#[cfg(feature = "ios")]
pub(crate) mod points;
pub(crate) mod source;
