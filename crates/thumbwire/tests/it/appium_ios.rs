//! The real Appium server with its XCUITest driver at the virtual iPhone.

use thumbwire_virtual_ios::{Setup, VirtualIphone};
use thumbwire_virtual_phone::Platform;
use tokio::net::TcpListener;

use crate::appium_server::{Server, appium, run};
use thumbwire_test_support::python;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_appium_server_drives_the_virtual_iphone() {
    let Some(folder) = appium() else { return };
    let Some(python) = python("appium", "appium") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let phone = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { VirtualIphone::new(Setup::default()).serve(listener).await });
    let judge = move || {
        let server = Server::start(&folder);
        run(&python, "appium_xcuitest.py", &[&server.url, &phone, Platform::IOS_VERSION])
    };
    let table = tokio::task::spawn_blocking(judge).await.unwrap();
    println!("{table}");
    let passed = table.lines().filter(|line| line.starts_with("passed")).count();
    assert!(passed >= 60, "{table}");
}
