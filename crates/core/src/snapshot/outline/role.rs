//! What an element is, in a word, from the platform's class.

use thumbwire_device::{Node, text_field};

/// Classes by the end of their name, on Android and (without `XCUIElementType`) on iOS.
const ROLES: [(&str, &str); 34] = [
    ("Switch", "switch"),
    ("SwitchCompat", "switch"),
    ("SwitchMaterial", "switch"),
    ("ToggleButton", "switch"),
    ("Toggle", "switch"),
    ("CheckBox", "checkbox"),
    ("CheckedTextView", "checkbox"),
    ("RadioButton", "radio"),
    ("SeekBar", "slider"),
    ("Slider", "slider"),
    ("RatingBar", "rating"),
    ("ProgressBar", "progress"),
    ("ProgressIndicator", "progress"),
    ("ActivityIndicator", "progress"),
    ("Spinner", "dropdown"),
    ("Picker", "picker"),
    ("PickerWheel", "picker"),
    ("Button", "button"),
    ("Chip", "button"),
    ("Link", "link"),
    ("Tab", "tab"),
    ("ViewPager", "pages"),
    ("HorizontalScrollView", "row"),
    ("ScrollView", "scroll"),
    ("ListView", "list"),
    ("GridView", "list"),
    ("RecyclerView", "list"),
    ("CollectionView", "list"),
    ("Table", "list"),
    ("WebView", "web"),
    ("Image", "image"),
    ("ImageView", "image"),
    ("Alert", "dialog"),
    ("Sheet", "dialog"),
];

/// The role of a node; empty if its class adds nothing to its line.
pub(super) fn role(node: &Node) -> &'static str {
    if text_field::is_text_field(node) {
        return "field";
    }
    let class = node.class.rsplit(['.', '$']).next().unwrap_or_default();
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    let longest =
        ROLES.iter().filter(|(end, _)| class.ends_with(end)).max_by_key(|(end, _)| end.len());
    match longest {
        Some((_, role)) => role,
        None if node.flags.checkable => "checkbox",
        None if node.flags.scrollable => "scroll",
        None => "",
    }
}

/// Whether its text is a value rather than its name.
pub(super) fn has_value(role: &str) -> bool {
    matches!(role, "slider" | "rating" | "picker" | "progress" | "dropdown")
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Flags;

    use super::*;

    #[test]
    fn classes_of_both_platforms_have_roles() {
        for (class, expected) in [
            ("android.widget.ImageButton", "button"),
            ("androidx.appcompat.widget.SwitchCompat", "switch"),
            ("android.widget.ToggleButton", "switch"),
            ("android.widget.RadioButton", "radio"),
            ("android.widget.HorizontalScrollView", "row"),
            ("android.widget.SeekBar", "slider"),
            ("androidx.viewpager.widget.ViewPager", "pages"),
            ("android.widget.EditText", "field"),
            ("XCUIElementTypeSwitch", "switch"),
            ("XCUIElementTypeSecureTextField", "field"),
            ("XCUIElementTypeStaticText", ""),
            ("android.view.View", ""),
            ("", ""),
        ] {
            assert_eq!(role(&Node { class: class.into(), ..Node::default() }), expected, "{class}");
        }
        let checkable = Flags { checkable: true, ..Flags::default() };
        let node = Node { class: "android.view.View".into(), flags: checkable, ..Node::default() };
        assert_eq!(role(&node), "checkbox");
    }
}
