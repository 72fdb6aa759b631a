//! Shop: 500 articles in one list, article pages, a cart, an order form, and past orders.
//!
//! State and events are here; `pages` draws the list and the articles, `checkout` the cart and the
//! order; `catalog` is the catalog, `tool` what is offered to other programs.
//!
//! ```text
//!  List ──row──► Article ──Add to cart──► (badge) ──cart──► Cart ──Checkout──► Form ──Place order──► Done ──► List
//! ```
//!
//! Preferences: `cart/ARTICLE` (quantity), `order/N/{items,total,name,city,street,zip,payment}`,
//! `tell/ORDER` (uptime in milliseconds of the notification that the order has shipped).

mod catalog;
mod checkout;
mod pages;
mod tool;

use self::catalog::Article;
use std::time::Duration;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::apps::seeded;
use crate::apps::tools;
use crate::packages::AppIcon;
use crate::permissions::POST_NOTIFICATIONS;
use crate::services::{ServiceOutcome, ServiceStart};
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Shop.
pub(crate) struct Shop {
    goods: Vec<Article>,
    orders: Records<7>,
    /// Pages above the list; the last one shows.
    pages: Vec<Page>,
    query: String,
    /// Only articles of this category.
    kind: Option<usize>,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Article(usize),
    Cart,
    Checkout,
    Done(usize),
    Orders,
}

/// The values of the order form.
#[derive(Debug, Clone, Default)]
struct Form {
    texts: [String; 4],
    /// Pay cash on delivery instead of by card.
    at_the_door: bool,
    agreed: bool,
    /// Whether missing values are marked.
    checked: bool,
}

/// Resource ids of the form's fields, and their hints.
const FIELDS: [(&str, &str); 4] = [
    ("checkout_name", "Full name"),
    ("checkout_street", "Street and number"),
    ("checkout_zip", "ZIP code"),
    ("checkout_city", "City"),
];
/// The package, which can be uninstalled and installed again.
pub(super) const PACKAGE: &str = "com.example.shop";
/// The service that replies to other programs.
pub(super) const SERVICE: &str = "com.example.shop.ToolService";
const SEARCH: &str = "search_src_text";
const LIST: &str = "product_list";
const TELL: &str = "tell/";
/// Time until an order ships, in milliseconds.
const PACKING: u64 = 45_000;
/// Maximum quantity of one article.
const MAX_COUNT: u32 = 99;

impl BuiltInApp for Shop {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Shop",
        version: "3.2.0",
        icon: AppIcon { symbol: Icon::LocalMall, fill: Colour::hex(0xB3261E), ink: theme::WHITE },
        system: false,
        android: AndroidIdentity {
            package: PACKAGE,
            version_code: 320,
            activities: &["com.example.shop.MainActivity"],
            has_icon: true,
            permissions: &["INTERNET", "POST_NOTIFICATIONS"],
        },
        ios: IosIdentity { bundle_id: "com.example.shop" },
    };

    fn new(seed: u64) -> Self {
        let fields = ["items", "total", "name", "city", "street", "zip", "payment"];
        Self {
            goods: catalog::seeded(seed),
            orders: Records { kind: "order", fields, seeded: Vec::new() },
            pages: Vec::new(),
            query: String::new(),
            kind: None,
            form: Form::default(),
        }
    }
}

impl App for Shop {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match self.pages.last() {
            None => self.list(env),
            Some(Page::Article(at)) => self.article(env, *at),
            Some(Page::Cart) => self.cart_page(env),
            Some(Page::Checkout) => self.checkout(env),
            Some(Page::Done(order)) => self.done(env, *order),
            Some(Page::Orders) => self.ordered(env),
        }
    }

    fn next_wakeup(&self, store: &Preferences, _now: Duration) -> Option<Duration> {
        let due = store.keys(TELL).filter_map(|key| store.get(key)?.parse().ok());
        due.min().map(Duration::from_millis)
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Alarm => notify(context),
            Event::PermissionResult { granted, .. } => self.answered(granted, context),
            Event::Intent(intent) if intent.data.as_deref() == Some("shop:orders") => {
                self.pages = vec![Page::Orders];
            }
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => self.typed(&field, text, context),
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }

    fn on_start_command(
        &mut self,
        start: &ServiceStart<'_>,
        context: &mut AppContext<'_>,
    ) -> ServiceOutcome {
        match start.class {
            SERVICE => tools::answer(tool::ShopTool { shop: self, context }, start),
            _ => ServiceOutcome::no_answer(),
        }
    }
}

