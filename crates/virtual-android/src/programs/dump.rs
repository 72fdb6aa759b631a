//! `uiautomator dump`: the focused application window's tree as XML.
//!
//! Start with [`uiautomator`]; [`hierarchy`] is the pure part. Order, NAF rule and escapes follow
//! `AccessibilityNodeInfoDumper.java` and the KXml serializer of Android, checked against the
//! captured dumps. Since Android 14 a node has `drawing-order` and `hint`.

use std::cell::Cell;
use std::time::Duration;

use super::Invocation;
use crate::faults::Fault;
use crate::latency;
use crate::phone::automation::AutomationGuard;
use crate::phone::{State, VirtualPhone};
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::{Node, Scene};
use thumbwire_virtual_shell::files::absolute;
use thumbwire_virtual_shell::io::Status;

/// 128 + `SIGKILL`: Android's runtime kills a program with an uncaught exception.
const KILLED: i32 = 137;

/// How long a screen must be idle, and how many times that long to wait.
const QUIET: Duration = Duration::from_secs(1);
const PATIENCE: u32 = 10;

/// `uiautomator dump [--compressed] [FILE]`. Failures show only in the output: the status is 0
/// either way.
pub(super) async fn uiautomator(call: Invocation) -> Status {
    let release = call.release();
    let usage = if release.form == ToolKind::Java { OLD_USAGE } else { USAGE };
    match call.arg(0) {
        Some("dump") => {}
        Some("help") | None => {
            call.out(usage).await?;
            return Ok(0);
        }
        Some("runtest") if release.form == ToolKind::Java && missing_jar(&call).is_some() => {
            let wrong = missing_jar(&call).unwrap_or_default();
            call.err(format!("Error: {wrong}\n{usage}")).await;
            return Ok(1);
        }
        Some("runtest" | "events") => {
            call.err(format!("ERROR: {} is not supported by this phone\n", call.args[0])).await;
            return Ok(1);
        }
        Some(other) => {
            if release.form != ToolKind::Java {
                call.err(format!("Unknown command: {other}\n")).await;
            }
            call.out(usage).await?;
            return Ok(0);
        }
    }
    let Some(_held) = AutomationGuard::take(&call.phone, "uiautomator") else {
        return refused(&call).await;
    };
    call.phone.run_work(latency::DUMP).await;
    let compressed = call.args.iter().any(|arg| arg == "--compressed");
    let file = call
        .args
        .iter()
        .skip(1)
        .rfind(|arg| !arg.starts_with('-'))
        .map_or(release.dump_file, String::as_str);
    let busy = call.fault_triggers(Fault::DumpNotIdle);
    if busy {
        call.phone.sleep(QUIET * PATIENCE).await;
    }
    if busy || !wait_for_idle(&call).await {
        call.err("ERROR: could not get idle state.\n").await;
        return Ok(0);
    }
    let (xml, deadly) = call.phone.with(|phone| {
        let shape = DumpFormat {
            drawing_order: release.drawing_order,
            hint: release.drawing_order,
            dots: release.dots_in_dumps,
            compressed,
            marks_unfriendly: true,
            most: Cell::new(usize::MAX),
        };
        let scene = phone.world.scene();
        (hierarchy(scene, &shape), release.dump_dies_of_emoji && beyond_the_basic_plane(scene))
    });
    // The serializer crashes: "Illegal character (d83d)" in the log. Measured on a running Android
    // 4.4.4.
    if deadly {
        call.err("Killed\n").await;
        return Ok(KILLED);
    }
    let Some(xml) = xml else {
        call.err("ERROR: null root node returned by UiTestAutomationBridge.\n").await;
        return Ok(0);
    };
    let xml = stale(&call, xml);
    if call.fault_triggers(Fault::DumpKilled) {
        if let Ok(output) = call.create(file) {
            output.write(&xml.as_bytes()[..xml.len() / 2]).await?;
        }
        call.err("Killed\n").await;
        return Ok(KILLED);
    }
    // An unwritable path goes unnoticed: the line below is printed anyway (capture
    // `184-uiautomator-dump-badpath`).
    if let Ok(output) = call.create(file) {
        output.write(xml.as_bytes()).await?;
    }
    call.out(format!("UI hierchary dumped to: {}\n", call.path(file))).await?;
    Ok(0)
}

/// Another program holds UiAutomation: on Android 4.4 the runtime kills the program (measured).
/// Later releases are not measured; the words are those of
/// `AccessibilityManagerService.registerUiTestAutomationService`.
async fn refused(call: &Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        call.err("Killed\n").await;
        return Ok(KILLED);
    }
    call.err(
        "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@41bd3ad8already registered!\n\tat android.os.Parcel.createExceptionOrNull(Parcel.java:3057)\n",
    )
    .await;
    Ok(1)
}

