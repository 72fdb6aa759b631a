//! Our client of servers elsewhere, and rmcp's own, over HTTP.

use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire::mcp::Remote;
use thumbwire::mcp::http::{self, Access};
use thumbwire::surface::Content;
use thumbwire::token::Token;

use crate::http_support::Served;

fn key(key: &str) -> Map<String, Value> {
    json!({ "key": key }).as_object().cloned().unwrap()
}

async fn press(remote: &Remote, name: &str) -> Result<String, String> {
    let reply = remote.call("mobile_press_key", key(name)).await;
    let reply = reply.map_err(|error| error.to_string())?;
    assert!(!reply.is_error, "{reply:?}");
    let Content::Text(text) = &reply.content[0] else { panic!("{reply:?}") };
    Ok(text.clone())
}

#[tokio::test]
async fn our_client_calls_with_the_token_and_is_refused_without() {
    let token = Token::generate().unwrap();
    let server = Served::start(Access::Token(token.clone())).await;
    let url = format!("http://{}/mcp", server.address);
    let remote = Remote::connect(&url, Some(token)).await.unwrap();
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
    let error = remote.call("no_such_tool", Map::new()).await.unwrap_err().to_string();
    assert!(error.contains("Unknown tool: no_such_tool"), "{error}");
    for wrong in [None, Some(Token::generate().unwrap())] {
        let error = Remote::connect(&url, wrong).await.map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&url), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_greeted_anew() {
    let server = Served::start(Access::Everyone).await;
    let address = server.address;
    let url = format!("http://{address}/mcp");
    let remote = Remote::connect(&url, None).await.unwrap();
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
async fn a_call_that_takes_too_long_fails_and_the_server_hears_of_it() {
    let mut server = Served::start(Access::Everyone).await;
    let url = format!("http://{}/mcp", server.address);
    let remote = Remote::connect(&url, None).await.unwrap().within(Duration::from_millis(100));
    let error = press(&remote, "volume_down").await.unwrap_err();
    assert!(error.contains("timeout"), "{error}");
    assert_eq!(server.told.recv().await, Some("begun"));
    assert_eq!(server.told.recv().await, Some("gone"));
    assert_eq!(press(&remote, "home").await.unwrap(), "Pressed home");
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_address() {
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let error = Remote::connect(&url, None).await.map(drop).unwrap_err().to_string();
    assert!(error.starts_with(&url), "{error}");
}
