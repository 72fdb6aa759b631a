//! The names and interfaces of the system's services, by release. Just two lists and their reader.
//!
//! Sources: `service list` of a running 4.4.4; for later releases lists that people published from
//! phones, and Android's AIDL files. They are the services that every phone has, without those of
//! vendors.

use thumbwire_virtual_android_system::release::Release;

/// The services of Android 4.4, in the order that its service manager lists them: the newest first.
/// Each row has a name and an interface; `-` is none.
const OF_4: &str = include_str!("../words/services-4.4.txt");

/// Name, interface, first release, and the last one if they ended. Sorted by name, as service
/// managers since Android 9 list them.
const SINCE_5: &str = include_str!("../words/services.txt");

/// Names and interfaces of a release's services, in the order of its service manager.
pub(super) fn of(release: &Release) -> Vec<(&'static str, &'static str)> {
    let major = release.major;
    let rows = if major < 5 { OF_4 } else { SINCE_5 }.lines().filter_map(|row| {
        let mut cells = row.split(' ');
        let (name, interface) = (cells.next()?, cells.next()?);
        let mut release = || cells.next().and_then(|release| release.parse::<u32>().ok());
        let (first, last) = (release().unwrap_or(0), release().unwrap_or(u32::MAX));
        let interface = if interface == "-" { "" } else { interface };
        (first..=last).contains(&major).then_some((name, interface))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_sorted_by_name() {
        let names: Vec<&str> = SINCE_5.lines().filter_map(|row| row.split(' ').next()).collect();
        assert!(names.is_sorted() && names.len() == 239);
    }

    #[test]
    fn each_release_has_its_services() {
        let has = |release: &str, name: &str| {
            of(Release::named(release).unwrap()).iter().any(|row| row.0 == name)
        };
        assert!(has("4.4", "vibrator") && has("9", "vibrator") && !has("14", "vibrator"));
        assert!(has("14", "vibrator_manager") && !has("9", "vibrator_manager"));
        assert!(!has("4.4", "locale") && !has("11", "locale") && has("13", "locale"));
        assert!(has("4.4", "dreams") && has("14", "dream") && !has("14", "dreams"));
    }
}
