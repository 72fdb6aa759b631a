//! Assembles a phone: its world, files, properties, programs and preinstalled apps.

use crate::latency;
use crate::phone::{State, VirtualPhone};
use crate::programs::{PROGRAMS, helper};
use thumbwire_virtual_android_system::Properties;
use thumbwire_virtual_android_system::Setup;
use thumbwire_virtual_android_system::packages;
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_phone::{About, World};
use thumbwire_virtual_shell::files::Files;

impl VirtualPhone {
    /// A phone that has just booted and shows its home screen.
    pub fn new(setup: Setup) -> Self {
        let release = Release::of(setup.android);
        let serial = setup.serial.clone().unwrap_or_else(|| format!("VP{:08X}", setup.seed));
        let properties = Properties::new(&setup, &serial);
        let mut world = World::new(thumbwire_virtual_phone::Setup {
            seed: setup.seed,
            display: setup.display,
            android: setup.android,
            platform: thumbwire_virtual_phone::Platform::Android,
        });
        packages::built_in::packages().for_each(|package| world.set_built_in(package));
        world.set_cold_start(setup.profile.cost(latency::COLD_START));
        let cost = |work| setup.profile.cost(work);
        world.set_service_times(cost(latency::ANSWER), cost(latency::COLD_ANSWER));
        world.set_about(About {
            model: setup.model.clone(),
            build: properties.get("ro.build.display.id").to_owned(),
            security_patch: properties.get("ro.build.version.security_patch").to_owned(),
        });
        setup.keyboards.iter().for_each(|&keyboard| world.install_keyboard(keyboard));
        world.set_screen_lock(setup.screen_lock.clone());
        if setup.locked {
            world.lock();
        }
        let mut files = Files::new(
            world.unix_time(),
            PROGRAMS.names(&release.userland),
            release.links,
            release.texts,
        );
        for (path, bytes) in packages::built_in::apks(&world, release) {
            // A fresh phone has room for them.
            let _ = files.put_apk(&path, bytes);
        }
        if setup.helper {
            helper::install(&mut files);
        }
        let state = State::new(setup.clock, world, files, properties);
        Self::with_state(setup, serial, state)
    }

    /// Deletes the helper's file from every place in `/data/local/tmp` where hosts look for it; a
    /// running helper keeps running. Returns `false` if there was none.
    pub fn remove_helper(&self) -> bool {
        self.files(|files| files.remove(helper::PATH, false)).is_ok()
    }
}
