//! The dispatcher over HTTP.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Perform;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::{Toolset, ufo};
use thumbwire_mcp::http::{self, Access, ServedToolset};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio_util::sync::CancellationToken;

use crate::remote_client::RemoteClient;
use crate::ufo_dispatch::{Command, Dispatcher, LocalToolServer, ResultStatus};

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
    let serve = async |toolset: Toolset| {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let served = ServedToolset::new(Arc::new(toolset), Arc::clone(&perform));
        tokio::spawn(http::serve(listener, served, Access::Everyone, CancellationToken::new()));
        RemoteClient::connect(&url, None, Duration::from_secs(60)).await.unwrap()
    };
    let there = Dispatcher::new(serve(ufo::data()).await, serve(ufo::action()).await);
    let there = there.execute_commands(commands()).await;
    assert_eq!(here, there);
    let statuses: Vec<_> = here.iter().map(|result| result.status).collect();
    use ResultStatus::{Failure, Skipped, Success};
    assert_eq!(statuses, [Success, Success, Success, Success, Failure, Skipped]);
}
