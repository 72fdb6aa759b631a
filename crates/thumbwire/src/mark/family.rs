//! What a control is, as far as its colour goes.

/// A family of controls, each with a colour of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Takes text.
    Edit,
    /// Is pressed.
    Button,
    /// Shows a picture.
    Image,
    /// Shows words.
    Text,
    /// Holds others, and mostly scrolls.
    List,
    /// Is on or off, or somewhere between.
    Toggle,
    /// Anything else.
    Other,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 7] =
        [Self::Edit, Self::Button, Self::Image, Self::Text, Self::List, Self::Toggle, Self::Other];

    /// The family of a control's type: the last part of an Android class, or an XCUITest element type.
    pub fn of(kind: &str) -> Self {
        // The order matters: an ImageButton is pressed, a CheckedTextView is on or off.
        const WORDS: [(Family, &[&str]); 6] = [
            (
                Family::Toggle,
                &["switch", "check", "radio", "toggle", "seekbar", "slider", "rating"],
            ),
            (Family::Edit, &["edit", "textfield", "searchfield", "autocomplete"]),
            (Family::Button, &["button", "chip"]),
            (Family::Image, &["image", "icon"]),
            (
                Family::List,
                &["list", "recycler", "grid", "scroll", "pager", "table", "collectionview"],
            ),
            (Family::Text, &["text"]),
        ];
        // Class names of apps are as long as they like.
        let kind: String = kind.chars().take(100).collect::<String>().to_ascii_lowercase();
        let named = |words: &[&str]| words.iter().any(|word| kind.contains(word));
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

    /// Its colour: red, green, blue. They are those of Okabe and Ito ("Color Universal Design", 2008), which people with any
    /// kind of colour vision tell apart; grey stands for their black, which no dark screen would show.
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

    /// The colour of letters on it: black or white, whichever stands out more.
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
    fn a_control_is_coloured_by_what_it_is_for() {
        for (kind, family) in [
            ("EditText", Family::Edit),
            ("AutoCompleteTextView", Family::Edit),
            ("XCUIElementTypeSecureTextField", Family::Edit),
            ("ImageButton", Family::Button),
            ("XCUIElementTypeButton", Family::Button),
            ("ImageView", Family::Image),
            ("TextView", Family::Text),
            ("XCUIElementTypeStaticText", Family::Text),
            ("CheckedTextView", Family::Toggle),
            ("RadioButton", Family::Toggle),
            ("Switch", Family::Toggle),
            ("RecyclerView", Family::List),
            ("XCUIElementTypeTable", Family::List),
            ("FrameLayout", Family::Other),
            ("", Family::Other),
        ] {
            assert_eq!(Family::of(kind), family, "{kind}");
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
    fn letters_stand_out_from_every_colour() {
        for family in Family::ALL {
            let (one, two) = (luminance(family.colour()), luminance(family.letters()));
            let contrast = (one.max(two) + 0.05) / (one.min(two) + 0.05);
            assert!(contrast >= 4.5, "{family:?}: {contrast}");
        }
    }
}
