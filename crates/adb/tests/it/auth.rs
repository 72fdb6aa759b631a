//! Authorization: our host with our phone, a stock `adb` with our phone, and a stock `adb`'s key
//! used by us.

use std::sync::Arc;
use std::time::Duration;

use crate::common::TinyPhone;
use crate::common::owner::{Owner, PLACES};
use crate::common::stock::{PATIENCE, Stock, stdout};
use thumbwire_adb::wire::packet::{self, Command};
use thumbwire_adb::{DirectTransport, Error, Key, PublicKey, daemon, run};
use tokio::io::AsyncWriteExt;

/// A transport to a phone whose `owner` authorizes hosts; it can reconnect any number of times.
fn guarded(owner: &Arc<Owner>) -> DirectTransport {
    let owner = owner.clone();
    DirectTransport::with_connector("the guarded phone", move || {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let phone = Arc::new(TinyPhone::modern());
        tokio::spawn(daemon::serve_with_auth(far, phone, owner.clone()));
        std::future::ready(Ok(Box::new(near) as _))
    })
}

fn key() -> Arc<Key> {
    Arc::new(Key::generate().unwrap())
}

#[tokio::test]
async fn known_key_is_authorized_without_asking() {
    let key = key();
    let (owner, mut asked) = Owner::new(&[&Key::generate().unwrap(), &key]);
    let host = guarded(&owner).with_key(key, "me@here");
    assert_eq!(run(&host, "exit 3").await.unwrap().status, Some(3));
    assert!(asked.try_recv().is_err());
}

#[tokio::test]
async fn accepted_key_is_authorized_and_remembered() {
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
async fn ignored_key_is_unauthorized_and_asked_again() {
    let (owner, mut asked) = Owner::new(&[]);
    let patience = Duration::from_secs(90);
    let host = guarded(&owner).with_key(key(), "me@here").with_auth_timeout(patience);
    for consents in [None, Some(false)] {
        let began = tokio::time::Instant::now();
        let refuse = async {
            let (_, answer) = asked.recv().await.unwrap();
            match consents {
                Some(word) => answer.send(word).unwrap(),
                // Kept unanswered: the user never looks.
                None => std::mem::forget(answer),
            }
        };
        let (said, ()) = tokio::join!(run(&host, "exit 3"), refuse);
        let error = said.unwrap_err();
        assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
        assert!(error.to_string().contains("Accept the prompt on the phone's screen"), "{error}");
        assert_eq!(began.elapsed(), patience);
        assert!(!error.may_have_happened());
    }
}

#[tokio::test]
async fn missing_host_key_is_reported() {
    let (owner, _asked) = Owner::new(&[]);
    let error = run(&guarded(&owner), "exit 3").await.unwrap_err();
    assert!(matches!(&error, Error::Unauthorized { reason } if reason.contains("we have none")));
}

/// An unauthorized host's connection, and how the phone ends it.
fn stranger(
    owner: &Arc<Owner>,
) -> (tokio::io::DuplexStream, tokio::task::JoinHandle<Result<(), Error>>) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let phone = Arc::new(TinyPhone::modern());
    (near, tokio::spawn(daemon::serve_with_auth(far, phone, owner.clone())))
}

#[tokio::test(start_paused = true)]
async fn silent_or_looping_host_is_disconnected() {
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
    assert!(began.elapsed() < Duration::from_secs(15), "ten, and a few polls");

    // After offering a key, a host waits for the user, but not forever.
    let began = tokio::time::Instant::now();
    let host = guarded(&owner).with_key(key(), "me@here").with_auth_timeout(Duration::MAX / 4);
    let refuse = async { std::mem::forget(asked.recv().await.unwrap().1) };
    let (said, ()) = tokio::join!(run(&host, "exit 3"), refuse);
    assert!(said.is_err());
    assert_eq!(began.elapsed(), Duration::from_secs(5 * 60));
}

#[tokio::test(start_paused = true)]
async fn unauthorized_hosts_are_limited_and_authorized_ones_not_counted() {
    let key = key();
    let (owner, _asked) = Owner::new(&[&key]);
    let known: Vec<DirectTransport> =
        (0..2 * PLACES).map(|_| guarded(&owner).with_key(key.clone(), "me@here")).collect();
    for host in &known {
        assert_eq!(run(host, "exit 3").await.unwrap().status, Some(3));
    }
    let strangers: Vec<_> = (0..PLACES).map(|_| stranger(&owner)).collect();
    let late = guarded(&owner).with_key(key, "me@here");
    tokio::task::yield_now().await;
    assert!(matches!(run(&late, "exit 3").await, Err(Error::NotReachable { .. })));
    assert_eq!(run(&known[0], "exit 3").await.unwrap().status, Some(3), "it is authorized");
    drop(strangers);
    let let_in = async { while run(&late, "exit 3").await.is_err() {} };
    tokio::time::timeout(PATIENCE, let_in).await.expect("there is room again");
}

#[tokio::test]
async fn unneeded_key_is_ignored() {
    let host = DirectTransport::from_io(TinyPhone::modern().pipe()).with_key(key(), "me@here");
    assert_eq!(run(&host, "exit 3").await.unwrap().status, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_adb_is_unauthorized_until_its_key_is_accepted() {
    let Some(mut stock) = Stock::without_phone().await else { return };
    let (owner, mut asked) = Owner::new(&[]);
    stock.serial = TinyPhone::modern().listen_guarded(owner).await;
    let output = stock.adb(&["connect", &stock.serial]).await;
    assert!(!stdout(&output).starts_with("connected to"), "{output:?}");
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

    // From now on its key signs: no second question.
    stock.adb(&["disconnect", &stock.serial]).await;
    let output = stock.adb(&["connect", &stock.serial]).await;
    assert!(stdout(&output).starts_with("connected to"), "{output:?}");
    assert!(asked.try_recv().is_err());

    // The same key file also works for us.
    let pem = std::fs::read_to_string(stock.server.home().join(".android/adbkey")).unwrap();
    let key = Key::from_pem(&pem).unwrap();
    assert_eq!(PublicKey::read(&line).unwrap(), key.public());
    let (theirs, name) = line.split_once(' ').unwrap();
    assert!(name.contains('@'), "{name}");
    assert_eq!(key.public_line(name), format!("{theirs} {name}"), "to the last byte");
    let host = DirectTransport::tcp(&stock.serial).with_key(Arc::new(key), "me@here");
    assert_eq!(run(&host, "exit 4").await.unwrap().status, Some(4));
    assert!(asked.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_adb_uses_a_key_generated_by_us() {
    let Some(mut stock) = Stock::without_phone().await else { return };
    stock.adb(&["kill-server"]).await;
    let key = Key::generate().unwrap();
    let folder = stock.server.home().join(".android");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("adbkey"), key.to_pem().unwrap()).unwrap();
    std::fs::write(folder.join("adbkey.pub"), key.public_line("me@here")).unwrap();
    let (owner, mut asked) = Owner::new(&[&key]);
    stock.serial = TinyPhone::modern().listen_guarded(owner).await;
    let output = stock.adb(&["connect", &stock.serial]).await;
    assert!(stdout(&output).starts_with("connected to"), "{output:?}");
    let ran = stock.adb(&["-s", &stock.serial, "shell", "exit 3"]).await;
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(asked.try_recv().is_err());
}
