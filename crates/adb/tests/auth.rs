//! Who is let in: our host against our phone, a stock `adb` against our phone, and the key of a
//! stock `adb` in our hands.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::TinyPhone;
use common::owner::{Owner, PLACES};
use common::stock::{PATIENCE, Stock, stdout};
use thumbwire_adb::wire::packet::{self, Command};
use thumbwire_adb::{Direct, Error, Key, PublicKey, daemon, run};
use tokio::io::AsyncWriteExt;

/// The host's way to a phone that `owner` guards; it can be connected any number of times.
fn guarded(owner: &Arc<Owner>) -> Direct {
    let owner = owner.clone();
    Direct::with("the guarded phone", move || {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let phone = Arc::new(TinyPhone::modern());
        tokio::spawn(daemon::serve_guarded(far, phone, owner.clone()));
        std::future::ready(Ok(Box::new(near) as _))
    })
}

fn key() -> Arc<Key> {
    Arc::new(Key::generate().unwrap())
}

#[tokio::test]
async fn a_known_key_is_let_in_and_nobody_is_asked() {
    let key = key();
    let (owner, mut asked) = Owner::new(&[&Key::generate().unwrap(), &key]);
    let host = guarded(&owner).with_key(key, "me@here");
    assert_eq!(run(&host, "exit 3").await.unwrap().status, Some(3));
    assert!(asked.try_recv().is_err());
}

#[tokio::test]
async fn an_unknown_key_is_let_in_once_the_owner_accepts_it_and_known_afterwards() {
    let key = key();
    let (owner, mut asked) = Owner::new(&[]);
    let host = guarded(&owner).with_key(key.clone(), "me@here");
    let accept = async {
        let (line, answer) = asked.recv().await.unwrap();
        assert_eq!(line, key.public_line("me@here"));
        answer.send(true).unwrap();
    };
    let (said, ()) = tokio::join!(run(&host, "exit 3"), accept);
    assert_eq!(said.unwrap().status, Some(3));

    let again = guarded(&owner).with_key(key.clone(), "me@here");
    assert_eq!(run(&again, "exit 4").await.unwrap().status, Some(4));
    assert!(asked.try_recv().is_err(), "it is known now");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_nobody_accepts_is_unauthorized_and_the_next_open_asks_anew() {
    let (owner, mut asked) = Owner::new(&[]);
    let patience = Duration::from_secs(90);
    let host = guarded(&owner).with_key(key(), "me@here").with_consent_within(patience);
    for consents in [None, Some(false)] {
        let began = tokio::time::Instant::now();
        let refuse = async {
            let (_, answer) = asked.recv().await.unwrap();
            match consents {
                Some(word) => answer.send(word).unwrap(),
                // Held unanswered: the owner never looks.
                None => std::mem::forget(answer),
            }
        };
        let (said, ()) = tokio::join!(run(&host, "exit 3"), refuse);
        let error = said.unwrap_err();
        assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
        assert!(error.to_string().contains("accept the prompt on the phone's screen"), "{error}");
        assert_eq!(began.elapsed(), patience);
        assert!(!error.may_have_happened());
    }
}

#[tokio::test]
async fn a_host_without_a_key_is_told_so() {
    let (owner, _asked) = Owner::new(&[]);
    let error = run(&guarded(&owner), "exit 3").await.unwrap_err();
    assert!(matches!(&error, Error::Unauthorized { reason } if reason.contains("we hold none")));
}

/// A stranger's end of a connection, and how the phone ends it.
fn stranger(
    owner: &Arc<Owner>,
) -> (tokio::io::DuplexStream, tokio::task::JoinHandle<Result<(), Error>>) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let phone = Arc::new(TinyPhone::modern());
    (near, tokio::spawn(daemon::serve_guarded(far, phone, owner.clone())))
}

