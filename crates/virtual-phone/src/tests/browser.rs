//! Following links, entering addresses, and a form, in trees as deep as those of web pages.

use super::*;
use crate::input::KeyCode;
use crate::packages::Intent;

fn depth(node: &Node) -> usize {
    1 + node.children.iter().map(depth).max().unwrap_or(0)
}

fn title(world: &mut World) -> String {
    node(world, "webview").unwrap().text
}

#[test]
fn article_is_deeply_nested() {
    let mut world = app(BROWSER, &["The last keepers"]);
    let web = node(&mut world, "webview").unwrap();
    assert_eq!((web.class, web.text.as_str()), ("android.webkit.WebView", "The last keepers"));
    assert!(depth(&web) > 25, "{}", depth(&web));
    assert_eq!(web.find("firstHeading").unwrap().id.as_deref(), Some("firstHeading"));
    world.key(KeyCode::BACK);
    assert_eq!(title(&mut world), "The Lighthouse Pages");
    world.key(KeyCode::BACK);
    assert_eq!(world.foreground().package, "com.android.launcher3");
}

#[test]
fn address_bar_opens_urls_and_searches_words() {
    let mut world = app(BROWSER, &["url_bar"]);
    type_text(&mut world, "lighthouse.example/heights\n");
    assert_eq!(title(&mut world), "Heights of lighthouses");
    assert_eq!(node(&mut world, "url_bar").unwrap().text, "lighthouse.example/heights");
    assert_eq!(node(&mut world, "heights").unwrap().class, "android.widget.GridView");
    tap(&mut world, "url_bar");
    type_text(&mut world, "last keepers\n");
    tap(&mut world, "The last keepers");
    assert_eq!(title(&mut world), "The last keepers");
    tap(&mut world, "url_bar");
    type_text(&mut world, "no.such.host\n");
    assert!(shows(&mut world, "ERR_NAME_NOT_RESOLVED"));
    for expected in ["The last keepers", "Search", "Heights of lighthouses"] {
        world.key(KeyCode::BACK);
        assert_eq!(title(&mut world), expected);
    }
    assert_eq!(world.preferences(BROWSER).len(), 4);
}

#[test]
fn web_form_can_be_filled_in_and_sent() {
    let mut world = app(BROWSER, &["Write to us", "name"]);
    type_text(&mut world, "Ada L");
    press(&mut world, "Next");
    type_text(&mut world, "Two lines\nof text");
    world.key(KeyCode::BACK);
    tap_all(&mut world, &["A story", "newsletter"]);
    assert!(node(&mut world, "newsletter").unwrap().flags.checked);
    tap(&mut world, "send");
    assert!(shows(&mut world, "Thank you, Ada L!"));
    let url = node(&mut world, "url_bar").unwrap().text;
    assert_eq!(url, "lighthouse.example/thanks?name=Ada+L&about=A+story&news=true");
}

#[test]
fn intent_with_a_url_opens_it() {
    let mut world = phone();
    let data = Some("https://lighthouse.example/index".to_owned());
    world.start_intent(&Intent { data, ..Intent::default() }).unwrap();
    assert_eq!(title(&mut world), "Index");
    tap_all(&mut world, &["Z Point"]);
    assert_eq!(title(&mut world), "Search");
}
