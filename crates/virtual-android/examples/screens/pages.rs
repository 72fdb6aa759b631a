//! The pages of the virtual phone in the gallery: a name, a caption, and the steps that lead there.
//!
//! Start with [`chapters`] and [`Chapter::shown`]. The example draws them into a folder, the test
//! `gallery` compares them, and the test `marks` of the program annotates them.

use std::time::Duration;

use thumbwire_virtual_phone::{
    Display, KeyCode, Node, Platform, Point, Setup, StorageEntry, TouchPhase, World,
};

/// A chapter of the gallery: phones of one kind.
pub(crate) struct Chapter {
    /// Its heading.
    pub(crate) title: &'static str,
    /// Prefix of its images' names; empty for the first.
    pub(crate) prefix: &'static str,
    /// The screen of its phones.
    pub(crate) display: Display,
    /// Major Android release.
    pub(crate) android: u32,
    /// Whose phones they are.
    pub(crate) platform: Platform,
    pages: &'static [Page],
}

/// Name, caption, package (empty: the home screen), and the steps after a fresh start: a tap on
/// this id or text, or text to type after `=`; `^` scrolls, `<` goes back, `!` skips the wait for
/// toasts to disappear. The app may also fail ([`CRASHES`], [`HANGS`]), or the system may interrupt
/// ([`SHADE`]).
pub(crate) struct Page(
    &'static str,
    pub(crate) &'static str,
    &'static str,
    &'static [&'static str],
);

/// All chapters.
pub(crate) fn chapters() -> [Chapter; 5] {
    // Half the pixels and half the density of a phone with 1080 × 2400: the same layout in a
    // quarter of the bytes.
    let portrait = Display { width: 540, height: 1200, density: 210, rotation: 0 };
    let landscape = Display { width: 1200, height: 540, density: 210, rotation: 1 };
    // An iPhone 11 at one and a half pixels to the point.
    let iphone = Display { width: 621, height: 1344, density: 240, rotation: 0 };
    let iphone_turned = Display { width: 1344, height: 621, density: 240, rotation: 1 };
    let small = Display { width: 480, height: 800, density: 240, rotation: 0 };
    [
        Chapter {
            title: "Portrait",
            prefix: "",
            display: portrait,
            android: 14,
            platform: Platform::Android,
            pages: PORTRAIT,
        },
        Chapter {
            title: "Landscape",
            prefix: "turned-",
            display: landscape,
            android: 14,
            platform: Platform::Android,
            pages: LANDSCAPE,
        },
        Chapter {
            title: "A small phone of 2014, `--android 4.4`",
            prefix: "small-",
            display: small,
            android: 4,
            platform: Platform::Android,
            pages: SMALL,
        },
        Chapter {
            title: "An iPhone",
            prefix: "ios-",
            display: iphone,
            android: 14,
            platform: Platform::Ios,
            pages: IOS,
        },
        Chapter {
            title: "An iPhone on its side",
            prefix: "ios-turned-",
            display: iphone_turned,
            android: 14,
            platform: Platform::Ios,
            pages: IOS_TURNED,
        },
    ]
}

const MAPS: &str = "com.google.android.apps.maps";
const CONTACTS: &str = "com.google.android.contacts";
const NOTES: &str = "com.android.notes";
const SETTINGS: &str = "com.android.settings";
const CLOCK: &str = "com.google.android.deskclock";
const MESSAGES: &str = "com.google.android.apps.messaging";
const SHOP: &str = "com.example.shop";
const AKHBAR: &str = "com.example.akhbar";
const BANK: &str = "com.example.bank";
const MEMBERS: &str = "com.example.members";
const BROWSER: &str = "com.android.chrome";
const CALENDAR: &str = "com.google.android.calendar";
const FILES: &str = "com.android.documentsui";

/// The app crashes twice.
const CRASHES: &str = "*crashes";
/// At home, a minute later, a finger opens the notification shade.
const SHADE: &str = "*shade";
/// The screen is turned off and on.
const LOCKS: &str = "*locks";
/// The app stops responding.
const HANGS: &str = "*hangs";

