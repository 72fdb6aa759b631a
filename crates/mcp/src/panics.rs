//! A request whose handler panics gets an error, like any other request that fails.
//!
//! rmcp runs each handler in a task of its own, and a task that panics sends no reply: its client
//! would wait for ever, and the request would count as running. [`Guarded`] is what the transports
//! serve. It has the handlers of a server and no other way to them: one that is not in its list is
//! not served.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use futures::future::FutureExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::task::JoinError;

/// What a client gets. The panic's own message may quote the phone; it is on standard error.
pub(super) const TEXT: &str = "Internal error: a fault of Thumbwire ended this request; standard error of the \
     server says where. It may have acted: look at the phone before you call again";

/// A server whose handlers may panic.
#[derive(Clone)]
pub(super) struct Guarded<S>(pub(super) S);

/// The result of a request's work; an error if that panics.
async fn caught<T>(
    work: impl Future<Output = Result<T, ErrorData>> + Send,
) -> Result<T, ErrorData> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(ErrorData::internal_error(TEXT, None)))
}

/// The output of a task that a handler waits for; a panic in it is one in the handler.
pub(super) fn output<T>(joined: Result<T, JoinError>) -> Result<T, ErrorData> {
    joined.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => ErrorData::internal_error(format!("the call failed: {error}"), None),
    })
}

macro_rules! handlers {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $reply:ty;)*) => {
        #[expect(deprecated, reason = "older revisions subscribe to single resources")]
        impl<S: ServerHandler> ServerHandler for Guarded<S> {
            $(async fn $name(&self, $($argument: $kind),*) -> Result<$reply, ErrorData> {
                caught(self.0.$name($($argument),*)).await
            })*

            fn get_info(&self) -> ServerConfig {
                self.0.get_info()
            }

            fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
                self.0.supported_protocol_versions()
            }

            fn accepted_subscription_filter(
                &self,
                requested: &SubscriptionFilter,
            ) -> Option<SubscriptionFilter> {
                self.0.accepted_subscription_filter(requested)
            }

            async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
                self.0.on_initialized(context).await;
            }
        }
    };
}

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

handlers! {
    initialize(request: InitializeRequestParams, context: Context) -> InitializeResult;
    list_tools(page: Page, context: Context) -> ListToolsResult;
    call_tool(request: CallToolRequestParams, context: Context) -> CallToolResponse;
    get_task(request: GetTaskParams, context: Context) -> GetTaskResult;
    update_task(request: UpdateTaskParams, context: Context) -> ();
    cancel_task(request: CancelTaskParams, context: Context) -> ();
    list_prompts(page: Page, context: Context) -> ListPromptsResult;
    get_prompt(request: GetPromptRequestParams, context: Context) -> GetPromptResponse;
    list_resources(page: Page, context: Context) -> ListResourcesResult;
    list_resource_templates(page: Page, context: Context) -> ListResourceTemplatesResult;
    read_resource(request: ReadResourceRequestParams, context: Context) -> ReadResourceResponse;
    list_skills(page: Page, context: Context) -> ListSkillsResult;
    get_skill(request: GetSkillRequestParams, context: Context) -> GetSkillResult;
    complete(request: CompleteRequestParams, context: Context) -> CompleteResult;
    subscribe(request: SubscribeRequestParams, context: Context) -> ();
    unsubscribe(request: UnsubscribeRequestParams, context: Context) -> ();
    listen(context: SubscriptionContext) -> ();
    on_custom_request(request: CustomRequest, context: Context) -> CustomResult;
}
