//! The browser's own UI: the address bar, and the page for entering an address.

use crate::app::DrawContext;
use crate::apps::browser::web::enlarge;
use crate::apps::browser::{Browser, URL, site};
use crate::theme;
use crate::view::{FieldTraits, ImeAction, View, class, frame, icon, row, text};
use crate::widgets::{field, icon_button, list, list_row, page, search_toolbar};
use thumbwire_virtual_screen::icons::Icon;

impl Browser {
    pub(super) fn page(&self, env: &DrawContext<'_>) -> View {
        let address = self.address();
        let shown = address.strip_prefix("https://").unwrap_or(address);
        let url = row([text(shown, theme::BODY_LARGE.lines(1)).hide_from_accessibility()])
            .class(class::EDIT)
            .height(theme::TOUCH)
            .grow()
            .dump_text(shown)
            .id(URL)
            .on_tap("write");
        let lock = icon(Icon::Lock, 16.0, theme::ON_SURFACE_VARIANT);
        let lock = lock.content_description("Connection is secure").id("location_bar_status_icon");
        let pill = row([lock, url]).gap(10.0).pad_xy(16.0, 0.0).height(theme::TOUCH).grow();
        let bar = row([
            icon_button(Icon::Home, "Home", "home").id("home_button"),
            pill.fill(theme::SURFACE_CONTAINER).radius(24.0).id("location_bar"),
            icon_button(Icon::Refresh, "Refresh", "reload").id("refresh_button"),
        ]);
        let bar = bar.pad_xy(4.0, 4.0).gap(2.0).fill_width().id("toolbar");
        let mut web = site::page(address, &self.form, env).grow().on_double_tap("zoom");
        if self.close {
            enlarge(&mut web);
        }
        page([bar, frame([web.fill_parent()]).grow().id("compositor_view_holder")], env)
    }

    pub(super) fn omnibox(&self, env: &DrawContext<'_>, text: &str) -> View {
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(URL, text, "Search or type web address", theme::BODY_LARGE, traits);
        let mut parts = vec![icon_button(Icon::ArrowBack, "Back", "back"), input.grow()];
        if !text.is_empty() {
            parts.push(icon_button(Icon::Close, "Clear input", "clear").id("delete_button"));
        }
        let bar = search_toolbar(parts).id("toolbar");
        let wanted = text.trim().to_lowercase();
        let mut seen: Vec<String> = Vec::new();
        let visited = self.visits.all(env.store).into_iter().rev().map(|(_, [url])| url);
        for url in visited.chain(site::known()) {
            if url.to_lowercase().contains(&wanted) && !seen.contains(&url) {
                seen.push(url);
            }
        }
        let rows = seen.iter().take(12).map(|url| {
            let row = list_row(Icon::Public, url, "").class(class::GROUP);
            row.id("line_1").on_tap(("go", url))
        });
        page([bar, list("omnibox_results_container", rows, env)], env)
    }
}
