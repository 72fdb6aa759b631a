//! Typing with keys on a phone before Android 7, whose pace must be learned: see [`super::pace`].

use std::time::Duration;

use tokio::time::Instant;

use super::Legacy;
use crate::Error;
use crate::android::{Android, CommandOutput, ShellCommand};

impl Legacy {
    /// How many characters the next piece may have.
    pub(in crate::android) fn piece(&self) -> usize {
        self.pace.piece()
    }

    /// Types one piece, and learns from the phone's clock how long that took: it is the clock that
    /// makes keys too old.
    pub(in crate::android) async fn type_piece(
        &self,
        device: &Android,
        piece: &str,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let mut output = device.ask(timed_text_command(piece)?).await?;
        let took = take_times(&mut output);
        output.silent("type")?;
        self.pace.learn_text(piece.len(), took.unwrap_or(started.elapsed()), started.elapsed());
        Ok(())
    }

    /// Learns how long a command takes that presses a key or touches the screen.
    pub(in crate::android) fn learn_start(&self, took: Duration) {
        self.pace.learn_start(took);
    }

    /// Measures how long `input` takes to start, unless the pace is known.
    pub(in crate::android) async fn measure_pace(&self, device: &Android) -> Result<(), Error> {
        if self.pace.estimate(1).is_none() {
            // Without arguments `input` starts as slowly as with a key, and prints its usage. No
            // key is without effect: Android 4.4 types the digit 0 for `keyevent 0`.
            let started = Instant::now();
            device.ask(ShellCommand::new("input")).await?;
            self.pace.learn_start(started.elapsed());
        }
        Ok(())
    }

    /// About how long so many characters take; zero if the pace is not known.
    pub(in crate::android) fn typing_time(&self, characters: usize) -> Duration {
        self.pace.estimate(characters).unwrap_or_default()
    }
}

/// Types one piece between two readings of the phone's uptime. If it fails, a line `status N`
/// follows its output.
///
/// The script `input` may pass on its arguments as an unquoted `$*`: a space splits a text into two
/// arguments, and a `*` expands to file names. So text is passed directly to the program that the
/// script calls. Seen on Android 4.4.4 (a bug of the script); the program it calls is that of
/// AOSP's script up to Android 11.
fn timed_text_command(piece: &str) -> Result<ShellCommand, Error> {
    const START: &str = "cat /proc/uptime; CLASSPATH=/system/framework/input.jar \
                         app_process /system/bin com.android.commands.input.Input text";
    Ok(ShellCommand::new(START).arg(piece)?.then("|| echo status $?; cat /proc/uptime"))
}

/// Removes the readings of the uptime around a timed command from its output, and returns the time
/// between them. A status that the command printed becomes the output's, if the phone reports any.
fn take_times(output: &mut CommandOutput) -> Option<Duration> {
    let mut lines: Vec<&str> = output.out.lines().collect();
    let uptime = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.parse::<f64>().ok());
        let (up, _idle) = (words.next()??, words.next()??);
        words.next().is_none().then_some(up)
    };
    let at = lines.iter().position(|line| uptime(line).is_some());
    let first = at.and_then(|at| uptime(lines.remove(at)));
    let at = lines.iter().rposition(|line| uptime(line).is_some());
    let last = at.and_then(|at| uptime(lines.remove(at)));
    if let Some(status) = lines.last().and_then(|line| line.strip_prefix("status ")) {
        output.status = output.status.and_then(|_| status.trim().parse().ok()).or(output.status);
        lines.pop();
    }
    output.out = lines.join("\n");
    let took = last? - first?;
    Duration::try_from_secs_f64(took).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_command_is_taken_from_the_phones_clock() {
        let output =
            |out: &str, status| CommandOutput { out: out.into(), err: String::new(), status };
        let mut quiet = output("100.25 90.00\n103.75 92.00\n", Some(0));
        assert_eq!(take_times(&mut quiet), Some(Duration::from_millis(3_500)));
        assert_eq!((quiet.out.as_str(), quiet.status), ("", Some(0)));
        let mut failed = output("1.00 1.00\nError: no\nstatus 255\n2.00 1.50\n", Some(0));
        assert_eq!(take_times(&mut failed), Some(Duration::from_secs(1)));
        assert_eq!((failed.out.as_str(), failed.status), ("Error: no", Some(255)));
        let mut none = output("cat: not found\n", None);
        assert_eq!(take_times(&mut none), None);
        assert_eq!(none.out, "cat: not found");
    }

    #[test]
    fn text_bypasses_the_script_and_is_quoted() {
        let line = timed_text_command("a b").unwrap();
        let expected = "cat /proc/uptime; CLASSPATH=/system/framework/input.jar app_process \
                        /system/bin com.android.commands.input.Input text 'a b' \
                        || echo status $?; cat /proc/uptime";
        assert_eq!(line.as_str(), expected);
    }
}
