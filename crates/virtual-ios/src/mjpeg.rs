//! WebDriverAgent's second server: the screen as a stream of JPEGs (`multipart/x-mixed-replace`,
//! FBMjpegServer.m).

use std::io;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::phone::VirtualIphone;

/// Limit on the viewers; further ones are closed at once.
const MAX_VIEWERS: usize = 8;

/// Limit on a request's head.
const MAX_HEAD: usize = 16 * 1024;

/// How long a viewer may take to ask or to accept a picture.
const PATIENCE: Duration = Duration::from_secs(10);

impl VirtualIphone {
    /// Streams the screen to everyone who connects, until the returned future is dropped.
    ///
    /// # Errors
    /// When the listener fails permanently.
    pub fn serve_mjpeg(&self, listener: TcpListener) -> BoxFuture<'_, io::Result<()>> {
        self.accept_viewers(listener).boxed()
    }

    async fn accept_viewers(&self, listener: TcpListener) -> io::Result<()> {
        let mut viewers = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    if viewers.len() < MAX_VIEWERS {
                        let phone = self.clone();
                        // A viewer that leaves ends its stream, nothing else.
                        viewers.spawn(async move { phone.stream(stream).await.is_ok() });
                    }
                },
                Some(_) = viewers.join_next() => {},
            }
        }
    }

    async fn stream(&self, mut viewer: TcpStream) -> io::Result<()> {
        tokio::time::timeout(PATIENCE, read_head(&mut viewer)).await??;
        let head = "HTTP/1.0 200 OK\r\nServer: WDA MJPEG Server\r\nConnection: close\r\nMax-Age: 0\r\nExpires: 0\r\n\
                    Cache-Control: no-cache, private\r\nPragma: no-cache\r\n\
                    Content-Type: multipart/x-mixed-replace; boundary=--BoundaryString\r\n\r\n";
        viewer.write_all(head.as_bytes()).await?;
        loop {
            let (frame, rate, quality) = self.with(|phone| {
                let number = |name: &str, otherwise: u64| {
                    let settings = phone.session.as_ref().map(|session| &session.settings);
                    settings.and_then(|settings| settings.get(name)?.as_u64()).unwrap_or(otherwise)
                };
                let (rate, quality) = (
                    number("mjpegServerFramerate", 10),
                    number("mjpegServerScreenshotQuality", 25),
                );
                (phone.world.capture(), rate, quality)
            });
            let quality = u8::try_from(quality).unwrap_or(25);
            let jpeg = frame.jpeg(quality, u32::MAX);
            let jpeg = jpeg.ok_or_else(|| io::Error::other("no picture"))?.bytes;
            let part = format!(
                "--BoundaryString\r\nContent-type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
                jpeg.len()
            );
            let send = async {
                viewer.write_all(part.as_bytes()).await?;
                viewer.write_all(&jpeg).await?;
                viewer.write_all(b"\r\n\r\n").await
            };
            tokio::time::timeout(PATIENCE, send).await??;
            self.wait_outside(Duration::from_millis(1_000 / rate.clamp(1, 60))).await;
        }
    }
}

/// Reads a request up to its empty line.
async fn read_head(viewer: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 1_024];
        let length = viewer.read(&mut piece).await?;
        if length == 0 || head.len() > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&piece[..length]);
    }
    Ok(())
}
