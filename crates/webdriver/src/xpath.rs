//! XPath 1.0 over page sources, the locator strategy `xpath`, with the functions of XPath 2.0 that
//! testers use: `ends-with`, `matches`, `lower-case` and `upper-case`.
//!
//! Start with [`find_by_xpath`]; `parse` makes an expression of the text, `evaluate` its value. No
//! variables, no namespaces.

mod evaluate;
mod parse;

use std::borrow::Cow;

/// A page source: elements with attributes, without text between their tags. They are numbered in
/// the order of the document.
pub trait XPathDocument {
    /// The outermost element.
    fn root(&self) -> usize;

    /// The element around one; `None` for the root.
    fn parent(&self, of: usize) -> Option<usize>;

    /// The elements directly inside one, in order.
    fn children(&self, of: usize) -> &[usize];

    /// The name of an element's tag.
    fn name(&self, of: usize) -> Cow<'_, str>;

    /// The names that attributes can have.
    fn attribute_names(&self) -> &'static [&'static str];

    /// An attribute by one of these names, if the element has it.
    fn attribute(&self, of: usize, name: &str) -> Option<String>;
}

/// The elements that an XPath selects, in the order of the document. A relative path begins at the
/// element `from`, or outside of the root.
///
/// # Errors
/// What is wrong with the XPath: its syntax, an unknown function, values instead of elements, or
/// more work than is allowed.
pub fn find_by_xpath(
    document: &impl XPathDocument,
    text: &str,
    from: Option<usize>,
) -> Result<Vec<usize>, String> {
    let expression = parse::parse(text)?;
    evaluate::select(document, &expression, from)
}

#[cfg(test)]
mod tests {
    use super::{XPathDocument, find_by_xpath};
    use std::borrow::Cow;

    const NAMES: [&str; 5] = ["index", "class", "text", "resource-id", "checked"];

    #[derive(Default)]
    struct Element {
        parent: Option<usize>,
        children: Vec<usize>,
        attributes: [String; 5],
    }

    struct Tree(Vec<Element>);

    impl XPathDocument for Tree {
        fn root(&self) -> usize {
            0
        }

        fn parent(&self, of: usize) -> Option<usize> {
            self.0[of].parent
        }

        fn children(&self, of: usize) -> &[usize] {
            &self.0[of].children
        }

        fn name(&self, of: usize) -> Cow<'_, str> {
            Cow::Borrowed(&self.0[of].attributes[1])
        }

        fn attribute_names(&self) -> &'static [&'static str] {
            &NAMES
        }

        fn attribute(&self, of: usize, name: &str) -> Option<String> {
            let at = NAMES.iter().position(|known| *known == name)?;
            Some(self.0[of].attributes[at].clone()).filter(|value| !value.is_empty())
        }
    }

    /// A window with a list of three rows; a row has a label and a switch.
    fn tree() -> Tree {
        let mut tree = Tree(Vec::new());
        let mut add = |parent: Option<usize>, class: &str, text: &str, id: &str, checked: bool| {
            let at = tree.0.len();
            let index = parent.map_or(0, |parent| {
                tree.0[parent].children.push(at);
                tree.0[parent].children.len() - 1
            });
            let checked = checked.to_string();
            let attributes = [&index.to_string(), class, text, id, &checked].map(str::to_owned);
            tree.0.push(Element { parent, attributes, ..Element::default() });
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

    fn find(xpath: &str, from: Option<usize>) -> Result<Vec<usize>, String> {
        find_by_xpath(&tree(), xpath, from)
    }

    #[track_caller]
    fn check(xpath: &str, expected: &[usize]) {
        assert_eq!(find(xpath, None).as_deref(), Ok(expected), "{xpath}");
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
        check("//*[concat(normalize-space(' a  b '), '!') = 'a b!'][1]/self::hierarchy", &[0]);
        check("//android.widget.TextView[@index=0][@text]", &[3, 6, 9]);
        check("//*[@class='android.widget.ListView']/descendant::*[@text='Wi-Fi']", &[3]);
        check("//*[@nothing]", &[]);
    }

    #[test]
    fn search_below_an_element_is_relative() {
        assert_eq!(find(".//android.widget.TextView", Some(5)), Ok(vec![6]));
        assert_eq!(find("./*", Some(5)), Ok(vec![6, 7]));
        assert_eq!(find("//android.widget.TextView", Some(5)), Ok(vec![3, 6, 9]));
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
            let error = find(xpath, None).expect_err(xpath);
            assert!(error.contains(part), "{xpath}: {error}");
        }
        assert!(find(&"(".repeat(5000), None).is_err());
        let nested = (0..7).fold("//*".to_owned(), |inner, _| format!("//*[count({inner}) > 0]"));
        assert!(find(&nested, None).expect_err("it is costly").contains("more than"));
    }
}
