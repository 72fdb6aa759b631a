//! Parses a model's reply into a [`Decision`](crate::decision::Decision).
//!
//! Start with `decision()`: models add much that was not asked for, and omit much that was. The modules read JSON as
//! models write it and check calls against their functions' schemas. Not here: whether a control id exists, and what a
//! call does.

mod arguments;
mod lenient_json;
mod read;

pub(super) use read::{ParsedJudgement, calls, decision, parse_judgement};