const IOS: &[Page] = &[
    Page("home", "The home screen", "", &[]),
    Page("settings", "Settings", SETTINGS, &[]),
    Page("settings-network", "Network", SETTINGS, &["Network & internet"]),
    Page("settings-find", "Searching for a setting", SETTINGS, &["Search settings", "=bri"]),
    Page("settings-timeout", "Choice", SETTINGS, &["Display", "Screen timeout"]),
    Page("notes", "Notes", NOTES, &[]),
    Page("notes-new", "A note and the keyboard", NOTES, &["New note", "=Call the plumber"]),
    Page("notes-delete", "Alert", NOTES, &["browse_note", "Delete note"]),
    Page("maps-permission", "Permission alert", MAPS, &["mylocation_button"]),
    Page("contacts", "Contacts", CONTACTS, &[]),
    Page("contacts-one", "A contact", CONTACTS, &["cliv_name_textview"]),
    Page("contacts-create", "New contact", CONTACTS, &["Create contact"]),
    Page("messages", "Messages", MESSAGES, &[]),
    Page("messages-talk", "A conversation", MESSAGES, &["Emma Hughes"]),
    Page("clock", "Clock", CLOCK, &[]),
    Page("calendar", "Calendar", CALENDAR, &[]),
    Page("files", "Files", FILES, &[]),
    Page("files-new", "Alert with a field", FILES, &["Documents", "New folder"]),
    Page("browser", "Browser", BROWSER, &[]),
    Page("shop", "Shop", SHOP, &[]),
    Page("bank", "Bank", BANK, &[]),
    Page("locked", "Lock screen", "", &[LOCKS]),
    Page(
        "shade",
        "Notification of a reply",
        MESSAGES,
        &["Emma Hughes", "compose_message_text", "=On my way", "Send SMS", SHADE],
    ),
];

const IOS_TURNED: &[Page] = &[
    Page("home", "The home screen", "", &[]),
    Page("settings", "Settings", SETTINGS, &[]),
    Page("notes", "Notes", NOTES, &[]),
    Page("messages-write", "Writing a message", MESSAGES, &["Book club", "compose_message_text"]),
];

