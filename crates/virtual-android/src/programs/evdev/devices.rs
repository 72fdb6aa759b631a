//! The input devices: keys at the side, and the touch panel, whose coordinates are those of the
//! upright screen.

use crate::phone::State;
use crate::service_state::InputEvent;
use thumbwire_virtual_phone::Point;

/// Event types of `linux/input-event-codes.h`.
pub(in crate::programs) const SYN: u16 = 0;
pub(in crate::programs) const KEY: u16 = 1;
pub(in crate::programs) const ABS: u16 = 3;

/// Codes of the touch panel.
pub(in crate::programs) const BTN_TOUCH: u16 = 0x14a;
pub(in crate::programs) const X: u16 = 0x35;
pub(in crate::programs) const Y: u16 = 0x36;
pub(in crate::programs) const TRACKING_ID: u16 = 0x39;

/// A key of the kernel: code, name, and Android's code for it (`Generic.kl`).
const KEYS: [(u16, &str, u32); 3] =
    [(0x72, "KEY_VOLUMEDOWN", 25), (0x73, "KEY_VOLUMEUP", 24), (0x74, "KEY_POWER", 26)];

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

/// Android's code of a kernel key.
pub(in crate::programs) fn android_key(code: u16) -> Option<u32> {
    KEYS.iter().find(|row| row.0 == code).map(|row| row.2)
}

impl Device {
    /// `/dev/input/event0`
    pub(in crate::programs) fn path(&self) -> String {
        format!("/dev/input/event{}", self.number)
    }

    /// Whether the device can send such events.
    pub(super) fn sends(&self, kind: u16, code: u16) -> bool {
        match kind {
            SYN => true,
            KEY if self.touch => code == BTN_TOUCH,
            KEY => KEYS.iter().any(|row| row.0 == code),
            ABS => self.touch && AXES.iter().any(|row| row.0 == code),
            _ => false,
        }
    }

    /// Where a point of the panel lies on the screen, which may be rotated or of another size.
    pub(super) fn on_screen(&self, phone: &State, at: Point) -> Point {
        let display = phone.world.display();
        let (width, height) = self.size;
        let turned = match display.rotation {
            0 => at,
            1 => Point { x: at.y, y: width - 1 - at.x },
            2 => Point { x: width - 1 - at.x, y: height - 1 - at.y },
            _ => Point { x: height - 1 - at.y, y: at.x },
        };
        let (width, height) = match display.rotation.is_multiple_of(2) {
            true => (width, height),
            false => (height, width),
        };
        Point {
            x: turned.x.saturating_mul(display.width) / width.max(1),
            y: turned.y.saturating_mul(display.height) / height.max(1),
        }
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
            false => KEYS.iter().map(|row| (row.0, row.1)).collect(),
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

/// `EV_KEY`
pub(super) fn kind_name(kind: u16) -> String {
    match kind {
        SYN => "EV_SYN".to_owned(),
        KEY => "EV_KEY".to_owned(),
        ABS => "EV_ABS".to_owned(),
        other => format!("{other:04x}"),
    }
}

/// `ABS_MT_POSITION_X`
pub(super) fn code_name(kind: u16, code: u16) -> String {
    let name = match (kind, code) {
        (SYN, 0) => Some("SYN_REPORT"),
        (SYN, 2) => Some("SYN_MT_REPORT"),
        (KEY, BTN_TOUCH) => Some("BTN_TOUCH"),
        (KEY, _) => KEYS.iter().find(|row| row.0 == code).map(|row| row.1),
        (ABS, _) => AXES.iter().find(|row| row.0 == code).map(|row| row.1),
        _ => None,
    };
    name.map_or_else(|| format!("{code:04x}"), str::to_owned)
}

/// `DOWN`, `UP`, or the number.
pub(super) fn value_name(event: InputEvent) -> String {
    match (event.kind, event.value) {
        (KEY, 0) => "UP".to_owned(),
        (KEY, 1) => "DOWN".to_owned(),
        (KEY, 2) => "REPEAT".to_owned(),
        (_, value) => format!("{value:08x}"),
    }
}
