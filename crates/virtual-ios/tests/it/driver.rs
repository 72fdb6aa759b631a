//! The product's iOS driver on the virtual iPhone.

use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{AppId, Device, Foreground, Gesture, Key, Point};

use crate::client::Served;

async fn attach(served: &Served) -> WebDriverPhone {
    WebDriverPhone::attach_wda("iphone", &served.url()).await.unwrap()
}

fn app(front: &Foreground) -> &str {
    match front {
        Foreground::App(front) => &front.app.0,
        other => panic!("{other:?}"),
    }
}

/// The middle of what has this description, in pixels.
async fn middle(ios: &WebDriverPhone, description: &str) -> Point {
    let tree = ios.tree(thumbwire_device::TreeDetail::default()).await.unwrap();
    let node = tree.nodes.iter().find(|node| *node.description == *description);
    let node = node.unwrap_or_else(|| panic!("no {description:?} on the screen"));
    Point {
        x: (node.bounds.left + node.bounds.right) / 2,
        y: (node.bounds.top + node.bounds.bottom) / 2,
    }
}

#[tokio::test]
async fn driver_starts_apps_reads_trees_taps_and_types() {
    let served = Served::new().await;
    let ios = attach(&served).await;
    let picture = ios.screenshot().await.unwrap();
    assert_eq!((picture.size.width, picture.size.height), (828, 1792));
    assert_eq!(ios.screen_size().await.unwrap(), picture.size);
    ios.launch(&AppId("com.example.bank".to_owned()), &[]).await.unwrap();
    assert_eq!(app(&ios.foreground().await.unwrap()), "com.example.bank");
    let tree = ios.tree(thumbwire_device::TreeDetail::default()).await.unwrap();
    assert_eq!(app(&tree.front), "com.example.bank");
    let field = tree.nodes.iter().find(|node| *node.class == *"XCUIElementTypeTextField").unwrap();
    let at = Point {
        x: (field.bounds.left + field.bounds.right) / 2,
        y: (field.bounds.top + field.bounds.bottom) / 2,
    };
    ios.touch(Gesture::Tap { at }).await.unwrap();
    ios.type_text("4711 😀").await.unwrap();
    assert_eq!(served.phone.world(|world| world.focused_text()).as_deref(), Some("4711 😀"));
    ios.press(Key::Home).await.unwrap();
    assert_eq!(app(&ios.foreground().await.unwrap()), "com.apple.springboard");
    let notes = middle(&ios, "Notes").await;
    ios.touch(Gesture::Tap { at: notes }).await.unwrap();
    assert_eq!(app(&ios.foreground().await.unwrap()), "com.apple.mobilenotes");
    let missing = ios.launch(&AppId("com.example.nothing".to_owned()), &[]).await.unwrap_err();
    assert!(matches!(missing, thumbwire_device::Error::NoSuchApp { .. }), "{missing}");
}

#[tokio::test]
async fn driver_survives_a_lost_session() {
    let served = Served::new().await;
    let ios = attach(&served).await;
    ios.launch(&AppId("com.apple.Preferences".to_owned()), &[]).await.unwrap();
    served.phone.add_fault("session-lost:on=/source,nth=1".parse().unwrap());
    let tree = ios.tree(thumbwire_device::TreeDetail::default()).await.unwrap();
    assert!(tree.nodes.iter().any(|node| *node.description == *"Apps"));
    assert!(served.phone.commands().iter().any(|it| it.status == 404), "the fault struck");
}

#[tokio::test]
async fn driver_gets_a_picture_for_each_change() {
    let served = Served::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mjpeg = format!("http://{}", listener.local_addr().unwrap());
    let phone = served.phone.clone();
    tokio::spawn(async move { phone.serve_mjpeg(listener).await });
    let ios = attach(&served).await.with_mjpeg(&mjpeg).unwrap();
    let options = thumbwire_device::StreamOptions {
        max_side: None,
        gap: std::time::Duration::from_millis(1),
    };
    let streaming = ios.facets().screen_streaming.unwrap();
    let mut stream = streaming.stream_screen(options).await.unwrap().unwrap();
    let home = stream.next().await.unwrap();
    assert_eq!((home.size.width, home.size.height), (828, 1792));
    ios.launch(&AppId("com.example.bank".to_owned()), &[]).await.unwrap();
    assert_ne!(stream.next().await.unwrap(), home);
}
