//! The permission prompt.
//!
//! Tree, ids and texts are those of `uiautomator/poke_scan__window_dump_scanflow.xml` (Android 13,
//! a Pixel) and, for the rest, of `GrantPermissionsActivity.java` and its layouts: Android 9 has
//! two buttons side by side, 10 different texts, 12 and later the choice between precise and
//! approximate location. It is an activity in the app's task.

use crate::app::Event;
use crate::ios_look::{alert, alert_button};
use crate::overlays::{Overlay, OverlayContext, OverlayOutcome, OverlayReach, OverlayRequest};
use crate::packages::Component;
use crate::permissions::{PermissionAnswer, PermissionGroup};
use crate::scene::WindowKind;
use crate::theme;
use crate::view::{View, class, column, icon, row, spacer, text};
use crate::widgets::text_button;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::icons::Icon;

/// A prompt for one group of permissions.
pub(crate) struct Prompt {
    /// The requesting app.
    pub(crate) package: String,
    pub(crate) label: String,
    pub(crate) permission: &'static str,
    pub(crate) group: &'static PermissionGroup,
    /// How often the user refused before.
    pub(crate) refused: u8,
    /// Whether precise location is selected, if there is a choice.
    pub(crate) precise: Option<bool>,
    /// Whether "Don't ask again" is checked, if it is offered: on Android 6 to 9, from the second
    /// request on.
    pub(crate) never: Option<bool>,
    /// As before Android 10.
    pub(crate) old: bool,
}

/// The request, for the receiver of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PermissionQuestion {
    /// The requesting app.
    pub(crate) package: String,
    pub(crate) permission: &'static str,
    pub(crate) group: &'static PermissionGroup,
    /// Whether precise location was selected, if there is a choice.
    pub(crate) precise: Option<bool>,
}

/// The package that prompts since Android 10; Google's phones use this name, its resources keep
/// Android's.
const CONTROLLER: &str = "com.google.android.permissioncontroller";
const IDS: &str = "com.android.permissioncontroller";
/// The package that prompts before Android 10.
const INSTALLER: &str = "com.google.android.packageinstaller";
const OLD_IDS: &str = "com.android.packageinstaller";

impl Overlay for Prompt {
    fn package(&self) -> &str {
        if self.old { INSTALLER } else { CONTROLLER }
    }

    fn title(&self) -> String {
        let activity = self.activity().map(|component| component.activity);
        format!("{}/{}", self.package(), activity.unwrap_or_default())
    }

    fn kind(&self) -> WindowKind {
        WindowKind::Application
    }

    fn about(&self) -> Option<&str> {
        Some(&self.package)
    }

    fn activity(&self) -> Option<Component> {
        let ids = if self.old { OLD_IDS } else { IDS };
        Some(Component {
            package: self.package().to_owned(),
            activity: format!("{ids}.permission.ui.GrantPermissionsActivity"),
        })
    }

