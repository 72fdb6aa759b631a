//! Generates a tool app's Kotlin: the shared base class, and a class with one function to implement
//! per capability.

use std::fmt::Write as _;

use super::plan::{BASE, CapabilitySpec, InputSpec, Plan, Type, camel, is_reserved};

/// The shared base class, in this package.
pub(super) fn base(package: &str) -> String {
    include_str!("MobileMcpService.kt").replacen(
        "package org.example",
        &format!("package {}", quoted(package)),
        1,
    )
}

/// The app's own class.
pub(super) fn service(plan: &Plan) -> String {
    let mut code = format!("package {}\n\n", quoted(&plan.package));
    let _ = writeln!(code, "// {}: {}", line(&plan.name), line(&plan.description));
    code.push_str("// This list must match res/xml/mcp_capabilities.xml.\n");
    let _ = writeln!(code, "class {} : {BASE}() {{", plan.class);
    code.push_str("    override val capabilities = listOf(\n");
    for one in &plan.capabilities {
        listed(&mut code, one);
    }
    code.push_str("    )\n");
    for one in &plan.capabilities {
        function(&mut code, one);
    }
    code.push_str("}\n");
    code
}

fn listed(code: &mut String, one: &CapabilitySpec) {
    let _ = writeln!(code, "        Capability(\n            id = {},", text(&one.id));
    let input = one.input.iter().map(|it| (it.name.as_str(), it.kind, it.required));
    params(code, "input", &input.collect::<Vec<_>>());
    let output = one.output.iter().map(|it| (it.name.as_str(), it.kind, false));
    params(code, "output", &output.collect::<Vec<_>>());
    let given: Vec<_> = one.input.iter().map(argument).collect();
    let call = format!("{}({})", name(one), given.join(", "));
    let taken = if given.is_empty() { "" } else { "given -> " };
    match call.len() < 80 {
        true => {
            let _ = writeln!(code, "            run = {{ {taken}{call} }},");
        }
        false => {
            let _ = writeln!(code, "            run = {{ {taken}\n                {}(", name(one));
            for one in &given {
                let _ = writeln!(code, "                    {one},");
            }
            code.push_str("                )\n            },\n");
        }
    }
    code.push_str("        ),\n");
}

fn params(code: &mut String, what: &str, params: &[(&str, Type, bool)]) {
    if params.is_empty() {
        let _ = writeln!(code, "            {what} = emptyList(),");
        return;
    }
    let _ = writeln!(code, "            {what} = listOf(");
    for (name, kind, required) in params {
        let required = if *required { ", required = true" } else { "" };
        let (name, kind) = (text(name), text(kind.name()));
        let _ = writeln!(code, "                Param({name}, {kind}{required}),");
    }
    code.push_str("            ),\n");
}

/// The expression that reads an argument.
fn argument(taken: &InputSpec) -> String {
    let get = match taken.kind {
        Type::String => "getString",
        Type::Boolean => "getBoolean",
        Type::Integer => "getLong",
        Type::Number => "getDouble",
    };
    let name = text(&taken.name);
    match taken.required {
        true => format!("given.{get}({name})"),
        false => format!("if (given.has({name})) given.{get}({name}) else null"),
    }
}

fn function(code: &mut String, one: &CapabilitySpec) {
    let _ = writeln!(code, "\n    // {}", line(&one.description));
    for it in &one.input {
        let _ = writeln!(code, "    //   input {}: {}", it.name, line(&it.description));
    }
    for it in &one.output {
        let _ = writeln!(code, "    //   output {}: {}", it.name, line(&it.description));
    }
    let takes: Vec<_> = one.input.iter().map(parameter).collect();
    let head = format!("    private fun {}({}): Map<String, Any> {{", name(one), takes.join(", "));
    match head.len() <= 120 {
        true => {
            let _ = writeln!(code, "{head}");
        }
        false => {
            let _ = writeln!(code, "    private fun {}(", name(one));
            for one in &takes {
                let _ = writeln!(code, "        {one},");
            }
            code.push_str("    ): Map<String, Any> {\n");
        }
    }
    let gives: Vec<_> = one.output.iter().map(example).collect();
    let gives = match gives.is_empty() {
        true => "emptyMap()".to_owned(),
        false => format!("mapOf({})", gives.join(", ")),
    };
    let _ = writeln!(code, "        // return {gives}");
    let unwritten = text(&format!("{} is not implemented yet.", one.id));
    let _ = writeln!(code, "        throw Refusal({unwritten})\n    }}");
}

/// The function name of a capability. The prefix `do` avoids clashes with functions of Android's
/// `Service`.
fn name(one: &CapabilitySpec) -> String {
    let camel = camel(&one.id);
    let mut characters = camel.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    format!("do{}{}", first.unwrap_or_default(), characters.as_str())
}

fn parameter(taken: &InputSpec) -> String {
    let camel = camel(&taken.name);
    let name = if is_reserved(&camel) { format!("`{camel}`") } else { camel };
    let kind = match taken.kind {
        Type::String => "String",
        Type::Boolean => "Boolean",
        Type::Integer => "Long",
        Type::Number => "Double",
    };
    format!("{name}: {kind}{}", if taken.required { "" } else { "?" })
}

fn example(given: &super::plan::OutputSpec) -> String {
    let value = match given.kind {
        Type::String => "\"\"",
        Type::Boolean => "true",
        Type::Integer => "0L",
        Type::Number => "0.0",
    };
    format!("{} to {value}", text(&given.name))
}

/// A package name with Kotlin's keywords quoted.
fn quoted(package: &str) -> String {
    let quoted = package.split('.').map(|it| match is_reserved(it) {
        true => format!("`{it}`"),
        false => it.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(".")
}

/// A text as a string literal. `$` would begin a template.
fn text(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '$' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

/// A text on one line, for a line comment.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;

    #[test]
    fn keyword_in_package_name_is_quoted() {
        let plan = plan::read(
            r#"
package = "in.gov.notes"
class = "NotesTools"
name = "Notes"
description = "Keeps notes"
[[capability]]
id = "count"
description = "Counts them"
"#,
        );
        let plan = plan.unwrap();
        assert!(service(&plan).starts_with("package `in`.gov.notes\n"));
        assert!(base(&plan.package).starts_with("package `in`.gov.notes\n"));
    }

    #[test]
    fn texts_cannot_inject_code() {
        assert_eq!(text("a \"b\" $c ${d} \\ \n"), r#""a \"b\" \$c \${d} \\ \n""#);
        let plan = plan::read(
            r#"
package = "org.example.odd"
class = "OddTools"
name = "*/ Odd\n}"
description = "one\nfun two() {}"
[[capability]]
id = "stop_self"
description = "${java.lang.System.exit(1)}\n}"
input = [{ name = "when", type = "integer", required = false, description = "\n\"" }]
"#,
        );
        let code = service(&plan.unwrap());
        assert!(code.contains("// */ Odd }: one fun two() {}\n"), "{code}");
        assert!(code.contains("    // ${java.lang.System.exit(1)} }\n"), "{code}");
        // `stopSelf` is a function of Service, and `when` a keyword.
        assert!(code.contains("private fun doStopSelf(`when`: Long?)"), "{code}");
        let taken = r#"doStopSelf(if (given.has("when")) given.getLong("when") else null)"#;
        assert!(code.contains(taken), "{code}");
    }
}
