//! Shop's cart, the order form, and the confirmation page.

use crate::app::DrawContext;
use crate::apps::shop::catalog::KINDS;
use crate::apps::shop::pages::order_name;
use crate::apps::shop::{FIELDS, Shop, price};
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, Tag, View, class, column, icon, row, spacer, text};
use crate::widgets::{
    badge, divider, empty_state, form_field, icon_button, list, page, text_button, toolbar,
    wide_button,
};
use thumbwire_virtual_screen::icons::Icon;

impl Shop {
    pub(super) fn cart_page(&self, env: &DrawContext<'_>) -> View {
        let cart = self.cart(env.store);
        if cart.is_empty() {
            let empty = empty_state(
                Icon::ShoppingCart,
                "Your cart is empty",
                "Products that you add show up here",
            );
            return page([toolbar("Cart", []), empty], env);
        }
        let rows = cart.iter().map(|(at, count)| self.cart_row(*at, *count));
        let (_, cents) = self.sum(env.store);
        let total = row([
            text("Total", theme::TITLE).grow(),
            text(price(cents), theme::TITLE).id("cart_total"),
        ]);
        let checkout = wide_button("Checkout", true, "checkout").id("checkout_button");
        let foot = column([divider(), total.pad_xy(4.0, 8.0).fill_width(), checkout])
            .gap(4.0)
            .pad_each(20.0, 0.0, 20.0, env.insets.1 + 12.0);
        let body = column(rows).scrolls().class(class::LIST).id("cart_list").grow();
        page([toolbar("Cart", []), body, foot], env)
    }

    fn cart_row(&self, at: usize, count: u32) -> View {
        let article = &self.goods[at];
        let kind = &KINDS[article.kind];
        let sign = badge(kind.symbol, 48.0, Colour::hex(kind.colour), theme::WHITE).radius(12.0);
        let words = column([
            text(&article.name, theme::BODY_LARGE.lines(1)).id("product_name"),
            text(price(article.cents), theme::BODY.quiet().lines(1)).id("product_price"),
        ]);
        let number = text(count.to_string(), theme::TITLE.centered().lines(1)).width(24.0);
        let steps = row([
            icon_button(Icon::Remove, "Fewer", ("fewer", at)).id("quantity_minus"),
            number.id("quantity"),
            icon_button(Icon::Add, "More", ("more", at)).id("quantity_plus"),
        ]);
        let remove = icon_button(Icon::Delete, "Remove from cart", ("remove", at));
        let remove = remove.id("remove_button");
        let upper =
            row([sign.hide_from_accessibility(), words.grow(), remove]).gap(12.0).fill_width();
        let lower = row([steps, spacer()]).fill_width();
        column([upper, lower]).pad_each(16.0, 8.0, 8.0, 4.0).id("cart_item").fill_width()
    }

    pub(super) fn checkout(&self, env: &DrawContext<'_>) -> View {
        let form = &self.form;
        let mut parts = vec![heading("Delivery")];
        for (at, (id, hint)) in FIELDS.into_iter().enumerate() {
            let action = if at + 1 < FIELDS.len() { ImeAction::Next } else { ImeAction::Done };
            let traits = FieldTraits { action, ..FieldTraits::default() };
            parts.push(form_field(id, &form.texts[at], hint, traits));
            parts.extend(form.error(at).map(error_line));
        }
        parts.push(heading("Payment"));
        let choice = |label, on, tag: &'static str| {
            let symbol = if on { Icon::RadioButtonChecked } else { Icon::RadioButtonUnchecked };
            choice(symbol, label, on, tag).class(class::RADIO)
        };
        parts.push(choice("Card ending in 4242", !form.at_the_door, "card").id("payment_card"));
        parts.push(choice("Cash on delivery", form.at_the_door, "door").id("payment_cash"));
        let symbol = if form.agreed { Icon::CheckBox } else { Icon::CheckBoxOutlineBlank };
        let terms = self::choice(symbol, "I agree to the terms of sale", form.agreed, "terms");
        parts.push(terms.class(class::CHECK_BOX).id("terms_checkbox"));
        if form.checked && !form.agreed {
            parts.push(error_line("Please agree to the terms"));
        }
        let (items, cents) = self.sum(env.store);
        let things = if items == 1 { "item" } else { "items" };
        let sum = format!("{items} {things}, {}", price(cents));
        parts.push(text(sum, theme::TITLE).id("order_total"));
        let order = wide_button("Place order", items > 0, "order").id("place_order_button");
        let body =
            column(parts.into_iter().chain([order])).gap(10.0).pad_xy(20.0, 4.0).fill_width();
        page([toolbar("Checkout", []), list("checkout_form", [body], env)], env)
    }

    pub(super) fn done(&self, env: &DrawContext<'_>, number: usize) -> View {
        let order = self.orders.get(env.store, number).unwrap_or_default();
        let [_, total, name, city, ..] = &order;
        let cents = total.parse().unwrap_or(0);
        let sign = icon(Icon::CheckCircle, 72.0, theme::GREEN)
            .hide_from_accessibility()
            .align_self_center();
        let words = format!("Thank you, {name}. {} will be delivered to {city}.", price(cents));
        let body = column([
            sign,
            text("Order placed", theme::HEADLINE.centered()).id("confirmation_title"),
            text(order_name(number), theme::TITLE.centered()).id("order_number"),
            text(words, theme::BODY_LARGE.quiet().centered()).id("confirmation_text"),
            wide_button("Continue shopping", true, "home").id("continue_button"),
            text_button("Tell me when it is on its way", theme::PRIMARY, "tell")
                .id("notify_button"),
        ]);
        let body = body.gap(16.0).pad_xy(24.0, 32.0).fill_width();
        page([list("confirmation", [body], env)], env)
    }
}

fn heading(words: &str) -> View {
    text(words, theme::LABEL_LARGE.colour(theme::PRIMARY)).pad_each(0.0, 8.0, 0.0, 0.0)
}

fn error_line(words: &str) -> View {
    text(words, theme::BODY.colour(theme::RED)).pad_xy(16.0, 0.0).id("error_text")
}

fn choice(symbol: Icon, label: &str, on: bool, tag: impl Into<Tag>) -> View {
    let style = if on { theme::PRIMARY } else { theme::ON_SURFACE_VARIANT };
    let words = text(label, theme::BODY_LARGE.lines(2)).grow().hide_from_accessibility();
    row([icon(symbol, 24.0, style).hide_from_accessibility(), words])
        .gap(16.0)
        .min_height(theme::TOUCH)
        .fill_width()
        .dump_text(label)
        .checked(on)
        .on_tap(tag)
}
