//! Scripts, selectors and conditions of other people's flows on the virtual phone, each as Maestro
//! documents it or does it. The clock is paused.

use std::path::Path;

use thumbwire_flow::{Options, Verdict, read};

use crate::flows::{Bench, HOUR, NOTES};

/// A flow for notes: why, its commands after `launchApp`, and whether it passes.
type Row = (&'static str, &'static str, bool);

/// From "JavaScript" and "Conditions" of Maestro's documentation, and its `GraalJsEngine.kt`,
/// `Env.kt` and `Orchestra.kt`.
const SCRIPTS: [Row; 29] = [
    (
        "scripts are evaluated when their step runs",
        "- copyTextFrom: New note\n- assertTrue: ${maestro.copiedText == 'New note'}",
        true,
    ),
    (
        "a copied text is not something else",
        "- copyTextFrom: New note\n- assertTrue: ${maestro.copiedText != 'New note'}",
        false,
    ),
    ("texts are ordered as texts", "- assertTrue: ${'b' > 'a'}", true),
    ("output lasts", "- evalScript: ${output.n = 2}\n- assertTrue: ${output.n + 1 == 3}", true),
    (
        "variables end with their script",
        "- evalScript: ${const n = 2}\n- assertTrue: ${typeof n == 'undefined'}",
        true,
    ),
    (
        "`while` is judged before each round",
        "- evalScript: ${output.n = 0}\n- repeat: { while: { true: \"${output.n < 3}\" }, commands: [{ evalScript: \"${output.n++}\" }] }\n- assertTrue: ${output.n == 3}",
        true,
    ),
    (
        "a condition is evaluated once in each round",
        "- evalScript: ${output.n = 0}\n- repeat: { while: { true: \"${output.n++ < 2}\" }, commands: [{ evalScript: \"${output.m = output.n}\" }] }\n- assertTrue: ${output.n == 3 && output.m == 2}",
        true,
    ),
    (
        "`times` below one are none",
        "- repeat: { times: -1, commands: [{ tapOn: Nonsense }] }",
        true,
    ),
    (
        "`times` may be a script",
        "- evalScript: ${output.n = 0; output.times = 4}\n- repeat: { times: \"${output.times}\", commands: [{ evalScript: \"${output.n++}\" }] }\n- assertTrue: ${output.n == 4}",
        true,
    ),
    (
        "`when` may be a script",
        "- runFlow: { when: { true: \"${output.none}\" }, commands: [{ tapOn: Nonsense }] }",
        true,
    ),
    ("only the text of a condition counts: 0", "- assertTrue: ${1 - 1}", false),
    ("only the text of a condition counts: null", "- assertTrue: ${null}", false),
    ("only the text of a condition counts: an object", "- assertTrue: \"${{ a: 1 }}\"", true),
    (
        "a selector may be a script",
        "- evalScript: ${output.label = 'New ' + 'note'}\n- assertVisible: ${output.label}",
        true,
    ),
    (
        "a part of a text may be a script",
        "- evalScript: ${output.word = 'note'}\n- assertVisible: { text: \"New ${output.word}\" }",
        true,
    ),
    ("what is undefined is typed nowhere", "- inputText: ${output.none}", false),
    ("an object is no text", "- inputText: ${output}", false),
    ("an exception fails its step", "- evalScript: ${output.none.name}", false),
    ("a default is taken", "- assertTrue: ${(NONE || 'guest') == 'guest'}", true),
    ("`evalScript` evaluates only what is in `${…}`", "- evalScript: output.none.name", true),
    ("the flow's name is known", "- assertTrue: ${MAESTRO_FILENAME == 'test'}", true),
    ("the phone's id is known", "- assertTrue: ${MAESTRO_DEVICE_UDID == 'virtual'}", true),
    ("the shard is known", "- assertTrue: ${MAESTRO_SHARD_ID + MAESTRO_SHARD_INDEX == '10'}", true),
    (
        "a script's file has its own parameters",
        "- runScript: { file: set.js, env: { NAME: Ada } }\n- assertTrue: ${output.name + typeof NAME == 'Ada!undefined'}",
        true,
    ),
    (
        "a script's file runs only if its condition holds",
        "- runScript: { file: set.js, when: { visible: Nonsense } }\n- assertTrue: ${typeof output.name == 'undefined'}",
        true,
    ),
    (
        "functions in output are called later",
        "- runScript: set.js\n- assertTrue: ${output.twice(21) == 42}",
        true,
    ),
    (
        "`http` needs a host that is allowed",
        "- evalScript: ${http.get('http://127.0.0.1:9')}",
        false,
    ),
    (
        "env of a file is evaluated when the file runs",
        "- evalScript: ${output.n = 7}\n- runFlow: { env: { N: \"${output.n}\" }, commands: [{ assertTrue: \"${N == '7'}\" }] }\n- assertTrue: ${typeof N == 'undefined'}",
        true,
    ),
    (
        "a label is not evaluated for nothing",
        "- tapOn: { text: New note, label: \"Open ${output.none || 'it'}\" }",
        true,
    ),
];

