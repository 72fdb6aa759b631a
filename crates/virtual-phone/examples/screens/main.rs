//! Writes a picture of every screen into a folder: `cargo run --example screens -- target/screens`. A second word leaves out what does
//! not begin with it.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use thumbwire_virtual_phone::world::{
    Display, Intent, Key, Node, Phase, Point, Setup, Stored, World,
};

type Done = Result<(), Box<dyn std::error::Error>>;

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

/// Name of the picture, package, and the way to the page.
const PAGES: &[(&str, &str, &[&str])] = &[
    ("60-alarms", CLOCK, &["onoff_touch"]),
    ("61-alarm", CLOCK, &["Add alarm"]),
    ("62-timer", CLOCK, &["Timer", "timer_setup_digit_5", "timer_setup_digit_0"]),
    ("63-timer-runs", CLOCK, &["Timer", "timer_setup_digit_5", "timer_setup_digit_0", "fab"]),
    ("64-stopwatch", CLOCK, &["Stopwatch", "Start", "Lap", "Lap"]),
    ("65-messages", MESSAGES, &[]),
    ("66-conversation", MESSAGES, &["Emma Hughes"]),
    ("67-writing", MESSAGES, &["Book club", "compose_message_text", "=I have read it already"]),
    ("68-new-conversation", MESSAGES, &["Start chat", "=em"]),
    ("70-shop", SHOP, &[]),
    ("71-product", SHOP, &["product_item", "Add to cart"]),
    ("72-cart", SHOP, &["cart_button"]),
    ("73-checkout", SHOP, &["cart_button", "Checkout", "Place order"]),
    ("74-bank", BANK, &["login_customer_number", "=10024816\nwrong\n"]),
    ("75-accounts", BANK, &["login_customer_number", "=1\nthumb-4711\n"]),
    ("76-account", BANK, &["login_customer_number", "=1\nthumb-4711\n", "Current account"]),
    ("77-transfer", BANK, &["login_customer_number", "=1\nthumb-4711\n", "New transfer", "Review"]),
    ("78-sign-in", MEMBERS, &["email", "=ada@example.com\nwrong\n"]),
    ("79-join", MEMBERS, &["create_account"]),
    ("80-month", CALENDAR, &[]),
    ("81-event", CALENDAR, &["event_chip"]),
    ("82-new-event", CALENDAR, &["Create new event", "=Train to Lübeck"]),
    ("83-files", FILES, &["Download"]),
    ("83-file", FILES, &["Download", "harbour.jpg"]),
    ("84-new-folder", FILES, &["New folder"]),
    ("85-web", BROWSER, &[]),
    ("86-web-article", BROWSER, &["The last keepers"]),
    ("87-web-table", BROWSER, &["Heights of lighthouses"]),
    ("88-web-form", BROWSER, &["Write to us", "A story", "newsletter"]),
    ("90-news", AKHBAR, &[]),
    ("91-story", AKHBAR, &["news_item", "action_save"]),
    ("92-find-story", AKHBAR, &["action_search", "=القطار"]),
    ("93-no-story", AKHBAR, &["navigation_saved"]),
    ("89-address", BROWSER, &["url_bar", "=keep"]),
];

struct Shooting {
    folder: PathBuf,
    /// Only pictures whose names begin so.
    only: String,
    world: World,
}

fn main() -> Done {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder for the pictures")?);
    std::fs::create_dir_all(&folder)?;
    let only = std::env::args().nth(2).unwrap_or_default();
    let mut shooting = Shooting { folder, only, world: World::new(Setup::default()) };
    shooting.portrait()?;
    for (name, display) in [
        ("landscape", Display { width: 2400, height: 1080, density: 420, rotation: 1 }),
        ("small", Display { width: 480, height: 800, density: 240, rotation: 0 }),
    ] {
        shooting.world = World::new(Setup { display, ..Setup::default() });
        shooting.tour(name)?;
    }
    Ok(())
}

