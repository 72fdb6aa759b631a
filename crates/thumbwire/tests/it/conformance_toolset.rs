//! The fixtures that MCP's conformance suite expects of a server: tools, prompts, resources and
//! completions. Only what our toolsets use too; `conformance/excluded.yml` says what is missing,
//! and why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_core::action::{Call, Cause, Failure, Perform, Question};
use thumbwire_core::toolset::prompts::{CompleteArgument, Prompt, PromptArgument};
use thumbwire_core::toolset::resources::{
    ResourceContents, ResourceData, ResourceError, ResourceInfo, ResourceProvider, ResourceTemplate,
};
use thumbwire_core::toolset::{Content, Handler, Reply, Tool, ToolEffect, Toolset, mobile};
use thumbwire_device::{Format, Image};
use tokio::time::timeout;

/// A red pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

/// The toolset with the fixtures instead of our tools.
pub(crate) fn toolset() -> Toolset {
    let named = |name: &'static str| {
        let schema = json!({ "type": "object" });
        tool(name, schema)
    };
    let mut tools: Vec<Tool> = [
        "test_simple_text",
        "test_image_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "test_logging_tool",
        "test_streaming_elicitation",
        "test_input_required_result_elicitation",
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_input_required_result_multi_round",
    ]
    .map(named)
    .into();
    let message = json!({ "type": "object", "properties": { "message": { "type": "string" } }, "required": ["message"] });
    tools.push(tool("test_elicitation", message));
    tools.push(tool("json_schema_2020_12_tool", every_keyword()));
    tools.push(tool(
        "greet",
        json!({ "type": "object", "properties": { "name": { "type": "string" } } }),
    ));
    let long =
        ["slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input"];
    let known = json!({ "type": "object", "properties": {
        "seconds": { "type": "number" }, "label": { "type": "string" }, "filename": { "type": "string" },
    } });
    tools.extend(long.map(|name| tool(name, known.clone()).long()));
    let mut toolset = mobile::toolset();
    toolset.tools = tools;
    toolset.prompts = prompts();
    toolset.resources = Some(Arc::new(Fixtures));
    toolset.completion = Some(Arc::new(Fixtures));
    toolset
}

fn tool(name: &'static str, schema: Value) -> Tool {
    let described = json!({ "name": name, "description": "A fixture", "inputSchema": schema });
    let handler = Arc::new(Fixture(name));
    Tool::handled(&described, ToolEffect::ReadOnly, Duration::from_secs(30), handler)
}