impl Shop {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let number = tag.value.parse::<usize>().ok();
        match (tag.name, number) {
            ("article", Some(at)) => self.show(Page::Article(at), context),
            ("cart", _) => self.show(Page::Cart, context),
            ("tell", _) => context.ask_permission(POST_NOTIFICATIONS),
            ("orders", _) => self.show(Page::Orders, context),
            ("checkout", _) => {
                self.form.checked = false;
                self.show(Page::Checkout, context);
            }
            ("kind", kind) => {
                self.kind = if self.kind == kind { None } else { kind };
                context.scroll_to_top(LIST);
            }
            ("clear", _) => {
                self.query.clear();
                context.scroll_to_top(LIST);
                context.focus(SEARCH);
            }
            ("add", Some(at)) => {
                count(context.store, at, 1);
                context.toast("Added to cart");
            }
            ("more", Some(at)) => count(context.store, at, 1),
            ("fewer", Some(at)) => count(context.store, at, -1),
            ("remove", Some(at)) => {
                context.store.remove(&cart_key(at));
                context.toast("Removed from cart");
            }
            ("card", _) => self.form.at_the_door = false,
            ("door", _) => self.form.at_the_door = true,
            ("terms", _) => self.form.agreed = !self.form.agreed,
            ("order", _) => self.order(context),
            ("home", _) => {
                self.pages.clear();
                context.scroll_to_top(LIST);
            }
            ("back", _) => self.back(context),
            _ => {}
        }
    }

    fn typed(&mut self, field: &str, text: String, context: &mut AppContext<'_>) {
        match FIELDS.iter().position(|(id, _)| *id == field) {
            Some(at) => self.form.texts[at] = text,
            None => {
                self.query = text;
                context.scroll_to_top(LIST);
            }
        }
    }

    fn show(&mut self, page: Page, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.pages.last() != Some(&page) {
            self.pages.retain(|open| *open != page);
            self.pages.push(page);
        }
        context.scroll_to_top("shop_page");
    }

    /// Orders the cart's contents, or shows what is missing.
    fn order(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        self.form.checked = true;
        let missing = (0..FIELDS.len()).any(|at| self.form.error(at).is_some());
        if missing || !self.form.agreed {
            context.toast("Please check what you entered");
            return;
        }
        let (items, total) = self.sum(context.store);
        let [name, street, zip, city] = self.form.texts.clone();
        let payment = if self.form.at_the_door { "cash" } else { "card" };
        let (items, total) = (items.to_string(), total.to_string());
        let order = [items, total, name, city, street, zip, payment.to_owned()];
        let Some(number) = self.orders.put(context.store, None, &order) else {
            context.toast("No more orders can be taken");
            return;
        };
        for (at, _) in self.cart(context.store) {
            context.store.remove(&cart_key(at));
        }
        self.form = Form::default();
        self.pages = vec![Page::Done(number)];
    }

    /// Handles the permission result for the order's notification.
    fn answered(&self, granted: bool, context: &mut AppContext<'_>) {
        let Some(Page::Done(order)) = self.pages.last() else { return };
        if granted {
            let at = u64::try_from(context.now.as_millis()).unwrap_or(u64::MAX);
            let at = at.saturating_add(PACKING);
            context.store.set(&format!("{TELL}{order}"), at.to_string());
            context.toast("We will keep you posted");
        } else {
            context.toast("Notifications are off for Shop");
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.pages.pop().is_none() {
            context.finish();
        }
    }

    /// The cart: articles and quantities.
    fn cart(&self, store: &Preferences) -> Vec<(usize, u32)> {
        (0..self.goods.len())
            .filter_map(|at| Some((at, store.get(&cart_key(at))?.parse::<u32>().ok()?)))
            .filter(|(_, count)| *count > 0)
            .map(|(at, count)| (at, count.min(MAX_COUNT)))
            .collect()
    }

    /// The number of items in the cart, and their total in cents.
    fn sum(&self, store: &Preferences) -> (u32, u64) {
        let cart = self.cart(store);
        let cents = cart.iter().map(|(at, count)| self.goods[*at].cents * u64::from(*count)).sum();
        (cart.iter().map(|(_, count)| count).sum(), cents)
    }

    /// The articles that match the current search.
    fn found(&self) -> Vec<usize> {
        let wanted = self.query.trim().to_lowercase();
        let fits = |at: &usize| {
            let article = &self.goods[*at];
            self.kind.is_none_or(|kind| article.kind == kind)
                && article.name.to_lowercase().contains(&wanted)
        };
        (0..self.goods.len()).filter(fits).collect()
    }
}

impl Form {
    /// A field's error, once the form was submitted.
    fn error(&self, at: usize) -> Option<&'static str> {
        let text = self.texts[at].trim();
        match at {
            _ if !self.checked => None,
            _ if text.is_empty() => Some("Please fill this in"),
            2 if text.len() < 4 || !text.chars().all(|c| c.is_ascii_digit()) => {
                Some("A ZIP code has at least 4 digits")
            }
            _ => None,
        }
    }
}

/// The articles, by number.
pub(super) fn articles(seed: u64) -> Vec<seeded::SeededArticle> {
    let goods = catalog::seeded(seed).into_iter().enumerate();
    goods
        .map(|(number, Article { name, cents, .. })| seeded::SeededArticle { number, name, cents })
        .collect()
}

/// Posts notifications for shipped orders.
fn notify(context: &mut AppContext<'_>) {
    let keys: Vec<String> = context.store.keys(TELL).map(str::to_owned).collect();
    for key in keys {
        let at = context.store.get(&key).and_then(|at| at.parse().ok());
        if at.is_some_and(|at| Duration::from_millis(at) > context.now) {
            continue;
        }
        context.store.remove(&key);
        if let Some(order) = key.strip_prefix(TELL).and_then(|order| order.parse().ok()) {
            let (tag, name) = (format!("order {order}"), pages::order_name(order));
            let orders = Some("shop:orders".to_owned());
            context.notify(tag, "Your order is on its way", &name, orders);
        }
    }
}

fn count(store: &mut Preferences, at: usize, by: i32) {
    let key = cart_key(at);
    let now = store.get(&key).and_then(|count| count.parse::<u32>().ok()).unwrap_or(0);
    match now.saturating_add_signed(by).min(MAX_COUNT) {
        0 => store.remove(&key),
        count => store.set(&key, count.to_string()),
    }
}

fn cart_key(at: usize) -> String {
    format!("cart/{at:03}")
}

/// A price as people read it.
fn price(cents: u64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}
