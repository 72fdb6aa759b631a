//! Entries for the fuzz targets into readers that are private. Compiled with `--cfg fuzzing` only.

use crate::policy::observation::Function;
use crate::reply;

pub use crate::model::fuzzing::{body, stream};

/// The text of an answer.
pub fn decision(text: &str) {
    let function = |name: &str| Function {
        name: name.into(),
        description: String::new(),
        schema: serde_json::Map::new(),
        acts: true,
    };
    let functions = ["click_control", "type_text", "tap", "wait"].map(function);
    for cut_off in [false, true] {
        let _ = reply::decision(text, cut_off, &functions);
        let _ = reply::parse_plan(text, cut_off);
        let _ = reply::parse_judgement(text, cut_off);
        let _ = reply::parse_rating(text, cut_off);
    }
}
