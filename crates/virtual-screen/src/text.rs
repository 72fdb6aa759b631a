//! From text to placed glyphs: shaping, line breaking and the ellipsis, with the embedded fonts
//! only.
//!
//! Start with [`Typesetter::shape`]. Shaped text is cached, because most of a screen stays the same
//! from one layout to the next. Nothing here knows where on the screen the text goes.
//!
//! Fonts and the cache belong to a thread, not to a phone: text is shaped the same for every phone,
//! and a process may serve hundreds of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use skrifa::{FontRef, MetadataProvider};

use crate::icons::Icon;
use crate::platform::Platform;
use parley::fontique::{
    Blob, Collection, CollectionOptions, FontInfoOverride, Script, SourceCache,
};
use parley::{
    Alignment, AlignmentOptions, FontContext, FontFamily, FontFamilyName, FontWeight, Layout,
    LayoutContext, LineHeight, OverflowWrap, PositionedLayoutItem, StyleProperty,
};

/// A font face of the phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    /// Roboto, for Android.
    Regular,
    /// Its bolder cut.
    Medium,
    /// Inter, for iOS.
    IosRegular,
    /// Its bolder cut.
    IosMedium,
    /// Material Icons.
    Icons,
    /// Noto Sans Arabic, for both.
    Arabic,
    /// Noto Sans Hebrew, for both.
    Hebrew,
}

impl Face {
    /// The font file.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Regular => include_bytes!("../fonts/Roboto-Regular.ttf"),
            Self::Medium => include_bytes!("../fonts/Roboto-Medium.ttf"),
            Self::IosRegular => include_bytes!("../fonts/Inter-Regular-subset.otf"),
            Self::IosMedium => include_bytes!("../fonts/Inter-Medium-subset.otf"),
            Self::Icons => include_bytes!("../fonts/MaterialIcons-subset.ttf"),
            Self::Arabic => include_bytes!("../fonts/NotoSansArabic-subset.ttf"),
            Self::Hebrew => include_bytes!("../fonts/NotoSansHebrew-subset.ttf"),
        }
    }
}

/// How to shape text; lengths in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextStyle {
    /// The size of the font.
    pub size: f32,
    /// The height of a line.
    pub line: f32,
    /// Whether it is set in the bolder cut.
    pub medium: bool,
    /// Maximum lines before an ellipsis; 0 for no limit.
    pub lines: u16,
    /// The wrap width; `None` breaks at line feeds only.
    pub wrap: Option<f32>,
}

/// Shaped text, positioned from the top left corner of its own box.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapedText {
    /// The size of the font.
    pub size: f32,
    /// The width of the widest line.
    pub width: f32,
    /// The height of all lines.
    pub height: f32,
    /// The height of a line.
    pub line: f32,
    /// Its lines from the top.
    pub lines: Vec<Line>,
}

/// One line of shaped text.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its glyphs in the order of the line.
    pub glyphs: Vec<Glyph>,
    /// Its width without trailing spaces.
    pub width: f32,
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Starts at the right edge of its box.
    pub rtl: bool,
}

/// A glyph and its origin: `x` from the line's start, `y` from the text's top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glyph {
    /// The font that has it.
    pub face: Face,
    /// Its number in the font.
    pub id: u32,
    /// Its origin, from the line's start.
    pub x: f32,
    /// Its origin, from the text's top.
    pub y: f32,
}

/// The families of the platforms. What Inter lacks is set in Roboto.
const ANDROID: &str = "Phone";
const IOS: &str = "Phone iOS";

/// Maximum cached texts before the cache is cleared; a screen has about a hundred.
const CACHED: usize = 2048;

type CacheKey = (String, [u32; 3], bool, u16, Platform);

thread_local! {
    static WORKSHOP: RefCell<FontCache> = RefCell::new(FontCache::new());
}

/// Shapes text in the fonts of a platform, and caches the result.
#[derive(Debug)]
pub struct Typesetter {
    platform: Platform,
}

