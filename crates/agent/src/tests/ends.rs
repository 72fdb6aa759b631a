//! How a run continues and ends: failures, waiting, limits.

use super::*;

#[tokio::test(start_paused = true)]
async fn failed_screenshot_is_retried() {
    let phone = Arc::new(Phone::new().failing("screenshot", [busy(), busy()]));
    let ended = run(Arc::clone(&phone), Script::of([finishes()])).await;
    assert_eq!((ended.status, &*ended.reason), (AgentStatus::Finish, "Three of them"));
    let looks = ["screenshot", "wait 0.5 s", "screenshot", "wait 1 s", "screenshot"];
    assert_eq!(phone.asked()[..5], looks);
}

#[tokio::test(start_paused = true)]
async fn run_fails_without_a_screenshot() {
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(busy(), 9)));
    let policy = Script::of([finishes()]);
    let ended = run(Arc::clone(&phone), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Fail, Some(StopReason::Failed)));
    assert!(ended.reason.contains("the phone is busy"), "{}", ended.reason);
    assert_eq!(policy.seen().len(), 0);
    assert!(!phone.asked().contains(&"apps".to_owned()));
    // Without patience it is asked once.
    let phone = Arc::new(Phone::new().failing("screenshot", [busy()]));
    let mut options = options();
    options.safeguards.patience = false;
    let agent = Agent::new(policy, phone.clone(), options);
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!(ended.stopped, Some(StopReason::Failed));
    assert_eq!(phone.asked(), ["screenshot"]);
}

#[tokio::test(start_paused = true)]
async fn policy_decides_without_controls_or_apps() {
    let phone = Phone::new()
        .failing("apps", std::iter::repeat_n(busy(), 4))
        .failing("controls", std::iter::repeat_n(busy(), 4));
    let policy = Script::of([does([]), finishes()]);
    let ended = run(Arc::new(phone), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 2));
    let seen = policy.seen();
    assert!(seen[0].installed_apps.is_empty() && seen[0].current_controls.is_empty());
    assert!(seen[0].clean.is_some() && seen[0].marked.is_none() && seen[0].doubt.is_some());
    assert_eq!(seen[0].feedback.len(), 2, "{:?}", seen[0].feedback);
    assert!(
        seen[0].feedback[1].starts_with(
            "Missing from this step: the controls could not be read: the phone is busy"
        )
    );
    // It is available again, so nothing more is said about it.
    assert_eq!((seen[1].current_controls.len(), seen[1].feedback.len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn policy_error_ends_the_run_and_counts_usage() {
    let ended = run(Arc::new(Phone::new()), Script::of([])).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Fail, Some(StopReason::Failed)));
    assert_eq!(ended.reason, "the model gave no answer");
    assert_eq!(ended.spent, spent());
}

#[tokio::test(start_paused = true)]
async fn failed_action_is_reported_and_skips_later_ones() {
    let phone = Arc::new(Phone::new().failing("act", [busy()]));
    let finish = Decision { status: AgentStatus::Finish, ..does([click("1"), click("2")]) };
    let policy = Script::of([finish, finishes()]);
    let ended = run(Arc::clone(&phone), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 2));
    let taps = phone.asked().iter().filter(|asked| asked.starts_with("tap")).count();
    assert_eq!(taps, 1);
    let seen = policy.seen();
    assert_eq!(
        seen[1].feedback,
        [
            "click_control failed: the phone is busy; try again; if it fails again, try another way",
            "click_control failed: not done: an earlier action in the same reply failed"
        ]
    );
    assert!(seen[1].last_success_actions.is_empty());
    assert_eq!(seen[1].previous_plan, ["type restaurants"]);
}

