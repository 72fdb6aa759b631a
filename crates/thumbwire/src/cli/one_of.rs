//! Flags whose value is one of a few names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser of these names, each with the value that it stands for. Help lists them.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let value_of = move |name: String| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).ok_or("not one of these names")
    };
    PossibleValuesParser::new(values.iter().map(|(name, _)| *name)).try_map(value_of)
}
