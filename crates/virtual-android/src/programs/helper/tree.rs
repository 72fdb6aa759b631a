//! The helper's operations `tree`, `act` and `report`: the screen's nodes, what is asked of one of them, and what services
//! report.

use super::super::{dump, dumpsys};
use super::error::HelperError;
use super::fields::{flag, millis, number, text};
use super::wire::Header;
use super::{Answer, Helper};
use crate::faults::Fault;
use crate::latency::Work;
use crate::phone::{State, VirtualPhone};
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::{Node, NodeAction, Rect, WindowKind};

/// Maximum reports of a tree, and words of a report.
const MOST_REPORTS: usize = 8;
const MOST_WORDS: usize = 32;

/// The pause between two looks at a screen without a window.
const RETRY: Duration = Duration::from_millis(50);

/// The last tree.
#[derive(Default)]
pub(super) struct LastTree {
    rev: u64,
    nodes: Vec<NodeSeen>,
}

/// A node of it: where it is, and what a person would tell it by.
struct NodeSeen {
    address: String,
    words: [String; 3],
}

impl NodeSeen {
    fn of(node: &Node) -> Self {
        Self { address: node.address().to_owned(), words: words(node) }
    }
}

fn words(node: &Node) -> [String; 3] {
    [node.class.to_owned(), node.text.clone(), node.description.clone()]
}

/// `tree`
pub(super) async fn tree(
    helper: &Helper,
    header: &Header,
    command: &str,
) -> Result<Answer, HelperError> {
    let phone = &helper.phone;
    let most = number(header, "max_nodes", 1..=20_000, Some(5_000))? as usize;
    let limit = millis(header, "limit_ms", 10_000, 2_000)?;
    let idle = millis(header, "idle_ms", 10_000, 0)?;
    let moving = millis(header, "idle_limit_ms", 60_000, 1_000)?;
    let windows = flag(header, "windows")? && phone.read(|phone| phone.world.android() >= 5);
    let reports = reports(header)?;
    let _using = helper.use_automation(limit).await?;
    let mut fields = json!({});
    if !idle.is_zero() {
        fields["still"] = helper.wait_until_still(idle, moving).await.into();
    }
    phone.run_work(Work::HelperTree).await;
    let mut waited = Duration::ZERO;
    let none = phone.trigger(Fault::NoWindow, command).map(|hit| hit.time());
    let Taken { xml, nodes: seen, truncated, windows } = loop {
        let hidden = none.is_some_and(|none| waited < none);
        let taken = phone.with(|phone| if hidden { None } else { take(phone, most, windows) });
        if let Some(taken) = taken {
            break taken;
        }
        if waited >= limit {
            let says = format!("no window gave its nodes within {} ms", limit.as_millis());
            return Err(HelperError::of("no_window", &says)
                .trying("wake the phone, or wait until the app has started"));
        }
        phone.sleep(RETRY).await;
        waited += RETRY;
    };
    if truncated {
        fields["truncated"] = true.into();
    }
    if let Some(windows) = windows {
        fields["windows"] = windows;
    }
    let fresh = xml.clone();
    let xml = dump::stale_tree(phone, xml, || phone.trigger(Fault::DumpStale, command).is_some());
    let is_stale = xml != fresh;
    let (width, height, rotation) = phone.read(|phone| {
        let display = phone.world.display();
        (display.width, display.height, display.rotation)
    });
    let rev = {
        let mut last = helper.last_tree();
        last.rev += 1;
        // The nodes of the former screen go with its tree.
        if !is_stale {
            last.nodes = seen;
        }
        fields["nodes"] = last.nodes.len().into();
        last.rev
    };
    for (name, value) in [
        ("rev", Value::from(rev)),
        ("width", width.into()),
        ("height", height.into()),
        ("rotation", rotation.into()),
        ("tree_bytes", xml.len().into()),
    ] {
        fields[name] = value;
    }
    let mut body = xml.into_bytes();
    for report in reports {
        body.extend(print(phone, &report)?);
    }
    Ok(Answer { fields, body })
}

/// A tree.
struct Taken {
    xml: String,
    nodes: Vec<NodeSeen>,
    /// Whether nodes were left out, because there are too many.
    truncated: bool,
    /// What the windows are and which nodes are theirs, if all of them were asked for.
    windows: Option<Value>,
}

/// The tree of up to so many nodes: of the window in front, or of all windows.
fn take(phone: &mut State, most: usize, windows: bool) -> Option<Taken> {
    if !windows {
        let xml = dump::tree_for_helper(phone, most)?;
        let mut nodes: Vec<NodeSeen> =
            phone.world.scene().focused()?.root.walk().map(NodeSeen::of).collect();
        let truncated = nodes.len() > most;
        nodes.truncate(most);
        return Some(Taken { xml, nodes, truncated, windows: None });
    }
    let xml = dump::windows_tree_for_helper(phone, most)?;
    let scene = phone.world.scene();
    let (mut nodes, mut list) = (Vec::new(), Vec::new());
    let all = dump::windows_for_helper(scene);
    for (nth, window) in all.iter().enumerate() {
        let first = nodes.len().min(most);
        nodes.extend(window.root.walk().map(NodeSeen::of));
        let Rect { left, top, right, bottom } = window.bounds;
        list.push(json!({
            "type": window_type(window.kind), "layer": all.len() - nth, "active": window.focused,
            "focused": window.focused, "bounds": format!("[{left},{top}][{right},{bottom}]"),
            "package": window.package, "first": first, "nodes": nodes.len().min(most) - first,
        }));
    }
    let truncated = nodes.len() > most;
    nodes.truncate(most);
    Some(Taken { xml, nodes, truncated, windows: Some(list.into()) })
}

