//! The forwards that an adb server keeps: places on its computer that lead to a phone.
//!
//! A server listens on its own computer's loopback, and forgets a phone's forwards when that phone
//! goes away. They belong to everybody who uses the server: ending all of them ends those of other
//! programs too, so only a phone's own can be ended here. For a phone that is reached directly see
//! [`super::tunnel`].

use super::server::{AdbServer, ThroughServer};
use crate::Error;
use crate::services::reverse::{checked, forward_request, settle};
use crate::wire::forward::{Forward, Request, read_list};

impl AdbServer {
    /// All forwards that the server keeps, of all phones.
    ///
    /// # Errors
    /// There is no server, or it does not talk like one.
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        Ok(read_list(&self.query("host:list-forward").await?))
    }
}

impl ThroughServer {
    /// Makes the server listen at `listen` of its own computer, such as `tcp:0`, and lead what
    /// connects there to `target` on this phone, such as `tcp:8080` or `localabstract:name`. Tells
    /// the port if the server does: for `tcp:0` always. Whether anybody is at the target shows only
    /// when somebody connects: then the connection ends at once.
    ///
    /// Without `rebind` a place that is led already, of whichever phone, is refused.
    ///
    /// # Errors
    /// There is no server or no such phone, or [`Error::Refused`] with the server's words.
    pub async fn forward(
        &self,
        listen: &str,
        target: &str,
        rebind: bool,
    ) -> Result<Option<u16>, Error> {
        self.settle(forward_request(listen, target, rebind)).await
    }

    /// The forwards to this phone.
    ///
    /// # Errors
    /// There is no server, or it does not talk like one.
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        let all = self.server().forwards().await?;
        Ok(all.into_iter().filter(|forward| forward.serial == self.serial()).collect())
    }

    /// Ends the forward that listens at `listen`.
    ///
    /// # Errors
    /// There is no server or no such phone, or [`Error::Refused`] when nothing is led from there,
    /// or not to this phone: the server itself would end another phone's.
    pub async fn kill_forward(&self, listen: &str) -> Result<(), Error> {
        let request = Request::Kill { listen: listen.to_owned() };
        if !self.forwards().await?.iter().any(|forward| forward.listen == listen) {
            let said = format!("listener '{listen}' not found");
            return Err(Error::Refused { service: checked(request)?.to_string(), said });
        }
        self.settle(request).await.map(drop)
    }

    /// Ends the forwards to this phone, and no others.
    ///
    /// # Errors
    /// As [`Self::kill_forward`]; one that has gone meanwhile is no error.
    pub async fn kill_forwards(&self) -> Result<(), Error> {
        for forward in self.forwards().await? {
            match self.settle(Request::Kill { listen: forward.listen }).await {
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn settle(&self, request: Request) -> Result<Option<u16>, Error> {
        let request = checked(request)?.to_string();
        let settled = match self.ask_about(&request).await {
            // The first OKAY says that the request was read, the second that it was done.
            Ok(socket) => super::server::within_answer(&request, settle(socket, &request)).await,
            Err(error) => Err(error),
        };
        settled.map_err(|error| match error {
            // Servers lose the reason here (a variable shadowed in `handle_host_request`).
            Error::Refused { said, .. } if said.is_empty() => Error::NoSuchDevice {
                serial: self.serial().to_owned(),
                said: "the adb server gives no reason, as for a phone that is not there".into(),
            },
            other => other,
        })
    }
}
