//! What a fault that strikes does to the phone.
//!
//! Begin at [`VirtualPhone::befall`], which a command passes before it does anything, and [`VirtualPhone::aftermath`], once it has ended.

use super::table::{Fault, Moment, TABLE};
use super::{Garbler, Hit};
use crate::phone::{State, VirtualPhone};
use crate::sh::io::Output;

/// What the app throws.
const CRASH: &str = "java.lang.IllegalStateException: a fault was asked for";

/// Words of a command that rules look at.
const LONGEST: usize = 4_096;

/// A command as rules see it.
pub(crate) fn words(name: &str, args: &[String]) -> String {
    let mut words = name.to_owned();
    for arg in args {
        if words.len() > LONGEST {
            break;
        }
        words.push(' ');
        words.push_str(arg);
    }
    words
}

/// Whether a fault would change anything now; a chance that it could not take is none.
pub(super) fn possible(fault: Fault, phone: &mut State) -> bool {
    let front = phone.world.foreground().package;
    match fault {
        Fault::DiskFull => !phone.files.is_full(),
        Fault::SecureWindow => !phone.world.is_secure(&front),
        Fault::TextLost => phone.world.focused_text().is_some(),
        Fault::TargetMoved => phone.world.moves_for_banner(),
        Fault::Keyboard => phone.world.has_hidden_keyboard(),
        Fault::Popup => !phone.world.has_popped_up(),
        // Home comes back at once; nobody would see that it fell.
        Fault::AppCrash => !phone.world.is_home(),
        Fault::Anr => !phone.world.is_home() && phone.world.responds(&front),
        _ => true,
    }
}

impl VirtualPhone {
    /// Lets strike what may strike before a command, `met`, does anything. A connection that this cuts takes the command with it.
    pub(crate) async fn befall(&self, met: &str) {
        if !self.peek(|phone| phone.faults.is_armed()) {
            return;
        }
        self.with(keep_text);
        for hit in self.hits(Moment::Before, met) {
            match hit.fault {
                Fault::Slow => {
                    self.outside(Some(hit.time())).await;
                    if !self.lives_outside() {
                        self.take(hit.time()).await;
                    }
                }
                Fault::Offline => {
                    self.silence_for(hit.time());
                    // So that the silence begins before the command does.
                    tokio::task::yield_now().await;
                }
                Fault::AdbRestart => {
                    self.cut_all();
                    // Whoever asked is gone; this future is dropped with the connection.
                    std::future::pending::<()>().await;
                }
                _ => self.with(|phone| happen(&hit, phone)),
            }
        }
    }

    /// Lets strike what may strike after a command.
    pub(crate) fn aftermath(&self, met: &str) {
        if self.peek(|phone| phone.faults.is_armed()) {
            self.with(keep_text);
            for hit in self.hits(Moment::After, met) {
                self.with(|phone| happen(&hit, phone));
            }
        }
    }

    /// What a command prints to, spoilt if a rule says so.
    pub(crate) fn output_of(&self, met: &str, output: Output) -> Output {
        match self.struck(Fault::Garbage, met) {
            Some(hit) => Output::garbled(output, Garbler::new(hit.every(), hit.seed)),
            None => output,
        }
    }

    /// Those that strike at that moment. Each is asked after the one before it has done its work.
    fn hits<'a>(&'a self, moment: Moment, met: &'a str) -> impl Iterator<Item = Hit> + 'a {
        let rows = TABLE.iter().filter(move |row| row.moment == moment);
        rows.filter_map(move |row| self.struck(row.fault, met))
    }
}

/// What changes the phone's inside.
fn happen(hit: &Hit, phone: &mut State) {
    let front = phone.world.foreground().package;
    match hit.fault {
        Fault::TextLost => {
            let every = u32::try_from(hit.every()).unwrap_or(u32::MAX);
            phone.world.lose_typed(every, u32::MAX);
            phone.faults.loses_text = true;
        }
        Fault::TargetMoved => phone.world.turn_banner(),
        Fault::Keyboard => phone.world.raise_keyboard(),
        Fault::AppCrash => drop(phone.world.crash(&front, CRASH)),
        Fault::Popup => {
            phone.world.pop_up("Software update", "A new version can be installed now.");
        }
        Fault::Anr => drop(phone.world.stop_responding(&front)),
        Fault::DiskFull => phone.files.fill(),
        Fault::SecureWindow => phone.world.set_secure(&front, true),
        _ => {}
    }
}

/// Ends the losses that a rule began: they were for one command.
fn keep_text(phone: &mut State) {
    if std::mem::take(&mut phone.faults.loses_text) {
        phone.world.lose_typed(1, 0);
    }
}
