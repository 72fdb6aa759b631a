//! The app's tools on a scripted phone, and what its page must not contain.

use std::sync::Mutex;

use serde_json::json;
use thumbwire_device::{Gesture, Image, Point, Size};

use super::*;
use crate::action::{Outcome, Scope};
use crate::toolset::{Toolset, mobile};

/// A phone whose screen changes after some screenshots; notes who asked for what.
#[derive(Default)]
struct Phone {
    changes_after: usize,
    asked: Mutex<Vec<(ClientId, Action)>>,
}

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let mut asked = self.asked.lock().unwrap();
        asked.push((call.client.clone(), action.clone()));
        let Action::Screenshot(options) = action else { return Ok(Outcome::Done) };
        assert!(options.fresh, "a kept screenshot would hide a change");
        let shown = if asked.len() > self.changes_after { "after" } else { "before" };
        Ok(Outcome::Screenshot(Screenshot {
            image: Image { format: Format::Jpeg, bytes: shown.as_bytes().into() },
            size: Size { width: 540, height: 1200 },
            blank: (self.changes_after == 1).then_some(BlackReason::ScreenOff),
        }))
    }
}

fn tool<'a>(toolset: &'a Toolset, name: &str) -> &'a Tool {
    toolset.ui_tools.iter().find(|tool| tool.name == name).unwrap()
}

async fn call(phone: &Phone, name: &str, arguments: Value) -> Reply {
    let toolset = mobile::toolset();
    let tool = tool(&toolset, name);
    let arguments = arguments.as_object().cloned().unwrap();
    toolset.answer(tool, arguments, Call::with_timeout(tool.budget), phone).await
}

#[tokio::test(start_paused = true)]
async fn picture_comes_when_it_differs() {
    let first = call(&Phone::default(), "mobile_phone_picture", json!({})).await;
    let shown = first.structured.unwrap();
    assert_eq!(shown["width"], 540);
    assert!(matches!(&first.content[0], Content::Image(image) if image.bytes == "after"));

    let (phone, began) = (Phone::default(), Instant::now());
    let after = json!({ "after": shown["picture"] });
    let same = call(&phone, "mobile_phone_picture", after).await;
    assert_eq!(
        same,
        Reply { structured: same.structured.clone(), ..Reply::text("Nothing has changed") }
    );
    assert!((WAIT..WAIT * 2).contains(&began.elapsed()), "{:?}", began.elapsed());

    let (phone, began) = (Phone { changes_after: 4, ..Phone::default() }, Instant::now());
    let before = fingerprint(&Screenshot {
        image: Image { format: Format::Jpeg, bytes: "before".into() },
        size: Size { width: 540, height: 1200 },
        blank: None,
    });
    let changed = call(&phone, "mobile_phone_picture", json!({ "after": before })).await;
    assert_eq!(changed.structured, Some(shown));
    assert_eq!(began.elapsed(), PAUSE * 4);
    let asked = phone.asked.into_inner().unwrap();
    assert!(asked.iter().all(|(client, _)| *client == ClientId::Server), "no look of the model");
}

#[tokio::test]
async fn black_picture_has_its_reason() {
    let phone = Phone { changes_after: 1, ..Phone::default() };
    let black = call(&phone, "mobile_phone_picture", json!({})).await;
    assert_eq!(black.structured.unwrap()["black"], "The screen is off");
}

#[tokio::test]
async fn hand_acts_for_its_client_and_does_nothing_else() {
    let phone = Phone::default();
    let tap = json!({ "touch": { "tap": { "at": { "x": 3, "y": 4 } } } });
    let done = call(&phone, "mobile_phone_act", json!({ "action": tap })).await;
    assert_eq!(done.structured, Some(json!({ "done": "Done" })));
    let typed = json!({ "type": { "text": "a", "clear": false, "submit": false, "blind": true } });
    let text = call(&phone, "mobile_phone_act", json!({ "action": typed })).await;
    assert_eq!(text, done);
    for refused in [json!({ "clear_app": "com.a" }), json!({ "uninstall": "com.a" }), json!({})] {
        let refused = call(&phone, "mobile_phone_act", json!({ "action": refused })).await;
        assert!(refused.is_error, "{refused:?}");
    }
    let asked = phone.asked.into_inner().unwrap();
    let at = Point { x: 3, y: 4 };
    assert_eq!(asked[0], (ClientId::default(), Action::Touch(Gesture::Tap { at })));
    assert_eq!(asked.len(), 2);
}

#[test]
fn only_the_hand_needs_the_scope_to_act() {
    let toolset = mobile::toolset();
    let acts = |tool: &&Tool| tool.scope() == Scope::Act;
    let tools = toolset.ui_tools.iter().map(|tool| &**tool);
    let acting: Vec<_> = tools.filter(acts).map(|tool| &tool.name).collect();
    assert_eq!(acting, ["mobile_phone_act"]);
}

#[test]
fn a_model_reads_little_of_the_app() {
    let toolset = mobile::toolset();
    let show = tool(&toolset, "mobile_show_phone");
    assert!(show.read_by_models() < 250, "{}", show.read_by_models());
    let seen = toolset.ui_tools.iter().filter(|tool| tool.app_role != Some(AppRole::Serves));
    assert_eq!(seen.count(), 1);
}

/// Clients forbid pages of apps to load anything, and what the phone shows must not become HTML.
#[test]
fn page_loads_nothing_and_writes_no_html() {
    let page = page();
    for forbidden in
        ["http:", "https:", "src=", "href=", "import ", "innerHTML", "insertAdjacent", "{{"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}
