//! Files: browses the phone's shared storage, with a page for each file, new folders, and deleting.
//!
//! The listing comes from the phone ([`DrawContext::storage`]), which also performs changes.
//! Nothing is stored here.

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event};
use crate::clock::{SWITCHED_ON, date_time};
use crate::packages::AppIcon;
use crate::storage::{StorageEntry, StorageRequest};
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, Tag, View, class, column, row, text};
use crate::widgets::{
    badge, dialog, empty_state, form_field, icon_button, list, list_row, message, page,
    text_button, toolbar,
};
use std::time::Duration;
use thumbwire_virtual_screen::icons::Icon;

/// The state of Files.
#[derive(Default)]
pub(crate) struct Files {
    /// The open folder, e.g. `Download/Bills`; empty for the storage root.
    folder: String,
    /// The file whose page is open.
    file: Option<String>,
    asking: Option<OpenDialog>,
}

/// The open dialog.
#[derive(Debug, Clone, PartialEq)]
enum OpenDialog {
    /// The name of a new folder.
    Name(String),
    Delete(String),
}

const NAME: &str = "android:id/text1";
const LIST: &str = "dir_list";
/// Maximum characters of a file name (`NAME_MAX` counts bytes, up to four per character).
const MAX_NAME_LENGTH: usize = 60;

impl BuiltInApp for Files {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Files",
        version: "14",
        icon: AppIcon { symbol: Icon::Folder, fill: Colour::hex(0x00677D), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.android.documentsui",
            version_code: 34,
            activities: &["com.android.documentsui.files.FilesActivity"],
            has_icon: true,
            permissions: &[],
        },
        ios: IosIdentity { bundle_id: "com.apple.DocumentsApp" },
    };

    fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl App for Files {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let view = match &self.file {
            Some(path) => file(env, path),
            None => self.listing(env),
        };
        view.dialog(self.asking.as_ref().map(question))
    }

    fn lists_storage(&self) -> bool {
        true
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::LongPress(tag) => self.asking = Some(OpenDialog::Delete(tag.value)),
            Event::Text { text, .. } => {
                if let Some(OpenDialog::Name(name)) = &mut self.asking {
                    *name = text.chars().filter(|c| *c != '/').take(MAX_NAME_LENGTH).collect();
                }
            }
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Files {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "folder" => {
                self.folder.clone_from(&tag.value);
                context.scroll_to_top(LIST);
            }
            "file" => self.file = Some(tag.value.clone()),
            "new" => {
                self.asking = Some(OpenDialog::Name(String::new()));
                context.focus(NAME);
            }
            "delete" => self.asking = Some(OpenDialog::Delete(tag.value.clone())),
            "yes" => self.agreed(context),
            "no" => {
                self.asking = None;
                context.unfocus();
            }
            "back" => self.back(context),
            _ => {}
        }
    }

    /// The user confirmed the dialog.
    fn agreed(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        match self.asking.take() {
            Some(OpenDialog::Name(name)) => {
                let name = name.trim();
                if matches!(name, "" | "." | "..") {
                    context.toast("Couldn't create folder");
                } else if self.folder.is_empty() {
                    context.request(StorageRequest::MakeFolder(name.to_owned()));
                } else {
                    context.request(StorageRequest::MakeFolder(format!("{}/{name}", self.folder)));
                }
            }
            Some(OpenDialog::Delete(path)) => {
                self.file = None;
                context.toast("1 item deleted");
                context.request(StorageRequest::Delete(path));
            }
            None => {}
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.asking.take().is_some() || self.file.take().is_some() {
            return;
        }
        if self.folder.is_empty() {
            context.finish();
            return;
        }
        self.folder = self.folder.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        context.scroll_to_top(LIST);
    }

    fn listing(&self, env: &DrawContext<'_>) -> View {
        let here = self.folder.as_str();
        let title = if here.is_empty() { env.about.model.as_str() } else { last(here) };
        let new = icon_button(Icon::CreateNewFolder, "New folder", "new");
        let bar = toolbar(title, [new.id("option_menu_create_dir")]);
        let mut entries: Vec<&StorageEntry> =
            env.storage.iter().filter(|entry| entry.parent() == here).collect();
        entries.sort_by_key(|entry| (!entry.folder, entry.name().to_lowercase()));
        let way = if here.is_empty() { "sdcard".to_owned() } else { format!("sdcard/{here}") };
        let way = text(way.replace('/', " \u{203a} "), theme::BODY.quiet().lines(1));
        let way = way.pad_each(20.0, 0.0, 20.0, 8.0).id("horizontal_breadcrumb");
        let body = if entries.is_empty() {
            empty_state(Icon::Folder, "No items", "What you put here shows up here")
        } else {
            list(LIST, entries.into_iter().map(entry_row), env)
        };
        page([bar, way, body], env)
    }
}

