//! How a run goes on, and how it ends: what fails, what is waited for, what is used up.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_tried_again_and_the_run_goes_on() {
    let phone = Arc::new(Phone::new().failing("screenshot", [busy(), busy()]));
    let ended = run(Arc::clone(&phone), Script::of([finishes()])).await;
    assert_eq!((ended.status, &*ended.why), (Status::Finish, "Three of them"));
    let looks = ["screenshot", "wait 0.5 s", "screenshot", "wait 1 s", "screenshot"];
    assert_eq!(phone.asked()[..5], looks);
}

#[tokio::test(start_paused = true)]
async fn without_a_screenshot_the_run_fails_at_once_and_no_mind_is_asked() {
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(busy(), 9)));
    let mind = Script::of([finishes()]);
    let ended = run(Arc::clone(&phone), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.stopped), (Status::Fail, Some(Stopped::Failed)));
    assert!(ended.why.contains("the phone is busy"), "{}", ended.why);
    assert_eq!(mind.seen().len(), 0);
    assert!(!phone.asked().contains(&"apps".to_owned()));
    // Without patience it is asked once.
    let phone = Arc::new(Phone::new().failing("screenshot", [busy()]));
    let mut options = options();
    options.safeguards.patience = false;
    let agent = Agent::new(mind, phone.clone(), options);
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!(ended.stopped, Some(Stopped::Failed));
    assert_eq!(phone.asked(), ["screenshot"]);
}

