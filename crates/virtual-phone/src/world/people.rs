//! The people of Contacts, as the contacts provider lists them.

use crate::apps::{self, Contact};
use crate::world::World;

impl World {
    /// The people that Contacts lists, by number.
    pub fn people(&self) -> Vec<Contact> {
        let store = self.apps.get(apps::CONTACTS).map(|app| &app.store);
        store.map_or_else(Vec::new, |store| apps::people(self.device.seed(), store))
    }
}

#[cfg(test)]
mod tests {
    use crate::world::{Setup, World};

    #[test]
    fn changed_and_deleted_people_show() {
        let mut world = World::new(Setup::default());
        let before = world.people();
        assert_eq!(before.len(), 22);
        let package = crate::apps::CONTACTS;
        assert!(world.set_preference(package, "contact/0/first_name", Some("Zed")));
        world.set_preference(package, "contact/1/gone", Some("yes"));
        let after = world.people();
        assert!(after[0].name.starts_with("Zed "), "{:?}", after[0]);
        assert_eq!((after.len(), after[1].id), (21, 3));
    }
}