/// Why `runtest` of Android 4.4 does not start: it has no JAR, or the one in its first argument is
/// not there.
fn missing_jar(call: &Invocation) -> Option<String> {
    let Some(path) = call.arg(1) else {
        return Some(
            "more parameters expected for runtest; please see usage for details".to_owned(),
        );
    };
    let path = absolute("/data/local/tmp", path);
    let is_there = call.phone.with(|phone| phone.kernel.files.stat(&path, true)).is_ok();
    (!is_there).then(|| format!("{path} does not exist"))
}

/// Waits for a second without changes, up to ten seconds, as the real program does
/// (`UiAutomation.waitForIdle` in `DumpCommand.java`, whose text is above). Returns at once if the
/// screen is idle already.
async fn wait_for_idle(call: &Invocation) -> bool {
    for _ in 0..PATIENCE {
        if !call.phone.read(|phone| phone.world.keeps_moving()) {
            return true;
        }
        call.phone.sleep(QUIET).await;
    }
    false
}

/// The dump, or an older one if a fault rule says so.
fn stale(call: &Invocation, xml: String) -> String {
    stale_tree(&call.phone, xml, || call.fault_triggers(Fault::DumpStale))
}

/// The tree, or an older one if a fault rule `triggers`.
pub(super) fn stale_tree(
    phone: &VirtualPhone,
    xml: String,
    triggers: impl FnOnce() -> bool,
) -> String {
    if !phone.read(|phone| phone.faults.has(Fault::DumpStale)) {
        return xml;
    }
    let before = phone.read(|phone| phone.faults.dumped.clone());
    match before {
        Some(before) if before != xml && triggers() => before,
        _ => {
            phone.with(|phone| phone.faults.dumped = Some(xml.clone()));
            xml
        }
    }
}

/// The dump of a scene; `None` if no application window has the focus.
fn hierarchy(scene: &Scene, shape: &DumpFormat) -> Option<String> {
    let window = scene.focused()?;
    let mut xml = String::with_capacity(16 * 1024);
    xml.push_str("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy");
    attribute(&mut xml, "rotation", &scene.display.rotation.to_string());
    xml.push('>');
    node(&mut xml, &window.root, 0, 0, shape);
    xml.push_str("</hierarchy>");
    Some(xml)
}

/// The format of a dump.
struct DumpFormat {
    /// Since Android 14.
    drawing_order: bool,
    /// Since Android 14.
    hint: bool,
    /// One dot per character of a password. Before Android 8 the node has no text:
    /// `TextView.onInitializeAccessibilityNodeInfo`.
    dots: bool,
    /// Omits containers without content.
    compressed: bool,
    /// Marks nodes that are not accessibility friendly (`NAF`).
    marks_unfriendly: bool,
    /// How many more nodes are written.
    most: Cell<usize>,
}

/// The tree in the form of `uiautomator dump` as the helper writes it, or just as `uiautomator dump
/// --compressed` does; `None` if no application window has the focus.
pub(super) fn tree_for_helper(phone: &mut State, most: usize, compressed: bool) -> Option<String> {
    let shape = shape_of_helper(phone, most, compressed);
    hierarchy(phone.world.scene(), &shape)
}

fn shape_of_helper(phone: &State, most: usize, compressed: bool) -> DumpFormat {
    let (android, release) = (phone.world.android(), phone.release());
    DumpFormat {
        // `AccessibilityNodeInfo` has them since 7 and 8, long before the program prints them.
        drawing_order: if compressed { release.drawing_order } else { android >= 7 },
        hint: if compressed { release.drawing_order } else { android >= 8 },
        dots: release.dots_in_dumps,
        compressed,
        marks_unfriendly: compressed,
        most: Cell::new(most),
    }
}

/// Whether some text has a character outside the BMP.
fn beyond_the_basic_plane(scene: &Scene) -> bool {
    let beyond = |text: &str| text.chars().any(|c| c > '\u{ffff}');
    let root = scene.focused().map(|window| &window.root);
    root.is_some_and(|root| {
        root.walk()
            .any(|node| beyond(&node.text) || beyond(&node.description) || beyond(&node.hint))
    })
}

/// The text of a node's `AccessibilityNodeInfo`. With `dots`, a password has one dot per character.
pub(super) fn accessibility_text(node: &Node, dots: bool) -> String {
    if node.flags.password && !dots {
        String::new()
    } else if node.text.is_empty() {
        // The accessibility node of an empty field has its hint as its text.
        node.hint.clone()
    } else if node.flags.password {
        "•".repeat(node.text.chars().count())
    } else {
        node.text.clone()
    }
}

