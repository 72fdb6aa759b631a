//! The MCP server: handshake, lists and calls of a toolset.
//!
//! A toolset's own tools never change; its dynamic tools do, and clients are notified: those of
//! older revisions with `notifications/tools/list_changed` (over HTTP on the stream of `endpoint`),
//! those of revision 2026-07-28 if they subscribe (`subscriptions/listen`).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::request::Parts;
use futures::future::{BoxFuture, FutureExt as _};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
    CompleteRequestParams, CompleteResult, CreateTaskResult, CustomRequest, CustomResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    PromptsCapability, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourcesCapability, SKILLS_EXTENSION_ID, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, ToolAnnotations,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext,
};
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::audit::Audit;
use super::bounded_transport::{BoundedTransport, PipeReader, PipeWriter};
use super::call_log::{CallEntry, CallLog};
use super::elicitation::{AskingMode, ElicitingUser, asking_mode, has_forms, has_urls};
use super::grant::{Grant, Share};
use super::offers;
use super::panics::{self, Guarded};
use super::progress::{MAX_UNREAD, ProgressQueue, ProgressReports, notify_progress};
use super::repair::fault;
use super::stdin_lines::{Lines, UNREADABLE};
use super::subscriptions::{self, Changes, Subscriptions};
use super::tasks::Tasks;
use super::unknown_method::unknown_method;
use super::waiting_calls::{
    CallBinding, CancelOnDrop, RunningCall, UserBetweenRequests, WaitingCalls,
};
use thumbwire_core::action::{Call, ClientId, ClientName, Perform, Scope, SecretPages};
use thumbwire_core::toolset::resource_changes::ResourceChanges;
use thumbwire_core::toolset::resources::ResourceProvider;
use thumbwire_core::toolset::{APP_MIME, Tool, ToolHints, Toolset};

/// Serves the toolset on standard input and output until the client closes them.
///
/// # Errors
/// If the MCP handshake fails.
pub fn serve_stdio(
    toolset: Arc<Toolset>,
    perform: Arc<dyn Perform>,
    audit: Audit,
) -> BoxFuture<'static, Result<(), String>> {
    let (reader, writer) = stdio_pipes();
    serve_pipes(toolset, perform, audit, Box::new(reader), Box::new(writer))
}

/// Serves the toolset on a pair of pipes, one JSON-RPC message per line, until the client closes
/// them. While 32 requests are under way, or 8 MiB of replies are not read, no more is read from
/// the client.
///
/// # Errors
/// If the MCP handshake fails.
pub fn serve(
    toolset: Arc<Toolset>,
    perform: Arc<dyn Perform>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> BoxFuture<'static, Result<(), String>> {
    serve_pipes(toolset, perform, Audit::default(), Box::new(reader), Box::new(writer))
}

/// Not generic, so that the future is compiled here.
fn serve_pipes(
    toolset: Arc<Toolset>,
    perform: Arc<dyn Perform>,
    audit: Audit,
    reader: PipeReader,
    writer: PipeWriter,
) -> BoxFuture<'static, Result<(), String>> {
    async move {
        let disconnected = CancellationToken::new();
        let _disconnects = disconnected.clone().drop_guard();
        let log = CallLog { audit, ..CallLog::default() };
        let server =
            Server { disconnected: Some(disconnected), ..Server::new(toolset, perform, log) };
        let reader = Lines::new(reader);
        let first_invalid = reader.first_invalid();
        let running = match Guarded(server).serve(BoundedTransport::new(reader, writer)).await {
            Ok(running) => running,
            Err(error) => return handshake_error(error, first_invalid.get()),
        };
        running.waiting().await.map(drop).map_err(|error| error.to_string())
    }
    .boxed()
}

/// The error of a failed handshake; `Ok` if the client just disconnected.
fn handshake_error(error: ServerInitializeError, invalid: Option<&String>) -> Result<(), String> {
    let reason = match error {
        ServerInitializeError::ConnectionClosed(_) => match invalid {
            Some(line) => format!("the client sent {line:?}, which is not JSON-RPC, and left"),
            // Some clients only check that we start.
            None => return Ok(()),
        },
        ServerInitializeError::ExpectedInitializeRequest(message) => {
            let message = serde_json::to_value(message).unwrap_or_default();
            let first =
                message["method"].as_str().map_or("a response".into(), |it| format!("`{it}`"));
            format!("the client sent {first} before `initialize`")
        }
        error => error.to_string(),
    };
    Err(format!("MCP handshake failed: {reason}"))
}