/// From "Selectors" of Maestro's documentation, and its `Filters.kt` and `YamlElementSelector.kt`.
const SELECTORS: [Row; 13] = [
    ("the last of several", "- tapOn: { id: index_note_title, index: -1 }", true),
    ("before the first of several", "- assertVisible: { id: index_note_title, index: -50 }", false),
    ("an index is a text, too", "- assertVisible: { id: index_note_title, index: \"0\" }", true),
    (r"quoted by \Q and \E", r#"- assertVisible: "\\QNew note\\E""#, true),
    (r"what \Q quotes is not a pattern", r#"- assertVisible: "\\QNew not.\\E""#, false),
    ("CSS of an id", "- assertVisible: { css: \"#new_note_button\" }", true),
    (
        "optional inside an element",
        "- extendedWaitUntil: { visible: { text: Nonsense, optional: true }, timeout: 100 }\n\
         - scrollUntilVisible: { element: { text: Nonsense, optional: true }, timeout: 100 }",
        true,
    ),
    (
        "a picture of one element",
        "- takeScreenshot: { path: one, cropOn: { id: index_note_title, index: 0 } }",
        true,
    ),
    (
        "a permission that the app does not request",
        "- setPermissions: { permissions: { camera: \"${'all' + 'ow'}\", bluetooth: deny } }",
        true,
    ),
    (
        "a swipe from a point of an element",
        "- swipe: { from: { id: index_note_title, index: 0, point: \"10%,50%\" }, direction: UP }",
        true,
    ),
    (
        "`inputText` passes over other keys",
        "- tapOn: New note\n- inputText: { text: a, id: none }",
        true,
    ),
    (
        "the parent of any of several children",
        "- assertVisible: { containsChild: { id: index_note_title }, index: 1 }",
        true,
    ),
    (
        "a negative time to scroll is the usual one",
        "- scrollUntilVisible: { element: New note, timeout: -1 }",
        true,
    ),
];

#[tokio::test(start_paused = true)]
async fn flows_run_as_in_maestro() {
    let script = "output.name = NAME + '!'; output.twice = (n) => n * 2; const local = 1;\n";
    for (why, commands, passes) in SCRIPTS.into_iter().chain(SELECTORS) {
        let text = format!("{NOTES}timeout: 1000\n---\n- launchApp\n{commands}\n");
        let files = |path: &Path| match path.to_str() {
            Some("test.yaml") => Ok(text.clone()),
            Some("set.js") => Ok(script.to_owned()),
            _ => Err("there is no such file".to_owned()),
        };
        let flow = read("test.yaml", &Default::default(), &files);
        let flow = flow.unwrap_or_else(|errors| panic!("{why}: {errors:?}"));
        let (report, said) = Bench::new().run(vec![flow], Options::default(), HOUR).await;
        let report = report.unwrap_or_else(|refused| panic!("{why}: {refused}"));
        assert_eq!(report.count(Verdict::Passed) == 1, passes, "{why}: {said}");
    }
}

/// "Flows" of Maestro's documentation: a flow does nothing that it does not say.
#[tokio::test(start_paused = true)]
async fn flows_go_on_where_the_phone_is() {
    let bench = Bench::new();
    let (report, said) =
        bench.tried(&format!("{NOTES}---\n- launchApp\n- tapOn: New note\n")).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    let goes_on = format!("{NOTES}timeout: 1000\n---\n- assertVisible: {{ id: editable_title }}\n");
    let (report, said) = bench.tried(&goes_on).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    // Cases, which Maestro does not have, begin alike in any order.
    let fresh = format!(
        "{NOTES}timeout: 1000\n---\n- case: {{ name: a, commands: [{{ assertVisible: {{ id: editable_title }} }}] }}\n"
    );
    let (report, said) = bench.tried(&fresh).await;
    assert_eq!(report.count(Verdict::Failed), 1, "{said}");
}

/// What a flow certainly needs is refused before the first step, what it may not reach is not.
#[tokio::test(start_paused = true)]
async fn what_is_missing_is_refused_unless_it_may_not_run() {
    let bench = Bench::new();
    let commands = "- inputText: ${WHO}\n- setDarkMode: enabled\n- setDarkMode: enabled\n";
    let flow = crate::flows::flow(&format!("{NOTES}---\n{commands}")).unwrap();
    let (report, _) = bench.run(vec![flow], Options::default(), HOUR).await;
    let refused = report.unwrap_err().to_string();
    for part in
        ["nothing was run:\n", "unknown parameter in `${WHO}`", "`setDarkMode` is not done yet"]
    {
        assert!(refused.contains(part), "{refused}");
    }
    let text = format!(
        "{NOTES}---\n- launchApp\n- setDarkMode: {{ value: enabled, optional: true }}\n\
         - runFlow: {{ when: {{ visible: Nonsense }}, commands: [{{ inputText: \"${{WHO}}\" }}] }}\n\
         - runFlow: {{ when: {{ platform: iOS }}, file: none.yaml }}\n"
    );
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    assert!(said.contains("– setDarkMode · "), "{said}");
    let broken =
        format!("{NOTES}---\n- runFlow: {{ when: {{ platform: Android }}, file: none.yaml }}\n");
    let flow = crate::flows::flow(&broken).unwrap();
    let (report, _) = bench.run(vec![flow], Options::default(), HOUR).await;
    let refused = report.unwrap_err().to_string();
    assert!(refused.contains("cannot read none.yaml"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn app_gets_its_arguments_by_their_types() {
    let bench = Bench::new();
    let text = format!(
        "{NOTES}---\n- evalScript: ${{output.n = 5}}\n\
         - launchApp: {{ arguments: {{ count: 3, fresh: true, name: \"a b; reboot\", made: \"${{output.n}}\" }} }}\n\
         - assertVisible: New note\n"
    );
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    let started = bench.phone.commands().into_iter().map(|command| command.argv.join("|"));
    let started: Vec<String> = started.filter(|line| line.contains("|--ei|")).collect();
    assert_eq!(started.len(), 1, "{started:?}");
    let arguments = "|--ei|count|3|--ez|fresh|true|--es|name|a b; reboot|--es|made|5";
    assert!(started[0].ends_with(arguments), "{}", started[0]);
}
