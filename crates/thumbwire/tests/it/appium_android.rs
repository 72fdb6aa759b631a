//! The field's own clients of Android at `thumbwire phone`: the real Appium server with its
//! UiAutomator2 driver, which installs and instruments its server there, and Python's
//! `uiautomator2`, which starts its `u2.jar`.

use crate::appium_server::{Server, appium, run};
use crate::stock_adb::{Phone, Stock};
use thumbwire_test_support::python;

#[test]
fn real_appium_server_drives_the_virtual_android_phone() {
    let Some(folder) = appium() else { return };
    let Some(python) = python("appium", "appium") else { return };
    let Some(stock) = Stock::start() else { return };
    let phone = Phone::start("1");
    stock.adb(&["connect", &phone.address]);
    let server = Server::start(&folder);
    let table =
        run(&python, "appium_uiautomator2.py", &[&server.url, &phone.address, &stock.port()]);
    println!("{table}");
    let passed = table.lines().filter(|line| line.starts_with("passed")).count();
    assert!(passed >= 60, "{table}");
}

#[test]
fn python_uiautomator2_runs_its_quick_start() {
    let Some(python) = python("appium", "uiautomator2") else { return };
    let Some(stock) = Stock::start() else { return };
    let phone = Phone::start("1");
    stock.adb(&["connect", &phone.address]);
    println!("{}", run(&python, "uiautomator2_quick_start.py", &[&phone.address, &stock.port()]));
}