/// As `AccessibilityWindowInfo` has them.
fn window_type(kind: WindowKind) -> &'static str {
    match kind {
        WindowKind::Application | WindowKind::Panel => "app",
        WindowKind::InputMethod => "keyboard",
        _ => "system",
    }
}

/// `act`
pub(super) async fn act(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let phone = &helper.phone;
    let rev = number(header, "rev", 1..=u64::MAX, None)?;
    let at = number(header, "node", 0..=i32::MAX as u64, None)? as usize;
    let name = text(header, "action")?;
    let action = action(name, header)?;
    let limit = millis(header, "limit_ms", 10_000, 2_000)?;
    let _using = helper.use_automation(limit).await?;
    phone.run_work(Work::HelperTouch).await;
    let stale = |says: String| HelperError::of("stale_node", &says).trying("list the screen again");
    let (address, was) = {
        let last = helper.last_tree();
        if last.rev != rev {
            let says = format!("tree {rev} is not the last one, which is {}", last.rev);
            return Err(stale(says));
        }
        let seen = last
            .nodes
            .get(at)
            .ok_or_else(|| stale(format!("tree {rev} has {} nodes", last.nodes.len())))?;
        (seen.address.clone(), seen.words.clone())
    };
    let (is, offered) = phone
        .with(|phone| {
            // Since Android 5.
            let is_known =
                phone.world.android() >= 5 || !matches!(action, Some(NodeAction::SetText(_)));
            let node = phone.world.node_at(&address)?;
            let offers = |action: &NodeAction| is_known && action.is_offered_by(node);
            Some((words(node), action.as_ref().is_none_or(offers)))
        })
        .ok_or_else(|| stale("the node has gone".to_owned()))?;
    if is != was {
        return Err(stale(format!("the node now says {is:?}, then {was:?}")));
    }
    if !offered {
        return Err(HelperError::of("refused", &format!("the node does not offer {name}"))
            .trying("use another action, or tap"));
    }
    helper.acted();
    match action {
        Some(action) if !phone.with(|phone| phone.world.perform_on_node(&address, &action)) => {
            Err(HelperError::of("refused", &format!("the app did not do {name}"))
                .trying("list the screen again"))
        }
        _ => Ok(Answer::default()),
    }
}

/// The action with this name; `None` for one that changes nothing here.
fn action(name: &str, header: &Header) -> Result<Option<NodeAction>, HelperError> {
    Ok(Some(match name {
        "click" => NodeAction::Click,
        "long_click" => NodeAction::LongClick,
        "focus" => NodeAction::Focus,
        "scroll_forward" => NodeAction::ScrollForward,
        "scroll_backward" => NodeAction::ScrollBackward,
        "set_selection" => {
            number(header, "start", 0..=i32::MAX as u64, None)?;
            NodeAction::SetSelection(number(header, "end", 0..=i32::MAX as u64, None)? as usize)
        }
        "set_text" => NodeAction::SetText(text(header, "text")?.to_owned()),
        "accessibility_focus" | "clear_accessibility_focus" => return Ok(None),
        _ => return Err(HelperError::wrong("action", "an action of this phone")),
    }))
}

/// `report`
pub(super) async fn report(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let wrong = || HelperError::wrong("service", "a list with a service and its arguments");
    let words = header.get("service").and_then(read_words).ok_or_else(wrong)?;
    helper.phone.run_work(Work::HelperTree).await;
    Ok(Answer { fields: json!({}), body: print(&helper.phone, &words)? })
}

fn reports(header: &Header) -> Result<Vec<Vec<String>>, HelperError> {
    let Some(list) = header.get("reports") else { return Ok(Vec::new()) };
    let list = list.as_array().filter(|list| list.len() <= MOST_REPORTS);
    let read = list.and_then(|list| list.iter().map(read_words).collect());
    read.ok_or_else(|| {
        HelperError::wrong("reports", "a list of lists of a service and its arguments")
    })
}

fn read_words(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= MOST_WORDS)?;
    list.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// What `dumpsys` prints for a service.
fn print(phone: &VirtualPhone, words: &[String]) -> Result<Vec<u8>, HelperError> {
    let (service, args) = words.split_first().map_or(("", &words[..0]), |(it, args)| (it, args));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let text = phone.with(|phone| dumpsys::report(phone, service, &args));
    let none = || HelperError::of("not_found", &format!("there is no service {service:?}"));
    Ok(text.ok_or_else(none)?.into_bytes())
}

/// `release`
pub(super) async fn release(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let limit = millis(header, "limit_ms", 10_000, 2_000)?;
    let mut waited = Duration::ZERO;
    while helper.uses_automation() {
        if waited >= limit {
            return Err(HelperError::of("timeout", "another request still uses UiAutomation")
                .trying("cancel it first"));
        }
        helper.phone.sleep(RETRY).await;
        waited += RETRY;
        tokio::task::yield_now().await;
    }
    let released = helper.phone.with(|phone| {
        phone.automation_holder() == Some(&helper.holder) && phone.release_automation()
    });
    Ok(Answer::of(json!({ "released": released })))
}
