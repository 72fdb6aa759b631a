//! Connections to the NATS server of a test.

use thumbwire_fleet::{ConnectError, Connection, Credentials};
use thumbwire_test_support::NatsServer;

/// How tests connect.
pub(crate) trait Connect {
    async fn connect(&self, name: &str) -> Connection;
    async fn try_connect(&self, name: &str) -> Result<Connection, ConnectError>;
    /// As this user, whose password is the name.
    async fn connect_as(&self, user: &str) -> Connection;
    async fn connect_by_tls(&self, credentials: &Credentials) -> Result<Connection, ConnectError>;
}

impl Connect for NatsServer {
    async fn connect(&self, name: &str) -> Connection {
        connect(self.port, name).await
    }

    async fn try_connect(&self, name: &str) -> Result<Connection, ConnectError> {
        Connection::open(&self.url(), &Credentials::default(), name).await
    }

    async fn connect_as(&self, user: &str) -> Connection {
        let url = format!("nats://{user}:{user}@127.0.0.1:{}", self.port);
        Connection::open(&url, &Credentials::default(), user).await.unwrap()
    }

    async fn connect_by_tls(&self, credentials: &Credentials) -> Result<Connection, ConnectError> {
        Connection::open(&format!("tls://127.0.0.1:{}", self.port), credentials, "tls").await
    }
}

/// A connection to the server at a port.
pub(crate) async fn connect(port: u16, name: &str) -> Connection {
    let url = format!("nats://127.0.0.1:{port}");
    Connection::open(&url, &Credentials::default(), name).await.unwrap()
}
