//! Bank: a login with a password, accounts with their bookings, and a transfer with a confirmation.
//!
//! State and events are here; `pages` draws. Its windows are secure: screenshots show them black,
//! dumps list them. Any numeric customer number logs in with the password [`PASSWORD`]; stopping
//! the app logs out.
//!
//! Preferences: `booking/N/{account,cents,who,text}` (negative cents are outgoing). A balance is
//! the sum of an account's bookings.

mod pages;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::packages::AppIcon;
use crate::rng::SplitMix64;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Bank.
pub(crate) struct Bank {
    bookings: Records<4>,
    login: Login,
    page: Page,
    transfer: Transfer,
    /// Whether the confirmation of the transfer is open.
    asking: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Login,
    Accounts,
    Account(usize),
    Transfer,
    /// The transfer was made.
    Done,
}

#[derive(Debug, Clone, Default)]
struct Login {
    number: String,
    password: String,
    wrong: Option<&'static str>,
    /// Consecutive wrong passwords.
    tries: u32,
}

/// A transfer being entered.
#[derive(Debug, Clone, Default)]
struct Transfer {
    from: usize,
    to: String,
    amount: String,
    text: String,
    wrong: Option<&'static str>,
}

/// The password of every customer.
const PASSWORD: &str = "thumb-4711";
/// Wrong passwords until the login is locked.
const TRIES: u32 = 5;
const ACCOUNTS: [(&str, &str); 3] = [
    ("Current account", "DE02 1203 0000 0000 2020 51"),
    ("Savings account", "DE02 5001 0517 0137 0750 30"),
    ("Shared account", "DE02 3005 0000 0000 5555 55"),
];
const NUMBER: &str = "login_customer_number";
const SECRET: &str = "login_password";
const TO: &str = "transfer_recipient";
const AMOUNT: &str = "transfer_amount";

impl BuiltInApp for Bank {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Bank",
        version: "8.14.1",
        icon: AppIcon {
            symbol: Icon::AccountBalance,
            fill: Colour::hex(0x004A77),
            ink: theme::WHITE,
        },
        system: false,
        android: AndroidIdentity {
            package: "com.example.bank",
            version_code: 81_401,
            activities: &["com.example.bank.MainActivity"],
            has_icon: true,
            permissions: &["INTERNET", "USE_BIOMETRIC"],
        },
        ios: IosIdentity { bundle_id: "com.example.bank" },
    };

    fn new(seed: u64) -> Self {
        let fields = ["account", "cents", "who", "text"];
        Self {
            bookings: Records { kind: "booking", fields, seeded: seeded(seed) },
            login: Login::default(),
            page: Page::Login,
            transfer: Transfer::default(),
            asking: false,
        }
    }
}

impl App for Bank {
    fn is_secure(&self) -> bool {
        true
    }

