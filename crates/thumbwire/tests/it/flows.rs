//! Flows on the virtual phone: errors in a file, failing steps and expectations, crashes, lost phones. The clock is
//! paused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regex_lite::Regex;
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
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
            watch: Arc::new(terminal),
            pursue: None,
            goldens: Some(&self.goldens),
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
name: [Notes]
ap: com.android.notes
timeout: soon
permissions: { grnat: [CAMERA] }
cases:
  - name: one
    steps:
      - tapp: Save
      - tap: { txt: Save }
      - tap: { text: Save, index: -1 }
      - tap:
      - launch
      - expect: { id: total, equals: 5, count: 2 }
      - expect: { id: total, matches: \"([\" }
      - expect: { chekced: true, class: Switch }
      - press: hmoe
      - swipe: upwards
      - wait: 3600
      - type: ${WHO}
      - run: nowhere.yaml
      - optionally: true
        tap: x
      - tap: a
        press: back
      - assertVisible: Save
  - name: one
    steps: []
  - steps: tap
";
    let mistakes = flow(text).unwrap_err();
    let out: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("flow_mistakes", out.join("\n"));
}

#[test]
fn invalid_files_get_clear_errors() {
    let out = |text: &str| {
        let mistakes = flow(text).unwrap_err();
        mistakes.iter().map(|one| format!("{one}\n")).collect::<String>()
    };
    let mut all = String::new();
    for text in [
        "",
        "- tap: x",
        "steps:\n  - type: {{PIN}}\n",
        "steps: [\n",
        "name: x\n",
        "steps: [launch]\ncases: []\n",
        "clear_data: true\nsteps: [screenshot]\n",
        "steps:\n\t- tap: x\n",
        "env: { 1x: y }\nsteps: [screenshot: \"${y}\"]\n",
    ] {
        all.push_str(&format!("{text:?}\n{}\n", out(text)));
    }
    insta::assert_snapshot!("flow_no_flow", all);
}

#[test]
fn circular_and_exploding_runs_are_refused() {
    let files = |path: &Path| {
        let (one, other) = (Path::new("a/one.yaml"), Path::new("a/b/other.yaml"));
        match () {
            () if path == one => Ok("steps:\n  - run: b/other.yaml\n".to_owned()),
            () if path == other => Ok("steps:\n  - run: ./../b/../one.yaml\n".to_owned()),
            () => Err("no such file".to_owned()),
        }
    };
    let mistakes = read("a/one.yaml", &Default::default(), &files).unwrap_err();
    let out = mistakes[0].to_string();
    assert!(out.starts_with("a/b/other.yaml:2:10: "), "{out}");
    assert!(out.contains("a/one.yaml runs a/b/other.yaml runs a/one.yaml"), "{out}");
    // Expansion without a circle is limited, too.
    let ten = |next: &str| format!("steps:\n{}", format!("  - run: {next}\n").repeat(10));
    let files = |path: &Path| match path
        .to_str()
        .and_then(|name| name.strip_suffix(".yaml")?.parse::<u32>().ok())
    {
        Some(9) => Ok("steps: [screenshot]\n".to_owned()),
        Some(n) => Ok(ten(&format!("{}.yaml", n + 1))),
        None => Err("no such file".to_owned()),
    };
    let mistakes = read("1.yaml", &Default::default(), &files).unwrap_err();
    assert!(mistakes[0].what.contains("more than 20000 steps"), "{mistakes:?}");
}