const PORTRAIT: &[Page] = &[
    Page("home", "The home screen", "", &[]),
    Page("drawer", "All apps", "", &["^"]),
    Page("drawer-search", "Searching for an app", "", &["^", "fallback_search_view", "=c"]),
    Page(
        "shade",
        "Notification of a reply",
        MESSAGES,
        &["Emma Hughes", "compose_message_text", "=On my way", "Send SMS", SHADE],
    ),
    Page("maps", "Maps", MAPS, &[]),
    Page("maps-search", "Empty search", MAPS, &["Search here"]),
    Page("maps-suggestions", "Search suggestions", MAPS, &["Search here", "=rest"]),
    Page("maps-results", "Search results", MAPS, &["Search here", "=restaurants\n"]),
    Page("maps-scrolled", "Results, scrolled", MAPS, &["Search here", "=restaurants\n", "^"]),
    Page("maps-open-now", "Filtered results", MAPS, &["Search here", "=restaurants\n", "Open now"]),
    Page("maps-nothing", "No results", MAPS, &["Search here", "=zzz\n"]),
    Page("maps-place", "A place", MAPS, &["Search here", "=sushi\n", "search_result_row"]),
    Page(
        "maps-reviews",
        "Reviews, and a message that the place was saved",
        MAPS,
        &["Search here", "=sushi\n", "search_result_row", "Save", "^", "!"],
    ),
    Page(
        "maps-directions",
        "Directions",
        MAPS,
        &["Search here", "=sushi\n", "search_result_row", "Directions"],
    ),
    Page("maps-contribute", "Contribute", MAPS, &["Contribute"]),
    Page("maps-permission", "Permission prompt", MAPS, &["mylocation_button"]),
    Page("settings", "Settings", SETTINGS, &[]),
    Page("settings-find", "Searching for a setting", SETTINGS, &["Search settings", "=bri"]),
    Page("settings-network", "Network", SETTINGS, &["Network & internet", "Airplane mode"]),
    Page("settings-internet", "Wi-Fi", SETTINGS, &["Network & internet", "Internet"]),
    Page("settings-devices", "Bluetooth", SETTINGS, &["Connected devices"]),
    Page("settings-apps", "Apps", SETTINGS, &["Apps"]),
    Page("settings-app", "App info", SETTINGS, &["Apps", "Maps"]),
    Page("settings-battery", "Battery", SETTINGS, &["Battery"]),
    Page("settings-display", "Display", SETTINGS, &["Display"]),
    Page("settings-timeout", "Choice dialog", SETTINGS, &["Display", "Screen timeout"]),
    Page("settings-sound", "Sound", SETTINGS, &["Sound & vibration"]),
    Page("settings-about", "About phone", SETTINGS, &["About phone"]),
    Page("contacts", "Contacts", CONTACTS, &[]),
    Page("contacts-find", "Searching for a name", CONTACTS, &["Search contacts", "=an"]),
    Page("contacts-one", "A contact", CONTACTS, &["cliv_name_textview"]),
    Page("contacts-edit", "Editing a contact", CONTACTS, &["cliv_name_textview", "Edit contact"]),
    Page("contacts-delete", "Delete dialog", CONTACTS, &["cliv_name_textview", "Delete contact"]),
    Page("contacts-create", "New contact", CONTACTS, &["Create contact"]),
    Page("messages", "Messages", MESSAGES, &[]),
    Page("messages-talk", "A conversation", MESSAGES, &["Emma Hughes"]),
    Page(
        "messages-write",
        "Writing a message",
        MESSAGES,
        &["Book club", "compose_message_text", "=I have read it already"],
    ),
    Page("messages-new", "New conversation", MESSAGES, &["Start chat", "=em"]),
    Page(
        "messages-scripts",
        "Scripts and symbols of the phone's fonts, and a box for a missing one",
        MESSAGES,
        &["Нина Иванова", "compose_message_text", "=Ünïté, Δοκιμή, тест, سلام, שלום, 漢"],
    ),
    Page("clock-alarms", "Clock: alarms", CLOCK, &["onoff_touch"]),
    Page("clock-alarm", "New alarm", CLOCK, &["Add alarm"]),
    Page("clock-timer", "Setting a timer", CLOCK, &["Timer", "timer_setup_digit_5", "0"]),
    Page("clock-timing", "Running timer", CLOCK, &["Timer", "timer_setup_digit_5", "0", "fab"]),
    Page("clock-stopwatch", "Stopwatch", CLOCK, &["Stopwatch", "Start", "Lap", "Lap"]),
    Page("calendar", "Calendar", CALENDAR, &[]),
    Page("calendar-event", "An event", CALENDAR, &["event_chip"]),
    Page("calendar-new", "New event", CALENDAR, &["Create new event", "=Train to Lübeck"]),
    Page("calendar-delete", "Delete dialog", CALENDAR, &["event_chip", "Delete event"]),
    Page("files", "Files", FILES, &["Download"]),
    Page("files-one", "A file", FILES, &["Download", "harbour.jpg"]),
    Page("files-new", "New folder", FILES, &["New folder", "=Trip"]),
    Page("notes", "Notes", NOTES, &[]),
    Page("notes-one", "A note", NOTES, &["Pancakes"]),
    Page("notes-new", "New note", NOTES, &["New note"]),
    Page(
        "notes-long",
        "A long note",
        NOTES,
        &[
            "New note",
            "=A\nlong\nnote\nof\nmany\nlines\ngoes\nup\nunder\nthe\nbar\nas\nit\nis\nwritten,\none\nword\na\nline.",
        ],
    ),
    Page("notes-delete", "Delete dialog", NOTES, &["Pancakes", "Delete note"]),
    Page("browser", "Chrome", BROWSER, &[]),
    Page("browser-article", "An article", BROWSER, &["The last keepers"]),
    Page("browser-table", "A table", BROWSER, &["Heights of lighthouses"]),
    Page("browser-form", "A form", BROWSER, &["Write to us", "A story", "newsletter"]),
    Page("browser-index", "A long page", BROWSER, &["Index from A to Z"]),
    Page("browser-address", "Typing an address", BROWSER, &["url_bar", "=keep"]),
    Page("shop", "Shop: a list of 500 products", SHOP, &[]),
    Page("shop-product", "A product", SHOP, &["product_item", "Add to cart"]),
    Page("shop-cart", "Cart", SHOP, &["product_item", "Add to cart", "cart_button"]),
    Page(
        "shop-checkout",
        "Checkout with missing fields",
        SHOP,
        &["product_item", "Add to cart", "cart_button", "Checkout", "Place order"],
    ),
    Page("shop-orders", "No orders yet", SHOP, &["Orders"]),
    Page(
        "bank-login",
        "Bank: black in screenshots",
        BANK,
        &["login_customer_number", "=10024816\nwrong\n"],
    ),
    Page("bank", "Bank accounts", BANK, &["login_customer_number", "=1\nthumb-4711\n"]),
    Page(
        "bank-account",
        "An account",
        BANK,
        &["login_customer_number", "=1\nthumb-4711\n", "Current account"],
    ),
    Page(
        "bank-transfer",
        "A transfer",
        BANK,
        &["login_customer_number", "=1\nthumb-4711\n", "New transfer", "Review"],
    ),
    Page("members", "Members", MEMBERS, &["email", "=ada@example.com\nwrong\n"]),
    Page("members-join", "Creating an account", MEMBERS, &["Create account"]),
    Page("members-forgot", "Forgotten password", MEMBERS, &["Forgot password?"]),
    Page("news", "Akhbar, right to left", AKHBAR, &[]),
    Page("news-story", "A story", AKHBAR, &["news_item", "action_save"]),
    Page("news-find", "Searching for a story", AKHBAR, &["action_search", "=القطار"]),
    Page("news-saved", "No saved stories", AKHBAR, &["navigation_saved"]),
    Page("crash", "An app that keeps crashing", NOTES, &[CRASHES]),
    Page("hang", "An app that does not respond", SHOP, &[HANGS]),
];

