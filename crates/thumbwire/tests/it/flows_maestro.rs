//! The example flows on the virtual phone, conditions and hooks, goldens, location. The clock is
//! paused.

use std::path::{Path, PathBuf};

use thumbwire_flow::{FailureKind, Options, Verdict, read};

use crate::flows::{Bench, HOUR, NOTES, flow};

const RESET: Options = Options {
    devices: Vec::new(),
    only: None,
    shard: None,
    fail_fast: false,
    retries: 0,
    allow_reset: true,
    allow_install: false,
    update_goldens: false,
    folder: None,
    redact: false,
    probe: None,
    step_pictures: false,
    clock: jiff::Timestamp::now,
};

fn examples(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "yaml"));
    files.retain(|file| !file.ends_with("config.yaml"));
    files.sort();
    files
}

fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn examples_pass_on_the_apps_of_the_virtual_phone() {
    let files = examples("flows");
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let flow = read(&file.display().to_string(), &Default::default(), &text_of).unwrap();
        let (report, said) = Bench::new().run(vec![flow], RESET, HOUR).await;
        assert_eq!(report.unwrap().exit_code(), 0, "{}: {said}", file.display());
    }
}

#[tokio::test(start_paused = true)]
async fn clear_state_is_refused_unless_allowed() {
    let clears =
        flow("appId: com.android.notes\n---\n- runFlow: { commands: [clearState] }\n").unwrap();
    let (report, _) = Bench::new().run(vec![clears], Options::default(), HOUR).await;
    let refused = report.unwrap_err().to_string();
    assert!(
        refused.contains("clears the data of com.android.notes. Allow it with --allow-reset"),
        "{refused}"
    );
    let installs = flow("appId: a.b\n---\n- installApp: app.apk\n").unwrap();
    let (report, _) = Bench::new().run(vec![installs], RESET, HOUR).await;
    let refused = report.unwrap_err().to_string();
    assert!(refused.contains("install app.apk. Allow it with --allow-install"), "{refused}");
}

/// The message of a flow that fails.
async fn failure(bench: &Bench, text: &str) -> (FailureKind, String) {
    let (report, said) = bench.tried(text).await;
    let attempt = report.cases[0].attempts.last().unwrap();
    let failed = attempt.failed.as_ref().unwrap_or_else(|| panic!("it passed: {said}"));
    (failed.kind, failed.what.clone())
}

#[tokio::test(start_paused = true)]
async fn failed_commands_say_what_is_on_the_screen() {
    let bench = Bench::new();
    let head = format!("{NOTES}---\n- launchApp\n");
    let (kind, what) = failure(&bench, &format!("{head}- tapOn: New\n")).await;
    assert_eq!(kind, FailureKind::Step);
    assert_eq!(
        what,
        "element \"New\" not found; a pattern must match the whole text, and \"New note\" is on the screen"
    );
    let (kind, what) = failure(&bench, &format!("{head}- assertVisible: Nonsense\n")).await;
    assert_eq!(kind, FailureKind::Expectation);
    assert!(what.starts_with("\"Nonsense\" is not on the screen; visible text: "), "{what}");
    let (_, what) = failure(&bench, &format!("{head}- repeat: {{ while: {{ visible: New note }}, commands: [waitForAnimationToEnd] }}\n")).await;
    assert!(what.contains("still holds after 1000 rounds; limit them with `times`"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn conditions_hooks_and_retries_are_obeyed() {
    let bench = Bench::new();
    let text = "appId: com.android.notes\nonFlowComplete:\n- stopApp\n---\n- launchApp\n\
        - runFlow: { when: { visible: Nonsense }, commands: [{ tapOn: Nonsense }] }\n\
        - runFlow: { when: { platform: iOS }, commands: [{ tapOn: Nonsense }] }\n\
        - runFlow: { when: { true: \"${maestro.platform == 'android'}\" }, commands: [{ tapOn: New note }] }\n\
        - assertTrue: ${1 + 1 == 2}\n\
        - retry: { maxRetries: 1, commands: [{ assertVisible: { text: Nonsense, optional: true } }] }\n\
        - inputText: one\n- eraseText: 1\n- assertVisible: on\n- eraseText\n\
        - inputRandomNumber: { length: 5 }\n- copyTextFrom: { text: \"[0-9]{5}\" }\n\
        - pasteText\n- assertVisible: ${maestro.copiedText + maestro.copiedText}\n";
    let (report, said) = bench.tried(text).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    assert!(said.contains("not so: \"Nonsense\" is visible"), "{said}");
    assert!(said.contains("not so: the phone runs iOS"), "{said}");
    assert!(said.trim_end().contains("close com.android.notes"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn screens_are_compared_with_goldens() {
    let bench = Bench::new();
    let flow_with = |more: &str| {
        format!(
            "appId: com.android.settings\ntimeout: 1000\n---\n- launchApp\n\
             - assertVisible: Network & internet\n{more}"
        )
    };
    let golden = |more: &str| {
        format!("- assertScreenshot: {{ path: goldens/home, thresholdPercentage: 99.9{more} }}\n")
    };
    let compares = flow_with(&golden(""));
    let (_, what) = failure(&bench, &compares).await;
    assert_eq!(
        what,
        "there is no golden goldens/home.png; --update-goldens makes it from the screen"
    );
    let update = Options { update_goldens: true, ..Options::default() };
    let (report, said) = bench.run(vec![flow(&compares).unwrap()], update, HOUR).await;
    assert_eq!(report.unwrap().count(Verdict::Passed), 1, "{said}");
    assert!(said.contains("golden written: goldens/home.png"), "{said}");
    let (report, said) = bench.tried(&compares).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    let other = format!("- tapOn: Display\n{}", golden(""));
    let (kind, what) = failure(&bench, &flow_with(&other)).await;
    assert_eq!(kind, FailureKind::Expectation);
    assert!(what.starts_with("the screen differs from goldens/home.png in "), "{what}");
    assert!(what.ends_with("see home-difference.png in the trace"), "{what}");
    let picture =
        walk(bench.folder.path()).into_iter().find(|it| it.ends_with("home-difference.png"));
    assert!(std::fs::metadata(picture.unwrap()).unwrap().len() > 1000);
    let masked = golden(", mask: [{ rect: [0, 0, 1080, 2400] }]");
    let (report, said) = bench.tried(&flow_with(&format!("- tapOn: Display\n{masked}"))).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    let turned = format!("- setOrientation: LANDSCAPE_LEFT\n{}", golden(""));
    let (_, what) = failure(&bench, &flow_with(&turned)).await;
    assert!(what.contains("use a phone of the same size and orientation"), "{what}");
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inside.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test(start_paused = true)]
async fn location_reaches_the_apps_of_the_phone() {
    let bench = Bench::new();
    let text = "appId: com.google.android.apps.maps\n---\n- setLocation: { latitude: 53.8655, longitude: \"10.6866\" }\n\
        - launchApp\n- tapOn: { id: mylocation_button }\n- assertVisible: \"You are here: 53.86550, 10.68660\"\n\
        - travel: { points: [\"53.8655, 10.6866\", \"53.8665, 10.6866\"], speed: 60 }\n\
        - assertVisible: \"You are here: 53.86650, 10.68660\"\n";
    let (report, said) = bench.tried(text).await;
    assert_eq!(report.count(Verdict::Passed), 1, "{said}");
    assert_eq!(bench.phone.world(|world| world.location()), Some((53.8665, 10.6866)));
}