impl Shooting {
    fn portrait(&mut self) -> Done {
        self.shoot("01-home")?;
        self.swipe((540, 1700), (540, 900));
        self.shoot("02-drawer")?;
        self.world.key(Key::HOME);
        self.world.start(MAPS, None)?;
        self.shoot("03-maps")?;
        self.tap("search_omnibox_text_box");
        self.shoot("04-search")?;
        self.type_text("rest");
        self.shoot("05-suggestions")?;
        self.type_text("aurants");
        self.world.key(Key::ENTER);
        self.shoot("06-results")?;
        self.swipe((540, 2000), (540, 900));
        self.shoot("07-results-scrolled")?;
        self.tap("search_result_row");
        self.shoot("08-detail")?;
        self.tap("save_button");
        self.swipe((540, 2000), (540, 500));
        self.shoot("09-detail-saved")?;
        self.world.advance(self.world.uptime() + Duration::from_secs(5));
        self.swipe((540, 500), (540, 2000));
        self.tap("directions_button");
        self.shoot("10-directions")?;
        for _ in 0..3 {
            self.world.key(Key::BACK);
        }
        self.tap("saved_tab_strip_button");
        self.shoot("11-saved")?;
        self.tap("contribute_tab_strip_button");
        self.shoot("12-contribute")?;
        self.tap("explore_tab_strip_button");
        self.tap("search_omnibox_text_box");
        self.type_text("zzz");
        self.world.key(Key::ENTER);
        self.shoot("13-nothing")?;
        self.settings()
    }

    fn settings(&mut self) -> Done {
        self.world.start(SETTINGS, None)?;
        self.shoot("20-settings")?;
        for (name, taps) in [
            ("21-network", &["Network & internet"][..]),
            ("22-internet", &["Network & internet", "Internet"]),
            ("23-devices", &["Connected devices"]),
            ("24-apps", &["Apps"]),
            ("25-app", &["Apps", "Maps"]),
            ("26-battery", &["Battery"]),
            ("27-sound", &["Sound & vibration"]),
            ("28-display", &["Display"]),
            ("29-timeout", &["Display", "Screen timeout"]),
            ("30-about", &["About phone"]),
            ("31-airplane", &["Network & internet", "Airplane mode"]),
            ("32-find-setting", &["Search settings"]),
        ] {
            self.world.force_stop(SETTINGS);
            self.world.start(SETTINGS, None)?;
            taps.iter().for_each(|what| self.tap(what));
            self.shoot(name)?;
        }
        self.world.put_setting("global", "airplane_mode_on", "0");
        self.world.put_setting("global", "wifi_on", "1");
        self.contacts()
    }

    fn contacts(&mut self) -> Done {
        self.world.start(CONTACTS, None)?;
        self.shoot("40-contacts")?;
        self.tap("cliv_name_textview");
        self.shoot("41-contact")?;
        self.tap("Edit contact");
        self.shoot("42-edit-contact")?;
        self.world.key(Key::BACK);
        self.world.key(Key::BACK);
        self.tap("Delete contact");
        self.shoot("43-delete-contact")?;
        self.world.force_stop(CONTACTS);
        self.world.start(CONTACTS, None)?;
        self.tap("Create contact");
        self.shoot("44-create-contact")?;
        self.world.key(Key::BACK);
        self.world.key(Key::BACK);
        self.tap("open_search_bar");
        self.type_text("an");
        self.shoot("45-find-contact")?;
        self.notes()
    }

    fn notes(&mut self) -> Done {
        self.world.start(NOTES, None)?;
        self.shoot("50-notes")?;
        self.tap("Pancakes");
        self.shoot("51-note")?;
        self.world.key(Key::BACK);
        self.tap("New note");
        self.shoot("52-new-note")?;
        for line in 0..40 {
            self.type_text(&format!("{line} a long note\n"));
        }
        self.shoot("53-long-note")?;
        self.tap("Delete note");
        self.shoot("54-delete-note")?;
        self.apps()
    }