#[tokio::test(start_paused = true)]
async fn a_stranger_that_says_nothing_or_greets_for_ever_is_hung_up_on() {
    let (owner, mut asked) = Owner::new(&[]);
    let began = tokio::time::Instant::now();
    let (_silent, served) = stranger(&owner);
    assert!(matches!(served.await.unwrap(), Err(Error::TimedOut { .. })));
    assert_eq!(began.elapsed(), Duration::from_secs(10));

    let began = tokio::time::Instant::now();
    let (near, mut served) = stranger(&owner);
    let (mut reads, mut writes) = tokio::io::split(near);
    tokio::spawn(async move { tokio::io::copy(&mut reads, &mut tokio::io::sink()).await });
    let mut greeting = bytes::BytesMut::new();
    packet::emit(&mut greeting, Command::Cnxn, packet::VERSION, 4096, b"host::", true);
    let greet = async {
        while writes.write_all(&greeting).await.is_ok() {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = &mut served => assert!(matches!(ended.unwrap(), Err(Error::TimedOut { .. }))),
        () = greet => {}
    }
    assert!(began.elapsed() < Duration::from_secs(15), "ten, and a few turns");

    // Who has shown a key waits for the owner, and not for ever.
    let began = tokio::time::Instant::now();
    let host = guarded(&owner).with_key(key(), "me@here").with_consent_within(Duration::MAX / 4);
    let refuse = async { std::mem::forget(asked.recv().await.unwrap().1) };
    let (said, ()) = tokio::join!(run(&host, "exit 3"), refuse);
    assert!(said.is_err());
    assert_eq!(began.elapsed(), Duration::from_secs(5 * 60));
}

#[tokio::test(start_paused = true)]
async fn strangers_take_only_so_many_places_and_who_is_in_takes_none() {
    let key = key();
    let (owner, _asked) = Owner::new(&[&key]);
    let known: Vec<Direct> =
        (0..2 * PLACES).map(|_| guarded(&owner).with_key(key.clone(), "me@here")).collect();
    for host in &known {
        assert_eq!(run(host, "exit 3").await.unwrap().status, Some(3));
    }
    let strangers: Vec<_> = (0..PLACES).map(|_| stranger(&owner)).collect();
    let late = guarded(&owner).with_key(key, "me@here");
    tokio::task::yield_now().await;
    assert!(matches!(run(&late, "exit 3").await, Err(Error::NotReachable { .. })));
    assert_eq!(run(&known[0], "exit 3").await.unwrap().status, Some(3), "it is in");
    drop(strangers);
    let let_in = async { while run(&late, "exit 3").await.is_err() {} };
    tokio::time::timeout(PATIENCE, let_in).await.expect("there is room again");
}

#[tokio::test]
async fn a_key_does_no_harm_where_none_is_asked_for() {
    let host = Direct::over(TinyPhone::modern().pipe()).with_key(key(), "me@here");
    assert_eq!(run(&host, "exit 3").await.unwrap().status, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_adb_is_unauthorized_until_its_key_is_accepted() {
    let Some(mut stock) = Stock::without_phone().await else { return };
    let (owner, mut asked) = Owner::new(&[]);
    stock.serial = TinyPhone::modern().listen_guarded(owner).await;
    let said = stock.adb(&["connect", &stock.serial]).await;
    assert!(!stdout(&said).starts_with("connected to"), "{said:?}");
    let question = tokio::time::timeout(PATIENCE, asked.recv()).await;
    let (line, answer) = question.expect("adb shows its key").unwrap();
    stock.until_state("unauthorized").await;
    let refused = stock.adb(&["-s", &stock.serial, "shell", "exit 3"]).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("unauthorized"), "{refused:?}");

    answer.send(true).unwrap();
    stock.until_state("device").await;
    let ran = stock.adb(&["-s", &stock.serial, "shell", "exit 3"]).await;
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");

    // Its key signs from now on: no second question.
    stock.adb(&["disconnect", &stock.serial]).await;
    let said = stock.adb(&["connect", &stock.serial]).await;
    assert!(stdout(&said).starts_with("connected to"), "{said:?}");
    assert!(asked.try_recv().is_err());

    // And it is ours to use: the same file, read by us, is the same key.
    let pem = std::fs::read_to_string(stock.home.path().join(".android/adbkey")).unwrap();
    let key = Key::from_pem(&pem).unwrap();
    assert_eq!(PublicKey::read(&line).unwrap(), key.public());
    let (theirs, name) = line.split_once(' ').unwrap();
    assert!(name.contains('@'), "{name}");
    assert_eq!(key.public_line(name), format!("{theirs} {name}"), "to the last byte");
    let host = Direct::tcp(&stock.serial).with_key(Arc::new(key), "me@here");
    assert_eq!(run(&host, "exit 4").await.unwrap().status, Some(4));
    assert!(asked.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_adb_uses_a_key_that_we_made() {
    let Some(mut stock) = Stock::without_phone().await else { return };
    stock.adb(&["kill-server"]).await;
    let key = Key::generate().unwrap();
    let folder = stock.home.path().join(".android");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("adbkey"), key.to_pem().unwrap()).unwrap();
    std::fs::write(folder.join("adbkey.pub"), key.public_line("me@here")).unwrap();
    let (owner, mut asked) = Owner::new(&[&key]);
    stock.serial = TinyPhone::modern().listen_guarded(owner).await;
    let said = stock.adb(&["connect", &stock.serial]).await;
    assert!(stdout(&said).starts_with("connected to"), "{said:?}");
    let ran = stock.adb(&["-s", &stock.serial, "shell", "exit 3"]).await;
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(asked.try_recv().is_err());
}