#[tokio::test(start_paused = true)]
async fn without_controls_or_apps_a_mind_decides_by_what_there_is() {
    let phone = Phone::new()
        .failing("apps", std::iter::repeat_n(busy(), 4))
        .failing("controls", std::iter::repeat_n(busy(), 4));
    let mind = Script::of([does([]), finishes()]);
    let ended = run(Arc::new(phone), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.rounds), (Status::Finish, 2));
    let seen = mind.seen();
    assert!(seen[0].installed_apps.is_empty() && seen[0].current_controls.is_empty());
    assert!(seen[0].clean.is_some() && seen[0].marked.is_none() && seen[0].doubt.is_some());
    assert_eq!(seen[0].observations.len(), 2, "{:?}", seen[0].observations);
    assert!(seen[0].observations[1].starts_with("Not seen this time: Failed to dump UI hierarchy"));
    // It is there again, so nothing more is said of it.
    assert_eq!((seen[1].current_controls.len(), seen[1].observations.len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_mind_without_a_decision_ends_the_run_and_its_cost_counts() {
    let ended = run(Arc::new(Phone::new()), Script::of([])).await;
    assert_eq!((ended.status, ended.stopped), (Status::Fail, Some(Stopped::Failed)));
    assert_eq!(ended.why, "the model gave no answer");
    assert_eq!(ended.spent, spent());
}

#[tokio::test(start_paused = true)]
async fn an_action_that_fails_is_told_and_remembered_and_those_behind_it_are_not_done() {
    let phone = Arc::new(Phone::new().failing("act", [busy()]));
    let finish = Decision { status: Status::Finish, ..does([click("1"), click("2")]) };
    let mind = Script::of([finish, finishes()]);
    let ended = run(Arc::clone(&phone), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.rounds), (Status::Finish, 2));
    let taps = phone.asked().iter().filter(|asked| asked.starts_with("tap")).count();
    assert_eq!(taps, 1);
    let seen = mind.seen();
    assert_eq!(
        seen[1].observations,
        [
            "click_control failed: Failed to click control: the phone is busy; try again; if it stays so, try another way",
            "click_control failed: not done: an earlier action of the same reply failed"
        ]
    );
    assert!(seen[1].last_success_actions.is_empty());
    assert_eq!(seen[1].previous_plan, ["type restaurants"]);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_is_none_is_a_failed_action() {
    let mind = Script::of([does([doing("fly", json!({}))]), finishes()]);
    let ended = run(Arc::new(Phone::new()), Arc::clone(&mind)).await;
    assert_eq!(ended.status, Status::Finish);
    let seen = mind.seen();
    assert_eq!(seen[1].observations, ["fly failed: There is no function called \"fly\""]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_taken_back_ends_behind_the_action_under_way() {
    let call = an_hour();
    let phone = Arc::new(Phone { cancels: Some(call.cancelled.clone()), ..Phone::new() });
    let mind = Script::of([does([click("1"), click("2")]), finishes()]);
    let agent = Agent::new(mind, phone.clone(), options());
    let ended = agent.run(&call, REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (Status::Continue, Some(Stopped::Cancelled)));
    assert_eq!((ended.rounds, ended.spent), (1, spent()));
    let asked = phone.asked();
    let taps = asked.iter().filter(|asked| asked.starts_with("tap")).count();
    let looks = asked.iter().filter(|asked| *asked == "screenshot").count();
    assert_eq!((taps, looks), (1, 1), "{asked:?}");
}

/// Takes the call back, and goes on thinking for ever.
struct Stubborn(bool);

#[async_trait]
impl Mind for Stubborn {
    fn name(&self) -> String {
        "stubborn".into()
    }

    async fn decide(&self, _: &Sight, call: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        if self.0 {
            call.cancelled.cancel();
        }
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_mind_that_never_ends_does_not_hold_a_run() {
    let mut options = options();
    options.budgets.time = Some(Duration::from_secs(60));
    for (cancels, stopped) in [(true, Stopped::Cancelled), (false, Stopped::Budget)] {
        let agent =
            Agent::new(Arc::new(Stubborn(cancels)), Arc::new(Phone::new()), options.clone());
        let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
        assert_eq!((ended.status, ended.stopped), (Status::Continue, Some(stopped)));
        assert!(ended.took < Duration::from_secs(70), "{:?}", ended.took);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_phone_is_waited_for_and_one_that_stays_away_ends_the_run() {
    let phone = Arc::new(Phone::new().failing("screenshot", [lost(), lost(), lost()]));
    let ended = run(Arc::clone(&phone), Script::of([finishes()])).await;
    assert_eq!(ended.status, Status::Finish);
    let waits: Vec<String> =
        phone.asked().into_iter().filter(|asked| asked.starts_with("wait")).collect();
    assert_eq!(waits, ["wait 1 s", "wait 4 s", "wait 10 s"]);
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(lost(), 99)));
    let ended = run(phone, Script::of([finishes()])).await;
    assert_eq!(ended.stopped, Some(Stopped::Failed));
    assert_eq!(ended.took, Duration::from_secs(120));
}

#[tokio::test(start_paused = true)]
async fn fifty_rounds_are_the_most_unless_more_are_asked_for() {
    let looks = std::iter::repeat_n(does([]), 99);
    let mind = Script::of(looks);
    let ended = run(Arc::new(Phone::new()), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.stopped), (Status::Continue, Some(Stopped::Budget)));
    assert_eq!((ended.rounds, mind.seen().len()), (50, 50));
    assert!(mind.seen()[49].observations[0].starts_with("Little is left: 1 of 50 rounds"));
}

#[tokio::test(start_paused = true)]
async fn the_same_tap_again_and_again_is_told_and_then_ends_the_run() {
    let mind = Script::of(std::iter::repeat_n(does([click("1")]), 99));
    let ended = run(Arc::new(Phone::new()), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.stopped), (Status::Fail, Some(Stopped::Loop)));
    let seen = mind.seen();
    let told = |sight: &Sight| sight.observations.iter().any(|it| it.contains("going round"));
    assert_eq!(seen.iter().position(told), Some(3));
    assert_eq!(ended.rounds, 10);
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_judged_by_a_fresh_look_and_what_is_not_borne_out_goes_on() {
    let phone = Arc::new(Phone::new());
    let mind = Script::of([finishes(), finishes()]);
    *mind.judgements.lock().unwrap() = [false, true].into();
    let ended = run(Arc::clone(&phone), Arc::clone(&mind)).await;
    assert_eq!((ended.status, ended.rounds, ended.stopped), (Status::Finish, 2, None));
    assert_eq!(ended.spent.calls, 4);
    let looks = phone.asked().iter().filter(|asked| *asked == "screenshot").count();
    assert_eq!(looks, 4);
    assert_eq!(
        mind.seen()[1].observations,
        ["You said that the goal is reached; a fresh look says that it is not: the list is empty"]
    );
    // Who goes on claiming is believed no longer.
    let mind = Script::of(std::iter::repeat_n(finishes(), 9));
    *mind.judgements.lock().unwrap() = [false; 9].into();
    let ended = run(phone, mind).await;
    assert_eq!((ended.status, ended.rounds), (Status::Fail, 3));
    assert_eq!(ended.stopped, Some(Stopped::Loop));
}

/// Claims that the goal is reached, and has no judgement of it: none comes, or the call is taken back meanwhile.
struct Unjudging {
    script: Arc<Script>,
    cancels: bool,
}

#[async_trait]
impl Mind for Unjudging {
    fn name(&self) -> String {
        "unjudging".into()
    }

    async fn decide(
        &self,
        sight: &Sight,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Thinking, Undecided> {
        self.script.decide(sight, call, watch).await
    }

    async fn judge(
        &self,
        _: &Sight,
        _: &Decision,
        call: &Call,
        _: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        if self.cancels {
            call.cancelled.cancel();
            std::future::pending::<()>().await;
        }
        Err(Undecided { why: "the judge is away".into(), spent: spent(), cancelled: false })
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_could_check_is_no_finish() {
    let claims = || Script::of(std::iter::repeat_n(finishes(), 9));
    let script = claims();
    let mind = Unjudging { script: script.clone(), cancels: false };
    let agent = Agent::new(Arc::new(mind), Arc::new(Phone::new()), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (Status::Fail, Some(Stopped::Failed)));
    assert!(ended.why.ends_with("the claim was not judged: the judge is away"), "{}", ended.why);
    assert_eq!((ended.rounds, ended.spent.calls), (3, 6));
    assert_eq!(script.seen()[1].observations, ["the claim was not judged: the judge is away"]);

    let mind = Unjudging { script: claims(), cancels: true };
    let agent = Agent::new(Arc::new(mind), Arc::new(Phone::new()), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (Status::Continue, Some(Stopped::Cancelled)));
}

/// A phone that changes for the worse: its pictures are none, or its screen cannot be read once something was tapped.
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
            Ok(Outcome::Picture(mut picture)) if self.no_pictures => {
                picture.image.bytes = vec![1, 2, 3].into();
                Ok(Outcome::Picture(picture))
            }
            done => done,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_cannot_be_marked_is_told_and_the_run_goes_on() {
    let mind = Script::of([finishes()]);
    let phone = Worse { phone: Phone::new(), no_pictures: true };
    let agent = Agent::new(mind.clone(), Arc::new(phone), options());
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!(ended.status, Status::Finish);
    let seen = mind.seen().remove(0);
    assert!(seen.marked.is_none() && seen.clean.is_some());
    assert_eq!(seen.current_controls.len(), 2);
    let told = "Not seen this time: the controls were not marked on the picture: ";
    assert!(seen.observations[0].starts_with(told), "{:?}", seen.observations);
}

#[tokio::test(start_paused = true)]
async fn a_second_action_on_a_screen_that_cannot_be_read_is_not_done() {
    let mind = Script::of([does([click("1"), click("2")]), finishes()]);
    let phone = Arc::new(Worse { phone: Phone::new(), no_pictures: false });
    let agent = Agent::new(mind.clone(), phone.clone(), options());
    agent.run(&an_hour(), REQUEST, Memory::default()).await;
    let taps = phone.phone.asked().iter().filter(|asked| asked.starts_with("tap")).count();
    assert_eq!(taps, 1);
    let told =
        "click_control failed: not done: the screen could not be read after the action before";
    let observations = &mind.seen()[1].observations;
    assert!(observations.iter().any(|it| it == told), "{observations:?}");
}

#[tokio::test(start_paused = true)]
async fn time_that_runs_out_while_a_phone_is_waited_for_is_a_budget_used_up() {
    let phone = Arc::new(Phone::new().failing("screenshot", std::iter::repeat_n(lost(), 99)));
    let mut options = options();
    options.budgets.time = Some(Duration::from_secs(20));
    let mind = Script::of([finishes()]);
    let ended =
        Agent::new(mind.clone(), phone, options).run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (Status::Continue, Some(Stopped::Budget)));
    assert_eq!(mind.seen().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_story_that_cannot_be_kept_does_not_end_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let started = "2025-11-14T10:30:45Z".into();
    let recorder = Arc::new(crate::trace::Recorder::begin(folder.path(), started).unwrap());
    std::fs::remove_dir_all(folder.path()).unwrap();
    let mind = Script::of([does([click("1")]), finishes()]);
    let agent = Agent::new(mind.clone(), Arc::new(Phone::new()), options()).with_story(recorder);
    let ended = agent.run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (Status::Finish, 2));
    assert_eq!(mind.seen()[1].last_success_actions.len(), 1);
}