    /// Pages of the other apps: what is tapped, or typed after a `=`, from a fresh start.
    fn apps(&mut self) -> Done {
        self.store_files();
        for (name, package, deeds) in PAGES {
            self.world.force_stop(package);
            self.world.start(package, None)?;
            self.follow(deeds);
            self.shoot(name)?;
        }
        Ok(())
    }

    fn follow(&mut self, deeds: &[&str]) {
        for deed in deeds {
            match deed.strip_prefix('=') {
                Some(words) => self.type_text(words),
                None => self.tap(deed),
            }
        }
        // No message of the page before covers this one.
        self.world.advance(self.world.uptime() + Duration::from_secs(3));
    }

    fn store_files(&mut self) {
        let stored = |path: &str, size: u64| {
            let (path, folder, modified) = (path.to_owned(), size == 0, self.world.unix_time());
            Stored { path, folder, size, modified }
        };
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
        let entries = entries.map(|(path, size)| stored(path, size)).to_vec();
        self.world.set_storage(entries);
    }

    fn tour(&mut self, name: &str) -> Done {
        self.shoot(&format!("{name}-1-home"))?;
        self.world.start(MAPS, None)?;
        self.shoot(&format!("{name}-2-maps"))?;
        self.tap("search_omnibox_text_box");
        self.shoot(&format!("{name}-3-search"))?;
        self.type_text("restaurants");
        self.world.key(Key::ENTER);
        self.shoot(&format!("{name}-4-results"))?;
        self.tap("search_result_row");
        self.shoot(&format!("{name}-5-detail"))?;
        for (step, package) in [(6, SETTINGS), (7, CONTACTS), (8, NOTES)] {
            self.world.start(package, None)?;
            self.shoot(&format!("{name}-{step}-{package}"))?;
        }
        let action = Some("android.settings.DISPLAY_SETTINGS".to_owned());
        self.world.start_intent(&Intent { action, ..Intent::default() })?;
        self.tap("Screen timeout");
        self.shoot(&format!("{name}-9-dialog"))?;
        self.world.start(CONTACTS, None)?;
        self.tap("Create contact");
        self.shoot(&format!("{name}-a-form"))?;
        self.store_files();
        for (page, package, deeds) in PAGES {
            self.world.force_stop(package);
            self.world.start(package, None)?;
            self.follow(deeds);
            self.shoot(&format!("{name}-{page}"))?;
        }
        Ok(())
    }

    fn type_text(&mut self, text: &str) {
        for ch in text.chars() {
            self.world.type_char(ch);
        }
    }

    /// Taps the node with this id, text or description.
    fn tap(&mut self, id: &str) {
        let found = self.world.scene().focused().and_then(|window| {
            let named = |node: &&Node| node.text == id || node.description == id;
            window.root.find(id).or_else(|| window.root.walk().find(named))
        });
        let Some(at) = found.map(|node: &Node| node.bounds.center()) else {
            eprintln!("no {id} on the screen");
            return;
        };
        self.world.pointer(Phase::Down, at);
        self.world.pointer(Phase::Up, at);
    }

    fn swipe(&mut self, from: (i32, i32), to: (i32, i32)) {
        let point = |(x, y): (i32, i32)| Point { x, y };
        self.world.pointer(Phase::Down, point(from));
        self.world.pointer(Phase::Move, point(to));
        self.world.pointer(Phase::Up, point(to));
    }

    fn shoot(&mut self, name: &str) -> Done {
        if !name.starts_with(&self.only) {
            return Ok(());
        }
        let start = Instant::now();
        let frame = self.world.frame();
        let took = start.elapsed();
        let file = File::create(self.folder.join(format!("{name}.png")))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), frame.width, frame.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&frame.rgba)?;
        eprintln!("{name}: layout and frame {took:?}");
        Ok(())
    }
}
