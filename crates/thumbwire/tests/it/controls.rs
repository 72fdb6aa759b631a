//! Two surfaces over one session, as UFO's two servers: what one has listed the other acts on, minutes later too.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire::action::{Action, Call, Choice, Looking, Outcome, Perform as _};
use thumbwire::session::{Phones, Session, VIRTUAL};
use thumbwire::surface::{Surface, ufo};
use thumbwire_adb::AdbServer;
use thumbwire_device::Detail;
use thumbwire_virtual_phone::{Setup, VirtualPhone};

const MINUTE: Duration = Duration::from_secs(60);

/// UFO's two servers over one session.
struct Ufo {
    phone: VirtualPhone,
    session: Session,
    surfaces: [Surface; 2],
}

impl Ufo {
    /// Of a phone that shows an app.
    async fn on(app: &str) -> Self {
        let phone = VirtualPhone::new(Setup::default());
        let phones = Phones::new(AdbServer::new("127.0.0.1:9")).with_virtual(phone.clone());
        let session = Session::new(phones, Some(VIRTUAL.into()));
        let ufo = Self { phone, session, surfaces: [ufo::data(), ufo::action()] };
        let launched = ufo.call("launch_app", json!({ "package_name": app })).await;
        assert_eq!(launched["success"], true, "{launched}");
        ufo
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let of_it = |surface| Surface::tool(surface, tool).map(|tool| (surface, tool));
        let (surface, tool) = self.surfaces.iter().find_map(of_it).unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        let reply = surface.answer(tool, arguments, Call::within(tool.budget), &self.session).await;
        reply.structured.unwrap_or_else(|| panic!("{:?}", reply.content))
    }

    /// The control of this name, as it is listed now.
    async fn listed(&self, name: &str) -> Value {
        let controls = self.call("get_app_window_controls_target_info", json!({})).await;
        let controls = controls["result"].as_array().unwrap();
        let named = controls.iter().find(|control| control["name"] == name);
        named.unwrap_or_else(|| panic!("no {name} among {controls:?}")).clone()
    }

    async fn click(&self, control: &Value) -> Value {
        let (id, name) = (&control["id"], &control["name"]);
        self.call("click_control", json!({ "control_id": id, "control_name": name })).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_minute_later_a_control_is_clicked_where_it_lies_by_then() {
    let ufo = Ufo::on("com.android.settings").await;
    ufo.phone.add_fault("target-moved:times=1".parse().unwrap());
    let battery = ufo.listed("Battery").await;
    tokio::time::advance(MINUTE).await;
    let clicked = ufo.click(&battery).await;
    assert_eq!(clicked["success"], true, "{clicked}");
    assert_eq!(ufo.phone.strikes().len(), 1, "it had moved");
    let now = &clicked["control_info"];
    assert_eq!((&now["id"], &now["name"]), (&battery["id"], &battery["name"]));
    assert_ne!(now["rect"], battery["rect"]);
    ufo.listed("Battery Saver").await;
}

#[tokio::test(start_paused = true)]
async fn after_an_action_an_old_number_is_refused_in_the_documents_words() {
    let ufo = Ufo::on("com.android.settings").await;
    let battery = ufo.listed("Battery").await;
    ufo.call("press_key", json!({ "key_code": "KEYCODE_HOME" })).await;
    let refused = ufo.click(&battery).await;
    assert_eq!(refused["success"], false, "{refused}");
    let id = battery["id"].as_str().unwrap();
    let words = format!(
        "Control with ID '{id}' not found. Please call get_app_window_controls_target_info first."
    );
    assert!(refused["error"].as_str().unwrap().starts_with(&words), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn many_calls_of_both_servers_at_once_all_get_their_answers() {
    let ufo = Ufo::on("com.android.settings").await;
    let calls = (0..4).flat_map(|_| {
        [
            ufo.call("get_app_window_controls_target_info", json!({})),
            ufo.call("get_ui_tree", json!({})),
            ufo.call("tap", json!({ "x": 1, "y": 1 })),
            ufo.call("get_mobile_app_target_info", json!({ "include_system_apps": true })),
            ufo.call("get_device_info", json!({})),
            ufo.call("invalidate_cache", json!({})),
            ufo.call("wait", json!({ "seconds": 1 })),
        ]
    });
    for answer in futures::future::join_all(calls).await {
        assert!(answer["result"].is_array() || answer["success"] == true, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_app_is_found_by_a_word_of_its_name() {
    let ufo = Ufo::on("notes").await;
    for (word, app) in
        [("clock", "com.google.android.deskclock"), ("MAPS", "com.google.android.apps.maps")]
    {
        let call = Call::within(MINUTE);
        let launch = Action::Launch(Choice::Named(word.into()));
        match ufo.session.perform(&call, launch).await {
            Ok(Outcome::Launched { app: launched, .. }) => assert_eq!(launched.0, app),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_compressed_look_has_fewer_nodes_and_stands_beside_the_full_one() {
    let ufo = Ufo::on("com.android.settings").await;
    let look = async |detail| {
        let looking = Looking { detail, no_older_than: MINUTE };
        match ufo.session.perform(&Call::within(MINUTE), Action::Look(looking)).await {
            Ok(Outcome::Look(look)) => look,
            other => panic!("{other:?}"),
        }
    };
    let (full, small) = (look(Detail::Full).await, look(Detail::Compressed).await);
    assert!(small.tree.nodes.len() < full.tree.nodes.len());
    let again = (look(Detail::Full).await, look(Detail::Compressed).await);
    assert_eq!(again, (full, small));
}