const LANDSCAPE: &[Page] = &[
    Page("home", "The home screen", "", &[]),
    Page("maps", "Maps", MAPS, &[]),
    Page("maps-place", "A place", MAPS, &["Search here", "=sushi\n", "search_result_row"]),
    Page("settings-timeout", "Choice dialog", SETTINGS, &["Display", "Screen timeout"]),
    Page("contacts", "Contacts", CONTACTS, &[]),
    Page("messages-write", "Writing", MESSAGES, &["Book club", "compose_message_text", "=Yes"]),
    Page("clock-timer", "Setting a timer", CLOCK, &["Timer", "timer_setup_digit_5"]),
    Page("calendar", "Calendar", CALENDAR, &[]),
    Page("files", "Files", FILES, &["Download"]),
    Page("notes", "Notes", NOTES, &[]),
    Page("browser-article", "An article", BROWSER, &["The last keepers"]),
    Page("shop", "Shop", SHOP, &[]),
    Page("bank", "Bank accounts", BANK, &["login_customer_number", "=1\nthumb-4711\n"]),
    Page("members", "Members", MEMBERS, &["email", "=ada@example.com"]),
    Page("news", "Akhbar", AKHBAR, &[]),
];

const SMALL: &[Page] = &[
    Page("home", "The home screen", "", &[]),
    Page("drawer", "All apps", "", &["^"]),
    Page("shade", "Notification shade", "", &[SHADE]),
    Page("maps-results", "Search results", MAPS, &["Search here", "=restaurants\n"]),
    Page("settings", "Settings", SETTINGS, &[]),
    Page("settings-timeout", "Choice dialog", SETTINGS, &["Display", "Screen timeout"]),
    Page("contacts-create", "New contact", CONTACTS, &["Create contact"]),
    Page("messages", "Messages", MESSAGES, &[]),
    Page("clock-timer", "Setting a timer", CLOCK, &["Timer", "timer_setup_digit_5"]),
    Page("calendar", "Calendar", CALENDAR, &[]),
    Page("files-new", "New folder", FILES, &["New folder", "=Trip"]),
    Page("notes", "Notes", NOTES, &[]),
    Page("browser", "Chrome", BROWSER, &[]),
    Page("shop", "Shop", SHOP, &[]),
    Page(
        "bank-account",
        "An account",
        BANK,
        &["login_customer_number", "=1\nthumb-4711\n", "Current account"],
    ),
    Page("members", "Members", MEMBERS, &["email", "=ada@example.com"]),
    Page("news", "Akhbar", AKHBAR, &[]),
    Page("crash", "An app that crashed", NOTES, &[CRASHES]),
    Page("hang", "An app that does not respond", SHOP, &[HANGS]),
];

