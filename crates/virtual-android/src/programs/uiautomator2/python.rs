//! The server of Python's `uiautomator2`: the class `com.wetest.uia2.Main` of `u2.jar`, JSON-RPC on
//! a port of the phone.
//!
//! Start with [`run`]. The methods and their arguments are those that the package on PyPI calls
//! (3.7): about the phone in `device`, about elements that a selector finds in `objects`. Not here:
//! `/minitouch` and the camera; any other method is `method not found`.

mod device;
mod objects;
mod params;

use super::http::{self, Request, Response, Service};
use crate::phone::VirtualPhone;
use crate::phone::automation::AutomationGuard;
use crate::program::Invocation;
use futures::future::{BoxFuture, FutureExt as _};
use params::{Params, RpcError};
use serde_json::{Value, json};
use std::sync::Arc;
use thumbwire_virtual_shell::io::Status;

/// The class that starts it.
pub(in crate::programs) const CLASS: &str = "com.wetest.uia2.Main";
/// The port unless one is given.
const PORT: u16 = 9008;

/// `app_process FOLDER com.wetest.uia2.Main [-p PORT]`. It ends with its standard input.
pub(in crate::programs) async fn run(call: &Invocation) -> Status {
    let given = call.args.iter().skip_while(|arg| *arg != "-p").nth(1);
    let port = match given.map(|port| port.parse::<u16>()) {
        None => PORT,
        Some(Ok(port)) => port,
        Some(Err(_)) => {
            call.err("java.lang.NumberFormatException: the port is not a number\n").await;
            return Ok(1);
        }
    };
    call.out("[server] INFO: [UiAutomator2Server] Starting Server\n").await?;
    let Some(_held) = AutomationGuard::take(&call.phone, "uiautomator2 (u2.jar)") else {
        call.err(
            "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5deffd5already registered!\n",
        )
        .await;
        return Ok(1);
    };
    let listener = match call.phone.sockets().listen(&format!("tcp:{port}")) {
        Ok(listener) => listener,
        Err(reason) => {
            call.err(format!("java.net.BindException: bind failed: {reason}\n")).await;
            return Ok(1);
        }
    };
    let service = Arc::new(Server { phone: call.phone.clone() });
    tokio::select! {
        () = http::serve(listener, service) => {},
        () = async { while !call.io.stdin.chunk().await.is_empty() {} } => {},
    }
    Ok(0)
}

struct Server {
    phone: VirtualPhone,
}

impl Service for Server {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        async move {
            let path = request.target.split('?').next().unwrap_or_default();
            match (request.method.as_str(), path) {
                ("GET", "/ping") => Response::text(200, "pong"),
                ("GET", "/screenshot/0") => match device::picture(&self.phone, 1.0, 80).await {
                    Some(bytes) => Response::jpeg(bytes),
                    None => Response::text(500, "the screen cannot be captured"),
                },
                ("POST", "/jsonrpc/0") => Response::json(200, &self.rpc(&request.body).await),
                _ => Response::text(404, "not implemented by this phone"),
            }
        }
        .boxed()
    }
}

impl Server {
    /// A request of JSON-RPC 2.0.
    async fn rpc(&self, body: &[u8]) -> Value {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let id = request.get("id").cloned().unwrap_or_default();
        let params = match request.get("params") {
            Some(Value::Array(list)) => list.clone(),
            _ => Vec::new(),
        };
        let result = match request.get("method").and_then(Value::as_str) {
            Some(method) => self.call(method, &Params(params)).await,
            None => Err(RpcError::new(-32600, "the request has no method")),
        };
        match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_value() }),
        }
    }

    async fn call(&self, method: &str, params: &Params) -> Result<Value, RpcError> {
        // A click has a selector or a point.
        let of_object = params.0.first().is_some_and(Value::is_object);
        if of_object && let Some(result) = objects::call(&self.phone, method, params).await {
            return result;
        }
        match device::call(&self.phone, method, params).await {
            Some(result) => result,
            None => {
                let says = format!("method not found: {method} is not implemented by this phone");
                Err(RpcError::new(-32601, &says))
            }
        }
    }
}
