//! Flows on the virtual phone: errors in a file, failing steps and expectations, crashes, lost
//! phones. The clock is paused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regex_lite::Regex;
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{Action, Call, Perform};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::trace::Trace;
use thumbwire_flow::{
    FailureKind, Flow, FlowError, FlowRunError, FlowRunner, GoldenFiles, Line, Options, Report,
    Shard, Terminal, Verdict, View, read,
};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::TcpListener;

/// A phone with a session, and a folder for traces.
pub(crate) struct Bench {
    pub(crate) phone: VirtualPhone,
    perform: Arc<dyn Perform>,
    pub(crate) folder: tempfile::TempDir,
    rounds: Mutex<u32>,
    goldens: MemoryGoldens,
}

/// Goldens that no test leaves behind.
#[derive(Default)]
struct MemoryGoldens(Mutex<BTreeMap<PathBuf, Vec<u8>>>);

impl GoldenFiles for MemoryGoldens {
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().get(file).cloned())
    }

    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        self.0.lock().unwrap().insert(file.to_owned(), bytes.to_owned());
        Ok(())
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of(Setup::default())
    }

    fn of(setup: Setup) -> Self {
        let phone = VirtualPhone::new(setup);
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(phone.clone()));
        let perform = Arc::new(Session::new(phones, Some(VIRTUAL.into())));
        let folder = tempfile::tempdir().unwrap();
        Self { phone, perform, folder, rounds: Mutex::default(), goldens: MemoryGoldens::default() }
    }

    pub(crate) fn meeting(rules: &[&str]) -> Self {
        let bench = Self::new();
        rules.iter().for_each(|rule| bench.phone.add_fault(rule.parse().unwrap()));
        bench
    }

    /// The report of flows, and the lines printed for the user.
    pub(crate) async fn run(
        &self,
        flows: Vec<Flow>,
        options: Options,
        within: Duration,
    ) -> (Result<Report, FlowRunError>, String) {
        let output = Arc::new(Mutex::new(String::new()));
        let live = options.devices.len() < 2;
        let lines = Arc::clone(&output);
        let write = move |all: &[Line]| {
            let text = all.iter().map(|line| format!("{line}\n"));
            lines.lock().unwrap().extend(text);
        };
        let terminal = Terminal::new(write, live, View::Verbose);
        *self.rounds.lock().unwrap() += 1;
        let folder = self.folder.path().join(self.rounds.lock().unwrap().to_string());
        let clock = || "2024-03-05T10:00:00Z".parse().unwrap();
        let options = Options { folder: Some(folder.clone()), clock, ..options };
        let run = FlowRunner {
            perform: Arc::clone(&self.perform),
            options,
            events: Arc::new(terminal),
            goals: None,
            goldens: Some(&self.goldens),
            network: None,
        };
        let report = run.run(&Call::with_timeout(within), flows).await;
        let output = output.lock().unwrap().clone();
        (report, redacted(&output, &folder))
    }

    /// The same for one inline flow.
    pub(crate) async fn tried(&self, text: &str) -> (Report, String) {
        let flow = flow(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        let (report, said) = self.run(vec![flow], Options::default(), HOUR).await;
        (report.unwrap(), said)
    }
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// Parses an inline flow.
pub(crate) fn flow(text: &str) -> Result<Flow, Vec<FlowError>> {
    read("test.yaml", &Default::default(), &|path: &Path| match path == Path::new("test.yaml") {
        true => Ok(text.to_owned()),
        false => Err("there is no such file".into()),
    })
}

/// Without what differs between runs: times, the folder, unrelated log lines.
pub(crate) fn redacted(text: &str, folder: &Path) -> String {
    let mut output = text.replace(&folder.display().to_string(), "RUN");
    for (pattern, instead) in [
        (r"· \d+\.\d s", "· 0.0 s"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z?", "TIME"),
        (r"(end of the log:\n)([ ]*[ ]TIME .*\n)+", "$1      …\n"),
        (r"PID: \d+", "PID: 0"),
        (r#" (time|timestamp)="[^"]*""#, r#" $1="0""#),
    ] {
        output = Regex::new(pattern).unwrap().replace_all(&output, instead).into_owned();
    }
    output
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flows")
}

pub(crate) fn example(name: &str) -> Flow {
    let file = examples().join(name);
    let files = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let read = read(&file.display().to_string(), &Default::default(), &files);
    read.unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"))
}

#[test]
fn all_errors_of_a_file_are_reported_with_positions() {
    let text = "\
appId: com.android.notes
name: [Notes]
timeout: soon
crashes: all
---
- case:
    name: one
    commands:
      - tapp: Save
      - tapOn: { txt: Save }
      - tapOn: { text: Save, index: -1 }
      - tapOn:
      - launchApp: { permissions: { camra: allow } }
      - assertState: { element: { id: total }, matches: \"([\" }
      - assertState: { element: { class: Switch }, chekced: true }
      - assertCount: { element: { class: Switch }, count: many }
      - pressKey: hmoe
      - swipe: upwards
      - wait: 3600000
      - inputText: ${WHO}
      - runFlow: nowhere.yaml
      - optionally: true
      - tapOn: a
        back:
      - evalScript: ${1}
- case:
    name: one
    commands: []
- case: { commands: tapOn }
- back
";
    let errors = flow(text).unwrap_err();
    let out: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("flow_mistakes", out.join("\n"));
}

#[test]
fn invalid_files_get_clear_errors() {
    let out = |text: &str| {
        let errors = flow(text).unwrap_err();
        errors.iter().map(|one| format!("{one}\n")).collect::<String>()
    };
    let mut all = String::new();
    for text in [
        "",
        "- tapOn: x",
        "appId: a.b\n",
        "appId: a.b\n---\n- inputText: {{PIN}}\n",
        "appId: a.b\n---\n[\n",
        "name: x\n---\n- back\n",
        "appId: a.b\n---\n- tapOn:\n\ttext: x\n",
        "appId: a.b\n---\n- back\n---\n- back\n",
        "app: a.b\nsteps:\n- launch\n",
    ] {
        all.push_str(&format!("{text:?}\n{}\n", out(text)));
    }
    insta::assert_snapshot!("flow_no_flow", all);
}

#[test]
fn circular_and_exploding_runs_are_refused() {
    let of = |commands: &str| Ok(format!("appId: a.b\n---\n{commands}"));
    let files = |path: &Path| match path.to_str() {
        Some("a/one.yaml") => of("- runFlow: b/other.yaml\n"),
        Some("a/b/other.yaml") => of("- runFlow: ./../b/../one.yaml\n"),
        _ => Err("no such file".to_owned()),
    };
    let errors = read("a/one.yaml", &Default::default(), &files).unwrap_err();
    let out = errors[0].to_string();
    assert!(out.starts_with("a/b/other.yaml:3:12: "), "{out}");
    assert!(out.contains("a/one.yaml runs a/b/other.yaml runs a/one.yaml"), "{out}");
    // Expansion without a circle is limited, too.
    let files = |path: &Path| match path
        .to_str()
        .and_then(|name| name.strip_suffix(".yaml")?.parse::<u32>().ok())
    {
        Some(9) => of("- back\n"),
        Some(n) => of(&format!("- runFlow: {}.yaml\n", n + 1).repeat(10)),
        None => Err("no such file".to_owned()),
    };
    let errors = read("1.yaml", &Default::default(), &files).unwrap_err();
    assert!(errors[0].what.contains("more than 1000 files"), "{errors:?}");
    let files = |path: &Path| match path.to_str() {
        Some("1.yaml") => of(&"- runFlow: 2.yaml\n".repeat(10)),
        _ => of(&"- back\n".repeat(3_000)),
    };
    let errors = read("1.yaml", &Default::default(), &files).unwrap_err();
    assert!(errors[0].what.contains("more than 20000 steps"), "{errors:?}");
}

#[tokio::test(start_paused = true)]
async fn env_of_a_case_and_of_a_call_override_the_file() {
    let files = |path: &Path| {
        Ok(match path.to_str() {
            Some("a.yaml") => "appId: com.android.notes\nenv: { A: file, B: \"${B || 'file'}\" }\n---\n- case:\n    name: c\n    env: { C: case }\n    commands:\n    - assertTrue: ${A + B + C == 'fileoutsidecase'}\n    - runFlow: { file: b.yaml, env: { A: call } }\n    - assertTrue: ${A + typeof D == 'fileundefined'}\n",
            Some("b.yaml") => "appId: a.b\nenv: { D: \"${A}+\" }\n---\n- assertTrue: ${A + B + C + D == 'calloutsidecasecall+'}\n",
            _ => return Err("no such file".to_owned()),
        }
        .to_owned())
    };
    let outside = [("B".to_owned(), "outside".to_owned())].into();
    let flow = read("a.yaml", &outside, &files).unwrap();
    let (report, said) = Bench::new().run(vec![flow], Options::default(), HOUR).await;
    assert_eq!(report.unwrap().count(Verdict::Passed), 1, "{said}");
}

#[tokio::test(start_paused = true)]
async fn examples_pass_and_print_their_steps() {
    let bench = Bench::new();
    let flows = vec![example("maps.yaml"), example("notes.yaml"), example("settings.yaml")];
    let options = Options { allow_reset: true, ..Options::default() };
    let (report, said) = bench.run(flows, options, HOUR).await;
    let output = said.replace(&examples().display().to_string(), "examples");
    insta::assert_snapshot!("flow_examples", output);
    let report = report.unwrap();
    assert_eq!((report.count(Verdict::Passed), report.exit_code()), (7, 0));
    let trace = report.cases[0].attempts[0].trace.as_ref().unwrap();
    let lines = thumbwire_core::trace::read(trace).unwrap();
    assert!(lines.len() > 10, "the trace contains the requests");
    assert!(format!("{:?}", lines.last()).contains("FINISH"));
}

#[tokio::test(start_paused = true)]
async fn failed_steps_describe_the_screen() {
    let cases = [
        "assertVisible: Sve",
        "assertNotVisible: New note",
        "assertApp: com.android.settings",
        "assertCount: { element: { id: index_note_title }, count: 2 }",
        "assertState: { element: { id: index_note_title, index: 1 }, equals: Milk }",
        "assertVisible: { id: index_note_title, index: 40 }",
        "assertState: { element: { id: new_note_button }, enabled: false }",
        "assertState: { element: Shopping, matches: '^\\d+$', checked: true }",
        "tapOn: Sve",
        "tapOn: note",
        "tapOn: { class: .*Text.*, index: 400 }",
        "longPressOn: { id: nothing_here }",
        "scrollUntilVisible: { element: The end }",
        "launchApp: com.example.nowhere",
        "repeat: { times: 2, commands: [pressKey: home, assertVisible: Sve] }",
    ];
    let mut text = format!("{NOTES}timeout: 1000\n---\n");
    for case in cases {
        let name = case.replace('"', "'").replace('\\', "");
        text.push_str(&format!(
            "- case:\n    name: \"{name}\"\n    commands:\n      - launchApp\n      - {case}\n"
        ));
    }
    let bench = Bench::new();
    let (report, said) = bench.tried(&text).await;
    insta::assert_snapshot!("flow_failures", said);
    assert_eq!((report.count(Verdict::Failed), report.exit_code()), (cases.len(), 1));
    for tried in &report.cases {
        let failed = tried.attempts[0].failed.as_ref().unwrap();
        let picture = failed.picture.as_ref().unwrap();
        let bytes = std::fs::read(picture);
        assert!(bytes.is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")), "{}", picture.display());
    }
}

#[tokio::test(start_paused = true)]
async fn locked_phone_is_unlocked_before_a_case() {
    for release in ["4.4", "14"] {
        let bench =
            Bench::of(Setup { locked: true, ..Setup::of_release(release).expect("a release") });
        let (report, said) = bench.tried(TWO_TAPS).await;
        assert_eq!(report.exit_code(), 0, "{said}");

        let off_and_on = format!("{NOTES}---\n- pressKey: Power\n- pressKey: Power\n");
        let (_, said) = bench.tried(&format!("{off_and_on}- launchApp\n")).await;
        let refusal = "the lock screen is in front; add the command `unlock` before this one";
        assert!(said.contains(refusal), "{release}: {said}");
        let (report, said) = bench.tried(&format!("{off_and_on}- unlock\n- launchApp\n")).await;
        assert_eq!(report.exit_code(), 0, "{release}: {said}");
    }
}

/// The beginning of a header.
pub(crate) const NOTES: &str = "appId: com.android.notes\n";

const TWO_TAPS: &str = "\
appId: com.android.notes
---
- launchApp
- tapOn: New note
- back
";

#[tokio::test(start_paused = true)]
async fn crash_or_anr_fails_the_case_with_its_stack_trace() {
    let mut all = String::new();
    for (rule, kind) in
        [("app-crash:times=1", FailureKind::Crash), ("anr:times=1", FailureKind::NotResponding)]
    {
        let (report, said) = Bench::meeting(&[rule]).tried(TWO_TAPS).await;
        all.push_str(&format!("{rule}\n{said}\n"));
        assert_eq!(report.cases[0].attempts[0].failed.as_ref().unwrap().kind, kind, "{said}");
    }
    insta::assert_snapshot!("flow_crashes", all);
}

/// The crash comes with the last step: all steps pass, and the app is gone.
#[tokio::test(start_paused = true)]
async fn unnoticed_crash_fails_the_case_but_other_apps_do_not() {
    let commands = "---\n- launchApp: com.android.notes\n- launchApp\n- back\n";
    for (head, verdict) in [
        ("appId: com.android.settings\n", Verdict::Failed),
        ("appId: com.android.settings\ncrashes: none\n", Verdict::Passed),
    ] {
        let bench = Bench::meeting(&["app-crash:times=1,on=helper key"]);
        let (report, said) = bench.tried(&format!("{head}{commands}")).await;
        assert_eq!(bench.phone.injections().len(), 1, "{said}");
        assert_eq!(report.cases[0].verdict(), verdict, "{head}: {said}");
    }
    let bench = Bench::new();
    let crash = "appId: com.android.settings\n---\n- launchApp\n- wait: 1000\n";
    bench.phone.world(|world| {
        world.start("com.android.notes", None).unwrap();
        world.crash("com.android.notes", "java.lang.IllegalStateException: before");
    });
    let (report, said) = bench.tried(crash).await;
    assert_eq!(
        report.cases[0].verdict(),
        Verdict::Passed,
        "an earlier crash does not count: {said}"
    );
}

#[tokio::test(start_paused = true)]
async fn popup_fails_the_case_and_is_in_the_screenshot() {
    let bench = Bench::meeting(&["popup:times=1"]);
    let (report, said) = bench.tried(TWO_TAPS).await;
    let failed = report.cases[0].attempts[0].failed.as_ref().unwrap();
    assert!(failed.what.contains("New note"), "{said}");
    let snapshot = failed.picture.as_ref().unwrap().with_extension("snapshot.json");
    assert!(std::fs::read_to_string(snapshot).unwrap().contains("Software update"));
    // An optional step dismisses it.
    let bench = Bench::meeting(&["popup:times=1"]);
    let later = "- tapOn: { text: Later, optional: true, timeout: 2000 }\n- tapOn";
    let text = TWO_TAPS.replace("- tapOn", later);
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.exit_code(), 0, "{said}");
}

/// Wherever it comes: before a look, or between a look and the tap or text that it takes.
#[tokio::test(start_paused = true)]
async fn an_alert_is_dismissed_if_the_flow_says_so() {
    let text = "appId: com.android.notes\nautoDismissAlerts: true\n---\n- launchApp\n\
                - tapOn: New note\n- tapOn: { id: editable_title }\n- inputText: Milk\n\
                - hideKeyboard\n- back\n- assertVisible: Milk\n";
    let mut met = 0;
    for nth in 0..12 {
        let bench = Bench::meeting(&[&format!("popup:times=1,after={nth}")]);
        let (report, said) = bench.tried(text).await;
        assert_eq!(report.exit_code(), 0, "{nth}: {said}");
        let notes = &report.cases[0].attempts[0].notes;
        assert_eq!(notes.len(), bench.phone.injections().len(), "{nth}: {said}");
        assert!(
            notes.iter().all(|note| note == "dismissed an alert: Software update"),
            "{notes:?}"
        );
        met += notes.len();
    }
    assert!(met > 8, "{met}");
    // An ANR still fails the case.
    let bench = Bench::meeting(&["anr:times=1"]);
    let (report, said) = bench.tried(text).await;
    let failed = report.cases[0].attempts[0].failed.as_ref().unwrap();
    assert_eq!(failed.kind, FailureKind::NotResponding, "{said}");
}

/// The last element of a list cannot come to the middle. One scroll goes to the end of the list,
/// and one more, which moves nothing, shows that it is the end.
#[tokio::test(start_paused = true)]
async fn centering_the_last_element_ends_with_the_list() {
    let bench = Bench::new();
    let mut scrolls = Vec::new();
    for end in [" }", ", centerElement: true }"] {
        let text = format!(
            "appId: com.google.android.contacts\n---\n- launchApp\n\
             - scrollUntilVisible: {{ element: Zoë.*{end}\n"
        );
        let (report, said) = bench.tried(&text).await;
        assert_eq!(report.exit_code(), 0, "{said}");
        let trace = Trace::open(report.cases[0].attempts[0].trace.as_ref().unwrap()).unwrap();
        let actions = trace.entries.iter().flat_map(|entry| &entry.actions);
        let all = actions.filter(|action| matches!(action.action, Action::Scroll { .. }));
        scrolls.push(all.count());
    }
    assert_eq!(scrolls, [1, 3]);
}

#[tokio::test(start_paused = true)]
async fn data_is_cleared_only_if_allowed() {
    let bench = Bench::new();
    bench
        .phone
        .world(|world| world.set_preference("com.android.notes", "note/40/title", Some("Kept")));
    let text =
        format!("{NOTES}onFlowStart: [clearState]\n---\n- launchApp\n- assertNotVisible: Kept\n");
    let (refused, said) = bench.run(vec![flow(&text).unwrap()], Options::default(), HOUR).await;
    let Err(refusal @ FlowRunError::Reset { .. }) = refused else { panic!("{said}") };
    let out = "case \"test\" (test.yaml:2:15) clears the data of com.android.notes. Allow it with --allow-reset";
    assert_eq!(refusal.to_string(), out);
    let kept = bench.phone.world(|world| world.preferences("com.android.notes").len());
    assert_eq!(kept, 1, "nothing was done");
    let options = Options { allow_reset: true, ..Options::default() };
    let (report, said) = bench.run(vec![flow(&text).unwrap()], options, HOUR).await;
    assert_eq!(report.unwrap().exit_code(), 0, "{said}");
    let goal = format!("{NOTES}---\n- goal: keep a note\n");
    let (refused, _) = bench.run(vec![flow(&goal).unwrap()], Options::default(), HOUR).await;
    assert!(matches!(refused, Err(FlowRunError::Goal { .. })));
}

const THREE: &str = "\
appId: com.android.notes
name: Three
timeout: 1000
---
- case: { name: first, commands: [launchApp] }
- case: { name: second, commands: [launchApp, assertVisible: Never there] }
- case: { name: third, commands: [launchApp] }
";

#[tokio::test(start_paused = true)]
async fn cases_are_filtered_by_name_shard_and_fail_fast() {
    let bench = Bench::new();
    let verdicts = async |options: Options| {
        let (report, said) = bench.run(vec![flow(THREE).unwrap()], options, HOUR).await;
        let report = report.unwrap_or_else(|refusal| panic!("{refusal}"));
        let one = |verdict| match verdict {
            Verdict::Passed => 'p',
            Verdict::Flaky => '~',
            Verdict::Failed => 'F',
            Verdict::Skipped => '-',
        };
        let names = report.cases.iter().map(|tried| {
            format!("{}{}", one(tried.verdict()), &report.flows[0].cases[tried.case].name)
        });
        (names.collect::<Vec<_>>().join(" "), said)
    };
    let all = Options::default;
    assert_eq!(verdicts(all()).await.0, "pfirst Fsecond pthird");
    assert_eq!(verdicts(Options { only: Some("THIR".into()), ..all() }).await.0, "pthird");
    assert_eq!(verdicts(Options { only: Some("three: f".into()), ..all() }).await.0, "pfirst");
    let shard = |nth| Options { shard: Some(Shard { nth, of: 2 }), ..all() };
    assert_eq!(verdicts(shard(1)).await.0, "pfirst pthird");
    assert_eq!(verdicts(shard(2)).await.0, "Fsecond");
    let (names, said) = verdicts(Options { fail_fast: true, ..all() }).await;
    assert_eq!(names, "pfirst Fsecond -third");
    insta::assert_snapshot!("flow_fail_fast", said);
    let only = Options { only: Some("fourth".into()), ..all() };
    let (refused, _) = bench.run(vec![flow(THREE).unwrap()], only, HOUR).await;
    let out = "no case matches \"fourth\". Available cases: \"Three: first\", \"Three: second\", \"Three: third\"";
    assert_eq!(refused.unwrap_err().to_string(), out);
}

#[tokio::test(start_paused = true)]
async fn case_that_passes_on_retry_is_flaky() {
    let bench = Bench::meeting(&["app-crash:times=1"]);
    let options = Options { retries: 2, ..Options::default() };
    let (report, said) = bench.run(vec![flow(TWO_TAPS).unwrap()], options, HOUR).await;
    let report = report.unwrap();
    assert_eq!((report.cases[0].verdict(), report.exit_code()), (Verdict::Flaky, 0), "{said}");
    assert_eq!(report.cases[0].attempts.len(), 2);
    assert!(said.contains("1 of 1 cases passed · 1 flaky"), "{said}");
    // A retried step does not make the case flaky.
    let retried =
        "- retry: { maxRetries: 2, commands: [{ tapOn: { text: New note, timeout: 1000 } }] }";
    let text = TWO_TAPS.replace("- tapOn: New note", retried);
    let bench = Bench::meeting(&["dump-not-idle:times=3"]);
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.cases[0].verdict(), Verdict::Passed, "{said}");
}

#[tokio::test(start_paused = true)]
async fn timed_out_run_skips_the_remaining_cases() {
    let text = &format!(
        "{NOTES}---\n- case: {{ name: long, commands: [launchApp, wait: 100000] }}\n\
         - case: {{ name: other, commands: [launchApp] }}\n"
    );
    let bench = Bench::new();
    let (report, said) =
        bench.run(vec![flow(text).unwrap()], Options::default(), Duration::from_secs(30)).await;
    let report = report.unwrap();
    assert_eq!(report.exit_code(), 4, "{said}");
    let failed = report.cases[0].attempts[0].failed.as_ref().unwrap();
    assert_eq!(failed.kind, FailureKind::TimedOut);
    assert!(failed.picture.is_some(), "the last screen is still reported");
    assert_eq!(report.cases[1].verdict(), Verdict::Skipped);
}

#[tokio::test(start_paused = true)]
async fn missing_phone_is_refused_and_lost_phone_skips_the_rest() {
    let bench = Bench::new();
    let options = Options { devices: vec!["127.0.0.1:1".into()], ..Options::default() };
    let (refused, _) = bench.run(vec![flow(THREE).unwrap()], options, HOUR).await;
    assert!(matches!(refused, Err(FlowRunError::Phone(_))), "{refused:?}");
    let bench = Bench::meeting(&["offline:ms=3600000,on=am"]);
    let (report, said) = bench.run(vec![flow(THREE).unwrap()], Options::default(), HOUR).await;
    let report = report.unwrap();
    assert_eq!(report.exit_code(), 3, "{said}");
    assert_eq!(report.cases[0].attempts[0].failed.as_ref().unwrap().kind, FailureKind::Phone);
    assert_eq!(report.count(Verdict::Skipped), 2, "{said}");
}

#[tokio::test]
async fn several_phones_share_the_cases() {
    let bench = Bench::new();
    let mut devices = Vec::new();
    for _ in 0..2 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        devices.push(listener.local_addr().unwrap().to_string());
        let phone = VirtualPhone::new(Setup::default());
        tokio::spawn(async move { phone.listen(listener).await });
    }
    let cases = (0..6).map(|n| {
        format!("- case: {{ name: case {n}, commands: [launchApp, assertVisible: New note] }}\n")
    });
    let text = format!("{NOTES}---\n{}", cases.collect::<String>());
    let options = Options { devices: devices.clone(), ..Options::default() };
    let (report, said) = bench.run(vec![flow(&text).unwrap()], options, HOUR).await;
    let report = report.unwrap();
    assert_eq!(report.count(Verdict::Passed), 6, "{said}");
    let on = |at| report.cases.iter().filter(|tried| tried.attempts[0].phone == at).count();
    assert!(on(0) > 0 && on(1) > 0, "{said}");
    // The lines of one case stay together.
    let blocks: Vec<&str> = said.split("\n\n").collect();
    assert_eq!(blocks.len(), 7, "{said}");
    assert!(blocks[..6].iter().all(|block| block.matches(" on 127.0.0.1:").count() == 1), "{said}");
}

/// Runs every flow in the docs, and parses every fragment of one.
#[tokio::test(start_paused = true)]
async fn documented_flows_parse_and_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/flows.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let (mut tried, mut read_only) = (0, 0);
    for (block, _) in blocks {
        let whole = block.starts_with("appId:");
        let text = if whole {
            block.to_owned()
        } else {
            format!("appId: com.example.app\nenv: {{ NAME: x, TITLE: x }}\n---\n{block}")
        };
        let folder = examples();
        let files = |path: &Path| match path.ends_with("docs.yaml") {
            true => Ok(text.clone()),
            false => std::fs::read_to_string(path).map_err(|error| error.to_string()),
        };
        let name = folder.join("docs.yaml").display().to_string();
        let flow = read(&name, &Default::default(), &files).unwrap_or_else(|all| panic!("{all:?}"));
        if !whole {
            read_only += 1;
            continue;
        }
        tried += 1;
        let options = Options { allow_reset: true, ..Options::default() };
        let (report, said) = Bench::new().run(vec![flow], options, HOUR).await;
        assert_eq!(report.unwrap().exit_code(), 0, "{said}");
    }
    assert!(tried >= 2 && read_only >= 1, "{tried} {read_only}");
}