/// The revisions that we serve.
pub(super) const SUPPORTED: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// How long reading a resource or completing an argument may take.
const READING: Duration = Duration::from_secs(30);

/// The handlers for all transports.
#[derive(Clone)]
pub(super) struct Server {
    toolset: Arc<Toolset>,
    perform: Arc<dyn Perform>,
    /// Cancelled when the client disconnects; `None` over HTTP, where notifications cannot be sent
    /// between requests.
    disconnected: Option<CancellationToken>,
    /// Whether the client already gets change notifications.
    notifies: Arc<AtomicBool>,
    log: CallLog,
    /// The calls that wait for the user's answer, of all clients.
    waiting: Arc<WaitingCalls>,
    /// The calls that run as tasks, of all clients.
    tasks: Arc<Tasks>,
    /// The resources that clients of the older revisions subscribed to.
    subscriptions: Arc<Subscriptions>,
}

/// A tool that a request may call: one of the toolset's own, or one of an app or a dynamic one.
pub(super) enum FoundTool {
    Own(Arc<Toolset>, usize),
    Shared(Arc<Tool>),
}

impl Deref for FoundTool {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        match self {
            Self::Own(toolset, at) => &toolset.tools[*at],
            Self::Shared(tool) => tool,
        }
    }
}

/// Why a request may not call a tool.
pub(super) enum ToolRefusal {
    /// There is none with this name.
    Unknown,
    /// The client's scope does not include it.
    NotAllowed(FoundTool),
}

impl Server {
    pub(super) fn new(toolset: Arc<Toolset>, perform: Arc<dyn Perform>, log: CallLog) -> Self {
        let (notifies, waiting, tasks, subscriptions) = Default::default();
        let disconnected = None;
        Self { toolset, perform, disconnected, notifies, log, waiting, tasks, subscriptions }
    }

    /// Finds the tool with this name for a client with this scope.
    ///
    /// # Errors
    /// If there is none, or the scope does not include it.
    pub(super) async fn find_tool(
        &self,
        name: &str,
        scope: Scope,
    ) -> Result<FoundTool, ToolRefusal> {
        let own = self.toolset.tools.iter().position(|tool| tool.name == name);
        let of_app = self.toolset.ui_tools.iter().find(|tool| tool.name == name);
        let found = match (own, of_app, &self.toolset.dynamic_tools) {
            (Some(at), _, _) => Some(FoundTool::Own(Arc::clone(&self.toolset), at)),
            (None, Some(tool), _) => Some(FoundTool::Shared(Arc::clone(tool))),
            (None, None, Some(dynamic)) => dynamic.tool(name).await.map(FoundTool::Shared),
            (None, None, None) => None,
        };
        match found {
            None => Err(ToolRefusal::Unknown),
            Some(tool) if scope.allows(tool.scope()) => Ok(tool),
            Some(tool) => Err(ToolRefusal::NotAllowed(tool)),
        }
    }

    /// What a client of an older revision is notified of; `None` if nothing changes.
    pub(super) fn changes(&self, client: &ClientId) -> Option<Changes> {
        let wanted = self.changing_resources().map(|_| self.subscriptions.of(client));
        self.changes_of(client, true, wanted)
    }

    fn changes_of(
        &self,
        client: &ClientId,
        tools: bool,
        wanted: Option<watch::Receiver<BTreeSet<String>>>,
    ) -> Option<Changes> {
        let tools = self.toolset.dynamic_tools.clone().filter(|_| tools);
        let tools = tools.map(|dynamic| (Arc::clone(&dynamic), dynamic.version()));
        let resources = self.changing_resources().zip(wanted).map(|(provider, wanted)| {
            let (provider, perform) = (Arc::clone(provider), Arc::clone(&self.perform));
            ResourceChanges::new(provider, perform, client.clone(), wanted)
        });
        let is_empty = tools.is_none() && resources.is_none();
        (!is_empty).then_some(Changes { tools, resources, resource_list: true })
    }

    fn changing_resources(&self) -> Option<&Arc<dyn ResourceProvider>> {
        self.toolset.resources.as_ref().filter(|resources| resources.tells_changes())
    }