#[tokio::test(start_paused = true)]
async fn unknown_function_is_a_failed_action() {
    let policy = Script::of([does([doing("fly", json!({}))]), finishes()]);
    let ended = run(Arc::new(Phone::new()), Arc::clone(&policy)).await;
    assert_eq!(ended.status, AgentStatus::Finish);
    let seen = policy.seen();
    assert_eq!(seen[1].feedback, ["fly failed: There is no function called \"fly\""]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_run_ends_after_the_current_action() {
    let call = an_hour();
    let phone = Arc::new(Phone { cancels: Some(call.cancelled.clone()), ..Phone::new() });
    let policy = Script::of([does([click("1"), click("2")]), finishes()]);
    let agent = Agent::new(policy, phone.clone(), options());
    let ended = agent.run(&call, REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(StopReason::Cancelled)));
    assert_eq!((ended.rounds, ended.spent), (1, spent()));
    let asked = phone.asked();
    let taps = asked.iter().filter(|asked| asked.starts_with("tap")).count();
    let looks = asked.iter().filter(|asked| *asked == "screenshot").count();
    assert_eq!((taps, looks), (1, 1), "{asked:?}");
}

/// Cancels the call and then never returns.
struct Stubborn(bool);

#[async_trait]
impl Policy for Stubborn {
    fn name(&self) -> String {
        "stubborn".into()
    }

    async fn decide(
        &self,
        _: &Observation,
        call: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        if self.0 {
            call.cancelled.cancel();
        }
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_policy_does_not_block_the_run() {
    let mut options = options();
    options.budgets.time = Some(Duration::from_secs(60));
    for (cancels, stopped) in [(true, StopReason::Cancelled), (false, StopReason::Budget)] {
        let agent =
            Agent::new(Arc::new(Stubborn(cancels)), Arc::new(Phone::new()), options.clone());
        let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
        assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(stopped)));
        assert!(ended.took < Duration::from_secs(70), "{:?}", ended.took);
    }
}

#[tokio::test(start_paused = true)]
async fn lost_phone_is_awaited_for_two_minutes() {
    let phone = Arc::new(Phone::new().failing("screenshot", [lost(), lost(), lost()]));
    let ended = run(Arc::clone(&phone), Script::of([finishes()])).await;
    assert_eq!(ended.status, AgentStatus::Finish);
    let waits: Vec<String> =
        phone.asked().into_iter().filter(|asked| asked.starts_with("wait")).collect();
    assert_eq!(waits, ["wait 1 s", "wait 4 s", "wait 10 s"]);
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(lost(), 99)));
    let ended = run(phone, Script::of([finishes()])).await;
    assert_eq!(ended.stopped, Some(StopReason::Failed));
    assert_eq!(ended.took, Duration::from_secs(120));
}

#[tokio::test(start_paused = true)]
async fn default_step_limit_is_fifty() {
    let looks = std::iter::repeat_n(does([]), 99);
    let policy = Script::of(looks);
    let ended = run(Arc::new(Phone::new()), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(StopReason::Budget)));
    assert_eq!((ended.rounds, policy.seen().len()), (50, 50));
    assert!(
        policy.seen()[49].feedback[0].starts_with("The budget is running low: 1 of 50 steps left")
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_tap_is_reported_and_then_ends_run() {
    let policy = Script::of(std::iter::repeat_n(does([click("1")]), 99));
    let ended = run(Arc::new(Phone::new()), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Fail, Some(StopReason::Loop)));
    let seen = policy.seen();
    let out =
        |observation: &Observation| observation.feedback.iter().any(|it| it.contains("in a loop"));
    assert_eq!(seen.iter().position(out), Some(3));
    assert_eq!(ended.rounds, 10);
}

#[tokio::test(start_paused = true)]
async fn rejected_claim_continues_the_run() {
    let phone = Arc::new(Phone::new());
    let policy = Script::of([finishes(), finishes()]);
    *policy.judgements.lock().unwrap() = [false, true].into();
    let ended = run(Arc::clone(&phone), Arc::clone(&policy)).await;
    assert_eq!((ended.status, ended.rounds, ended.stopped), (AgentStatus::Finish, 2, None));
    assert_eq!(ended.spent.calls, 4);
    let looks = phone.asked().iter().filter(|asked| *asked == "screenshot").count();
    assert_eq!(looks, 4);
    assert_eq!(
        policy.seen()[1].feedback,
        [
            "You said that the goal is reached, but a check of the screen says that it is not: the list is empty"
        ]
    );
    // A policy that keeps claiming is not believed forever.
    let policy = Script::of(std::iter::repeat_n(finishes(), 9));
    *policy.judgements.lock().unwrap() = [false; 9].into();
    let ended = run(phone, policy).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Fail, 3));
    assert_eq!(ended.stopped, Some(StopReason::Loop));
}

/// Claims that the goal is reached, but gives no judgement: it fails, or the call is cancelled in
/// the meantime.
struct Unjudging {
    script: Arc<Script>,
    cancels: bool,
}

#[async_trait]
impl Policy for Unjudging {
    fn name(&self) -> String {
        "unjudging".into()
    }