    fn view(&self, env: &DrawContext<'_>) -> View {
        match self.page {
            Page::Login => pages::login(env, &self.login),
            Page::Accounts => self.accounts(env),
            Page::Account(account) => self.account(env, account),
            Page::Transfer => {
                pages::transfer(env, &self.transfer).dialog(self.asking.then(|| self.question()))
            }
            Page::Done => self.done(env),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => match field.as_str() {
                NUMBER => self.login.number = text,
                SECRET => self.login.password = text,
                TO => self.transfer.to = text,
                AMOUNT => self.transfer.amount = text,
                _ => self.transfer.text = text,
            },
            Event::Action { field } if field == SECRET => self.log_in(context),
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Bank {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let number = tag.value.parse::<usize>().unwrap_or(0).min(ACCOUNTS.len() - 1);
        match tag.name {
            "log in" => self.log_in(context),
            "forgot" => context.toast("Please call us: (212) 555-0100"),
            "log out" => self.log_out(context),
            "account" => {
                self.page = Page::Account(number);
                context.scroll_to_top("transaction_list");
            }
            "transfer" => {
                self.transfer = Transfer { from: number, ..Transfer::default() };
                self.page = Page::Transfer;
                context.scroll_to_top("transfer_form");
            }
            "from" => self.transfer.from = number,
            "review" => self.review(context),
            "no" => self.asking = false,
            "yes" => self.send(context),
            "accounts" => self.page = Page::Accounts,
            "back" => self.back(context),
            _ => {}
        }
    }

    fn log_in(&mut self, context: &mut AppContext<'_>) {
        let Login { number, password, tries, .. } = &mut self.login;
        let number = number.trim();
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        context.unfocus();
        self.login.wrong = if *tries >= TRIES {
            Some("Too many attempts. Stop the app and try again.")
        } else if !digits {
            Some("Your customer number has digits only")
        } else if password != PASSWORD {
            *tries += 1;
            password.clear();
            Some("Customer number or password is wrong")
        } else {
            None
        };
        if self.login.wrong.is_none() {
            self.login = Login::default();
            self.page = Page::Accounts;
        }
    }

    fn log_out(&mut self, context: &mut AppContext<'_>) {
        self.page = Page::Login;
        context.unfocus();
        context.toast("You are logged out");
    }

    /// Validates the transfer and asks for confirmation, or says what is wrong.
    fn review(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        let balance = self.balance(context.store, self.transfer.from);
        let Transfer { to, amount, .. } = &self.transfer;
        self.transfer.wrong = match cents_of(amount) {
            _ if to.trim().is_empty() => Some("Who gets the money?"),
            None | Some(0) => Some("Enter an amount such as 25 or 19.90"),
            Some(cents) if cents > balance => Some("There is not enough in this account"),
            Some(_) => None,
        };
        self.asking = self.transfer.wrong.is_none();
    }

    fn send(&mut self, context: &mut AppContext<'_>) {
        self.asking = false;
        let Transfer { from, to, amount, text, .. } = &self.transfer;
        let Some(cents) = cents_of(amount) else { return };
        let who = to.trim().to_owned();
        let booking = [from.to_string(), (-cents).to_string(), who, text.trim().to_owned()];
        match self.bookings.put(context.store, None, &booking) {
            Some(_) => self.page = Page::Done,
            None => self.transfer.wrong = Some("No more transfers can be made today"),
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if std::mem::take(&mut self.asking) {
            return;
        }
        match self.page {
            Page::Login | Page::Accounts => context.finish(),
            Page::Account(_) | Page::Transfer | Page::Done => self.page = Page::Accounts,
        }
    }

    /// The bookings of an account, oldest first.
    fn of(&self, store: &Preferences, account: usize) -> Vec<Booking> {
        let account = account.to_string();
        let all = self.bookings.all(store).into_iter();
        all.filter(|(_, [whose, ..])| *whose == account)
            .map(|(_, [_, cents, who, text])| Booking {
                cents: cents.parse().unwrap_or(0),
                who,
                text,
            })
            .collect()
    }

    /// The balance of an account, in cents.
    fn balance(&self, store: &Preferences, account: usize) -> i64 {
        let bookings = self.of(store, account);
        bookings.iter().fold(0_i64, |sum, booking| sum.saturating_add(booking.cents))
    }
}

/// An incoming or outgoing payment.
struct Booking {
    cents: i64,
    who: String,
    text: String,
}

/// Parses an amount as people write it, in cents; `None` if it is invalid or more than a million.
fn cents_of(amount: &str) -> Option<i64> {
    let amount = amount.trim().trim_start_matches('$').replace(',', ".");
    let (whole, part) = amount.split_once('.').unwrap_or((&amount, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || whole.len() > 6 || part.len() > 2 || !digits(whole) || !digits(part) {
        return None;
    }
    let part = format!("{part:0<2}");
    Some(whole.parse::<i64>().ok()? * 100 + part.parse::<i64>().ok()?)
}

/// The bookings before the first boot.
fn seeded(seed: u64) -> Vec<[String; 4]> {
    let mut chance = SplitMix64::new(seed, "bank");
    let mut bought = [
        ("Greengrocer", "Card payment"),
        ("City Trains", "Monthly ticket"),
        ("Harbour Power", "Electricity"),
        ("Café Luna", "Card payment"),
        ("Old Town Books", "Order 7731"),
        ("Pinewood Rentals", "Cabin, deposit"),
    ];
    chance.shuffle(&mut bought);
    let booking = |account: usize, cents: i64, who: &str, text: &str| {
        [account.to_string(), cents.to_string(), who.to_owned(), text.to_owned()]
    };
    let mut all = vec![
        booking(0, 314_205, "Opening balance", ""),
        booking(1, 1_250_000, "Opening balance", ""),
        booking(2, 48_030, "Opening balance", ""),
        booking(0, 280_000, "Lighthouse Works", "Salary, February"),
    ];
    for (who, text) in bought {
        let cents = 350 + chance.below(9_000) as i64;
        all.push(booking(0, -cents, who, text));
    }
    all.push(booking(2, -6_420, "Greengrocer", "Card payment"));
    all
}
