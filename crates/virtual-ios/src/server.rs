//! WebDriverAgent's HTTP server: a task for each connection, limits on what it reads, commands one
//! at a time.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use futures::future::{BoxFuture, FutureExt as _};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use thumbwire_webdriver::{Command, ErrorCode, ResponseFormat, WebDriverError};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::faults::FaultKind;
use crate::phone::{CommandRecord, VirtualIphone};

/// Limit on a request's body.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// Limit on the open connections; further ones are closed at once.
const MAX_CONNECTIONS: usize = 64;

/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(60);

const FORMAT: ResponseFormat = ResponseFormat::WebDriverAgent;

/// What a request leads to.
enum Outcome {
    Respond(Response<Body>),
    /// The connection ends.
    HangUp,
}

impl VirtualIphone {
    /// Serves WebDriverAgent to every client that connects, until the returned future is dropped.
    ///
    /// # Errors
    /// When the listener fails permanently.
    pub fn serve(&self, listener: TcpListener) -> BoxFuture<'_, io::Result<()>> {
        self.serve_below("", listener)
    }

    /// The same, below a path such as `/wd/hub`: requests to other paths end their connection.
    ///
    /// # Errors
    /// When the listener fails permanently.
    pub fn serve_below(&self, path: &str, listener: TcpListener) -> BoxFuture<'_, io::Result<()>> {
        self.accept(path.into(), listener).boxed()
    }

    async fn accept(&self, path: Arc<str>, listener: TcpListener) -> io::Result<()> {
        // Dropping the set ends the connections with it.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    if connections.len() < MAX_CONNECTIONS {
                        // Requests are small and go back and forth; without the option it still
                        // works.
                        let _ = stream.set_nodelay(true);
                        let (phone, path) = (self.clone(), Arc::clone(&path));
                        connections.spawn(async move { phone.serve_connection(&path, stream).await });
                    }
                },
                Some(_) = connections.join_next() => {},
            }
        }
    }

    async fn serve_connection(self, path: &str, stream: TcpStream) {
        let (hang_up, mut hung_up) = watch::channel(false);
        let service = service_fn(|request| {
            let (phone, hang_up) = (self.clone(), hang_up.clone());
            async move {
                let outcome = phone.respond(path, request).await;
                Ok::<_, Infallible>(match outcome {
                    Outcome::Respond(response) => response,
                    Outcome::HangUp => {
                        let _ = hang_up.send(true);
                        std::future::pending().await
                    }
                })
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(ARRIVAL).max_buf_size(64 * 1024);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // A client that leaves in the middle of a request is no concern of the phone.
            _ = connection.as_mut() => {}
            _ = hung_up.wait_for(|ended| *ended) => {}
        }
    }

    async fn respond(self, path: &str, request: Request<Incoming>) -> Outcome {
        let method = request.method().as_str().to_owned();
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let target = target.strip_prefix(path).filter(|below| below.starts_with('/'));
        let Some(target) = target.map(str::to_owned) else { return Outcome::HangUp };
        let is_long = request.body().size_hint().lower() > MAX_BODY as u64;
        let arrives =
            tokio::time::timeout(ARRIVAL, to_bytes(Body::new(request.into_body()), MAX_BODY));
        let body = if is_long { None } else { arrives.await.ok().and_then(Result::ok) };
        let Some(body) = body else {
            let error = WebDriverError::new(
                ErrorCode::InvalidArgument,
                "the request's body is too long or too slow",
            );
            return Outcome::Respond(self.failure(&error));
        };
        // A client that leaves does not stop a command: WebDriverAgent finishes what it began.
        let run = tokio::spawn(async move { self.run(&method, &target, &body).await });
        run.await.unwrap_or(Outcome::HangUp)
    }

    async fn run(&self, method: &str, target: &str, body: &[u8]) -> Outcome {
        let turn = self.take_turn().await;
        let mut cut = false;
        let mut failed = None;
        for fault in self.with(|phone| phone.faults.strike(target)) {
            match fault {
                FaultKind::SessionLost => self.with(|phone| phone.session = None),
                FaultKind::Slow(time) => self.wait_outside(time).await,
                FaultKind::Hang => {
                    // The next requests are answered; only this one is not.
                    drop(turn);
                    self.wait_outside(Duration::from_secs(3_600)).await;
                    return Outcome::HangUp;
                }
                FaultKind::Restart => {
                    self.with(|phone| phone.session = None);
                    return Outcome::HangUp;
                }
                FaultKind::Error => {
                    failed = Some(WebDriverError::new(ErrorCode::UnknownError, "injected error"))
                }
                FaultKind::Cut => cut = true,
            }
        }
        let performed = match (failed, Command::parse(method, target, body)) {
            // FBUnknownCommands.m has one answer, whether the path or the method is unknown.
            (None, Err(error)) if error.code == ErrorCode::UnknownMethod => {
                Err(WebDriverError { code: ErrorCode::UnknownCommand, ..error })
            }
            (Some(error), _) | (None, Err(error)) => Err(error),
            (None, Ok(incoming)) => self.perform(incoming).await,
        };
        drop(turn);
        let (status, response) = match performed {
            Ok(value) => {
                let session =
                    self.with(|phone| phone.session.as_ref().map(|session| session.id.clone()));
                let mut body = FORMAT.success(session.as_ref(), value);
                write_whole_numbers(&mut body);
                (200, respond(200, &body, cut))
            }
            Err(error) => (FORMAT.http_status(&error.code), self.failure(&error)),
        };
        self.record(CommandRecord { method: method.to_owned(), target: target.to_owned(), status });
        Outcome::Respond(response)
    }

    fn failure(&self, error: &WebDriverError) -> Response<Body> {
        let session = self.with(|phone| phone.session.as_ref().map(|session| session.id.clone()));
        respond(FORMAT.http_status(&error.code), &FORMAT.failure(session.as_ref(), error), false)
    }
}

/// Writes numbers such as 2.0 without a fraction, as `NSJSONSerialization` does: clients in Python
/// tell the two apart.
fn write_whole_numbers(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(write_whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(write_whole_numbers),
        Value::Number(number) => {
            let whole = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e15);
            if let (false, Some(whole)) = (number.is_i64() || number.is_u64(), whole) {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
                let whole = whole as i64;
                *value = whole.into();
            }
        }
        _ => {}
    }
}

/// A response; `cut` promises more than is sent.
fn respond(status: u16, body: &Value, cut: bool) -> Response<Body> {
    let bytes = Bytes::from(body.to_string());
    let length = bytes.len();
    let body = match cut {
        true => Body::new(cut::CutBody::new(bytes.slice(..length / 2), length)),
        false => Body::from(bytes),
    };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    headers.insert(header::SERVER, header::HeaderValue::from_static("WebDriverAgent/1.0"));
    response
}

mod cut {
    //! A body that ends before its length.

    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::Bytes;
    use hyper::body::{Body, Frame, SizeHint};

    pub(super) struct CutBody {
        sent: Bytes,
        length: u64,
        polls: u8,
    }

    impl CutBody {
        pub(super) fn new(sent: Bytes, length: usize) -> Self {
            Self { sent, length: length as u64, polls: 0 }
        }
    }

    impl Body for CutBody {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            self.polls = self.polls.saturating_add(1);
            match self.polls {
                1 => Poll::Ready(Some(Ok(Frame::data(self.sent.clone())))),
                // Meanwhile, what is there is sent; an error drops it.
                2 => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                _ => Poll::Ready(Some(Err(io::Error::other("cut on request")))),
            }
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.length)
        }
    }
}
