//! WebDriverAgent's session: its capabilities, settings, and the elements that clients found.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde_json::{Map, Value, json};
use thumbwire_webdriver::{Capabilities, ElementId, SessionId};

use crate::tree::{ElementKey, Snapshot};

/// How many elements a session remembers (FBElementCache.m).
const MAX_ELEMENTS: usize = 1024;

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) capabilities: Capabilities,
    /// The app that it began with, if any.
    pub(crate) bundle_id: Option<String>,
    pub(crate) settings: Map<String, Value>,
    elements: BTreeMap<ElementId, ElementKey>,
    /// The order in which they were found.
    order: VecDeque<ElementId>,
}

impl Session {
    /// The `number`th session of a phone with this seed.
    pub(crate) fn new(
        seed: u64,
        number: u64,
        capabilities: Capabilities,
        bundle_id: Option<String>,
    ) -> Option<Self> {
        let high = fnv(&seed.to_be_bytes()) ^ number;
        let low = fnv(&high.to_be_bytes());
        let id = format!(
            "{:08X}-{:04X}-4{:03X}-A{:03X}-{:012X}",
            high >> 32,
            (high >> 16) & 0xFFFF,
            high & 0xFFF,
            low >> 52,
            low & 0xFFFF_FFFF_FFFF
        );
        Some(Self {
            id: SessionId::new(id)?,
            capabilities,
            bundle_id,
            settings: settings(),
            elements: BTreeMap::new(),
            order: VecDeque::new(),
        })
    }

    /// Remembers an element and names it. The same element always has the same name.
    pub(crate) fn remember(&mut self, key: ElementKey) -> Option<ElementId> {
        let number = fnv(format!("{key:?}").as_bytes());
        let id = format!(
            "{:08X}-0000-0000-{:04X}-{:012X}",
            number >> 32,
            (number >> 16) & 0xFFFF,
            number & 0xFFFF
        );
        let id = ElementId::new(id)?;
        if self.elements.insert(id.clone(), key).is_none() {
            self.order.push_back(id.clone());
        }
        if self.order.len() > MAX_ELEMENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.elements.remove(&oldest);
        }
        Some(id)
    }

    /// What is known of an element.
    pub(crate) fn key(&self, id: &ElementId) -> Option<&ElementKey> {
        self.elements.get(id)
    }

    /// Where an element is on the screen: `None` if it was never found, `Some(None)` if it is gone.
    pub(crate) fn locate(&self, id: &ElementId, snapshot: &Snapshot) -> Option<Option<usize>> {
        Some(snapshot.find(self.key(id)?))
    }
}

/// The settings of a new session (FBSettings.m).
fn settings() -> Map<String, Value> {
    let settings = json!({
        "shouldUseCompactResponses": true,
        "elementResponseAttributes": "type,label",
        "mjpegServerScreenshotQuality": 25,
        "mjpegServerFramerate": 10,
        "mjpegScalingFactor": 100,
        "screenshotQuality": 3,
        "keyboardAutocorrection": false,
        "keyboardPrediction": false,
        "snapshotMaxDepth": 50,
        "useFirstMatch": false,
        "boundElementsByIndex": false,
        "reduceMotion": false,
        "defaultActiveApplication": "auto",
        "activeAppDetectionPoint": "64.00,64.00",
        "includeNonModalElements": false,
        "defaultAlertAction": "",
        "acceptAlertButtonSelector": "",
        "dismissAlertButtonSelector": "",
        "respectSystemAlerts": false,
        "waitForIdleTimeout": 10,
        "animationCoolOffTimeout": 2,
        "maxTypingFrequency": 60,
        "useClearTextShortcut": true,
        "limitXPathContextScope": true,
        "screenshotOrientation": "auto",
        "autoClickAlertSelector": "",
    });
    match settings {
        Value::Object(settings) => settings,
        _ => Map::new(),
    }
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
