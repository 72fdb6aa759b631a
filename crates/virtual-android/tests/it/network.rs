//! Wi-Fi, as shell programs switch and show it.

use crate::common::Wired;
use thumbwire_virtual_android::Setup;

#[tokio::test]
async fn wifi_off_removes_the_address() {
    let wired = Wired::new();
    let address = "inet addr:192.0.2.15  Bcast:192.0.2.255  Mask:255.255.255.0";
    assert!(wired.stdout("ifconfig wlan0").await.contains(address));
    assert!(
        wired.stdout("ip -f inet addr show wlan0").await.contains("    inet 192.0.2.15/24 brd")
    );
    wired.stdout("svc wifi disable").await;
    assert_eq!(
        wired.stdout("settings get global wifi_on; cmd wifi status").await,
        "0\nWifi is disabled\n"
    );
    assert!(!wired.stdout("ifconfig; ip addr").await.contains("192.0.2.15"));
    wired.stdout("settings put global airplane_mode_on 1; cmd wifi set-wifi-enabled enabled").await;
    assert_eq!(wired.stdout("settings get global wifi_on").await, "2\n");
    wired.stdout("svc data disable").await;
    assert_eq!(wired.stdout("settings get global mobile_data").await, "0\n");
}

#[tokio::test]
async fn missing_interfaces_get_each_programs_error() {
    let wired = Wired::new();
    for (command, status, out, err) in [
        ("ifconfig eth0", 1, "", "ifconfig: ioctl 8913: No such device\n"),
        ("ip addr show dev eth0", 1, "", "Device \"eth0\" does not exist.\n"),
        ("ip route", 0, "", ""),
        (
            "svc wifi",
            1,
            "Control the Wi-Fi manager\n\nusage: svc wifi [enable|disable]\n         Turn Wi-Fi on or off.\n\n",
            "",
        ),
    ] {
        assert_eq!(wired.all(command).await, (status, out.into(), err.into()), "{command}");
    }
}

#[tokio::test]
async fn old_phone_prints_an_address_on_one_line() {
    let wired = Wired::made(Setup::of_release("4.4").expect("known"));
    let output = wired.run("ifconfig wlan0").await.stdout;
    let line = "wlan0: ip 192.0.2.15 mask 255.255.255.0 flags [up broadcast running multicast]";
    assert_eq!(String::from_utf8_lossy(&output).trim_end(), line);
}
