//! The strategies that find elements.

use serde_json::json;

use crate::client::Served;

#[tokio::test]
async fn each_strategy_finds_the_cells_of_settings() {
    let served = Served::new().await;
    let session = served.session("com.apple.Preferences").await;
    let cells = served.count(&session, "class name", "XCUIElementTypeCell").await;
    assert!(cells > 5);
    for (using, value, expected) in [
        ("accessibility id", "Apps", 2),
        ("link text", "label=Apps", 2),
        ("partial link text", "value=14 app", 2),
        ("predicate string", "type == 'XCUIElementTypeCell' AND label == 'Apps'", 1),
        ("-ios predicate string", "label BEGINSWITH[c] 'APPS' && type = 'XCUIElementTypeCell'", 1),
        (
            "predicate string",
            "label IN {'Apps', 'Notifications'} AND NOT type ENDSWITH 'StaticText'",
            2,
        ),
        ("predicate string", "value LIKE '*apps' AND enabled == 1 AND visible == TRUE", 2),
        ("predicate string", "label MATCHES '[A-Z]pps' AND rect.width > 300", 1),
        ("predicate string", "label MATCHES[c] '[a-z]PPS' AND rect.width > 300", 1),
        ("predicate string", "label MATCHES[c] '\\\\S*PPS' AND rect.width > 300", 1),
        ("predicate string", "FALSEPREDICATE", 0),
        ("class chain", "**/XCUIElementTypeTable/**/XCUIElementTypeCell", cells),
        ("-ios class chain", "**/XCUIElementTypeCell[1]", 1),
        ("class chain", "**/XCUIElementTypeCell[-1]", 1),
        ("class chain", "**/XCUIElementTypeCell[`label == \"Apps\"`]/*", 3),
        ("class chain", "**/XCUIElementTypeCell[$label == '14 apps'$]", 1),
        ("xpath", "//XCUIElementTypeCell", cells),
        ("xpath", "//XCUIElementTypeCell[last()]", 1),
        ("xpath", "(//XCUIElementTypeCell)[2]", 1),
        ("xpath", "//XCUIElementTypeCell[contains(@value, 'apps') and not(@label='x')]", 1),
        ("xpath", "//XCUIElementTypeStaticText[@name='14 apps']/parent::*[@label='Apps']", 1),
        (
            "xpath",
            "//XCUIElementTypeCell[@label='Apps']/following-sibling::XCUIElementTypeCell[1]",
            1,
        ),
        (
            "xpath",
            "//XCUIElementTypeCell[starts-with(@label, 'App')] | //XCUIElementTypeSearchField",
            2,
        ),
        ("xpath", "//XCUIElementTypeStaticText[ancestor::XCUIElementTypeCell[@label='Apps']]", 2),
        ("xpath", "/XCUIElementTypeApplication/XCUIElementTypeWindow", 2),
    ] {
        let found = served.count(&session, using, value).await;
        match (using, value) {
            // How much is inside a cell, or how many windows there are, is a matter of the look.
            (_, value) if value.ends_with("/*") || value.starts_with("/X") => {
                assert!(found > 0, "{value}")
            }
            _ => assert_eq!(found, expected, "{using}: {value}"),
        }
    }
}

#[tokio::test]
async fn wrong_locators_are_invalid_selectors() {
    let served = Served::new().await;
    let session = served.session("com.apple.Preferences").await;
    let deep = "(".repeat(5_000);
    for (using, value) in [
        ("css selector", "a"),
        ("class name", "Button"),
        ("predicate string", "label =="),
        ("predicate string", "label == 'x"),
        ("predicate string", "color == 'red'"),
        ("predicate string", deep.as_str()),
        ("class chain", "**/Button"),
        ("class chain", "**/XCUIElementTypeCell[0]"),
        ("class chain", "**/XCUIElementTypeCell[`label"),
        ("xpath", "//XCUIElementTypeCell["),
        ("xpath", "//XCUIElementTypeCell[fly(1)]"),
        ("xpath", deep.as_str()),
    ] {
        let body = json!({ "using": using, "value": value });
        let (_, error) = served.error("POST", &format!("{session}/elements"), body).await;
        assert_eq!(error, "invalid selector", "{using}: {}", &value[..value.len().min(40)]);
    }
}

#[tokio::test]
async fn element_inside_another_is_found_and_goes_stale() {
    let served = Served::new().await;
    let session = served.session("com.apple.Preferences").await;
    let cell = served.find(&session, "xpath", "//XCUIElementTypeCell[@label='Apps']").await;
    let inside = served
        .value(
            "POST",
            &format!("{cell}/elements"),
            json!({ "using": "class name", "value": "XCUIElementTypeStaticText" }),
        )
        .await;
    assert_eq!(inside.as_array().unwrap().len(), 2);
    assert_eq!(
        served.find(&session, "predicate string", "label == 'Apps' AND type ENDSWITH 'Cell'").await,
        cell
    );
    served.value("POST", &format!("{cell}/click"), json!({})).await;
    assert_eq!(
        served.error("POST", &format!("{cell}/click"), json!({})).await.1,
        "stale element reference"
    );
}
