//! XPath 1.0 over a [`Tree`], with the functions of XPath 2.0 that testers use: `ends-with`, `matches`, `lower-case` and
//! `upper-case`. Elements are named by their class, as in a page source of Appium.
//!
//! Begin at [`find`]; `parse` makes an [`parse::Expr`] of the text, `eval` its value. No variables, no namespaces.

mod eval;
mod parse;

use super::tree::{Index, Tree};

/// The elements that an XPath selects, in the order of the document, without the root.
///
/// # Errors
/// What is wrong with it.
pub(super) fn find(tree: &Tree, text: &str, from: Index) -> Result<Vec<Index>, String> {
    let expression = parse::parse(text)?;
    eval::select(tree, &expression, from)
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Element, Tree};
    use super::find;

    /// A window with a list of three rows; a row has a label and a switch.
    fn tree() -> Tree {
        let mut tree = Tree { elements: Vec::new(), rotation: 0, width: 100, height: 200 };
        let mut add = |parent: Option<usize>, class: &str, text: &str, id: &str, checked: bool| {
            let at = tree.elements.len();
            let index = parent.map_or(0, |parent| {
                tree.elements[parent].children.push(at);
                tree.elements[parent].children.len() - 1
            });
            let (class, text, id) = (class.to_owned(), text.to_owned(), id.to_owned());
            tree.elements.push(Element { parent, index, class, text, id, ..Element::default() });
            tree.elements[at].flags.checked = checked;
            at
        };
        let root = add(None, "hierarchy", "", "", false);
        let list = add(Some(root), "android.widget.ListView", "", "a:id/list", false);
        for name in ["Wi-Fi", "Bluetooth", "Don't"] {
            let row = add(Some(list), "android.widget.LinearLayout", "", "", false);
            add(Some(row), "android.widget.TextView", name, "a:id/title", false);
            add(Some(row), "android.widget.Switch", "", "", name == "Bluetooth");
        }
        tree
    }

    #[track_caller]
    fn check(xpath: &str, expected: &[usize]) {
        assert_eq!(find(&tree(), xpath, 0).as_deref(), Ok(expected), "{xpath}");
    }

    #[test]
    fn paths_and_predicates_select_elements() {
        check("//android.widget.TextView", &[3, 6, 9]);
        check("//*[@text='Wi-Fi']", &[3]);
        check("/hierarchy/android.widget.ListView/*[2]/android.widget.Switch", &[7]);
        check("//android.widget.LinearLayout[2]/*[last()]", &[7]);
        check("(//android.widget.TextView)[2]", &[6]);
        check("//*[@resource-id=\"a:id/title\" and not(contains(@text, 'oo'))]", &[3, 9]);
        check("//*[@text='Bluetooth']/following-sibling::*", &[7]);
        check("//*[@text='Bluetooth']/..", &[5]);
        check("//*[@text='Bluetooth']/ancestor::android.widget.ListView", &[1]);
        check("//*[@checked='true']/preceding-sibling::*[1]", &[6]);
        check("//android.widget.LinearLayout[android.widget.TextView[@text=\"Don't\"]]", &[8]);
        check("//*[starts-with(@text,'W') or ends-with(@text,'h')]", &[3, 6]);
        check("//*[matches(@text, '^b.*th$', 'i')]", &[6]);
        check(
            "//*[lower-case(@text)='wi-fi'] | //*[translate(@text,'B','b')='bluetooth']",
            &[3, 6],
        );
        check("//*[position() > 1 and string-length(@text) > 3]", &[]);
        check("//android.widget.LinearLayout[count(*) = 2][position() mod 2 = 1]", &[2, 8]);
        check("//*[concat(normalize-space(' a  b '), '!') = 'a b!'][1]/self::hierarchy", &[]);
        check("//android.widget.TextView[@index=0][@text]", &[3, 6, 9]);
        check("//*[@class='android.widget.ListView']/descendant::*[@text='Wi-Fi']", &[3]);
        check("//*[@nothing]", &[]);
    }

    #[test]
    fn search_below_an_element_is_relative() {
        assert_eq!(find(&tree(), ".//android.widget.TextView", 5), Ok(vec![6]));
        assert_eq!(find(&tree(), "./*", 5), Ok(vec![6, 7]));
        assert_eq!(find(&tree(), "//android.widget.TextView", 5), Ok(vec![3, 6, 9]));
    }

    #[test]
    fn malformed_and_costly_expressions_are_refused() {
        for (xpath, part) in [
            ("//", "expected"),
            ("//*[", "expected"),
            ("//*[@text='a]", "not closed"),
            ("//*[foo()]", "foo"),
            ("//*[contains(@a)]", "contains"),
            ("//*[$a]", "expected a step"),
            ("//up::*", "axis"),
            ("'text'", "not elements"),
            ("//*/@text", "not elements"),
        ] {
            let error = find(&tree(), xpath, 0).expect_err(xpath);
            assert!(error.contains(part), "{xpath}: {error}");
        }
        assert!(find(&tree(), &"(".repeat(5000), 0).is_err());
        let nested = (0..7).fold("//*".to_owned(), |inner, _| format!("//*[count({inner}) > 0]"));
        assert!(find(&tree(), &nested, 0).expect_err("it is costly").contains("more than"));
    }
}