    fn inner(&self) -> Option<&dyn Policy> {
        Some(&*self.script)
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        self.script.decide(observation, call, watch).await
    }

    async fn judge(
        &self,
        _: &Observation,
        _: &Decision,
        call: &Call,
        _: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        if self.cancels {
            call.cancelled.cancel();
            std::future::pending::<()>().await;
        }
        Err(PolicyError { reason: "the judge is away".into(), spent: spent(), cancelled: false })
    }
}

#[tokio::test(start_paused = true)]
async fn unchecked_claim_is_not_a_finish() {
    let claims = || Script::of(std::iter::repeat_n(finishes(), 9));
    let script = claims();
    let policy = Unjudging { script: script.clone(), cancels: false };
    let agent = Agent::new(Arc::new(policy), Arc::new(Phone::new()), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Fail, Some(StopReason::Failed)));
    assert!(
        ended.reason.ends_with("the claim was not judged: the judge is away"),
        "{}",
        ended.reason
    );
    assert_eq!((ended.rounds, ended.spent.calls), (3, 6));
    assert_eq!(script.seen()[1].feedback, ["the claim was not judged: the judge is away"]);

    let policy = Unjudging { script: claims(), cancels: true };
    let agent = Agent::new(Arc::new(policy), Arc::new(Phone::new()), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(StopReason::Cancelled)));
}

/// A phone that gets worse: its screenshots are invalid, or its screen cannot be read after a tap.
struct Worse {
    phone: Phone,
    no_pictures: bool,
}

#[async_trait]
impl Perform for Worse {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let taps = matches!(action, Action::TapElement(_));
        let done = self.phone.perform(call, action).await;
        if taps {
            let away = std::iter::repeat_n(busy(), 99).collect();
            self.phone.failing.lock().unwrap().insert("controls", away);
        }
        match done {
            Ok(Outcome::ScreenshotAndControls(mut both)) if self.no_pictures => {
                both.screenshot.image.bytes = vec![1, 2, 3].into();
                Ok(both.into())
            }
            done => done,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn annotation_failure_is_reported_and_run_continues() {
    let policy = Script::of([finishes()]);
    let phone = Worse { phone: Phone::new(), no_pictures: true };
    let agent = Agent::new(policy.clone(), Arc::new(phone), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!(ended.status, AgentStatus::Finish);
    let seen = policy.seen().remove(0);
    assert!(seen.marked.is_none() && seen.clean.is_some());
    assert_eq!(seen.current_controls.len(), 2);
    let out = "Missing from this step: cannot annotate the screenshot: ";
    assert!(seen.feedback[0].starts_with(out), "{:?}", seen.feedback);
}

#[tokio::test(start_paused = true)]
async fn second_action_is_skipped_on_unreadable_screen() {
    let policy = Script::of([does([click("1"), click("2")]), finishes()]);
    let phone = Arc::new(Worse { phone: Phone::new(), no_pictures: false });
    let agent = Agent::new(policy.clone(), phone.clone(), options());
    agent.run(&an_hour(), REQUEST, Memory::default()).await;
    let taps = phone.phone.asked().iter().filter(|asked| asked.starts_with("tap")).count();
    assert_eq!(taps, 1);
    let out =
        "click_control failed: not done: the screen could not be read after the previous action";
    let observations = &policy.seen()[1].feedback;
    assert!(observations.iter().any(|it| it == out), "{observations:?}");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_phone_counts_against_time() {
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(lost(), 99)));
    let mut options = options();
    options.budgets.time = Some(Duration::from_secs(20));
    let policy = Script::of([finishes()]);
    let ended = Agent::new(policy.clone(), phone, options)
        .run(&an_hour(), REQUEST, Memory::default())
        .await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(StopReason::Budget)));
    assert_eq!(policy.seen().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn unwritable_trace_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let started = "2025-11-14T10:30:45Z".into();
    let recorder =
        Arc::new(thumbwire_core::trace::Recorder::begin(folder.path(), started).unwrap());
    std::fs::remove_dir_all(folder.path()).unwrap();
    let policy = Script::of([does([click("1")]), finishes()]);
    let agent = Agent::new(policy.clone(), Arc::new(Phone::new()), options()).with_trace(recorder);
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 2));
    assert_eq!(policy.seen()[1].last_success_actions.len(), 1);
}
