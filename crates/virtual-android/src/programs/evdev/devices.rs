//! The input devices: keys at the side, and the touch panel, whose coordinates are those of the
//! upright screen.

use crate::phone::State;

/// Codes of the touch panel.
const BTN_TOUCH: u16 = 0x14a;
const X: u16 = 0x35;
const Y: u16 = 0x36;
const TRACKING_ID: u16 = 0x39;

/// Keys of the kernel: code and name.
const KEYS: [(u16, &str); 3] =
    [(0x72, "KEY_VOLUMEDOWN"), (0x73, "KEY_VOLUMEUP"), (0x74, "KEY_POWER")];

/// An axis of the panel: code, name, maximum (0: the width, 1: the height minus one).
const AXES: [(u16, &str, Maximum); 6] = [
    (0x2f, "ABS_MT_SLOT", Maximum::Fixed(9)),
    (0x30, "ABS_MT_TOUCH_MAJOR", Maximum::Fixed(255)),
    (X, "ABS_MT_POSITION_X", Maximum::Width),
    (Y, "ABS_MT_POSITION_Y", Maximum::Height),
    (TRACKING_ID, "ABS_MT_TRACKING_ID", Maximum::Fixed(65_535)),
    (0x3a, "ABS_MT_PRESSURE", Maximum::Fixed(255)),
];

#[derive(Clone, Copy)]
enum Maximum {
    Fixed(i32),
    Width,
    Height,
}

/// An input device.
pub(in crate::programs) struct Device {
    pub(in crate::programs) number: usize,
    pub(in crate::programs) name: &'static str,
    pub(in crate::programs) touch: bool,
    /// The panel's size.
    size: (i32, i32),
}

/// The phone's devices, as a scan of their folder finds them: the last one first.
pub(in crate::programs) fn devices(phone: &State) -> Vec<Device> {
    let size = phone.world.physical_size();
    let device = |number, name, touch| Device { number, name, touch, size };
    vec![device(1, "virtual_touch", true), device(0, "gpio-keys", false)]
}

impl Device {
    /// `/dev/input/event0`
    pub(in crate::programs) fn path(&self) -> String {
        format!("/dev/input/event{}", self.number)
    }

    /// What `getevent` prints about it: its name, with `possible` its events, with `info` its
    /// identity too.
    pub(super) fn describe(&self, nth: usize, possible: bool, info: bool, labels: bool) -> String {
        let (bus, vendor) = if self.touch { (6, 0) } else { (0x19, 1) };
        let mut text = format!("add device {nth}: {}\n", self.path());
        if info {
            text += &format!(
                "  bus:      {bus:04x}\n  vendor    {vendor:04x}\n  product   {vendor:04x}\n  version   {:04x}\n",
                vendor * 0x100
            );
        }
        text += &format!("  name:     \"{}\"\n", self.name);
        if info {
            let location = if self.touch { "" } else { "gpio-keys/input0" };
            text += &format!("  location: \"{location}\"\n  id:       \"\"\n  version:  1.0.1\n");
        }
        if possible || info {
            text += &self.events(labels);
            text += "  input props:\n";
            text += if self.touch { "    INPUT_PROP_DIRECT\n" } else { "    <none>\n" };
        }
        text
    }

    fn events(&self, labels: bool) -> String {
        let shown = |code: u16, name: &str| match labels {
            true => format!("{name:<20}  "),
            false => format!("{code:04x}  "),
        };
        let keys: Vec<(u16, &str)> = match self.touch {
            true => vec![(BTN_TOUCH, "BTN_TOUCH")],
            false => KEYS.to_vec(),
        };
        let keys: String = keys.into_iter().map(|(code, name)| shown(code, name)).collect();
        // The kernel's list ends with one of the two spaces.
        let keys = keys.strip_suffix(' ').unwrap_or(&keys);
        let mut text = format!("  events:\n    KEY (0001): {keys}\n");
        if self.touch {
            for (nth, (code, name, most)) in AXES.iter().enumerate() {
                let start = if nth == 0 { "    ABS (0003): " } else { "                " };
                let most = match most {
                    Maximum::Fixed(most) => *most,
                    Maximum::Width => self.size.0 - 1,
                    Maximum::Height => self.size.1 - 1,
                };
                text += &format!(
                    "{start}{}: value 0, min 0, max {most}, fuzz 0, flat 0, resolution 0\n",
                    shown(*code, name)
                );
            }
        }
        text
    }
}
