//! The stream of JPEGs.

use thumbwire_virtual_ios::{Setup, VirtualIphone};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn viewer_gets_complete_pictures() {
    let phone = VirtualIphone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { phone.serve_mjpeg(listener).await });
    let mut viewer = TcpStream::connect(address).await.unwrap();
    viewer.write_all(b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n").await.unwrap();
    let mut stream = Vec::new();
    let mark = b"--BoundaryString\r\nContent-type: image/jpeg\r\nContent-Length: ";
    let places = |stream: &[u8]| -> Vec<usize> {
        (0..stream.len()).filter(|at| stream[*at..].starts_with(mark)).collect()
    };
    while places(&stream).len() < 2 {
        let mut piece = vec![0; 64 * 1024];
        let length = viewer.read(&mut piece).await.unwrap();
        assert!(length > 0, "the stream ended");
        stream.extend_from_slice(&piece[..length]);
    }
    let [first, second, ..] = places(&stream)[..] else { panic!("two pictures") };
    let part = &stream[first + mark.len()..second];
    let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length: usize = std::str::from_utf8(&part[..digits]).unwrap().parse().unwrap();
    let picture = &part[digits + 4..digits + 4 + length];
    assert!(picture.starts_with(&[0xFF, 0xD8]) && picture.ends_with(&[0xFF, 0xD9]));
    server.abort();
}
