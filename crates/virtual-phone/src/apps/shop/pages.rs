//! Shop's list and article pages.

use crate::app::DrawContext;
use crate::apps::shop::catalog::{Article, KINDS};
use crate::apps::shop::{LIST, SEARCH, Shop, price};
use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{FieldTraits, ImeAction, View, class, column, frame, icon, row, spacer, text};
use crate::widgets::{
    badge, chip, empty_state, field, icon_button, list, long_list, page, thousands, toolbar,
    wide_button,
};
use thumbwire_virtual_screen::icons::Icon;

/// Height of a row of the list, in dp.
const ROW: f32 = 96.0;

impl Shop {
    pub(super) fn list(&self, env: &DrawContext<'_>) -> View {
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(SEARCH, &self.query, "Search 500 products", theme::BODY_LARGE, traits);
        let mut parts = vec![icon(Icon::Search, 24.0, theme::ON_SURFACE_VARIANT), input.grow()];
        if !self.query.is_empty() {
            parts.push(icon_button(Icon::Close, "Clear", "clear").id("search_close_btn"));
        }
        let search = row(parts).gap(12.0).pad_each(16.0, 0.0, 4.0, 0.0).height(52.0).grow();
        let search = search.fill(theme::SURFACE_CONTAINER).radius(26.0).id("search_bar");
        let orders = icon_button(Icon::LocalShipping, "Orders", "orders").id("orders_button");
        let bar = row([search, orders, self.cart_button(env)]);
        let bar = bar.pad_each(16.0, 8.0, 4.0, 4.0).gap(2.0).fill_width().id("toolbar");
        let chips = KINDS.iter().enumerate().map(|(at, kind)| {
            chip(None, kind.name, self.kind == Some(at), ("kind", at)).id("category_chip")
        });
        let chips = row(chips).gap(8.0).pad_xy(16.0, 0.0).scrolls_across().id("category_chips");
        let found = self.found();
        let count = match found.len() {
            1 => "1 product".to_owned(),
            many => format!("{many} products"),
        };
        let count = text(count, theme::BODY.quiet()).pad_each(20.0, 4.0, 20.0, 4.0);
        let body = if found.is_empty() {
            empty_state(Icon::Search, "Nothing found", "Try other words, or another category")
        } else {
            long_list((LIST, "product_item"), (found.len(), ROW), env, |at| {
                article_row(found[at], &self.goods[found[at]])
            })
        };
        page([bar, chips, count.id("result_count"), body], env)
    }

    /// The cart button, with the number of items.
    fn cart_button(&self, env: &DrawContext<'_>) -> View {
        let (items, _) = self.sum(env.store);
        let words = match items {
            0 => "Cart, empty".to_owned(),
            1 => "Cart, 1 item".to_owned(),
            many => format!("Cart, {many} items"),
        };
        let button = icon_button(Icon::ShoppingCart, &words, "cart").id("cart_button");
        if items == 0 {
            return button;
        }
        let number = text(items.to_string(), theme::LABEL.colour(theme::WHITE).centered().lines(1));
        let number = row([number.id("cart_badge")]).justify_center().min_width(20.0).height(18.0);
        let number = number.pad_xy(4.0, 0.0).fill(theme::RED).radius(9.0);
        frame([button, number.absolute([None, Some(2.0), Some(0.0), None])])
    }

    pub(super) fn article(&self, env: &DrawContext<'_>, at: usize) -> View {
        let Some(article) = self.goods.get(at) else {
            let gone = empty_state(Icon::LocalMall, "No such product", "It is not sold any more");
            return page([toolbar("Product", []), gone], env);
        };
        let kind = &KINDS[article.kind];
        let ground = Colour::hex(kind.colour);
        let picture = row([icon(kind.symbol, 96.0, theme::WHITE).hide_from_accessibility()])
            .class(class::IMAGE)
            .height(200.0)
            .fill_width()
            .justify_center()
            .fill(ground)
            .radius(24.0)
            .content_description(&*article.name)
            .id("product_image");
        let about = format!(
            "The {}, from our range \u{201c}{}\u{201d}. Delivered within three working days. \
             You can send it back within 30 days.",
            article.name, kind.name
        );
        let money = TextAppearance { medium: true, ..theme::HEADLINE };
        let words = column([
            text(&article.name, theme::HEADLINE).id("product_name"),
            stars(article),
            text(price(article.cents), money).id("product_price"),
            text(about, theme::BODY.quiet()).id("product_description"),
        ]);
        let body = column([picture, words.gap(10.0)]).gap(20.0).pad_xy(20.0, 8.0).fill_width();
        let bar = toolbar("Product", [self.cart_button(env)]);
        let add = wide_button("Add to cart", true, ("add", at)).id("add_to_cart_button");
        let foot = column([add]).pad_each(20.0, 8.0, 20.0, env.insets.1 + 12.0);
        let body = column([body]).scrolls().id("shop_page").grow();
        page([bar, body, foot], env)
    }

    pub(super) fn ordered(&self, env: &DrawContext<'_>) -> View {
        let orders = self.orders.all(env.store);
        let rows = orders.iter().rev().map(|(number, [items, total, ..])| {
            let title = format!("Order {}", order_name(*number));
            let cents = total.parse().unwrap_or(0);
            let things = if items == "1" { "item" } else { "items" };
            let below = format!("{items} {things}, {}", price(cents));
            let sign = badge(
                Icon::LocalShipping,
                40.0,
                theme::SECONDARY_CONTAINER,
                theme::ON_SECONDARY_CONTAINER,
            );
            let lines = column([
                text(title, theme::BODY_LARGE.lines(1)).id("order_title"),
                text(below, theme::BODY.quiet().lines(1)).id("order_summary"),
            ]);
            row([sign.hide_from_accessibility(), lines.grow()])
                .gap(16.0)
                .pad_xy(20.0, 8.0)
                .min_height(72.0)
                .fill_width()
        });
        let body = if orders.is_empty() {
            empty_state(Icon::LocalShipping, "No orders yet", "What you order shows up here")
        } else {
            list("order_list", rows, env)
        };
        page([toolbar("Orders", []), body], env)
    }
}

fn article_row(at: usize, article: &Article) -> View {
    let kind = &KINDS[article.kind];
    let sign = badge(kind.symbol, 64.0, Colour::hex(kind.colour), theme::WHITE).radius(16.0);
    let words = column([
        text(&article.name, theme::BODY_LARGE.lines(1)).id("product_name"),
        stars(article),
        text(price(article.cents), theme::TITLE.lines(1)).id("product_price"),
    ]);
    row([sign.hide_from_accessibility(), words.gap(2.0).grow()])
        .class(class::GROUP)
        .gap(16.0)
        .pad_xy(16.0, 8.0)
        .fill_width()
        .on_tap(("article", at))
}

fn stars(article: &Article) -> View {
    let (whole, tenth) = (article.stars / 10, article.stars % 10);
    let words = format!("{whole}.{tenth} ({})", thousands(article.reviews));
    row([
        icon(Icon::Star, 16.0, theme::GOLD).hide_from_accessibility(),
        text(words, theme::BODY.quiet().lines(1)).id("product_rating"),
        spacer(),
    ])
    .gap(4.0)
}

/// An order's name.
pub(super) fn order_name(number: usize) -> String {
    format!("SH-{}", 10_001 + number)
}
