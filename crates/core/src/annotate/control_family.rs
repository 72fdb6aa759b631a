//! The families of controls, which determine their colours.

/// A family of controls; each has its own colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlFamily {
    /// Text fields.
    Edit,
    /// Buttons.
    Button,
    /// Images and icons.
    Image,
    /// Static text.
    Text,
    /// Lists and other scrolling containers.
    List,
    /// Switches, check boxes and sliders.
    Toggle,
    /// Anything else.
    Other,
}

impl ControlFamily {
    /// All of them.
    pub const ALL: [ControlFamily; 7] =
        [Self::Edit, Self::Button, Self::Image, Self::Text, Self::List, Self::Toggle, Self::Other];

    /// The family of a control's type: the last part of an Android class, or an XCUITest element
    /// type.
    pub fn of(kind: &str) -> Self {
        // The order matters: an ImageButton is a button, a CheckedTextView a toggle.
        const WORDS: [(ControlFamily, &[&str]); 6] = [
            (
                ControlFamily::Toggle,
                &["switch", "check", "radio", "toggle", "seekbar", "slider", "rating"],
            ),
            (ControlFamily::Edit, &["edit", "textfield", "searchfield", "autocomplete"]),
            (ControlFamily::Button, &["button", "chip"]),
            (ControlFamily::Image, &["image", "icon"]),
            (
                ControlFamily::List,
                &["list", "recycler", "grid", "scroll", "pager", "table", "collectionview"],
            ),
            (ControlFamily::Text, &["text"]),
        ];
        // Class names of apps may be very long.
        let kind: String = kind.chars().take(100).collect::<String>().to_ascii_lowercase();
        let named = |text: &[&str]| text.iter().any(|word| kind.contains(word));
        WORDS.into_iter().find(|(_, words)| named(words)).map_or(Self::Other, |(family, _)| family)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Button => "button",
            Self::Image => "image",
            Self::Text => "text",
            Self::List => "list",
            Self::Toggle => "toggle",
            Self::Other => "other",
        }
    }

    /// Its colour: red, green, blue. The palette is that of Okabe and Ito ("Color Universal
    /// Design", 2008), which people with any kind of colour vision can tell apart; grey replaces
    /// black, which would vanish on dark screens.
    pub fn colour(self) -> [u8; 3] {
        match self {
            Self::Edit => [0x00, 0x72, 0xb2],
            Self::Button => [0xd5, 0x5e, 0x00],
            Self::Image => [0xcc, 0x79, 0xa7],
            Self::Text => [0x5f, 0x5f, 0x5f],
            Self::List => [0x00, 0x9e, 0x73],
            Self::Toggle => [0xe6, 0x9f, 0x00],
            Self::Other => [0x56, 0xb4, 0xe9],
        }
    }

    /// The text colour on it: black or white, whichever has more contrast.
    pub fn letters(self) -> [u8; 3] {
        match self {
            Self::Edit | Self::Text => [0xff; 3],
            Self::Button | Self::Image | Self::List | Self::Toggle | Self::Other => [0; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_types_map_to_families() {
        for (kind, family) in [
            ("EditText", ControlFamily::Edit),
            ("AutoCompleteTextView", ControlFamily::Edit),
            ("XCUIElementTypeSecureTextField", ControlFamily::Edit),
            ("ImageButton", ControlFamily::Button),
            ("XCUIElementTypeButton", ControlFamily::Button),
            ("ImageView", ControlFamily::Image),
            ("TextView", ControlFamily::Text),
            ("XCUIElementTypeStaticText", ControlFamily::Text),
            ("CheckedTextView", ControlFamily::Toggle),
            ("RadioButton", ControlFamily::Toggle),
            ("Switch", ControlFamily::Toggle),
            ("RecyclerView", ControlFamily::List),
            ("XCUIElementTypeTable", ControlFamily::List),
            ("FrameLayout", ControlFamily::Other),
            ("", ControlFamily::Other),
        ] {
            assert_eq!(ControlFamily::of(kind), family, "{kind}");
        }
    }

    /// WCAG 2's relative luminance.
    fn luminance(colour: [u8; 3]) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = colour.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn text_contrasts_with_every_colour() {
        for family in ControlFamily::ALL {
            let (one, two) = (luminance(family.colour()), luminance(family.letters()));
            let contrast = (one.max(two) + 0.05) / (one.min(two) + 0.05);
            assert!(contrast >= 4.5, "{family:?}: {contrast}");
        }
    }
}