    /// A client has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        self.waiting.client_left(client);
        self.tasks.client_left(client);
        self.subscriptions.client_left(client);
        if let Some(resources) = &self.toolset.resources {
            resources.client_left(client);
        }
    }

    /// The call of a request, which may take this long. It asks nobody and reports no progress.
    fn call(&self, context: &RequestContext<RoleServer>, time: Duration) -> Call {
        let mut call = Call::with_timeout(time);
        let grant = grant(context);
        call.scope = grant.as_ref().map_or(Scope::Act, |grant| grant.scope);
        call.share = grant.and_then(|grant| grant.share.name().cloned());
        call.client_name = client_name(context);
        if self.toolset.chooses_device {
            call.client = client(context);
        }
        call
    }

    /// The call of a request that reads something.
    fn reading_call(&self, context: &RequestContext<RoleServer>) -> Call {
        Call { cancelled: context.ct.clone(), ..self.call(context, READING) }
    }

    /// Starts a call in a task of its own, so that it can go on between two requests, and wait for
    /// an answer if its user can be asked.
    fn start(
        &self,
        binding: CallBinding,
        tool: FoundTool,
        arguments: Map<String, Value>,
        mut call: Call,
        entry: CallEntry,
        user: CallUser,
    ) -> RunningCall {
        let (asking, questions) = mpsc::channel(1);
        let (reporting, steps) = mpsc::channel(MAX_UNREAD);
        let cancelled = call.cancelled.clone();
        let progress = ProgressReports::new(steps, Arc::clone(&call.state));
        call.progress = Arc::new(ProgressQueue(reporting));
        match user {
            CallUser::Nobody => {}
            CallUser::During(user) => call.ask = Arc::new(user),
            CallUser::BetweenRequests { has_forms, pages } => {
                call.ask = Arc::new(UserBetweenRequests {
                    questions: asking,
                    deadline: call.deadline,
                    cancelled: cancelled.clone(),
                    has_forms,
                    pages,
                });
            }
        }
        let (toolset, perform) = (Arc::clone(&self.toolset), Arc::clone(&self.perform));
        let work =
            tokio::spawn(async move { toolset.answer(&tool, arguments, call, &*perform).await });
        let cancelled = CancelOnDrop(cancelled);
        RunningCall { binding, entry, work, questions, progress, cancelled }
    }

    /// Follows a call until its result or its next question. It is cancelled with this request.
    async fn follow(
        &self,
        mut running: RunningCall,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        running.progress.asked_again();
        let token = context.meta.get_progress_token();
        let notify = async |report| {
            if let Some(token) = &token {
                notify_progress(&context.peer, token, report).await;
            }
        };
        let reply = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    running.cancelled.0.cancel();
                    break running.work.await;
                }
                reply = &mut running.work => {
                    while let Some(report) = running.progress.rest() {
                        notify(report).await;
                    }
                    break reply;
                }
                report = running.progress.next() => notify(report).await,
                Some(asked) = running.questions.recv() => {
                    return self.waiting.ask(running, asked).map(Into::into);
                }
            }
        };
        let reply = panics::output(reply)?;
        running.entry.replied(&reply);
        Ok(offers::result(reply).into())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder().enable_tools();
        let mut able = match self.toolset.dynamic_tools {
            Some(_) => able.enable_tool_list_changed().build(),
            None => able.build(),
        };
        able.prompts = (!self.toolset.prompts.is_empty()).then(PromptsCapability::default);
        able.resources = self.toolset.resources.as_ref().map(|resources| {
            let mut able = ResourcesCapability::default();
            let tells = resources.tells_changes().then_some(true);
            (able.subscribe, able.list_changed) = (tells, tells);
            able
        });
        if self.toolset.tools.iter().any(|tool| tool.is_long) {
            let tasks = (TASKS_EXTENSION_ID.to_owned(), JsonObject::default());
            able.extensions.get_or_insert_default().extend([tasks]);
        }
        if !self.toolset.skills.is_empty() {
            let skills = (SKILLS_EXTENSION_ID.to_owned(), JsonObject::default());
            able.extensions.get_or_insert_default().extend([skills]);
        }
        able.completions = self.toolset.completion.is_some().then(JsonObject::default);
        ServerConfig::new(able)
            .with_server_info(Implementation::new(self.toolset.server, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.toolset.instructions.clone())
    }

    /// All revisions except 2025-03-26, in which servers must accept batches.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&SUPPORTED)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        if request.protocol_version == ProtocolVersion::V_2025_03_26 {
            // Its clients know the revision before it, and none that came later.
            request.protocol_version = ProtocolVersion::V_2024_11_05;
        }
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let scope = scope(&context);
        let is_allowed = |tool: &Tool| scope.allows(tool.scope());
        let own = self.toolset.tools.iter().filter(|tool| is_allowed(tool));
        let mut tools: Vec<_> = own.map(listed).collect();
        if shows_apps(&context) {
            let of_app = self.toolset.ui_tools.iter().filter(|tool| is_allowed(tool));
            tools.extend(of_app.map(|tool| listed(tool)));
        }
        if let Some(dynamic) = &self.toolset.dynamic_tools {
            let dynamic = dynamic.tools().await;
            tools.extend(dynamic.iter().filter(|tool| is_allowed(tool)).map(|tool| listed(tool)));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(disconnected) = self.disconnected.clone() else { return };
        let Some(mut changes) = self.changes(&ClientId::Stdio) else { return };
        if self.notifies.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            loop {
                let change = tokio::select! {
                    () = disconnected.cancelled() => return,
                    change = changes.next() => change,
                };
                if context.peer.send_notification(change).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(resources) = self.changing_resources() else {
            return Err(unknown_method("resources/subscribe"));
        };
        self.subscriptions.subscribe(&client(&context), request.uri, &**resources)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.changing_resources().is_none() {
            return Err(unknown_method("resources/unsubscribe"));
        }
        self.subscriptions.unsubscribe(&client(&context), &request.uri);
        Ok(())
    }

    /// What a client of revision 2026-07-28 may subscribe to; `None` if nothing changes.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = self.toolset.dynamic_tools.is_some().then_some(true);
        if let Some(resources) = self.changing_resources() {
            accepted.resources_list_changed = Some(true);
            let uris = requested.resource_subscriptions.as_deref().unwrap_or_default();
            let uris = subscriptions::accepted(uris, &**resources).collect();
            accepted.resource_subscriptions = Some(uris);
        } else {
            self.toolset.dynamic_tools.as_ref()?;
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted();
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let resource_list = accepted.resources_list_changed == Some(true);
        let wanted = (resource_list || !uris.is_empty()).then(|| subscriptions::fixed(uris));
        let client = client(context.request_context());
        let changes = self.changes_of(&client, accepted.tools_list_changed == Some(true), wanted);
        let Some(changes) = changes else {
            context.cancelled().await;
            return Ok(());
        };
        let mut changes = Changes { resource_list, ..changes };
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.next() => change,
            };
            if context.sink().send(change).await.is_err() {
                return Ok(());
            }
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut entry = self.log.begin(&client_name(&context), grant(&context));
        let tool = match self.find_tool(&request.name, scope(&context)).await {
            Ok(tool) => tool,
            Err(ToolRefusal::Unknown) => {
                entry.refused("unknown_tool");
                let text = self.toolset.unknown_tool(&request.name);
                return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, text, None));
            }
            Err(ToolRefusal::NotAllowed(tool)) => {
                entry.calls(&tool.name, &Arc::default());
                entry.refused("insufficient_scope");
                let text =
                    format!("Not allowed: {}. Next: use a token with the scope `act`", tool.name);
                return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, text, None));
            }
        };
        let secret_pages = self.toolset.secret_pages.as_ref();
        let asking = asking_mode(&context, secret_pages.is_some());
        let share = grant(&context).map_or(Share::Whole, |grant| grant.share);
        let binding = CallBinding::new(client(&context), share, &request);
        if asking == AskingMode::BetweenRequests
            && let Some(state) = &request.request_state
        {
            let responses = request.input_responses.as_ref();
            let (running, question) = match self.waiting.resume(state, &binding, responses) {
                Ok(resumed) => resumed,
                Err(error) => {
                    entry.refused("request_state");
                    return Err(error);
                }
            };
            entry.continues_another();
            return match question {
                Some(question) => self.waiting.ask(running, question).map(Into::into),
                None => self.follow(running, &context).await,
            };
        }
        let arguments = request.arguments.unwrap_or_default();
        let time = tool.budget_for(&arguments);
        let call = self.call(&context, time);
        entry.calls(&tool.name, &call.state);
        let is_task = tool.is_long && declares_tasks(&context);
        let able = context.client_capabilities().unwrap_or_default();
        let user = match asking {
            AskingMode::Nobody => CallUser::Nobody,
            AskingMode::DuringCall if !is_task => CallUser::During(ElicitingUser {
                peer: context.peer.clone(),
                has_forms: has_forms(&able),
                pages: secret_pages.filter(|_| has_urls(&able)).cloned(),
            }),
            AskingMode::DuringCall if !has_forms(&able) => CallUser::Nobody,
            AskingMode::DuringCall | AskingMode::BetweenRequests => CallUser::BetweenRequests {
                has_forms: has_forms(&able),
                pages: secret_pages.filter(|_| has_urls(&able)).cloned(),
            },
        };
        let running = self.start(binding, tool, arguments, call, entry, user);
        if is_task {
            let task = self.tasks.begin(running, time)?;
            return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
        }
        self.follow(running, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get(&client(&context), &request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update(&client(&context), &request.task_id, &request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&client(&context), &request.task_id)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if self.toolset.prompts.is_empty() {
            return not_supported(&context, "prompts/list");
        }
        let prompts = self.toolset.prompts.iter().map(offers::prompt).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.toolset.prompts.is_empty() {
            return Err(unknown_method("prompts/get"));
        }
        offers::prompt_messages(&self.toolset.prompts, &request).map(Into::into)
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let Some(resources) = &self.toolset.resources else {
            return not_supported(&context, "resources/list");
        };
        let listed = resources.list(&self.reading_call(&context), &*self.perform).await;
        let listed = listed.into_iter().map(offers::resource).collect();
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let Some(resources) = &self.toolset.resources else {
            return not_supported(&context, "resources/templates/list");
        };
        let templates = resources.templates().into_iter().map(offers::template).collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(resources) = &self.toolset.resources else {
            return Err(unknown_method("resources/read"));
        };
        if let Some(skill) = self.toolset.skills.iter().find(|skill| skill.uri() == request.uri) {
            return Ok(ReadResourceResult::new(vec![offers::skill_contents(skill)]).into());
        }
        let call = self.reading_call(&context);
        let mut entry = self.log.begin(&client_name(&context), grant(&context));
        entry.calls("resources/read", &call.state);
        let read = resources.read(&request.uri, &call, &*self.perform).await;
        entry.read(read.as_ref().err());
        let contents = read.map_err(|error| offers::resource_error(error, &request.uri))?;
        Ok(ReadResourceResult::new(vec![offers::contents(contents)]).into())
    }

    async fn list_skills(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        if self.toolset.skills.is_empty() {
            return Err(unknown_method("skills/list"));
        }
        let skills = self.toolset.skills.iter().map(offers::skill).collect();
        Ok(ListSkillsResult::with_all_items(skills))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        if self.toolset.skills.is_empty() {
            return Err(unknown_method("skills/get"));
        }
        let skill = self.toolset.skills.iter().find(|skill| skill.uri() == request.uri);
        let unknown = || ErrorData::invalid_params(format!("unknown skill {}", request.uri), None);
        skill.map(|skill| GetSkillResult::new(offers::skill(skill))).ok_or_else(unknown)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Some(completion) = &self.toolset.completion else {
            return Err(unknown_method("completion/complete"));
        };
        let resources = self.toolset.resources.as_deref();
        offers::check_reference(&request.r#ref, &self.toolset.prompts, resources)?;
        let (argument, prefix) = (&request.argument.name, &request.argument.value);
        let chosen = request.context.as_ref().and_then(|context| context.arguments.as_ref());
        let device = chosen.and_then(|arguments| arguments.get("device")).cloned();
        let call = self.reading_call(&context).on(device);
        let values = completion.complete(argument, prefix, &call, &*self.perform).await;
        Ok(offers::completion(values))
    }

    /// Also gets malformed requests of known methods, such as a `tools/call` without a name.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            UNREADABLE => {
                let reason = request.params.as_ref().and_then(|params| params["why"].as_str());
                let text = format!("Parse error: {}", reason.unwrap_or_default());
                ErrorData::new(ErrorCode::PARSE_ERROR, text, None)
            }
            method if is_new(&context) && LEFT_OUT.contains(&method) => unknown_method(method),
            method => match fault(method, request.params.as_ref()) {
                Some(text) => ErrorData::new(ErrorCode::INVALID_PARAMS, text, None),
                None => unknown_method(method),
            },
        })
    }
}