    fn view(&self, context: &OverlayContext<'_>) -> View {
        if context.platform == Platform::Ios {
            return self.alert();
        }
        if self.old {
            return self.plain();
        }
        let id = |name: &str| format!("{IDS}:id/{name}");
        let wants = self.group.wants;
        let question = format!("Allow {} to {wants}?", self.label);
        let sign = icon(self.sign(), 28.0, theme::PRIMARY)
            .content_description("")
            .id(id("permission_icon"));
        let question = text(question, theme::TITLE_LARGE.centered()).id(id("permission_message"));
        let head = column([sign.align_self_center(), question.fill_width()]).gap(12.0).fill_width();
        let mut content = vec![head];
        if let (Some(precise), true) = (self.precise, context.android >= 12) {
            let choice = [("Precise", true, "fine"), ("Approximate", false, "coarse")];
            let radios = choice.map(|(label, is, name)| radio(label, is == precise, name));
            let group = row(radios).class("android.widget.RadioGroup").gap(4.0).fill_width();
            content.push(group.id(id("permission_location_accuracy_radio_group")));
        }
        let content = column(content).gap(16.0).pad_each(24.0, 24.0, 24.0, 16.0);
        let buttons = self.buttons(context.android).into_iter();
        let buttons = buttons.map(|(label, name, tag)| button(label, id(name), tag));
        let buttons = column(buttons).gap(4.0).pad_each(24.0, 0.0, 24.0, 24.0).fill_width();
        let dialog = column([content.fill_width().id(id("content_container")), buttons])
            .fill_width()
            .id(id("grant_dialog"));
        let dialog = column([dialog]).fill_width().id(id("grant_singleton"));
        let card = column([dialog]).scrolls().fill_width().shrinks();
        card.fill(theme::SURFACE_CONTAINER).radius(28.0)
    }

    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        let output = match event {
            Event::Tap(tag) => match tag.name {
                "allow" => PermissionAnswer::Allow,
                "once" => PermissionAnswer::Once,
                "deny" if self.never == Some(true) => PermissionAnswer::Never,
                "deny" => PermissionAnswer::Deny,
                "never" => {
                    self.never = self.never.map(|ticked| !ticked);
                    return OverlayOutcome::Keep;
                }
                "fine" | "coarse" => {
                    self.precise = Some(tag.name == "fine");
                    return OverlayOutcome::Keep;
                }
                _ => return OverlayOutcome::Keep,
            },
            // Counts as no answer; a touch outside the prompt does nothing
            // (`setFinishOnTouchOutside(false)`).
            Event::Back => PermissionAnswer::Nothing,
            _ => return OverlayOutcome::Keep,
        };
        let question = PermissionQuestion {
            package: self.package.clone(),
            permission: self.permission,
            group: self.group,
            precise: self.precise,
        };
        context.asked.push(OverlayRequest::Answer(question, output));
        OverlayOutcome::Dismiss
    }
}

impl Prompt {
    /// Text, name and meaning of the buttons, from top to bottom.
    fn buttons(&self, android: u32) -> Vec<(&'static str, &'static str, &'static str)> {
        let deny = match android {
            ..12 => "Deny",
            _ => "Don’t allow",
        };
        let deny = match (android, self.refused) {
            (10, 1..) => {
                ("Deny & don’t ask again", "permission_deny_and_dont_ask_again_button", "deny")
            }
            _ => (deny, "permission_deny_button", "deny"),
        };
        let in_use = "permission_allow_foreground_only_button";
        match (self.group.in_use_only, android) {
            (false, _) => vec![("Allow", "permission_allow_button", "allow"), deny],
            (true, 10) => vec![("Allow only while using the app", in_use, "allow"), deny],
            (true, _) => vec![
                ("While using the app", in_use, "allow"),
                ("Only this time", "permission_allow_one_time_button", "once"),
                deny,
            ],
        }
    }

    fn sign(&self) -> Icon {
        match self.permission.rsplit('.').next().unwrap_or_default() {
            "ACCESS_FINE_LOCATION" | "ACCESS_COARSE_LOCATION" => Icon::Place,
            "CAMERA" => Icon::CameraAlt,
            "RECORD_AUDIO" => Icon::Mic,
            "POST_NOTIFICATIONS" => Icon::Notifications,
            "READ_CALENDAR" | "WRITE_CALENDAR" => Icon::CalendarToday,
            "READ_CONTACTS" | "WRITE_CONTACTS" => Icon::Contacts,
            "SEND_SMS" | "READ_SMS" | "RECEIVE_SMS" => Icon::Message,
            _ => Icon::Lock,
        }
    }

