//! Entry for the fuzz target into the scripts' engine. Compiled with `--cfg fuzzing` only.

use std::time::Duration;

use crate::script::{Parameters, ScriptEngine};

/// The scripts of one case, with `---` lines between them.
pub fn scripts(text: &str) {
    let parameters = Parameters::from([("NAME".to_owned(), text.to_owned())]);
    let Ok(engine) = ScriptEngine::new("android", parameters, None) else { return };
    let mut engine = engine.with_time(Duration::from_millis(300));
    for script in text.split("\n---\n").take(5) {
        let _ = engine.check(script);
        engine.begin();
        let _ = engine.evaluate(script);
        engine.take_lines();
    }
}
