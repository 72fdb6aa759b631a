//! The Android Debug Bridge wire, both ends: packets, streams, shell, sync; to a running adb server, straight to adbd, or in memory.
