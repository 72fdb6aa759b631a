"""Checks requests, piece by piece, against the types that OpenAI and Anthropic publish with their own clients.

Reads {"openai": [body, …], "anthropic": [body, …]} and prints how many pieces of each kind were checked. Whole bodies are checked piece
by piece because the types hold messages in lists that pydantic reads lazily; a key that a type does not have is an error here. At the
end each body is spoilt in many ways, and each must be noticed: a check that finds nothing proves nothing.
"""

import base64
import copy
import json
import sys
from collections import Counter
from functools import cache
from typing import get_type_hints

from anthropic import types as anthropic
from anthropic.types import message_create_params
from anthropic.types.assistant_message_param import AssistantMessageParam
from anthropic.types.user_message_param import UserMessageParam
from openai.types import chat, shared_params
from openai.types.chat import completion_create_params
from openai.types.shared_params import response_format_json_schema
from pydantic import TypeAdapter, ValidationError

checked = Counter()


class Wrong(Exception):
    pass


# Made once: it takes pydantic longer than any check.
hints, adapter = cache(get_type_hints), cache(TypeAdapter)


def piece(kind, value):
    """One piece: it has the type's keys alone, with the types' values."""
    extra = set(value) - set(hints(kind))
    if extra:
        raise Wrong(f"{kind.__name__} has no {sorted(extra)}")
    try:
        adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        raise Wrong(f"{kind.__name__}: {error}") from error
    checked[kind.__name__] += 1


def picture(kind, data):
    start = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/webp": b"RIFF"}
    try:
        data = base64.b64decode(data, validate=True)
    except ValueError as error:
        raise Wrong(f"no base64: {error}") from error
    if kind not in start or not data.startswith(start[kind]):
        raise Wrong(f"no picture of {kind}")
    checked["picture"] += 1


def top(kind, body):
    """The body without its messages and tools, which are checked apart; their place must be there."""
    tools = {"tools": body["tools"] and []} if "tools" in body else {}
    piece(kind, {**body, **tools, "messages": body["messages"] and []})


def arguments(text):
    if not isinstance(json.loads(text), dict):
        raise Wrong("arguments are an object")


class Calls:
    """Each call must have its result in the next message, and no result may be without its call."""

    def __init__(self):
        self.open = set()

    def call(self, identity):
        if not identity or identity in self.open:
            raise Wrong(f"calls need ids of their own: {identity!r}")
        self.open.add(identity)

    def result(self, identity):
        if identity not in self.open:
            raise Wrong(f"no call has the id {identity!r}")
        self.open.remove(identity)
        checked["result"] += 1

    def all_answered(self):
        if self.open:
            raise Wrong(f"no result for {self.open}")


def openai_body(body):
    whole = completion_create_params
    streams = body.get("stream")
    top(whole.CompletionCreateParamsStreaming if streams else whole.CompletionCreateParamsNonStreaming, body)
    if "stream_options" in body:
        piece(chat.ChatCompletionStreamOptionsParam, body["stream_options"])
    if "response_format" in body:
        piece(shared_params.ResponseFormatJSONSchema, body["response_format"])
        piece(response_format_json_schema.JSONSchema, body["response_format"]["json_schema"])
    for tool in body.get("tools", []):
        piece(chat.ChatCompletionFunctionToolParam, tool)
        piece(shared_params.FunctionDefinition, tool["function"])
    calls = Calls()
    for message in body["messages"]:
        role = message.get("role")
        silent = role == "assistant" and message["content"] is None and message.get("tool_calls")
        if role != "user" and not silent and not isinstance(message["content"], str):
            raise Wrong(f"{role} speaks in words")
        if role != "tool":
            calls.all_answered()
        if role == "system":
            piece(chat.ChatCompletionSystemMessageParam, message)
        elif role == "assistant":
            rest = {**message, **({"tool_calls": []} if "tool_calls" in message else {})}
            piece(chat.ChatCompletionAssistantMessageParam, rest)
            for call in message.get("tool_calls", []):
                piece(chat.ChatCompletionMessageFunctionToolCallParam, call)
                piece(chat.chat_completion_message_function_tool_call_param.Function, call["function"])
                arguments(call["function"]["arguments"])
                calls.call(call["id"])
        elif role == "tool":
            piece(chat.ChatCompletionToolMessageParam, message)
            calls.result(message["tool_call_id"])
        else:
            piece(chat.ChatCompletionUserMessageParam, {**message, "content": []})
            for part in message["content"]:
                if part.get("type") == "image_url":
                    piece(chat.ChatCompletionContentPartImageParam, part)
                    piece(chat.chat_completion_content_part_image_param.ImageURL, part["image_url"])
                    head, _, data = part["image_url"]["url"].partition(";base64,")
                    picture(head.removeprefix("data:"), data)
                else:
                    piece(chat.ChatCompletionContentPartTextParam, part)
    calls.all_answered()