/// Whom a call can ask.
enum CallUser {
    Nobody,
    /// The user behind this client, while the call's request is open.
    During(ElicitingUser),
    /// The user behind a client that gets the question as the answer to a request.
    BetweenRequests {
        has_forms: bool,
        pages: Option<Arc<dyn SecretPages>>,
    },
}

/// The client that sent the request; over HTTP the one that the endpoint has recognized.
fn client(context: &RequestContext<RoleServer>) -> ClientId {
    let Some(parts) = context.extensions.get::<Parts>() else { return ClientId::Stdio };
    let unknown = || ClientId::Sessionless { token: Arc::default(), name: ClientName::default() };
    parts.extensions.get::<ClientId>().cloned().unwrap_or_else(unknown)
}

/// Whether the client understands tasks. Over HTTP only revision 2026-07-28 says so in each
/// request.
fn declares_tasks(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|client| client.supports_tasks())
}

/// The client's extension for MCP Apps (SEP-1865).
const APPS_EXTENSION_ID: &str = "io.modelcontextprotocol/ui";

/// Whether a client of an older revision over HTTP has declared in its handshake that it shows MCP
/// Apps.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShowsApps(pub(super) bool);

/// Whether these capabilities include MCP Apps made of HTML.
pub(super) fn has_apps(client: &ClientCapabilities) -> bool {
    let extension = client.extensions.as_ref().and_then(|all| all.get(APPS_EXTENSION_ID));
    let mimes = extension.and_then(|settings| settings.get("mimeTypes")?.as_array());
    mimes.is_some_and(|mimes| mimes.iter().any(|mime| mime == APP_MIME))
}

