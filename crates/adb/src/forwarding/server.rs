//! Forwards kept by an adb server: sockets on its computer that connect to a phone.
//!
//! A server listens on its own computer's loopback, and drops a phone's forwards when the phone disconnects. They
//! belong to all users of the server: removing all of them would remove those of other programs, so only one phone's
//! forwards can be removed here. For a direct connection see [`super::local`].

use crate::Error;
use crate::services::reverse::{checked, forward_request, read_status};
use crate::transport::server::{AdbServer, ServerTransport, with_answer_timeout};
use crate::wire::forward::{Forward, Request, read_list};

impl AdbServer {
    /// All forwards of the server, for all phones.
    ///
    /// # Errors
    /// The server cannot be reached, or does not speak the protocol.
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        Ok(read_list(&self.query("host:list-forward").await?))
    }
}

impl ServerTransport {
    /// Makes the server listen on `listen` on its own computer, such as `tcp:0`, and forward connections to `target` on
    /// this phone, such as `tcp:8080` or `localabstract:name`. Returns the port if the server reports it, always for
    /// `tcp:0`. If nothing listens on the target, each connection ends immediately.
    ///
    /// Without `rebind`, a socket already in use by any phone is refused.
    ///
    /// # Errors
    /// The server or the phone cannot be reached, or [`Error::Refused`] with the server's message.
    pub async fn forward(
        &self,
        listen: &str,
        target: &str,
        rebind: bool,
    ) -> Result<Option<u16>, Error> {
        self.send_forward_request(forward_request(listen, target, rebind)).await
    }

    /// The forwards to this phone.
    ///
    /// # Errors
    /// The server cannot be reached, or does not speak the protocol.
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        let all = self.server().forwards().await?;
        Ok(all.into_iter().filter(|forward| forward.serial == self.serial()).collect())
    }

    /// Removes the forward that listens on `listen`.
    ///
    /// # Errors
    /// The server or the phone cannot be reached, or [`Error::Refused`] if there is no such forward to this phone. The
    /// server itself would remove another phone's.
    pub async fn kill_forward(&self, listen: &str) -> Result<(), Error> {
        let request = Request::Kill { listen: listen.to_owned() };
        if !self.forwards().await?.iter().any(|forward| forward.listen == listen) {
            let output = format!("listener '{listen}' not found");
            return Err(Error::Refused { service: checked(request)?.to_string(), text: output });
        }
        self.send_forward_request(request).await.map(drop)
    }

    /// Removes the forwards to this phone, and no others.
    ///
    /// # Errors
    /// See [`Self::kill_forward`]; a forward that is already gone is not an error.
    pub async fn kill_forwards(&self) -> Result<(), Error> {
        for forward in self.forwards().await? {
            match self.send_forward_request(Request::Kill { listen: forward.listen }).await {
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn send_forward_request(&self, request: Request) -> Result<Option<u16>, Error> {
        let request = checked(request)?.to_string();
        let settled = match self.query_device(&request).await {
            // The first OKAY means that the request was read, the second that it was done.
            Ok(socket) => with_answer_timeout(&request, read_status(socket, &request)).await,
            Err(error) => Err(error),
        };
        settled.map_err(|error| match error {
            // Servers lose the reason here (a shadowed variable in `handle_host_request`).
            Error::Refused { text: said, .. } if said.is_empty() => Error::NoSuchDevice {
                serial: self.serial().to_owned(),
                text: "the adb server gave no reason, as for an unknown phone".into(),
            },
            other => other,
        })
    }
}
