//! What a toolset offers, as MCP writes it: contents, prompts, resources and completions.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolResult, CompleteResult, CompletionInfo, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResult, MetaObject, PromptMessage, Reference, Resource, Role,
    Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::{Map, Value, json};
use thumbwire_base::visible::visible_lines;
use thumbwire_core::toolset::prompts::Prompt;
use thumbwire_core::toolset::resources::{
    ResourceContents, ResourceData, ResourceError, ResourceInfo, ResourceProvider, ResourceTemplate,
};
use thumbwire_core::toolset::skills::SkillDocument;
use thumbwire_core::toolset::{Content, Reply};
use thumbwire_device::{Image, backend_names};

/// A block of a result or a prompt.
pub(super) fn content(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image(Image { format, bytes }) => {
            ContentBlock::image(STANDARD.encode(bytes), format.mime())
        }
        Content::Resource(resource) => ContentBlock::resource(contents(resource)),
        Content::Link(link) => ContentBlock::resource_link(resource(link)),
    }
}

pub(super) fn resource(info: ResourceInfo) -> Resource {
    let resource = Resource::new(info.uri, info.name)
        .with_description(info.description)
        .with_mime_type(info.mime);
    match info.bytes {
        Some(bytes) => resource.with_size(bytes),
        None => resource,
    }
}

pub(super) fn template(template: ResourceTemplate) -> rmcp::model::ResourceTemplate {
    rmcp::model::ResourceTemplate::new(template.uri, template.name)
        .with_description(template.description)
        .with_mime_type(template.mime)
}

pub(super) fn contents(contents: ResourceContents) -> rmcp::model::ResourceContents {
    let written = match contents.data {
        ResourceData::Text(text) => {
            rmcp::model::ResourceContents::text(visible_lines(&text).into_owned(), contents.uri)
        }
        ResourceData::Bytes(bytes) => {
            rmcp::model::ResourceContents::blob(STANDARD.encode(bytes), contents.uri)
        }
    };
    written.with_mime_type(contents.mime)
}

/// A skill, with the digest of its file.
pub(super) fn skill(skill: &SkillDocument) -> Skill {
    let file = SkillResource::from_bytes(skill.uri(), skill.text.as_bytes());
    let front = SkillFrontmatter::new(&skill.name, &skill.description);
    Skill::new(skill.uri(), front, SkillResources::Files(vec![file]))
}

/// The file of a skill, byte by byte.
pub(super) fn skill_contents(skill: &SkillDocument) -> rmcp::model::ResourceContents {
    rmcp::model::ResourceContents::text(&skill.text, skill.uri()).with_mime_type("text/markdown")
}

pub(super) fn resource_error(error: ResourceError, uri: &str) -> ErrorData {
    match error {
        ResourceError::NotFound => {
            let data = Some(json!({ "uri": uri }));
            ErrorData::resource_not_found("Resource not found: list the resources again", data)
        }
        ResourceError::Failed(failure) => {
            let text = format!("{}. Next: {}", failure.cause, failure.next_step());
            ErrorData::internal_error(text, None)
        }
        ResourceError::Unreadable(reason) => ErrorData::internal_error(reason, None),
    }
}

pub(super) fn prompt(prompt: &Prompt) -> rmcp::model::Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        rmcp::model::PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.is_required)
    });
    rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(arguments.collect()))
        .with_title(prompt.title)
}

/// The messages of the requested prompt.
pub(super) fn prompt_messages(
    prompts: &[Prompt],
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let invalid = |text: String| ErrorData::invalid_params(text, None);
    let prompt = prompts.iter().find(|prompt| prompt.name == request.name);
    let prompt = prompt.ok_or_else(|| invalid(format!("Unknown prompt: {}", request.name)))?;
    let mut given = BTreeMap::new();
    for (name, value) in request.arguments.iter().flatten() {
        if !prompt.arguments.iter().any(|argument| argument.name == name) {
            return Err(invalid(format!("{} has no argument {name}", prompt.name)));
        }
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        given.insert(name.clone(), value);
    }
    let is_missing = |name: &str| given.get(name).is_none_or(|value| value.trim().is_empty());
    let mut required = prompt.arguments.iter().filter(|argument| argument.is_required);
    if let Some(argument) = required.find(|argument| is_missing(argument.name)) {
        return Err(invalid(format!("{} requires the argument {}", prompt.name, argument.name)));
    }
    let messages = (prompt.message)(&given).into_iter();
    let messages = messages.map(|part| PromptMessage::new(Role::User, content(part)));
    Ok(GetPromptResult::new(messages.collect()).with_description(prompt.description))
}

/// Checks that a reference of a completion names something that exists.
pub(super) fn check_reference(
    reference: &Reference,
    prompts: &[Prompt],
    resources: Option<&dyn ResourceProvider>,
) -> Result<(), ErrorData> {
    let (is_known, name) = match reference {
        Reference::Prompt(named) => {
            (prompts.iter().any(|prompt| prompt.name == named.name), &named.name)
        }
        Reference::Resource(named) => {
            let mut templates = resources.into_iter().flat_map(ResourceProvider::templates);
            (templates.any(|template| template.uri == named.uri), &named.uri)
        }
        _ => return Err(ErrorData::invalid_params("Unknown kind of reference", None)),
    };
    let unknown = || ErrorData::invalid_params(format!("Nothing to complete: {name}"), None);
    if is_known { Ok(()) } else { Err(unknown()) }
}

/// The values of a completion, cut where MCP wants it.
pub(super) fn completion(mut values: Vec<String>) -> CompleteResult {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    CompleteResult::new(info)
}

/// The key of `_meta` for [`Reply::backends`]: `{"tree":"helper","tap":"shell"}`.
const BACKENDS: &str = "thumbwire/backends";

/// A reply as a call's result.
pub(super) fn result(reply: Reply) -> CallToolResult {
    let content = reply.content.into_iter().map(content).collect();
    let mut result = CallToolResult::success(content);
    result.is_error = Some(reply.is_error);
    result.structured_content = reply.structured;
    if !reply.backends.is_empty() {
        let backends = json!(backend_names(&reply.backends));
        result.meta = Some(MetaObject(Map::from_iter([(BACKENDS.to_owned(), backends)])));
    }
    result
}