/// Whether the client shows MCP Apps.
fn shows_apps(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<Parts>();
    let of_session = parts.and_then(|parts| parts.extensions.get::<ShowsApps>());
    of_session.is_some_and(|shows| shows.0)
        || context.client_capabilities().is_some_and(|client| has_apps(&client))
}

/// What the request's token grants; `None` over stdio.
fn grant(context: &RequestContext<RoleServer>) -> Option<Grant> {
    let parts = context.extensions.get::<Parts>()?;
    let looking = || Grant { scope: Scope::Look, ..Grant::default() };
    Some(parts.extensions.get::<Grant>().cloned().unwrap_or_else(looking))
}

/// What the client may do. The program that started us over stdio may do everything.
fn scope(context: &RequestContext<RoleServer>) -> Scope {
    grant(context).map_or(Scope::Act, |grant| grant.scope)
}

/// What the client calls itself: in its handshake, or in revision 2026-07-28 with each request.
fn client_name(context: &RequestContext<RoleServer>) -> ClientName {
    match context.extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<ClientName>().cloned().unwrap_or_default(),
        None => {
            let sent = context.client_info();
            sent.map(|client| ClientName::clean(&client.name)).unwrap_or_default()
        }
    }
}

/// The reply to a list request for a feature that we do not have. Clients of older revisions ask
/// without checking capabilities and got an empty list from the original servers (recorded with
/// UFO's); in revision 2026-07-28 it is an error.
fn not_supported<T: Default>(
    context: &RequestContext<RoleServer>,
    method: &'static str,
) -> Result<T, ErrorData> {
    if is_new(context) { Err(unknown_method(method)) } else { Ok(T::default()) }
}

/// Whether a request is of revision 2026-07-28 or later.
fn is_new(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|revision| !revision.has_initialize())
}

/// Methods that revision 2026-07-28 does not have any more.
const LEFT_OUT: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

fn listed(tool: &Tool) -> rmcp::model::Tool {
    let mut listed = rmcp::model::Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        Arc::new(tool.schema.clone()),
    );
    listed.output_schema = tool.output.clone().map(Arc::new);
    listed.title = Some(tool.title.clone());
    listed.meta = tool.app_role.map(|role| MetaObject(role.meta()));
    let hints = tool.hints();
    if hints == ToolHints::default() {
        return listed;
    }
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = hints.read_only;
    annotations.destructive_hint = hints.destructive;
    annotations.idempotent_hint = hints.idempotent;
    annotations.open_world_hint = hints.open_world;
    listed.with_annotations(annotations)
}
