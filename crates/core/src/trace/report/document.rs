//! What all pages have in common: the head with its content security policy, the style, the
//! embedded screenshots.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::pictures::ImageSet;
use crate::trace::text::sanitize_line;

const STYLE: &str =
    concat!(include_str!("base.css"), include_str!("page.css"), include_str!("rows.css"));

/// Colours, buttons and fields, for every page of ours.
pub const BASE_STYLE: &str = include_str!("base.css");

/// A page without its body.
pub(super) struct Document<'a> {
    /// The title.
    pub(super) title: &'a str,
    /// Rules in addition to those of all pages.
    pub(super) style: &'a Markup,
    /// The script.
    pub(super) script: &'a str,
    /// The entry that it opens with, counted from 1.
    pub(super) opens_at: usize,
}

impl Document<'_> {
    /// The whole page. `nonce` identifies its script.
    pub(super) fn render(&self, pictures: &ImageSet, body: &Markup, nonce: &str) -> String {
        // Linked screenshots come from where the page comes from: the file system, or the server
        // that has the folder.
        let images = if pictures.has_links() { "'self' file: data:" } else { "data:" };
        let policy = format!(
            "default-src 'none'; img-src {images}; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (sanitize_line(self.title, 80)) " \u{2013} Thumbwire" }
                    style { (PreEscaped(STYLE)) (self.style) }
                }
                body data-open=(self.opens_at) {
                    svg.store aria-hidden="true" width="0" height="0" {
                        defs {
                            @for (at, picture) in pictures.all.iter().enumerate() {
                                image id={ "p" (at) } width=(picture.size.width) height=(picture.size.height)
                                    preserveAspectRatio="none" href=(picture.uri) {}
                            }
                        }
                    }
                    (body)
                    script nonce=(nonce) { (PreEscaped(self.script)) }
                }
            }
        };
        page.into_string()
    }
}

/// The list of keys, and what they do.
pub(super) fn shortcuts(keys: &[(&str, &str)]) -> Markup {
    html! {
        dialog #help aria-label="Keyboard shortcuts" {
            h2 { "Keyboard shortcuts" }
            dl { @for (key, what) in keys { dt { kbd { (key) } } dd { (what) } } }
            form method="dialog" { button { "Close" } }
        }
    }
}
