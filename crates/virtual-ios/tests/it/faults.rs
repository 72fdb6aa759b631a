//! Faults on request.

use serde_json::Value;

use crate::client::Served;

#[tokio::test]
async fn session_is_lost_once() {
    let served = Served::new().await;
    let session = served.session("com.apple.Preferences").await;
    served.phone.add_fault("session-lost:on=/source,nth=1".parse().unwrap());
    let (status, error) = served.error("GET", &format!("{session}/source"), Value::Null).await;
    assert_eq!((status, error.as_str()), (404, "invalid session id"));
    let session = served.session("com.apple.Preferences").await;
    served.value("GET", &format!("{session}/source"), Value::Null).await;
}

#[tokio::test]
async fn restart_and_cut_end_the_connection() {
    let served = Served::new().await;
    let ask = "GET /status HTTP/1.1\r\nHost: phone\r\nConnection: close\r\n\r\n";
    served.phone.add_fault("restart".parse().unwrap());
    assert_eq!(served.raw(ask).await, "");
    served.phone.clear_faults();
    served.phone.add_fault("cut".parse().unwrap());
    let response = served.raw(ask).await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    assert!(body.len() < length.unwrap().parse().unwrap(), "{response}");
    served.phone.clear_faults();
    served.phone.add_fault("error:on=/status".parse().unwrap());
    assert_eq!(
        served.error("GET", "/status", Value::Null).await,
        (500, "unknown error".to_owned())
    );
}

#[tokio::test]
async fn requests_that_are_not_http_or_too_long_do_no_harm() {
    let served = Served::new().await;
    served.raw("nonsense\r\n\r\n").await;
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(200_000));
    served.raw(&long).await;
    let body = "POST /session HTTP/1.1\r\nHost: phone\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n{";
    assert!(served.raw(body).await.contains("invalid argument"));
    served.value("GET", "/status", Value::Null).await;
}