fn node(xml: &mut String, node: &Node, index: usize, order: usize, shape: &DumpFormat) {
    let Some(left) = shape.most.get().checked_sub(1) else { return };
    shape.most.set(left);
    let flags = &node.flags;
    let text = accessibility_text(node, shape.dots);
    xml.push_str("<node");
    if shape.marks_unfriendly && is_not_accessibility_friendly(node) {
        attribute(xml, "NAF", "true");
    }
    attribute(xml, "index", &index.to_string());
    attribute(xml, "text", &text);
    attribute(xml, "resource-id", node.id.as_deref().unwrap_or_default());
    attribute(xml, "class", node.class);
    attribute(xml, "package", &node.package);
    attribute(xml, "content-desc", &node.description);
    for (name, value) in [
        ("checkable", flags.checkable),
        ("checked", flags.checked),
        ("clickable", flags.clickable),
        ("enabled", flags.enabled),
        ("focusable", flags.focusable),
        ("focused", flags.focused),
        ("scrollable", flags.scrollable),
        ("long-clickable", flags.long_clickable),
        ("password", flags.password),
        ("selected", flags.selected),
    ] {
        attribute(xml, name, if value { "true" } else { "false" });
    }
    let bounds = node.bounds;
    attribute(
        xml,
        "bounds",
        &format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom),
    );
    if shape.drawing_order {
        attribute(xml, "drawing-order", &order.to_string());
    }
    if shape.hint {
        attribute(xml, "hint", &node.hint);
    }
    let mut children = Vec::new();
    shown_children(node, shape, &mut children);
    if children.is_empty() {
        xml.push_str(" />");
        return;
    }
    xml.push('>');
    for (index, child) in children.into_iter().enumerate() {
        self::node(xml, child, index, index + 1, shape);
    }
    xml.push_str("</node>");
}

/// The children to print; a compressed dump replaces a container without content by its children.
fn shown_children<'a>(node: &'a Node, shape: &DumpFormat, into: &mut Vec<&'a Node>) {
    for child in &node.children {
        if shape.compressed && !important(child) {
            shown_children(child, shape, into);
        } else {
            into.push(child);
        }
    }
}

/// The condition of `View.isImportantForAccessibility`: has content or can be acted upon.
fn important(node: &Node) -> bool {
    let flags = &node.flags;
    !node.text.is_empty()
        || !node.description.is_empty()
        || !node.hint.is_empty()
        || flags.clickable
        || flags.long_clickable
        || flags.focusable
        || flags.checkable
        || flags.scrollable
}

/// "Not accessibility friendly": clickable, but neither it nor any descendant has text.
fn is_not_accessibility_friendly(node: &Node) -> bool {
    const EXCLUDED: [&str; 4] = [
        "android.widget.GridView",
        "android.widget.GridLayout",
        "android.widget.ListView",
        "android.widget.TableLayout",
    ];
    let speaks = |node: &Node| {
        !node.text.is_empty() || !node.hint.is_empty() || !node.description.is_empty()
    };
    node.flags.clickable
        && node.flags.enabled
        && !EXCLUDED.contains(&node.class)
        && !node.walk().any(speaks)
}

/// ` name="value"`, escaped as KXml does: single quotes around a value with double ones, whitespace
/// and characters outside the BMP as numeric references, characters that XML forbids as a dot.
pub(super) fn attribute(xml: &mut String, name: &str, value: &str) {
    let quote = if value.contains('"') { '\'' } else { '"' };
    xml.push(' ');
    xml.push_str(name);
    xml.push('=');
    xml.push(quote);
    for c in value.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '\'' if quote == '\'' => xml.push_str("&apos;"),
            '\n' | '\r' | '\t' => xml.push_str(&format!("&#{};", u32::from(c))),
            '\0'..='\x1f'
            | '\x7f'..='\u{84}'
            | '\u{86}'..='\u{9f}'
            | '\u{fdd0}'..='\u{fddf}'
            | '\u{fffe}'
            | '\u{ffff}' => xml.push('.'),
            '\u{10000}'.. => xml.push_str(&format!("&#{};", u32::from(c))),
            c => xml.push(c),
        }
    }
    xml.push(quote);
}

/// What a bare `uiautomator` prints on Android 4.4.
const OLD_USAGE: &str = include_str!("words/android-4.4/uiautomator.txt");

/// What a bare `uiautomator` prints, without the parts of `runtest`, which this phone lacks.
const USAGE: &str = "\
Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml

";

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn attributes_are_escaped_as_androids_serializer_does() {
        for (value, shown) in [
            ("a&b<c>", " x=\"a&amp;b&lt;c&gt;\""),
            ("it's", " x=\"it's\""),
            ("say \"it's\"", " x='say \"it&apos;s\"'"),
            ("a\nb\tc", " x=\"a&#10;b&#9;c\""),
            ("a\u{1}\u{0}b", " x=\"a..b\""),
            ("日本 \u{1f4e4}", " x=\"日本 &#128228;\""),
        ] {
            let mut xml = String::new();
            attribute(&mut xml, "x", value);
            assert_eq!(xml, shown);
        }
    }
}
