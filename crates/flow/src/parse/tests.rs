//! Public flows, the plan that a command becomes, and errors.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use thumbwire_device::Platform;

use super::command::COMMANDS;
use crate::plan::{Case, CrashScope, Flow, FlowStep, StepKind};
use crate::{FlowError, read};

fn files(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Reads an inline flow with the commands below its header.
fn flow(commands: &str) -> Result<Case, Vec<FlowError>> {
    whole(&format!("appId: com.example.app\n---\n{commands}"))
}

fn whole(text: &str) -> Result<Case, Vec<FlowError>> {
    let parameters = [("USER".to_owned(), "Ada".to_owned())].into();
    let sources = |path: &Path| {
        match path.to_str() {
        Some("flows/test.yaml") => Ok(text.to_owned()),
        Some("flows/login.yaml") => {
            Ok("appId: com.other.app\nenv:\n  ROLE: ${ROLE || 'guest'}\n---\n- launchApp\n- inputText: ${ROLE}\n".to_owned())
        }
        Some("flows/loop.yaml") => Ok("appId: a.b\n---\n- runFlow: loop.yaml\n".to_owned()),
        Some("flows/list.yaml") => Ok("- launchApp\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    }
    };
    let flow: Flow = read("flows/test.yaml", &parameters, &sources)?;
    Ok(flow.cases.into_iter().next().unwrap())
}

/// The steps as reports name them, indented by their depth.
fn outline(steps: &[FlowStep]) -> String {
    fn add(steps: &[FlowStep], depth: usize, out: &mut String) {
        for step in steps.iter().filter(|step| !matches!(step.kind, StepKind::Define(_))) {
            let optional = if step.optional { " (optional)" } else { "" };
            let retry =
                if step.retry > 0 { format!(" (retry {})", step.retry) } else { String::new() };
            out.push_str(&format!("{}{step}{optional}{retry}\n", "  ".repeat(depth)));
            add(step.kind.nested(), depth + 1, out);
        }
    }
    let mut out = String::new();
    add(steps, 0, &mut out);
    out
}

fn check(commands: &str, expected: &str) {
    let case = flow(commands).unwrap_or_else(|errors| panic!("{commands}: {errors:?}"));
    let lines: Vec<&str> =
        expected.lines().map(|line| line.strip_prefix("        ").unwrap_or(line)).collect();
    assert_eq!(outline(&case.steps).trim_end(), lines.join("\n").trim(), "{commands}");
}

fn refuse(text: &str, parts: &[&str]) {
    let errors: Vec<String> = whole(text).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), parts.len(), "{text}: {errors:#?}");
    for (error, part) in errors.iter().zip(parts) {
        assert!(error.contains(part), "{text}: {error} lacks {part:?}");
    }
}

#[test]
fn public_flows_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/maestro");
    let known = [
        "APP_ID",
        "MAESTRO_APP_ID",
        "FIRST_NAME",
        "NAME",
        "TO_EMAIL",
        "BODY",
        "SUBJECT",
        "IDENTITY",
    ];
    let mut parameters: crate::script::Parameters =
        known.map(|name| (name.to_owned(), "com.example.app".to_owned())).into();
    parameters.insert("INDEX".into(), "0".into());
    let mut open: Vec<PathBuf> = vec![root.clone()];
    let (mut passed, mut repositories, mut wrong) = (0, BTreeSet::new(), Vec::new());
    let mut needs = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        if name.ends_with("config.yaml") || !(name.ends_with(".yaml") || name.ends_with(".yml")) {
            continue;
        }
        match read(&path.display().to_string(), &parameters, &files) {
            Ok(flow) => {
                passed += 1;
                repositories.insert(name.split('/').next().unwrap().to_owned());
                needs.extend(flow.needs().map(|need| need.what.clone()));
            }
            Err(errors) => wrong.extend(errors.iter().map(|error| format!("{name}: {error}"))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{passed} flows of {} repositories are read", repositories.len());
    assert!(passed >= 40 && repositories.len() >= 8, "{passed} {repositories:?}");
    // The scripts are not among the fixtures.
    let known = |need: &&String| need.starts_with("cannot read ") && need.contains(".js: ");
    let other: Vec<&String> = needs.iter().filter(|need| !known(need)).collect();
    let is_given = |need: &&String| need.contains("`${replays");
    assert!(other.iter().all(is_given), "{other:?}");
}

/// The commands of a page's tables that have a value, as in `` `swipe: { direction: UP }` ``.
fn documented_forms(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let is_command = |text: &&str| {
        text.split_once(": ").is_some_and(|(name, _)| COMMANDS.iter().any(|it| it.0 == name))
    };
    quoted.filter(is_command).collect()
}

#[test]
fn shortest_form_of_every_command_is_read_and_documented() {
    let page = include_str!("../../../../docs/flows.md");
    let (_, section) = page.split_once("\n## Commands").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for (name, form, _) in COMMANDS {
        // An old name, an old way, and what is only read at the top.
        if ["hide keyboard", "action", "case"].contains(&name) {
            continue;
        }
        let form = format!("{name}{form}");
        assert!(section.contains(&format!("`{form}`")), "docs/flows.md lacks `{form}`");
    }
    let forms = documented_forms(section);
    assert!(forms.len() >= 30, "{forms:?}");
    for form in &forms {
        flow(&format!("- {form}\n")).unwrap_or_else(|errors| panic!("{form}: {errors:?}"));
    }
    let skill = documented_forms(include_str!("../../../../skills/thumbwire-flows/SKILL.md"));
    let unknown: Vec<_> = skill.iter().filter(|form| !forms.contains(form)).collect();
    assert!(skill.len() >= 10 && unknown.is_empty(), "docs/flows.md lacks {unknown:?}");
}

#[test]
fn arguments_of_an_app_have_the_types_of_yaml() {
    let values = [
        ("3", "Whole(3)"),
        ("-7", "Whole(-7)"),
        ("true", "Flag(true)"),
        ("0042", "Text(\"0042\")"),
        ("3000000000", "Text(\"3000000000\")"),
        ("True", "Text(\"True\")"),
    ];
    for (text, value) in values {
        assert_eq!(format!("{:?}", super::app::launch_value(text.into())), value);
    }
}

#[test]
fn commands_become_steps() {
    check(
        "- launchApp\n",
        "
        launchApp
          close com.example.app
          grant all permissions of com.example.app
          launch com.example.app",
    );
    check(
        "- launchApp: { appId: com.other.app, clearState: true, permissions: { all: deny, camera: allow } }\n",
        "
        launchApp
          clear the data of com.other.app
          revoke all permissions of com.other.app
          grant CAMERA for com.other.app
          launch com.other.app",
    );
    check(
        "- tapOn: { id: buy, below: Total, index: 1, enabled: true, retryTapIfNoChange: true }\n\
         - tapOn: { point: \"50%,90%\" }\n\
         - tapOn: { text: Terms, point: \"90%, 50%\", repeat: 3, delay: 50 }\n\
         - doubleTapOn: Picture\n\
         - longPressOn: { id: row, label: Open the menu }\n",
        r#"
        tap id "buy", enabled, below "Total", index 1
        tap (50 %, 90 %)
        tap "Terms" at (90 %, 50 %) 3 times
        double tap "Picture"
        Open the menu"#,
    );
    check(
        "- inputText: ${USER} at ${maestro.copiedText}\n- inputRandomEmail\n- inputRandomNumber: { length: 4 }\n\
         - eraseText\n- eraseText: 3\n- copyTextFrom: { id: total }\n- pasteText\n- hideKeyboard\n- setClipboard: A\n",
        r#"
        type "${USER} at ${maestro.copiedText}"
        type a random email address
        type 4 random digits
        erase the field
        erase 3 characters
        copy the text of id "total"
        type the copied text
        hide the keyboard
        set the copied text to "A""#,
    );
    check(
        "- assertVisible: { text: .*saved, optional: true }\n- assertNotVisible: Error\n\
         - extendedWaitUntil: { visible: Done, notVisible: Wait, timeout: 5000 }\n\
         - assertTrue: ${USER == 'Ada'}\n- waitForAnimationToEnd: { timeout: 500 }\n",
        r#"
        expect ".*saved" (optional)
        expect "Error" gone
        extendedWaitUntil
          expect "Done"
          expect "Wait" gone
        expect ${USER == 'Ada'}
        wait until the screen is still, at most 0.5 s"#,
    );
    check(
        "- swipe: { direction: left }\n- swipe: { from: { id: card }, direction: UP }\n\
         - swipe: { start: \"10, 20\", end: \"10%, 90%\" }\n- scroll\n\
         - scrollUntilVisible: { element: End, direction: UP, centerElement: true }\n- back\n- pressKey: Volume Up\n",
        r#"
        swipe from (90 %, 50 %) to (10 %, 50 %)
        swipe up from id "card"
        swipe from (10, 20) to (10 %, 90 %)
        scroll down
        scroll up to "End"
        press back
        press volume_up"#,
    );
}

#[test]
fn flows_are_made_of_other_flows() {
    check(
        "- runFlow: login.yaml\n- runFlow: { file: login.yaml, env: { ROLE: admin }, when: { visible: Sign in, platform: Android } }\n\
         - runFlow: { commands: [back], label: Go back }\n",
        r#"
        run login.yaml
          launchApp
            close com.other.app
            grant all permissions of com.other.app
            launch com.other.app
          type "${ROLE}"
        when the phone runs Android and "Sign in" is visible
          launchApp
            close com.other.app
            grant all permissions of com.other.app
            launch com.other.app
          type "${ROLE}"
        Go back
          press back"#,
    );
    check(
        "- repeat: { times: 3, commands: [scroll] }\n- repeat: { while: { notVisible: End }, commands: [scroll] }\n\
         - retry: { maxRetries: 2, commands: [back] }\n- runFlow: { when: { true: \"${!USER}\" }, commands: [back] }\n",
        r#"
        repeat 3 times
          scroll down
        repeat while "End" is not visible
          scroll down
        retry (retry 2)
          press back
        when ${!USER}
          press back"#,
    );
    let hooks = "appId: a.b\nname: Named\nonFlowStart: [back]\nonFlowComplete: [scroll]\n---\n- launchApp\n";
    let case = whole(hooks).unwrap();
    assert_eq!(
        (case.name.as_str(), outline(&case.steps).lines().next()),
        ("Named", Some("press back"))
    );
    assert_eq!(outline(&case.afterwards), "scroll down\n");
    let web = whole("url: https://example.com\n---\n- launchApp\n").unwrap();
    assert_eq!(outline(&web.steps), "open a https: address\n");
}

#[test]
fn commands_wait_as_long_as_maestro_unless_told_otherwise() {
    let times = |text: &str| -> Vec<u64> {
        whole(text).unwrap().steps.iter().map(|step| step.timeout.as_secs()).collect()
    };
    let commands = "- tapOn: A\n- tapOn: { text: A, optional: true }\n\
                    - extendedWaitUntil: { visible: A, timeout: 300_000 }\n\
                    - tapOn: { text: A, timeout: 1000 }\n";
    assert_eq!(times(&format!("appId: a.b\n---\n{commands}")), [17, 7, 300, 1]);
    assert_eq!(times(&format!("appId: a.b\ntimeout: 5000\n---\n{commands}")), [5, 5, 300, 1]);
}

#[test]
fn our_commands_become_steps() {
    check(
        "- assertState: { element: Wi-Fi, checked: true, equals: \"\" }\n\
         - assertCount: { element: { class: Switch, clickable: true }, count: 3 }\n\
         - assertApp: com.other.app\n- assertDeviceClipboard: A\n- setDeviceClipboard: { text: A }\n\
         - pasteDeviceClipboard\n- installApp: ../app.apk\n- goal: Buy milk\n- unlock\n\
         - wait: 500\n- longPressOn: { text: A, duration: 1500 }\n- pressKey: KEYCODE_MENU\n",
        r#"
        expect "Wi-Fi" checked and equals ""
        expect 3 of class "Switch", clickable
        expect app com.other.app
        expect the phone's clipboard to have "A"
        set the clipboard to 1 characters
        paste the phone's clipboard
        install app.apk
        goal "Buy milk"
        unlock the phone
        wait 0.5 s
        long press "A" for 1.5 s
        press KEYCODE_MENU"#,
    );
    let golden = "appId: a.b\n---\n- assertScreenshot: { path: goldens/home, \
                  thresholdPercentage: 99.5, colorTolerance: 0, statusBar: true, \
                  mask: [Clock, { rect: [0, 10, 20, 30] }] }\n";
    let case = whole(golden).unwrap();
    let StepKind::ExpectScreenshot(golden) = &case.steps[0].kind else { panic!("{case:?}") };
    assert_eq!(golden.file, Path::new("flows/goldens/home.png"));
    assert!((golden.tolerance - 0.005).abs() < 1e-9, "{golden:?}");
    assert!(golden.with_status_bar && golden.color_tolerance == 0, "{golden:?}");
    assert_eq!(golden.masks.len(), 2);
}

#[test]
fn cases_have_their_own_settings_and_run_the_hooks() {
    let text = "appId: a.b\nenv: { WHO: Ada }\ntimeout: 5000\nonFlowStart: [back]\n\
                onFlowComplete: [scroll]\n---\n\
                - case: { name: one, commands: [{ assertVisible: \"${WHO}\" }] }\n\
                - case:\n    name: two\n    appId: c.d\n    env: { WHO: Bo }\n    timeout: 1000\n    \
                crashes: none\n    autoDismissAlerts: true\n    commands: [stopApp, { assertVisible: \"${WHO}\" }]\n";
    let sources = |_: &Path| Ok(text.to_owned());
    let flow = read("test.yaml", &Default::default(), &sources).unwrap();
    let [one, two] = &flow.cases[..] else { panic!("{flow:?}") };
    assert_eq!(outline(&one.steps), "press back\nexpect \"Ada\"\n");
    assert_eq!(outline(&two.steps), "press back\nclose c.d\nexpect \"Bo\"\n");
    assert_eq!((outline(&one.afterwards), &*two.name), ("scroll down\n".into(), "two"));
    assert_eq!((one.crashes, two.crashes), (CrashScope::Own, CrashScope::None));
    assert_eq!((one.auto_dismiss_alerts, two.auto_dismiss_alerts), (false, true));
    assert_eq!([one, two].map(|case| case.steps.last().unwrap().timeout.as_secs()), [5, 1]);
}

#[test]
fn what_is_not_supported_is_refused_by_name_and_position() {
    let head = "appId: com.example.app\n---\n";
    refuse(
        &format!("{head}- evalScript: ${{output.x = }}\n- tapOnn: A\n- tapOn: ${{`a ${{B}}`}}\n"),
        &[
            "flows/test.yaml:3:15: `${output.x =}`: SyntaxError: ",
            "flows/test.yaml:4:3: unknown command `tapOnn`; did you mean `tapOn`?",
            "flows/test.yaml:5:10: `${`a ${B}`}`: Maestro does not evaluate a `${…}` in another",
        ],
    );
    refuse(
        &format!(
            "{head}- tapOn: {{ txt: A }}\n- tapOn: (?!A).*\n- tapOn:\n- tapOn: {{ text: A, indx: 1 }}\n"
        ),
        &[
            "3:10: `tapOn` needs an element",
            "3:12: unknown key `txt` in `tapOn`; did you mean `text`?",
            "4:10: `tapOn`: looking ahead or behind",
            "5:3: `tapOn` does not take an empty value; write `tapOn: Text`",
            "6:21: unknown key `indx` in `tapOn`; did you mean `index`?",
        ],
    );
    refuse(
        &format!(
            "{head}- swipe: {{ direction: sideways }}\n- pressKey: F13\n- back: 1\n  scroll: 2\n- runFlow: none.yaml\n- runFlow: loop.yaml\n- runFlow: list.yaml\n- repeat: {{ commands: [back] }}\n"
        ),
        &[
            "flows/list.yaml:1:1: a flow needs a header with `appId` and a list of commands",
            "flows/loop.yaml:3:12: circular `runFlow`",
            "3:23: `direction` must be one of UP, DOWN, LEFT, RIGHT",
            "4:13: unknown key \"F13\"",
            "6:3: a command has one key",
            "7:12: cannot read flows/none.yaml",
            "10:11: `repeat` needs `times` or `while`",
        ],
    );
    refuse(
        &format!(
            "{head}- case: {{ name: a, commands: [back] }}\n- back\n- case: {{ name: a }}\n- case: {{ commands: [] }}\n"
        ),
        &[
            "4:3: a flow with `case`s has no other commands",
            "5:3: a `case` needs `commands`",
            "5:3: duplicate case name \"a\", already used in line 3",
            "6:3: a `case` needs a `name`",
        ],
    );
    refuse(
        &format!(
            "{head}- runFlow: {{ commands: [{{ case: {{ name: a, commands: [] }} }}] }}\n- assertState: {{ element: A }}\n- assertCount: {{ element: A }}\n- assertState: {{ checked: true }}\n- assertState: {{ element: A, matches: \"([\" }}\n"
        ),
        &[
            "`case` belongs at the top level",
            "4:16: `assertState` needs what the element must be",
            "5:16: `assertCount` needs a `count`",
            "6:16: `assertState` needs an `element`",
            "7:39: invalid regular expression in `matches`",
        ],
    );
    refuse("appId: a.b\n", &["a flow needs a header with `appId` and a list of commands"]);
    refuse("- launchApp\n", &["a flow needs a header with `appId` and a list of commands"]);
    refuse("name: x\n---\n- launchApp\n", &["1:1: the header needs `appId`"]);
    refuse(
        &format!("{head}- back: 1\n- waitForAnimationToEnd: 300\n- inputRandomNumber: 5\n"),
        &[
            "3:9: `back` takes keys only",
            "4:26: `waitForAnimationToEnd`",
            "5:22: `inputRandomNumber`",
        ],
    );
    refuse(
        &format!("{head}- travel: {{ points: [\"0,0\", \"80,0\"], speed: 1 }}\n"),
        &["use a higher `speed`"],
    );
}

/// What the steps of a flow need that there is not.
fn needs(commands: &str) -> Vec<String> {
    let text = format!("appId: a.b\n---\n{commands}");
    let sources = |path: &Path| match path.to_str() {
        Some("test.yaml") => Ok(text.clone()),
        _ => Err("there is no such file".to_owned()),
    };
    let flow = read("test.yaml", &Default::default(), &sources).unwrap();
    flow.needs().map(|need| format!("{}:{}: {}", need.at.line, need.at.column, need.what)).collect()
}

#[test]
fn what_steps_need_is_known_before_the_first_one() {
    for (command, part) in [
        ("inputText: ${WHO}", "3:14: unknown parameter in `${WHO}`: define it in `env`"),
        ("runScript: made-by-the-build.js", "cannot read made-by-the-build.js"),
        ("setDarkMode: enabled", "`setDarkMode` is not done yet"),
        ("toggleAirplaneMode", "`toggleAirplaneMode` is not done yet"),
        ("assertWithAI: { assertion: x }", "`assertWithAI` is not supported: use `goal`"),
        ("setOrientation: upside_down", "UPSIDE_DOWN` is not supported"),
        ("openLink: { link: \"https://a.b\", browser: true }", "`browser: true` of `openLink`"),
    ] {
        let all = needs(&format!("- {command}\n"));
        assert!(matches!(all.as_slice(), [one] if one.contains(part)), "{command}: {all:?}");
        let conditional =
            format!("- runFlow:\n    when: {{ visible: A }}\n    commands:\n    - {command}\n");
        assert_eq!(needs(&conditional), [""; 0], "it may not run: {command}");
    }
    assert_eq!(needs("- assertVisible: { label: Any element }\n"), [""; 0]);
    assert_eq!(needs("- setDarkMode: { value: enabled, optional: true }\n"), [""; 0]);
    assert_eq!(needs("- assertTrue: ${WHO}\n- evalScript: ${WHO}\n"), [""; 0]);
    assert_eq!(needs("- inputText: ${WHO || 'Ada'}\n"), [""; 0]);
}

#[test]
fn files_for_another_platform_may_be_wrong() {
    let text = "appId: a.b\n---\n\
                - runFlow: { when: { platform: iOS }, file: ios.yaml }\n\
                - runFlow: { when: { platform: Web }, commands: [back] }\n- back\n";
    let sources = |path: &Path| match path.to_str() {
        Some("test.yaml") => Ok(text.to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let flow = read("test.yaml", &Default::default(), &sources).unwrap();
    assert_eq!(flow.errors_on(Platform::Android).count(), 0);
    let errors: Vec<String> = flow.errors_on(Platform::Ios).map(ToString::to_string).collect();
    assert!(errors[0].contains("test.yaml:3:45: cannot read ios.yaml"), "{errors:?}");
}