impl Typesetter {
    /// A typesetter with the fonts of this platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform }
    }

    /// Shapes `text`, breaking lines at `setting.wrap` and ending in "…" at the line limit.
    pub fn shape(&mut self, text: &str, setting: TextStyle) -> Arc<ShapedText> {
        WORKSHOP.with_borrow_mut(|workshop| workshop.on(self.platform).shape(text, setting))
    }

    /// An icon as a text of one glyph, `size` pixels high and wide.
    pub fn icon(&mut self, icon: Icon, size: f32) -> Arc<ShapedText> {
        let id = FontRef::new(Face::Icons.bytes())
            .ok()
            .and_then(|font| font.charmap().map(icon.code_point()))
            .map_or(0, |id| id.to_u32());
        let glyph = Glyph { face: Face::Icons, id, x: 0.0, y: size };
        let line = Line { glyphs: vec![glyph], width: size, range: 0..0, rtl: false };
        Arc::new(ShapedText { size, width: size, height: size, line: size, lines: vec![line] })
    }

    /// The advance of `text` on one line, trailing spaces included, in pixels.
    pub fn advance(&mut self, text: &str, setting: TextStyle) -> f32 {
        if text.is_empty() {
            // An empty layout would be as wide as a space.
            return 0.0;
        }
        WORKSHOP.with_borrow_mut(|workshop| {
            workshop.on(self.platform).run(&printable(text), setting, None).full_width()
        })
    }

    /// The width of the longest word, in pixels.
    pub fn narrowest(&mut self, text: &str, setting: TextStyle) -> f32 {
        WORKSHOP.with_borrow_mut(|workshop| {
            workshop
                .on(self.platform)
                .run(&printable(text), setting, None)
                .calculate_content_widths()
                .min
        })
    }
}

/// The fonts and the cache.
struct FontCache {
    /// The platform whose fonts are used now.
    platform: Platform,
    fonts: FontContext,
    layouts: LayoutContext<()>,
    /// The face of a font's data, by the data's id.
    faces: Vec<(u64, Face)>,
    // Only looked up, never iterated, so its random order does not matter.
    cache: HashMap<CacheKey, Arc<ShapedText>>,
}

impl FontCache {
    fn new() -> Self {
        let mut collection =
            Collection::new(CollectionOptions { shared: false, system_fonts: false });
        let mut faces = Vec::new();
        let mut register = |face: Face, family: &str, weight: f32| {
            let blob = Blob::new(Arc::new(face.bytes()));
            faces.push((blob.id(), face));
            let rename = FontInfoOverride {
                family_name: Some(family),
                weight: Some(FontWeight::new(weight)),
                ..Default::default()
            };
            collection.register_fonts(blob, Some(rename))
        };
        register(Face::Regular, ANDROID, 400.0);
        register(Face::Medium, ANDROID, 500.0);
        register(Face::IosRegular, IOS, 400.0);
        register(Face::IosMedium, IOS, 500.0);
        let arabic = register(Face::Arabic, "Phone Arabic", 400.0);
        let hebrew = register(Face::Hebrew, "Phone Hebrew", 400.0);
        for (script, families) in [(*b"Arab", arabic), (*b"Hebr", hebrew)] {
            let families = families.into_iter().map(|(family, _)| family);
            collection.append_fallbacks(Script::from_bytes(script), families);
        }
        let fonts = FontContext { collection, source_cache: SourceCache::default() };
        let platform = Platform::Android;
        Self { platform, fonts, layouts: LayoutContext::new(), faces, cache: HashMap::new() }
    }

    /// The same with the fonts of this platform.
    fn on(&mut self, platform: Platform) -> &mut Self {
        self.platform = platform;
        self
    }

    fn shape(&mut self, text: &str, setting: TextStyle) -> Arc<ShapedText> {
        let lengths =
            [setting.size, setting.line, setting.wrap.unwrap_or(f32::MAX)].map(f32::to_bits);
        let key = (text.to_owned(), lengths, setting.medium, setting.lines, self.platform);
        if let Some(known) = self.cache.get(&key) {
            return Arc::clone(known);
        }
        if self.cache.len() >= CACHED {
            self.cache.clear();
        }
        let shaped = Arc::new(self.shape_afresh(&printable(text), setting));
        self.cache.insert(key, Arc::clone(&shaped));
        shaped
    }