impl Chapter {
    /// Images per row.
    pub(crate) fn columns(&self) -> usize {
        if self.display.width > self.display.height { 2 } else { 4 }
    }

    /// Its pages, each with its image's name.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (String, &'static Page)> {
        self.pages.iter().map(|page| (format!("{}{}", self.prefix, page.0), page))
    }

    /// A fresh phone that shows the page.
    ///
    /// # Errors
    /// A message if a step fails.
    pub(crate) fn shown(&self, page: &Page) -> Result<World, String> {
        let Self { display, android, platform, .. } = *self;
        let mut world = World::new(Setup { display, android, platform, ..Setup::default() });
        store_files(&mut world);
        if !page.2.is_empty() {
            world.start(page.2, None).map_err(|error| format!("{error:?}"))?;
        }
        for deed in page.3 {
            match (*deed, deed.strip_prefix('=')) {
                ("^", _) => scroll(&mut world, 0.4),
                (SHADE, _) => {
                    world.key(KeyCode::HOME);
                    world.advance(world.uptime() + Duration::from_secs(60));
                    let x = world.display().width / 2;
                    drag(&mut world, Point { x, y: 2 }, Point { x, y: 400 });
                }
                ("<", _) => world.key(KeyCode::BACK),
                ("!", _) => return Ok(world),
                (LOCKS, _) => {
                    world.key(KeyCode::POWER);
                    world.key(KeyCode::POWER);
                }
                (HANGS, _) => {
                    world.stop_responding(page.2);
                }
                (CRASHES, _) => {
                    world.crash(page.2, "java.lang.IllegalStateException: one");
                    world.start(page.2, None).map_err(|error| format!("{error:?}"))?;
                    world.crash(page.2, "java.lang.IllegalStateException: two");
                }
                (_, Some(words)) => words.chars().for_each(|ch| {
                    world.type_char(ch);
                }),
                (what, None) => tap(&mut world, what)?,
            }
        }
        // Wait until no toast covers the page.
        world.advance(world.uptime() + Duration::from_secs(3));
        Ok(world)
    }
}

/// Taps the node with this id, text or description; scrolls until it is visible.
fn tap(world: &mut World, what: &str) -> Result<(), String> {
    // Nodes under the navigation bar take no taps.
    let lowest = world.display().height - 26 * world.display().density / 160;
    for _ in 0..6 {
        let found = world.scene().focused().and_then(|window| {
            let named = |node: &&Node| node.text == what || node.description == what;
            let node = window.root.find(what).or_else(|| window.root.walk().find(named))?;
            let at = node.bounds.center();
            (node.bounds.height() > 0 && at.y < lowest).then_some(at)
        });
        if let Some(at) = found {
            world.pointer(TouchPhase::Down, at);
            world.pointer(TouchPhase::Up, at);
            return Ok(());
        }
        scroll(world, 0.2);
    }
    Err(format!("no {what:?} on the screen"))
}

/// A finger moves up by this fraction of the screen.
fn scroll(world: &mut World, part: f32) {
    let (width, height) = (world.display().width, world.display().height);
    let from = Point { x: width / 2, y: height * 7 / 10 };
    let to = Point { y: from.y - (height as f32 * part) as i32, ..from };
    drag(world, from, to);
}

fn drag(world: &mut World, from: Point, to: Point) {
    world.pointer(TouchPhase::Down, from);
    world.pointer(TouchPhase::Move, to);
    world.pointer(TouchPhase::Up, to);
}

fn store_files(world: &mut World) {
    let entries = [
        ("DCIM", 0),
        ("Documents", 0),
        ("Download", 0),
        ("Download/Bills", 0),
        ("Download/Bills/March 2024.pdf", 48_213),
        ("Download/harbour.jpg", 2_400_000),
        ("Download/song.mp3", 5_120_000),
        ("Download/thumb.apk", 912_000),
        ("Download/trip.mp4", 31_000_000),
        ("Download/read me.txt", 312),
    ];
    let modified = world.unix_time();
    let stored = |(path, size): (&str, u64)| StorageEntry {
        path: path.to_owned(),
        folder: size == 0,
        size,
        modified,
    };
    world.set_storage(entries.map(stored).to_vec());
}
