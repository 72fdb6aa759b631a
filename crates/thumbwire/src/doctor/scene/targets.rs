//! What may be tapped and scrolled in apps that come with phones.
//!
//! A row of Settings opens a page and changes nothing; a row with a switch is never used. The
//! launcher's button for all apps opens a list. A digit of a calculator appears in its display.

use thumbwire_core::action::request;
use thumbwire_core::snapshot::{RefVisibility, Snapshot};
use thumbwire_device::find::tap_receiver;
use thumbwire_device::{AppId, Key, Node};

use super::Spot;
use crate::doctor::answer::{Problem, failed};
use crate::doctor::look::Phone;

/// An app with something to tap.
pub(super) struct TapApp {
    app: AppId,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Settings,
    Launcher,
    Calculator,
}

const SETTINGS: &str = "com.android.settings";
const CALCULATORS: [&str; 5] = [
    "com.android.calculator2",
    "com.google.android.calculator",
    "com.sec.android.app.popupcalculator",
    "com.miui.calculator",
    "com.oneplus.calculator",
];
const CONTACTS: [&str; 3] =
    ["com.android.contacts", "com.google.android.contacts", "com.samsung.android.app.contacts"];
const CLOCKS: [&str; 3] =
    ["com.android.deskclock", "com.google.android.deskclock", "com.sec.android.app.clockpackage"];
const MESSAGING: [&str; 3] =
    ["com.android.mms", "com.google.android.apps.messaging", "com.samsung.android.messaging"];

/// Titles of Settings pages that only show something when they are opened, the likeliest first.
const PAGES: [&str; 8] = [
    "Display",
    "Battery",
    "Sound",
    "Sound & vibration",
    "Storage",
    "Apps",
    "System",
    "About phone",
];

/// Those of the packages that are installed.
fn installed(apps: &[AppId], packages: &[&str]) -> Vec<AppId> {
    let known = packages.iter().filter(|package| apps.iter().any(|app| app.0 == **package));
    known.map(|package| AppId((*package).to_owned())).collect()
}

/// The installed ones of the apps in which text may be typed, in the order in which they are tried.
pub(super) fn field_packages(apps: &[AppId]) -> Vec<AppId> {
    let search = ["com.android.settings", "com.android.quicksearchbox"];
    [&search[..], &CONTACTS, &MESSAGING].iter().flat_map(|all| installed(apps, all)).collect()
}

/// Apps that can be started and closed without consequences, the best first.
pub(in crate::doctor) fn plain_apps(apps: &[AppId]) -> Vec<AppId> {
    [&[SETTINGS][..], &CALCULATORS, &CLOCKS, &CONTACTS]
        .iter()
        .flat_map(|all| installed(apps, all))
        .collect()
}

/// The apps to look for a tap target in.
pub(super) fn tap_apps(apps: &[AppId], home: &AppId) -> Vec<TapApp> {
    let of = |kind: Kind| move |app: AppId| TapApp { app, kind };
    let mut found: Vec<TapApp> =
        installed(apps, &[SETTINGS]).into_iter().map(of(Kind::Settings)).collect();
    if !home.0.is_empty() {
        found.push(TapApp { app: home.clone(), kind: Kind::Launcher });
    }
    found.extend(installed(apps, &CALCULATORS).into_iter().map(of(Kind::Calculator)));
    found
}

/// The apps to look for something scrollable in.
pub(super) fn scroll_apps(apps: &[AppId]) -> Vec<AppId> {
    [&[SETTINGS][..], &CONTACTS, &CALCULATORS, &CLOCKS, &MESSAGING]
        .iter()
        .flat_map(|all| installed(apps, all))
        .collect()
}

