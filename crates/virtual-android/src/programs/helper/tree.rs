//! The helper's operations `tree`, the nodes of the window in front with what services report, and
//! `release`.

use super::super::{dump, dumpsys};
use super::error::HelperError;
use super::fields::{flag, millis, number};
use super::wire::Header;
use super::{Answer, Helper};
use crate::faults::Fault;
use crate::latency;
use crate::phone::{State, VirtualPhone};
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum reports of a tree, and words of a report.
const MAX_REPORTS: usize = 8;
const MAX_WORDS: usize = 32;

/// The pause between two looks at a screen without a window.
const RETRY: Duration = Duration::from_millis(50);

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
    let compressed = flag(header, "compressed")?;
    let reports = reports(header)?;
    let _using = helper.use_automation(limit).await?;
    let mut fields = json!({});
    if !idle.is_zero() {
        fields["still"] = helper.wait_until_still(idle, moving).await.into();
    }
    phone.run_work(latency::HELPER_TREE).await;
    let mut waited = Duration::ZERO;
    let none = phone.trigger(Fault::NoWindow, command).map(|hit| hit.time());
    let Taken { xml, nodes, truncated } = loop {
        let hidden = none.is_some_and(|none| waited < none);
        let taken = phone.with(|phone| if hidden { None } else { take(phone, most, compressed) });
        if let Some(taken) = taken {
            break taken;
        }
        if waited >= limit {
            let message = format!("no window gave its nodes within {} ms", limit.as_millis());
            return Err(HelperError::of("no_window", &message)
                .trying("wake the phone, or wait until the app has started"));
        }
        phone.sleep(RETRY).await;
        waited += RETRY;
    };
    if truncated {
        fields["truncated"] = true.into();
    }
    let xml = dump::stale_tree(phone, xml, || phone.trigger(Fault::DumpStale, command).is_some());
    let (width, height) = phone.read(|phone| {
        let display = phone.world.display();
        (display.width, display.height)
    });
    for (name, value) in [
        ("nodes", Value::from(nodes)),
        ("width", width.into()),
        ("height", height.into()),
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
    nodes: usize,
    /// Whether nodes were left out, because there are too many.
    truncated: bool,
}

/// The tree of up to so many nodes of the window in front.
fn take(phone: &mut State, most: usize, compressed: bool) -> Option<Taken> {
    let xml = dump::tree_for_helper(phone, most, compressed)?;
    let all = phone.world.scene().focused()?.root.walk().count();
    Some(Taken { xml, nodes: all.min(most), truncated: all > most })
}

fn reports(header: &Header) -> Result<Vec<Vec<String>>, HelperError> {
    let Some(list) = header.get("reports") else { return Ok(Vec::new()) };
    let list = list.as_array().filter(|list| list.len() <= MAX_REPORTS);
    let read = list.and_then(|list| list.iter().map(read_words).collect());
    read.ok_or_else(|| {
        HelperError::wrong("reports", "a list of lists of a service and its arguments")
    })
}

fn read_words(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= MAX_WORDS)?;
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
        let is_ours = phone.automation_holder() == Some(&helper.holder);
        phone.drop_automation(&helper.holder);
        is_ours
    });
    Ok(Answer::of(json!({ "released": released })))
}
