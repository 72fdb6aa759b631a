//! Our client for remote servers (rmcp's underneath), and the dispatcher over it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Perform;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::dispatch::{
    Command, Dispatch as _, Dispatcher, LocalToolServer, ResultStatus,
};
use thumbwire_core::toolset::{Content, Toolset, ufo};
use thumbwire_mcp::RemoteClient;
use thumbwire_mcp::http::{self, Access, ServedToolset};
use thumbwire_mcp::http_token::Token;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio_util::sync::CancellationToken;

use crate::http_support::Served;

fn key(key: &str) -> Map<String, Value> {
    json!({ "key": key }).as_object().cloned().unwrap()
}

async fn press(remote: &RemoteClient, name: &str) -> Result<String, String> {
    let reply = remote.call("mobile_press_key", key(name)).await;
    let reply = reply.map_err(|error| error.to_string())?;
    assert!(!reply.is_error, "{reply:?}");
    let Content::Text(text) = &reply.content[0] else { panic!("{reply:?}") };
    Ok(text.clone())
}

#[tokio::test]
async fn client_needs_the_token() {
    let token = Token::generate().unwrap();
    let server = Served::start(Access::Token(token.clone())).await;
    let url = format!("http://{}/mcp", server.address);
    let remote = RemoteClient::connect(&url, Some(token)).await.unwrap();
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
    let error = remote.call("no_such_tool", Map::new()).await.unwrap_err().to_string();
    assert_eq!(error, "Unknown tool: no_such_tool", "as from a server in this process");
    for wrong in [None, Some(Token::generate().unwrap())] {
        let error = RemoteClient::connect(&url, wrong).await.map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&url), "{error}");
    }
}

#[tokio::test]
async fn restarted_server_is_initialized_again() {
    let server = Served::start(Access::Everyone).await;
    let address = server.address;
    let url = format!("http://{address}/mcp");
    let remote = RemoteClient::connect(&url, None).await.unwrap();
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
    server.stop.cancel();
    server.running.await.unwrap().unwrap();
    let error = press(&remote, "home").await.unwrap_err();
    assert!(error.starts_with(&url), "{error}");
    let listener = http::bind(&address.to_string()).await.unwrap();
    let _again = Served::start_at(listener, Access::Everyone);
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
}

#[tokio::test]
async fn slow_call_times_out_and_the_server_is_told() {
    let mut server = Served::start(Access::Everyone).await;
    let url = format!("http://{}/mcp", server.address);
    let remote =
        RemoteClient::connect(&url, None).await.unwrap().with_timeout(Duration::from_millis(100));
    let error = press(&remote, "volume_down").await.unwrap_err();
    assert_eq!(error, format!("{url}: no response within 0.1 s"));
    assert_eq!(server.told.recv().await, Some("begun"));
    assert_eq!(server.told.recv().await, Some("gone"));
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
}

#[tokio::test]
async fn unreachable_server_is_reported_with_its_address() {
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let error = RemoteClient::connect(&url, None).await.map(drop).unwrap_err().to_string();
    assert!(error.starts_with(&url), "{error}");
}

#[tokio::test]
async fn commands_have_the_same_results_locally_and_over_http() {
    let commands = || {
        serde_json::from_value::<Vec<Command>>(json!([
            { "tool_name": "get_device_info", "tool_type": "data_collection" },
            { "tool_name": "get_app_window_controls_target_info", "tool_type": "data_collection" },
            { "tool_name": "capture_screenshot", "tool_type": "data_collection" },
            { "tool_name": "press_key", "parameters": { "key_code": "KEYCODE_HOME" }, "tool_type": "action" },
            { "tool_name": "click_control", "parameters": { "control_id": "1", "control_name": "x" }, "tool_type": "action" },
            { "tool_name": "tap", "parameters": { "x": 1, "y": 1 }, "tool_type": "action" },
        ]))
        .unwrap()
    };
    let session = || -> Arc<dyn Perform> {
        let phone = VirtualPhone::new(Setup::default());
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(phone));
        Arc::new(Session::new(phones, Some(VIRTUAL.into())))
    };
    let perform = session();
    let here = Dispatcher::new(
        LocalToolServer::new(ufo::data(), Arc::clone(&perform)),
        LocalToolServer::new(ufo::action(), perform),
    );
    let here = here.execute_commands(commands()).await;

    let perform = session();
    let serve = async |surface: Toolset| {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let view = ServedToolset::new(Arc::new(surface), Arc::clone(&perform));
        tokio::spawn(http::serve(listener, view, Access::Everyone, CancellationToken::new()));
        RemoteClient::connect(&url, None).await.unwrap()
    };
    let there = Dispatcher::new(serve(ufo::data()).await, serve(ufo::action()).await);
    let there = there.execute_commands(commands()).await;
    assert_eq!(here, there);
    let statuses: Vec<_> = here.iter().map(|result| result.status).collect();
    use ResultStatus::{Failure, Skipped, Success};
    assert_eq!(statuses, [Success, Success, Success, Success, Failure, Skipped]);
}