impl TapApp {
    /// The target on the present screen, going back or starting the app if it is not there.
    pub(super) async fn spot(&self, phone: Phone<'_>) -> Result<Spot, Problem> {
        let screen = phone.screen().await?;
        if let Some(node) = self.target(&screen) {
            return Ok(Spot { screen, node });
        }
        if phone.front().await? == self.app {
            let _ = phone.act(request::Press(Key::Back)).await;
            let screen = phone.screen().await?;
            if let Some(node) = self.target(&screen) {
                return Ok(Spot { screen, node });
            }
        }
        self.open(phone).await?;
        let screen = phone.screen().await?;
        match self.target(&screen) {
            Some(node) => Ok(Spot { screen, node }),
            None => failed("nothing harmless to tap is on the screen"),
        }
    }

    async fn open(&self, phone: Phone<'_>) -> Result<(), Problem> {
        if let Kind::Launcher = self.kind {
            let _ = phone.act(request::Press(Key::Home)).await;
            return phone.front_is(|front| *front == self.app).await;
        }
        // It may have been left on another page.
        let _ = phone.act(request::Stop(self.app.clone())).await;
        phone.launch(&self.app).await
    }

    /// The node to tap: visible, and the only one with its name, so that tools find it by name too.
    fn target(&self, screen: &Snapshot) -> Option<usize> {
        let nodes = &screen.tree.nodes;
        // A digit is in the display too, once it was tapped; the button has an id.
        let is_digit = matches!(self.kind, Kind::Calculator);
        let fits = |&node: &usize| {
            *nodes[node].package == *self.app.0
                && screen.tap_point(node, RefVisibility::Unknown).is_ok()
                && (is_digit || is_only_one(screen, nodes[node].name()))
        };
        let mut all = (0..nodes.len()).filter(fits);
        match self.kind {
            Kind::Settings => {
                let rows: Vec<usize> = all.filter(|&node| is_settings_row(screen, node)).collect();
                let known = PAGES.iter().find_map(|page| {
                    rows.iter().copied().find(|&node| *nodes[node].text == **page)
                });
                // Further down there are no suggestions and no account.
                known.or_else(|| rows.last().copied())
            }
            Kind::Launcher => all.find(|&node| {
                let name = &*nodes[node].description;
                nodes[node].flags.clickable && ["Apps", "All apps", "Apps list"].contains(&name)
            }),
            Kind::Calculator => all.find(|&node| is_seven(&nodes[node])),
        }
    }
}

fn is_seven(node: &Node) -> bool {
    let is_digit = node.id.ends_with("/digit7") || node.id.ends_with("/digit_7");
    node.flags.clickable && (is_digit || (*node.text == *"7" && node.class.ends_with("Button")))
}

/// Whether no other node's text or description contains the name.
fn is_only_one(screen: &Snapshot, name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&name);
    let with = screen.tree.nodes.iter().filter(|node| has(&node.text) || has(&node.description));
    with.count() == 1
}

/// Whether the node is the title of a row that opens a page: nothing in the row can be checked.
fn is_settings_row(screen: &Snapshot, node: usize) -> bool {
    let nodes = &screen.tree.nodes;
    if !nodes[node].id.ends_with("/title") || nodes[node].text.is_empty() {
        return false;
    }
    let row = tap_receiver(&screen.tree, node);
    let inside = nodes[row + 1..].iter().take_while(|below| below.depth > nodes[row].depth);
    nodes[row].flags.clickable && !inside.into_iter().any(|below| below.flags.checkable)
}

/// The largest node that scrolls, if it covers a quarter of the screen.
pub(super) fn scrollable(screen: &Snapshot) -> Option<usize> {
    let nodes = &screen.tree.nodes;
    let area = |node: usize| {
        let shown = screen.shown(node);
        i64::from(shown.right - shown.left) * i64::from(shown.bottom - shown.top)
    };
    let whole = (0..nodes.len()).map(area).max()?;
    let scrolls = (0..nodes.len()).filter(|&node| nodes[node].flags.scrollable);
    scrolls.max_by_key(|&node| area(node)).filter(|&node| area(node) * 4 >= whole)
}

/// Whether a class scrolls sideways. The tree does not say; the platform's names do.
pub(super) fn is_horizontal(class: &str) -> bool {
    ["ViewPager", "Horizontal", "Gallery", "Paged", "Workspace"]
        .iter()
        .any(|part| class.contains(part))
}