    /// iOS: an alert; location can be allowed once, as Core Location asks for it.
    fn alert(&self) -> View {
        let title = match self.sign() {
            Icon::Place => format!("Allow “{}” to use your location?", self.label),
            Icon::Notifications => format!("“{}” Would Like to Send You Notifications", self.label),
            _ => format!("“{}” would like to {}", self.label, self.group.wants),
        };
        let buttons = match self.group.in_use_only {
            true => vec![
                alert_button("Allow Once", "once"),
                alert_button("Allow While Using App", "allow"),
                alert_button("Don’t Allow", "deny"),
            ],
            false => vec![alert_button("Don’t Allow", "deny"), alert_button("Allow", "allow")],
        };
        alert(&title, "You can change this later in Settings.", buttons)
    }

    /// Android 6 to 9: a message, two buttons and the "Don't ask again" checkbox
    /// (`grant_permissions.xml`, `GrantPermissionsDefaultViewHandler.java`); checking it disables
    /// "Allow".
    fn plain(&self) -> View {
        let id = |name: &str| format!("{OLD_IDS}:id/{name}");
        let question = format!("Allow {} to {}?", self.label, self.group.wants.replace('’', "'"));
        let sign = icon(self.sign(), 24.0, theme::PRIMARY).id(id("permission_icon"));
        let question = text(question, theme::BODY_LARGE).id(id("permission_message")).grow();
        let head = row([sign, question]).gap(20.0).pad_each(24.0, 24.0, 24.0, 12.0).fill_width();
        let deny = text_button("DENY", theme::PRIMARY, "deny").id(id("permission_deny_button"));
        let able = self.never != Some(true);
        let style = if able { theme::PRIMARY } else { theme::OUTLINE };
        let allow = text_button("ALLOW", style, "allow").id(id("permission_allow_button"));
        let buttons = row([spacer(), deny, allow.enabled(able)]).pad_each(12.0, 0.0, 12.0, 8.0);
        let never = self.never.map(|ticked| never(ticked).id(id("do_not_ask_checkbox")));
        column([head].into_iter().chain(never).chain([buttons.fill_width()]))
            .fill_width()
            .fill(theme::SURFACE_CONTAINER)
            .radius(4.0)
            .id(id("dialog_container"))
    }
}

fn button(label: &str, id: String, tag: &'static str) -> View {
    row([text(label, theme::LABEL_LARGE.colour(theme::ON_PRIMARY_CONTAINER).lines(1))
        .hide_from_accessibility()])
    .class(class::BUTTON)
    .height(56.0)
    .fill_width()
    .justify_center()
    .fill(theme::PRIMARY_CONTAINER)
    .radius(14.0)
    .dump_text(label)
    .id(id)
    .on_tap(tag)
}

fn never(ticked: bool) -> View {
    let (symbol, ink) = match ticked {
        true => (Icon::CheckBox, theme::PRIMARY),
        false => (Icon::CheckBoxOutlineBlank, theme::ON_SURFACE_VARIANT),
    };
    let words = "Don't ask again";
    row([
        icon(symbol, 24.0, ink).hide_from_accessibility(),
        text(words, theme::BODY.lines(1)).hide_from_accessibility(),
    ])
    .class(class::CHECK_BOX)
    .gap(20.0)
    .pad_xy(24.0, 0.0)
    .height(theme::TOUCH)
    .fill_width()
    .dump_text(words)
    .checked(ticked)
    .on_tap("never")
}

fn radio(label: &str, on: bool, name: &'static str) -> View {
    let (symbol, ink) = if on {
        (Icon::RadioButtonChecked, theme::PRIMARY)
    } else {
        (Icon::RadioButtonUnchecked, theme::ON_SURFACE_VARIANT)
    };
    row([
        icon(symbol, 20.0, ink).hide_from_accessibility(),
        text(label, theme::LABEL.lines(1)).hide_from_accessibility(),
    ])
    .class(class::RADIO)
    .gap(6.0)
    .height(theme::TOUCH)
    .justify_center()
    .grow()
    .dump_text(label)
    .checked(on)
    .id(format!("{IDS}:id/permission_location_accuracy_radio_{name}"))
    .on_tap(name)
}
