//! What an iPhone lacks before it can be controlled, and the step that provides it.

/// What is missing. The order is the one in which it is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The phone and this computer were never paired, or the phone has forgotten it.
    Pairing,
    /// The phone's user has not answered "Trust This Computer?".
    Trust,
    /// The phone was not unlocked since it was started, and answers no computer.
    Unlocking,
    /// No TLS with the keys of the pair record: the phone was erased, or is another one.
    ValidPairRecord,
    /// Developer mode is off (iOS 16 and later): no WebDriverAgent can run.
    DeveloperMode,
    /// No WebDriverAgent answers.
    WebDriverAgent,
    /// No WebDriverAgent answers, and programs other than Xcode need a tunnel to start one (iOS 17
    /// and later).
    Tunnel,
    /// The phone did not answer in time, or in a way that we do not know.
    Answer,
    /// A simulator; its WebDriverAgent is used only by its URL.
    SimulatorUrl,
}

impl Missing {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Pairing,
        Self::Trust,
        Self::Unlocking,
        Self::ValidPairRecord,
        Self::DeveloperMode,
        Self::WebDriverAgent,
        Self::Tunnel,
        Self::Answer,
        Self::SimulatorUrl,
    ];

    /// What is missing, as the state of a phone in a list.
    pub fn state(self) -> &'static str {
        match self {
            Self::Pairing => "not paired with this computer",
            Self::Trust => "asks whether to trust this computer",
            Self::Unlocking => "locked since it was started",
            Self::ValidPairRecord => "TLS with its pair record fails",
            Self::DeveloperMode => "developer mode is off",
            Self::WebDriverAgent => "no WebDriverAgent answers on port 8100",
            Self::Tunnel => {
                "no WebDriverAgent answers on port 8100; iOS 17 needs a tunnel to start it"
            }
            Self::Answer => "does not answer",
            Self::SimulatorUrl => "simulator; reached by the URL of its WebDriverAgent",
        }
    }

    /// The step that provides it, as a sentence that fits after "Next: ".
    pub fn next_step(self) -> &'static str {
        match self {
            Self::Pairing => {
                "unlock the iPhone, run `idevicepair pair` (or open Finder on a Mac), tap Trust on the iPhone, then call again"
            }
            Self::Trust => "unlock the iPhone, tap Trust, enter its passcode, then call again",
            Self::Unlocking => "enter the iPhone's passcode once, then call again",
            Self::ValidPairRecord => {
                "if the iPhone was erased or restored, run `idevicepair unpair` and `idevicepair pair`, then tap Trust on it"
            }
            Self::DeveloperMode => {
                "turn on Settings > Privacy & Security > Developer Mode on the iPhone, restart it, and confirm. If the switch is missing, connect the iPhone to Xcode once"
            }
            Self::WebDriverAgent => {
                "start WebDriverAgent on the iPhone: run the scheme WebDriverAgentRunner as a test in Xcode, or `ios runwda` of go-ios"
            }
            Self::Tunnel => {
                "start WebDriverAgent on the iPhone: run the scheme WebDriverAgentRunner as a test in Xcode, or `sudo ios tunnel start` and then `ios runwda` of go-ios"
            }
            Self::Answer => "replug the iPhone; restart it if that does not help",
            Self::SimulatorUrl => {
                "start WebDriverAgent on the simulator, then name its URL: `--wda http://127.0.0.1:8100`"
            }
        }
    }

    /// What a phone with this state in a list lacks.
    pub fn of_state(state: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|missing| missing.state() == state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_state_and_step() {
        for missing in Missing::ALL {
            assert_eq!(Missing::of_state(missing.state()), Some(missing));
            let same = Missing::ALL.iter().filter(|it| it.next_step() == missing.next_step());
            assert_eq!(same.count(), 1, "{missing:?}");
        }
        assert_eq!(Missing::of_state("device"), None);
    }
}