def anthropic_body(body):
    whole = message_create_params
    top(whole.MessageCreateParamsStreaming if body.get("stream") else whole.MessageCreateParamsNonStreaming, body)
    marks = 0

    def text(block):
        nonlocal marks
        piece(anthropic.TextBlockParam, block)
        if not block["text"].strip():
            raise Wrong("a text block must hold something")

    for block in body.get("system", []):
        text(block)
        marks += "cache_control" in block
    if "output_config" in body:
        piece(anthropic.OutputConfigParam, body["output_config"])
        piece(anthropic.JSONOutputFormatParam, body["output_config"]["format"])
    for tool in body.get("tools", []):
        piece(anthropic.ToolParam, tool)
    calls = Calls()
    for message in body["messages"]:
        ours = message.get("role") == "user"
        piece(UserMessageParam if ours else AssistantMessageParam, {**message, "content": []})
        if not message["content"]:
            raise Wrong("a message must hold something")
        first = True
        for block in message["content"]:
            if block.get("type") == "tool_use":
                piece(anthropic.ToolUseBlockParam, block)
                calls.call(block["id"])
            elif block.get("type") == "tool_result":
                if not first:
                    raise Wrong("results come first")
                piece(anthropic.ToolResultBlockParam, block)
                if not isinstance(block["content"], str):
                    raise Wrong("a result is in words")
                calls.result(block["tool_use_id"])
            elif block.get("type") == "image":
                piece(anthropic.ImageBlockParam, block)
                piece(anthropic.Base64ImageSourceParam, block["source"])
                picture(block["source"]["media_type"], block["source"]["data"])
            else:
                text(block)
            first = block.get("type") == "tool_result"
            if "cache_control" in block:
                piece(anthropic.CacheControlEphemeralParam, block["cache_control"])
                marks += 1
        if ours:
            calls.all_answered()
    calls.all_answered()
    if marks > 4:
        raise Wrong("at most four marks for the cache")


def spoilt(value):
    """The value, spoilt at each of its places: a key lost, a key misspelt, a value of another kind."""
    if isinstance(value, dict):
        for key in value:
            # A schema is the caller's own matter.
            if key in ("schema", "name", "strict", "parameters", "input_schema", "input"):
                continue
            if key not in OPTIONAL:
                yield "without " + key, {k: v for k, v in value.items() if k != key}
            yield "misspelt " + key, {(k + "x" if k == key else k): v for k, v in value.items()}
            wrong = {"no": "such"} if not isinstance(value[key], dict) else 7
            yield "another kind of " + key, {**value, key: wrong}
            for how, inner in spoilt(value[key]):
                yield f"{key}: {how}", {**value, key: inner}
    elif isinstance(value, list):
        for at, item in enumerate(value):
            for how, inner in spoilt(item):
                yield f"{at}: {how}", [*value[:at], inner, *value[at + 1 :]]


# What a request may leave out.
OPTIONAL = {
    "stream", "stream_options", "include_usage", "response_format", "output_config", "format", "system", "cache_control",
    "max_completion_tokens", "ttl", "tools", "description", "is_error",
}


def fails(check, body):
    try:
        check(copy.deepcopy(body))
    except (Wrong, KeyError, TypeError, AttributeError):
        return True
    return False


def main():
    bodies = json.load(sys.stdin)
    tried, missed = 0, []
    for provider, check in (("openai", openai_body), ("anthropic", anthropic_body)):
        for body in bodies[provider]:
            check(body)
        pieces = Counter(checked)
        for body in bodies[provider]:
            required = {"max_tokens"} if provider == "openai" else set()
            for how, broken in spoilt(body):
                if any(how == f"without {name}" for name in required):
                    continue
                tried += 1
                if not fails(check, broken):
                    missed.append(f"{provider}: {how}")
        checked.clear()
        checked.update(pieces)
    print(json.dumps({"checked": checked, "spoilt": tried, "missed": missed}))


main()