    fn shape_afresh(&mut self, text: &str, setting: TextStyle) -> ShapedText {
        let layout = self.run(text, setting, setting.wrap);
        let mut lines = self.lines(&layout);
        let limit = usize::from(setting.lines);
        let too_many = limit > 0 && lines.len() > limit;
        if let (true, Some(width)) = (too_many, setting.wrap) {
            lines.truncate(limit);
            if let Some(last) = lines.pop() {
                let range = last.range.start..text.len();
                lines.push(self.ellipsis(text, range, width, setting, limit - 1));
            }
        } else if too_many {
            lines.truncate(limit);
        }
        let width = lines.iter().map(|line| line.width).fold(0.0, f32::max);
        let height = setting.line * lines.len().max(1) as f32;
        ShapedText { size: setting.size, width, height, line: setting.line, lines }
    }

    /// As much of `range` as fits on one line of `width`, plus "…".
    fn ellipsis(
        &mut self,
        text: &str,
        range: Range<usize>,
        width: f32,
        setting: TextStyle,
        above: usize,
    ) -> Line {
        let rest = text[range.clone()].split('\n').next().unwrap_or_default();
        // No line holds more characters at a legible size; this bounds the search.
        let ends: Vec<usize> = rest.char_indices().map(|(at, _)| at).take(400).collect();
        let fits = |me: &mut Self, end: usize| {
            let cut = format!("{}…", rest[..end].trim_end());
            me.run(&cut, setting, None).width() <= width
        };
        let (mut low, mut high) = (0, ends.len());
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(self, ends[middle]) { low = middle } else { high = middle }
        }
        let end = ends.get(low).copied().unwrap_or(0);
        let cut = format!("{}…", rest[..end].trim_end());
        let layout = self.run(&cut, setting, None);
        let mut line = self.lines(&layout).into_iter().next().unwrap_or(Line {
            glyphs: Vec::new(),
            width: 0.0,
            range: range.clone(),
            rtl: false,
        });
        for glyph in &mut line.glyphs {
            glyph.y += above as f32 * setting.line;
        }
        line.range = range;
        line
    }

    fn run(&mut self, text: &str, setting: TextStyle, wrap: Option<f32>) -> Layout<()> {
        let mut builder = self.layouts.ranged_builder(&mut self.fonts, text, 1.0, false);
        let families = match self.platform {
            Platform::Android => FontFamily::named(ANDROID),
            Platform::Ios => FontFamily::List(
                vec![FontFamilyName::named(IOS), FontFamilyName::named(ANDROID)].into(),
            ),
        };
        builder.push_default(StyleProperty::FontFamily(families));
        builder.push_default(StyleProperty::FontSize(setting.size));
        let weight = if setting.medium { 500.0 } else { 400.0 };
        builder.push_default(StyleProperty::FontWeight(FontWeight::new(weight)));
        builder.push_default(StyleProperty::LineHeight(LineHeight::Absolute(setting.line)));
        builder.push_default(StyleProperty::OverflowWrap(OverflowWrap::BreakWord));
        let mut layout = builder.build(text);
        layout.break_all_lines(wrap);
        layout.align(Alignment::Left, AlignmentOptions::default());
        layout
    }

    fn lines(&self, layout: &Layout<()>) -> Vec<Line> {
        let rtl = layout.is_rtl();
        let line_of = |line: parley::Line<'_, ()>| {
            let mut glyphs = Vec::new();
            for item in line.items() {
                let PositionedLayoutItem::GlyphRun(run) = item else { continue };
                let data = run.run().font().data.id();
                let face = self.faces.iter().find(|(id, _)| *id == data);
                let face = face.map_or(Face::Regular, |(_, face)| *face);
                glyphs.extend(run.positioned_glyphs().map(|glyph| Glyph {
                    face,
                    id: glyph.id,
                    x: glyph.x,
                    y: glyph.y,
                }));
            }
            let metrics = line.metrics();
            let width = metrics.advance - metrics.hanging_advance;
            Line { glyphs, width, range: line.text_range(), rtl }
        };
        layout.lines().map(line_of).collect()
    }
}

