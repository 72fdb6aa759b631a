//! Generates a tool app's XML: its descriptor and its manifest entry.

use std::fmt::Write as _;

use thumbwire_mobile_mcp::{ACTION, VERSION};

use super::plan::Plan;

/// The descriptor (section 1.2).
pub(super) fn descriptor(plan: &Plan) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    let _ = writeln!(xml, "<mobile-mcp-capabilities version=\"{VERSION}\">");
    for one in &plan.capabilities {
        let _ = writeln!(
            xml,
            "    <capability\n        id=\"{}\"\n        description=\"{}\"\n        version=\"{}\">",
            one.id,
            value(&one.description),
            one.version
        );
        if !one.input.is_empty() {
            xml.push_str("        <input>\n");
            for it in &one.input {
                let _ = writeln!(
                    xml,
                    "            <param name=\"{}\" type=\"{}\" required=\"{}\" description=\"{}\" />",
                    it.name,
                    it.kind.name(),
                    it.required,
                    value(&it.description)
                );
            }
            xml.push_str("        </input>\n");
        }
        if !one.output.is_empty() {
            xml.push_str("        <output>\n");
            for it in &one.output {
                let _ = writeln!(
                    xml,
                    "            <param name=\"{}\" type=\"{}\" description=\"{}\" />",
                    it.name,
                    it.kind.name(),
                    value(&it.description)
                );
            }
            xml.push_str("        </output>\n");
        }
        xml.push_str("    </capability>\n");
    }
    xml.push_str("</mobile-mcp-capabilities>\n");
    xml
}

/// The service's declaration in the manifest (section 1.1).
pub(super) fn declaration(plan: &Plan) -> String {
    let entry = |name: &str, what: &str, value: &str| {
        format!(
            "    <meta-data android:name=\"mobile.mcp.tool.{name}\" android:{what}=\"{value}\" />\n"
        )
    };
    [
        "<!-- Copy into <application> of AndroidManifest.xml. -->\n".to_owned(),
        format!("<service android:name=\"{}.{}\" android:exported=\"true\">\n", plan.package, plan.class),
        format!("    <intent-filter>\n        <action android:name=\"{ACTION}\" />\n    </intent-filter>\n"),
        entry("name", "value", &value(&plan.name)),
        entry("description", "value", &value(&plan.description)),
        entry("capabilities", "resource", "@xml/mcp_capabilities"),
        "</service>\n".to_owned(),
    ]
    .concat()
}

/// Escapes a text for an attribute of a resource file. Two parsers read it: XML's, then Android's
/// resource compiler, where a backslash begins an escape, a leading `@`, `?` or `#` has a special
/// meaning, and anything that looks like a number or boolean becomes one (frameworks/base,
/// ResourceTypes.cpp, `stringToValue` and `collectString`).
fn value(text: &str) -> String {
    let mut value = String::new();
    for (at, character) in text.trim().chars().enumerate() {
        match character {
            '@' | '?' | '#' if at == 0 => value.extend(['\\', character]),
            first if at == 0 && is_typed(text.trim()) => {
                let _ = write!(value, "\\u{:04x}", u32::from(first));
            }
            '\\' => value.push_str("\\\\"),
            '\n' => value.push_str("\\n"),
            '\t' => value.push(' '),
            '&' => value.push_str("&amp;"),
            '<' => value.push_str("&lt;"),
            '"' => value.push_str("&quot;"),
            other => value.push(other),
        }
    }
    value
}

/// Whether the resource compiler may take it for a number, a dimension or a boolean.
fn is_typed(text: &str) -> bool {
    let word = !text.contains(char::is_whitespace);
    let number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    word && (number || ["true", "false"].contains(&text.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_survives_both_parsers() {
        for (text, written) in [
            ("Tom & \"Jerry\" <3", "Tom &amp; &quot;Jerry&quot; &lt;3"),
            ("@string/none", "\\@string/none"),
            ("?", "\\?"),
            ("C:\\notes", "C:\\\\notes"),
            ("one\ntwo", "one\\ntwo"),
            ("3 notes", "3 notes"),
            ("42", "\\u00342"),
            ("True", "\\u0054rue"),
        ] {
            assert_eq!(value(text), written);
        }
    }
}