/// The schema of the suite's scenario `json-schema-2020-12`.
fn every_keyword() -> Value {
    let address = json!({
        "$anchor": "addressDef", "type": "object",
        "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

fn image() -> Content {
    Content::Image(Image { format: Format::Png, bytes: PNG.to_vec().into() })
}

fn text_resource(uri: &str, mime: &str, text: &str) -> ResourceContents {
    let data = ResourceData::Text(text.into());
    ResourceContents { uri: uri.into(), mime: mime.into(), data }
}

fn embedded() -> Content {
    let text = "This is an embedded resource content.";
    Content::Resource(text_resource("test://embedded-resource", "text/plain", text))
}

/// A tool of this name.
struct Fixture(&'static str);

#[async_trait]
impl Handler for Fixture {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        _perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let ask = async |name: &'static str, text: &str| {
            let question = Question { name: name.into(), ..Question::open(text) };
            format!("{:?}", call.ask.ask(&question).await)
        };
        let words = match self.0 {
            "test_image_content" => return Ok(Reply::parts(vec![image()])),
            "test_embedded_resource" => return Ok(Reply::parts(vec![embedded()])),
            "test_multiple_content_types" => {
                let json = r#"{"test":"data","value":123}"#;
                let resource =
                    text_resource("test://mixed-content-resource", "application/json", json);
                let text = Content::Text("Multiple content types test:".into());
                return Ok(Reply::parts(vec![text, image(), Content::Resource(resource)]));
            }
            "test_error_handling" => {
                return Ok(Reply::error("This tool intentionally returns an error for testing"));
            }
            "test_tool_with_progress" | "test_streaming_elicitation" => {
                for done in [0, 50, 100] {
                    call.progress.report(done, Some(100), "working");
                }
                match self.0 {
                    "test_tool_with_progress" => "done".into(),
                    _ => ask("user_name", "What is your name?").await,
                }
            }
            "test_elicitation" => {
                ask("username", arguments["message"].as_str().unwrap_or_default()).await
            }
            "test_input_required_result_elicitation" => {
                ask("user_name", "What is your name?").await
            }
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                format!("state-ok: {}", ask("confirm", "Please confirm").await)
            }
            "test_input_required_result_multi_round" => {
                let name = ask("step1", "Step 1: What is your name?").await;
                format!("{name} {}", ask("step2", "Step 2: What is your favorite color?").await)
            }
            "greet" => format!("Hello, {}!", arguments["name"].as_str().unwrap_or_default()),
            "slow_compute" => {
                let time = Duration::from_secs_f64(arguments["seconds"].as_f64().unwrap_or(1.0));
                tokio::select! {
                    () = call.cancelled.cancelled() => return Err(Cause::Cancelled.into()),
                    _ = timeout(time, std::future::pending::<()>()) => "computed".into(),
                }
            }
            "failing_job" => return Ok(Reply::error("this job always fails")),
            "protocol_error_job" => panic!("the fixture panics"),
            "confirm_delete" => ask("confirm", "Delete it?").await,
            "multi_input" => {
                let (one, two) = tokio::join!(ask("one", "First?"), ask("two", "Second?"));
                format!("{one} {two}")
            }
            _ => "This is a simple text response for testing.".into(),
        };
        Ok(Reply::text(words))
    }
}

fn prompts() -> Vec<Prompt> {
    type Arguments = BTreeMap<String, String>;
    let prompt = |name, arguments, message| Prompt {
        name,
        title: "A fixture",
        description: "A fixture",
        arguments,
        message,
    };
    const TWO: &[PromptArgument] = &[
        PromptArgument { name: "arg1", description: "First test argument", is_required: true },
        PromptArgument { name: "arg2", description: "Second test argument", is_required: true },
    ];
    const URI: &[PromptArgument] = &[PromptArgument {
        name: "resourceUri",
        description: "URI of the resource to embed",
        is_required: true,
    }];
    vec![
        prompt("test_simple_prompt", &[], |_: &Arguments| {
            vec![Content::Text("This is a simple prompt for testing.".into())]
        }),
        prompt("test_prompt_with_arguments", TWO, |given: &Arguments| {
            let text = format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                given["arg1"], given["arg2"]
            );
            vec![Content::Text(text)]
        }),
        prompt("test_prompt_with_embedded_resource", URI, |given: &Arguments| {
            let text = "Embedded resource content for testing.";
            let resource = text_resource(&given["resourceUri"], "text/plain", text);
            let question = Content::Text("Please process the embedded resource above.".into());
            vec![Content::Resource(resource), question]
        }),
        prompt("test_prompt_with_image", &[], |_: &Arguments| {
            vec![image(), Content::Text("Please analyze the image above.".into())]
        }),
    ]
}

struct Fixtures;

#[async_trait]
impl ResourceProvider for Fixtures {
    fn tells_changes(&self) -> bool {
        true
    }

    fn can_change(&self, _uri: &str) -> bool {
        true
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri: "test://template/{id}/data",
            name: "template",
            description: "A fixture",
            mime: "application/json",
        }]
    }

    async fn list(&self, _call: &Call, _perform: &dyn Perform) -> Vec<ResourceInfo> {
        let listed = [("static-text", "text/plain"), ("static-binary", "image/png")];
        listed
            .map(|(name, mime)| ResourceInfo {
                uri: format!("test://{name}"),
                name: name.into(),
                description: "A fixture".into(),
                mime: mime.into(),
                bytes: None,
            })
            .into()
    }

    async fn read(
        &self,
        uri: &str,
        _call: &Call,
        _perform: &dyn Perform,
    ) -> Result<ResourceContents, ResourceError> {
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        match (uri, id) {
            ("test://static-text", _) => {
                let text = "This is the content of the static text resource.";
                Ok(text_resource(uri, "text/plain", text))
            }
            ("test://static-binary", _) => {
                let data = ResourceData::Bytes(PNG.to_vec());
                Ok(ResourceContents { uri: uri.into(), mime: "image/png".into(), data })
            }
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                Ok(text_resource(uri, "application/json", &data.to_string()))
            }
            _ => Err(ResourceError::NotFound),
        }
    }
}

#[async_trait]
impl CompleteArgument for Fixtures {
    async fn complete(
        &self,
        _argument: &str,
        prefix: &str,
        _call: &Call,
        _perform: &dyn Perform,
    ) -> Vec<String> {
        let known = ["paris", "park", "party", "test"];
        known.into_iter().filter(|one| one.starts_with(prefix)).map(str::to_owned).collect()
    }
}