/// Replaces control characters by spaces of the same byte length, so that ranges still match the
/// original. Line feeds stay.
fn printable(text: &str) -> String {
    text.chars()
        .map(|ch| match ch {
            '\n' => ch,
            '\0'..='\u{1f}' | '\u{7f}' => ' ',
            '\u{80}'..='\u{9f}' => '\u{a0}',
            _ => ch,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(lines: u16, wrap: Option<f32>) -> TextStyle {
        TextStyle { size: 20.0, line: 26.0, medium: false, lines, wrap }
    }

    #[test]
    fn long_text_breaks_into_lines_that_fit() {
        let mut types = Typesetter::new(Platform::Android);
        let shaped = types.shape("the quick brown fox jumps over", setting(0, Some(120.0)));
        assert!(shaped.lines.len() >= 3);
        assert!(shaped.lines.iter().all(|line| line.width <= 120.0));
        assert_eq!(shaped.height, shaped.lines.len() as f32 * 26.0);
    }

    #[test]
    fn text_over_the_line_limit_ends_in_an_ellipsis() {
        let mut types = Typesetter::new(Platform::Android);
        let whole = types.shape("Restaurant at the end", setting(1, None));
        let cut = types.shape("Restaurant at the end", setting(1, Some(120.0)));
        assert_eq!(cut.lines.len(), 1);
        assert!(cut.width <= 120.0 && cut.width > 80.0, "{}", cut.width);
        let dots = types.shape("…", setting(1, None)).lines[0].glyphs[0].id;
        assert_eq!(cut.lines[0].glyphs.last().map(|glyph| glyph.id), Some(dots));
        assert_ne!(whole.lines[0].glyphs.last().map(|glyph| glyph.id), Some(dots));
    }

    #[test]
    fn weights_use_different_faces() {
        let mut types = Typesetter::new(Platform::Android);
        let bold = types.shape("Maps", TextStyle { medium: true, ..setting(0, None) });
        let plain = types.shape("Maps", setting(0, None));
        assert!(bold.lines[0].glyphs.iter().all(|glyph| glyph.face == Face::Medium));
        assert!(plain.lines[0].glyphs.iter().all(|glyph| glyph.face == Face::Regular));
    }

    #[test]
    fn platforms_have_fonts_of_their_own_and_what_one_lacks_is_in_the_other() {
        let mut types = Typesetter::new(Platform::Ios);
        let mut faces = |text: &str, medium: bool| {
            let shaped = types.shape(text, TextStyle { medium, ..setting(0, None) });
            assert!(shaped.lines[0].glyphs.iter().all(|glyph| glyph.id != 0), "{text}");
            shaped.lines[0].glyphs.iter().map(|glyph| glyph.face).collect::<Vec<_>>()
        };
        assert_eq!(faces("Aé", false), [Face::IosRegular; 2]);
        assert_eq!(faces("Ж", true), [Face::IosMedium]);
        assert_eq!(faces("\u{192}", false), [Face::Regular]);
        assert_eq!(faces("ש", false), [Face::Hebrew]);
    }

    #[test]
    fn any_text_can_be_shaped() {
        let mut types = Typesetter::new(Platform::Ios);
        for text in ["", "\n", "\n\n", "\0\u{1}\u{85}", "שלום عليكم", "👩‍👩‍👧 日本語", "a\u{301}"]
        {
            for wrap in [None, Some(0.0), Some(1.0), Some(50.0)] {
                for lines in [0, 1, 2] {
                    types.shape(text, setting(lines, wrap));
                    types.advance(text, setting(lines, wrap));
                }
            }
        }
    }
}