#[test]
fn outside_parameters_override_env_and_with_overrides_both() {
    let files = |path: &Path| {
        match path.to_str() {
        Some("a.yaml") => Ok("env: { A: file, B: file }\ncases:\n  - name: c\n    env: { B: case, C: case }\n    steps:\n      \
            - type: ${A} ${B} ${C}\n      - run: { flow: b.yaml, with: { A: with } }\n"
            .to_owned()),
        Some("b.yaml") => Ok("env: { A: own, D: own }\nsteps:\n  - type: ${A} ${B} ${C} ${D}\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
    };
    let outside = [("B".to_owned(), "outside".to_owned())].into();
    let flow = read("a.yaml", &outside, &files).unwrap();
    let out = format!("{:?}", flow.cases[0].steps);
    assert!(out.contains("text: \"file outside case\""), "{out}");
    assert!(out.contains("text: \"with outside case own\""), "{out}");
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
    let story = report.cases[0].attempts[0].story.as_ref().unwrap();
    let lines = thumbwire_core::trace::read(story).unwrap();
    assert!(lines.len() > 10, "the trace contains the requests");
    assert!(format!("{:?}", lines.last()).contains("FINISH"));
}

#[tokio::test(start_paused = true)]
async fn failed_steps_describe_the_screen() {
    let cases = [
        "expect: Sve",
        "expect: { not_visible: New note }",
        "expect: { app: com.android.settings }",
        "expect: { id: index_note_title, count: 2 }",
        "expect: { id: index_note_title, index: 1, equals: Milk }",
        "expect: { id: index_note_title, index: 40 }",
        "expect: { id: new_note_button, enabled: false }",
        "expect: { text: Shopping, matches: '^\\d+$', checked: true }",
        "tap: Sve",
        "tap: o",
        "tap: { class: Text, index: 400 }",
        "long_press: { id: nothing_here }",
        "type: { text: x, into: Title }",
        "scroll: { until: The end }",
        "launch: com.example.nowhere",
        "repeat: { max: 2, until: Sve, steps: [ press: home ] }",
    ];
    let mut text = "app: com.android.notes\ntimeout: 1\ncases:\n".to_owned();
    for case in cases {
        let name = case.replace('"', "'");
        text.push_str(&format!(
            "  - name: \"{}\"\n    steps:\n      - launch\n      - {case}\n",
            name.replace('\\', "")
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

        let off_and_on = "app: com.android.notes\nsteps:\n  - press: power\n  - press: power\n";
        let (_, said) = bench.tried(&format!("{off_and_on}  - launch\n")).await;
        let refusal = "the lock screen is in front; add the step `unlock` before this one";
        assert!(said.contains(refusal), "{release}: {said}");
        let (report, said) = bench.tried(&format!("{off_and_on}  - unlock\n  - launch\n")).await;
        assert_eq!(report.exit_code(), 0, "{release}: {said}");
    }
}

const TWO_TAPS: &str = "\
app: com.android.notes
steps:
  - launch
  - tap: New note
  - press: back
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
    let steps =
        "steps: [launch: com.android.notes, { launch: com.android.settings }, { press: back }]";
    for (head, verdict) in [
        ("app: com.android.settings\n", Verdict::Failed),
        ("app: com.android.settings\ncrashes: none\n", Verdict::Passed),
    ] {
        let bench = Bench::meeting(&["app-crash:times=1,on=helper key"]);
        let (report, said) = bench.tried(&format!("{head}{steps}")).await;
        assert_eq!(bench.phone.injections().len(), 1, "{said}");
        assert_eq!(report.cases[0].verdict(), verdict, "{head}: {said}");
    }
    let bench = Bench::new();
    let crash = "app: com.android.settings\nsteps: [launch, { wait: 1 }]";
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
    let text =
        TWO_TAPS.replace("  - tap", "  - tap: Later\n    optional: true\n    timeout: 2\n  - tap");
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.exit_code(), 0, "{said}");
}

#[tokio::test(start_paused = true)]
async fn data_is_cleared_only_if_allowed() {
    let bench = Bench::new();
    bench
        .phone
        .world(|world| world.set_preference("com.android.notes", "note/40/title", Some("Kept")));
    let text =
        "app: com.android.notes\nclear_data: true\nsteps: [launch, expect: { not_visible: Kept }]";
    let (refused, said) = bench.run(vec![flow(text).unwrap()], Options::default(), HOUR).await;
    let Err(refusal @ FlowRunError::Reset { .. }) = refused else { panic!("{said}") };
    let out = "case \"test\" (test.yaml:1:1) clears the data of com.android.notes. Allow it with --allow-reset";
    assert_eq!(refusal.to_string(), out);
    let kept = bench.phone.world(|world| world.preferences("com.android.notes").len());
    assert_eq!(kept, 1, "nothing was done");
    let options = Options { allow_reset: true, ..Options::default() };
    let (report, said) = bench.run(vec![flow(text).unwrap()], options, HOUR).await;
    assert_eq!(report.unwrap().exit_code(), 0, "{said}");
    let goal = "app: com.android.notes\nsteps: [goal: keep a note]";
    let (refused, _) = bench.run(vec![flow(goal).unwrap()], Options::default(), HOUR).await;
    assert!(matches!(refused, Err(FlowRunError::Goal { .. })));
}

const THREE: &str = "\
name: Three
app: com.android.notes
timeout: 1
cases:
  - { name: first, steps: [launch] }
  - { name: second, steps: [launch, expect: Never there] }
  - { name: third, steps: [launch] }
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
    let text =
        TWO_TAPS.replace("  - tap: New note", "  - tap: New note\n    timeout: 1\n    retry: 2");
    let bench = Bench::meeting(&["dump-not-idle:times=3"]);
    let (report, said) = bench.tried(&text).await;
    assert_eq!(report.cases[0].verdict(), Verdict::Passed, "{said}");
}

#[tokio::test(start_paused = true)]
async fn timed_out_run_skips_the_remaining_cases() {
    let text = "app: com.android.notes\ncases:\n  - { name: long, steps: [launch, wait: 100] }\n  - { name: other, steps: [launch] }\n";
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
    let cases =
        (0..6).map(|n| format!("  - {{ name: case {n}, steps: [launch, expect: New note] }}\n"));
    let text = format!("app: com.android.notes\ncases:\n{}", cases.collect::<String>());
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
        let whole = block.starts_with("name:");
        let text = if whole {
            block.to_owned()
        } else {
            format!("app: com.example.app\nenv: {{ NAME: x, TITLE: x }}\nsteps:\n{block}")
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
    assert!(tried >= 1 && read_only >= 4, "{tried} {read_only}");
}
