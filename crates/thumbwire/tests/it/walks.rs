//! Random walks through the virtual phone by refs: each tap that is accepted must reach the element
//! that the ref named, checked from the phone's side. Lists scroll, rows move and go, a banner
//! shifts the page, and other rows look alike. Half of the walks use the coordinates of scaled
//! screenshots.

use std::collections::BTreeMap;
use std::time::Duration;
use thumbwire_test_support::is_full;

use fastrand::Rng;
use serde_json::json;
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::{Node, Scene};

use crate::caller::Caller;

/// Random walks; in every change a fifth of them.
fn walks() -> u64 {
    if is_full() { 200 } else { 40 }
}

const STEPS: usize = 8;

const APPS: [&str; 7] = [
    "com.android.settings",
    "com.android.notes",
    "com.example.shop",
    "com.android.contacts",
    "com.android.deskclock",
    "com.google.android.apps.maps",
    "com.example.bank",
];

/// What the walker knows: refs of all lists that it got in this walk, with the first text of their
/// lines.
#[derive(Default)]
struct Known(BTreeMap<String, String>);

impl Known {
    /// Reads the lines of a reply, as a client would.
    fn read(&mut self, reply: &str) {
        for line in reply.lines() {
            let Some((rest, id)) = line.rsplit_once(' ') else { continue };
            let is_ref = id.strip_prefix('e').is_some_and(|digits| digits.parse::<u32>().is_ok());
            let name = rest.split('"').nth(1).filter(|name| !name.is_empty());
            // A line about what is gone, or without a name.
            if !is_ref || line.starts_with("- ") {
                continue;
            }
            match name {
                Some(name) => self.0.insert(id.to_owned(), name.to_owned()),
                None => self.0.remove(id),
            };
        }
    }
}

/// What a tap on this point reaches: the texts of the innermost node that takes taps, of the
/// topmost window there.
fn touched(scene: &Scene, x: i32, y: i32) -> Vec<String> {
    let is_in = |node: &Node| {
        let bounds = node.bounds;
        (bounds.left..bounds.right).contains(&x) && (bounds.top..bounds.bottom).contains(&y)
    };
    /// The innermost taker and its parent; later children are in front.
    fn taker<'a>(
        node: &'a Node,
        parent: Option<&'a Node>,
        is_in: &dyn Fn(&Node) -> bool,
    ) -> Option<(&'a Node, Option<&'a Node>)> {
        if !is_in(node) {
            return None;
        }
        let mut inner = node.children.iter().rev();
        let inner = inner.find_map(|child| taker(child, Some(node), is_in));
        let flags = node.flags;
        let takes = flags.clickable || flags.long_clickable || flags.checkable || is_slider(node);
        inner.or_else(|| takes.then_some((node, parent)))
    }
    let mut windows = scene.windows.iter().rev();
    let found = windows.find_map(|window| taker(&window.root, None, &is_in));
    // A slider has its name beside it.
    let found = found.map(|(node, parent)| parent.filter(|_| is_slider(node)).unwrap_or(node));
    let texts = found.into_iter().flat_map(Node::walk);
    texts.flat_map(|node| [&node.text, &node.description, &node.hint]).cloned().collect()
}

fn is_slider(node: &Node) -> bool {
    node.class.ends_with("SeekBar")
}

/// The point of "Tapped "Save" at (10, 20)".
fn point(reply: &str) -> Option<(i32, i32)> {
    let place = reply.lines().next()?.rsplit_once(" at (")?.1.strip_suffix(')')?;
    let (x, y) = place.split_once(", ")?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

/// The screen pixel in the middle of what a pixel of the scaled screenshot shows: 706x1568 of
/// 1080x2400.
fn on_screen(x: i32, y: i32) -> (i32, i32) {
    ((2 * x + 1) * 1080 / (2 * 706), (2 * y + 1) * 2400 / (2 * 1568))
}

#[derive(Default)]
struct Tally {
    hits: usize,
    refusals: usize,
    /// Hits by a ref of an earlier screen or place.
    late: usize,
    /// Hits where another line had the same name.
    twins: usize,
    wrong: Vec<String>,
}

async fn walk(seed: u64, tally: &mut Tally) {
    let mut rng = Rng::with_seed(seed);
    let phone = VirtualPhone::new(Setup { seed, ..Setup::default() });
    let surface = mobile::toolset_with(TreeForm::List, ObserveMode::Diff);
    // Every second walk is in the pixels of scaled screenshots, as `serve` sends them.
    let is_scaled = seed % 2 == 1;
    let caller = if is_scaled { Caller::scaled(phone.clone()) } else { Caller::of(phone.clone()) };
    let caller = Caller { surface, ..caller };
    let mut known = Known::default();
    let app = APPS[rng.usize(..APPS.len())];
    let (_, screen) = caller.call("mobile_launch_app", json!({ "bundle_id": app })).await;
    known.read(&screen);
    let mut last = screen;
    for step in 0..STEPS {
        let reply = match rng.u8(..20) {
            0 => caller.call("mobile_press_key", json!({ "key": "back" })).await.1,
            1 => {
                let app = APPS[rng.usize(..APPS.len())];
                caller.call("mobile_launch_app", json!({ "bundle_id": app })).await.1
            }
            2..=5 => {
                let way = ["up", "down"][rng.usize(..2)];
                let distance = [0.1, 0.3, 0.7][rng.usize(..3)];
                let way = json!({ "direction": way, "distance": distance });
                caller.call("mobile_scroll", way).await.1
            }
            6 | 7 => {
                // Behind the client's back; it looks again after a few seconds.
                phone.world(|world| world.toggle_banner());
                tokio::time::advance(Duration::from_secs(6)).await;
                continue;
            }
            _ => {
                let refs: Vec<_> = known.0.iter().collect();
                let Some((id, name)) = rng.choice(refs) else { continue };
                let before = phone.world(|world| world.scene().clone());
                let tap = json!({ "element_id": id });
                let (failed, reply) = caller.call("mobile_tap_element", tap).await;
                match point(&reply).filter(|_| !failed) {
                    Some((x, y)) => {
                        tally.hits += 1;
                        tally.late += usize::from(!last.contains(&format!(" {id}")));
                        let alike = known.0.values().filter(|other| *other == name).count();
                        tally.twins += usize::from(alike > 1);
                        let (x, y) = if is_scaled { on_screen(x, y) } else { (x, y) };
                        let reached = touched(&before, x, y);
                        if !reached.iter().any(|text| text.contains(name.as_str())) {
                            tally.wrong.push(format!(
                                "walk {seed} step {step}: {id} is {name:?}, but the tap at ({x}, {y}) reached {reached:?}"
                            ));
                        }
                    }
                    None => tally.refusals += 1,
                }
                reply
            }
        };
        known.read(&reply);
        last = reply;
    }
}

#[tokio::test(start_paused = true)]
async fn accepted_refs_hit_the_element_that_they_named() {
    let mut tally = Tally::default();
    for seed in 0..walks() {
        walk(seed, &mut tally).await;
    }
    let Tally { hits, refusals, late, twins, wrong } = tally;
    println!(
        "{hits} taps, {late} of them by refs of earlier replies, {twins} with a twin; {refusals} refused"
    );
    assert!(wrong.is_empty(), "{} of {hits} taps were wrong:\n{}", wrong.len(), wrong.join("\n"));
    // The walks meet what they are for.
    let share = usize::try_from(200 / walks()).unwrap();
    let met =
        hits >= 300 / share && late >= 50 / share && twins >= 20 / share && refusals >= 50 / share;
    assert!(met, "{hits} taps, {late} late, {twins} twins, {refusals} refusals");
}
