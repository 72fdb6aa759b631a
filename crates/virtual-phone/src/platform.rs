//! What nodes are, beyond their classes of Android.

/// What a node is, where its Android class does not say so. `None` on a node means that its class
/// says enough (a button, a text, an image, a field), or that it is just a group. Android's dumps
/// do not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The bar at the top of a screen, with its title and the back button
    /// (`XCUIElementTypeNavigationBar`).
    NavigationBar,
    /// The button at the left of a navigation bar that leads to the previous screen, or home.
    BackButton,
    /// The bar at the bottom that changes between the main screens of an app
    /// (`XCUIElementTypeTabBar`).
    TabBar,
    /// A bar with actions, above the keyboard or at the bottom (`XCUIElementTypeToolbar`).
    Toolbar,
    /// A list of rows (`XCUIElementTypeTable`).
    Table,
    /// A row of a list (`XCUIElementTypeCell`).
    Cell,
    /// A switch (`XCUIElementTypeSwitch`).
    Switch,
    /// A field for a search (`XCUIElementTypeSearchField`).
    SearchField,
    /// A modal card with a title, a message and buttons (`XCUIElementTypeAlert`).
    Alert,
    /// An app's icon on the home screen (`XCUIElementTypeIcon`).
    Icon,
    /// The dots that tell which page shows (`XCUIElementTypePageIndicator`).
    PageIndicator,
    /// The soft keyboard (`XCUIElementTypeKeyboard`).
    Keyboard,
    /// A key of the soft keyboard that types a character (`XCUIElementTypeKey`); the others are
    /// buttons.
    Key,
}