/// A file's page.
fn file(env: &DrawContext<'_>, path: &str) -> View {
    let found = env.storage.iter().find(|entry| entry.path == path);
    let delete = icon_button(Icon::Delete, "Delete", ("delete", path)).id("action_menu_delete");
    let bar = toolbar(last(path), found.map(|_| delete));
    let Some(entry) = found else {
        let gone = empty_state(Icon::InsertDriveFile, "No such file", "It may have been deleted");
        return page([bar, gone], env);
    };
    let (symbol, fill) = sign_of(entry);
    let picture = badge(symbol, 112.0, fill, theme::WHITE)
        .radius(28.0)
        .hide_from_accessibility()
        .align_self_center();
    let facts = [
        picture.margin(0.0, 16.0, 0.0, 16.0),
        list_row(Icon::InsertDriveFile, entry.name(), kind_of(entry)),
        list_row(Icon::SdStorage, &size_of(entry.size), "Size"),
        list_row(Icon::Schedule, &date_of(entry.modified), "Modified"),
        list_row(Icon::Folder, &format!("/sdcard/{}", entry.path), "Path"),
    ];
    page([bar, list("inspector_details_view", facts, env)], env)
}

fn question(asking: &OpenDialog) -> View {
    let buttons = |yes: &str, able: bool| {
        [
            text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
            text_button(yes, theme::PRIMARY, "yes").id("android:id/button1").enabled(able),
        ]
    };
    match asking {
        OpenDialog::Name(name) => {
            let field = form_field(NAME, name, "Folder name", FieldTraits::default());
            let able = !name.trim().is_empty();
            dialog("New folder", column([field]).pad_xy(24.0, 0.0), buttons("OK", able))
        }
        OpenDialog::Delete(path) => {
            let title = format!("Delete \u{201c}{}\u{201d}?", last(path));
            dialog(&title, message("It cannot be brought back"), buttons("OK", true))
        }
    }
}

fn entry_row(entry: &StorageEntry) -> View {
    let (symbol, fill) = sign_of(entry);
    let below = if entry.folder {
        date_of(entry.modified)
    } else {
        format!("{}, {}, {}", date_of(entry.modified), size_of(entry.size), kind_of(entry))
    };
    let words = column([
        text(entry.name(), theme::BODY_LARGE.lines(1)).id("android:id/title"),
        text(below, theme::BODY.quiet().lines(1)).id("android:id/summary"),
    ]);
    let open = if entry.folder { "folder" } else { "file" };
    row([badge(symbol, 40.0, fill, theme::WHITE).hide_from_accessibility(), words.grow()])
        .class(class::LINEAR)
        .gap(16.0)
        .pad_xy(20.0, 8.0)
        .min_height(68.0)
        .fill_width()
        .id("item_root")
        .on_tap((open, &entry.path))
        .on_long_press(("delete", &entry.path))
}

fn sign_of(entry: &StorageEntry) -> (Icon, Colour) {
    match (entry.folder, kind_of(entry)) {
        (true, _) => (Icon::Folder, Colour::hex(0x5F6B7A)),
        (_, "Image") => (Icon::Image, Colour::hex(0xB3261E)),
        (_, "Audio") => (Icon::MusicNote, Colour::hex(0xB06000)),
        (_, "Video") => (Icon::Movie, Colour::hex(0x6750A4)),
        (_, "Document") => (Icon::Description, Colour::hex(0x1A73E8)),
        _ => (Icon::InsertDriveFile, Colour::hex(0x5F6B7A)),
    }
}

fn kind_of(entry: &StorageEntry) -> &'static str {
    let ending = entry.name().rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    match ending.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => "Image",
        "mp3" | "ogg" | "wav" | "m4a" => "Audio",
        "mp4" | "webm" | "mkv" => "Video",
        "txt" | "pdf" | "md" | "html" | "xml" | "json" | "csv" => "Document",
        "apk" => "Android app",
        _ => "File",
    }
}

/// A size as `android.text.format.Formatter` writes it: in steps of 1000.
fn size_of(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => measured(bytes as f64 / 1e3, "kB"),
        _ => measured(bytes as f64 / 1e6, "MB"),
    }
}

/// Two decimals below a hundred, none above.
fn measured(size: f64, unit: &str) -> String {
    let digits = if size < 100.0 { 2 } else { 0 };
    format!("{size:.digits$} {unit}")
}

/// `5 Mar, 10:00`; days before the first boot count as that day.
fn date_of(seconds: u64) -> String {
    const IN_2100: u64 = 4_102_444_800;
    let uptime = seconds.min(IN_2100).saturating_sub(SWITCHED_ON);
    date_time(Duration::from_secs(uptime)).strftime("%-d %b, %-H:%M").to_string()
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
