package org.thumbwire.helper;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

final class RivalsTest {
    private static final int OWN = 700;

    /** A list of processes as the kernel shows it. */
    private static final class Processes {
        final File folder = Files.createTempDirectory("proc").toFile();
        final Rivals rivals = new Rivals(folder, OWN);

        Processes() throws IOException {
            Files.write(new File(folder, "uptime").toPath(), "1 1".getBytes());
        }

        /** One that started so many ms after the phone did. */
        void runs(int pid, long started, String... words) throws IOException {
            File at = new File(folder, String.valueOf(pid));
            at.mkdirs();
            String stat = pid + " (a name) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 " + started / 10 + " 13 14";
            Files.write(new File(at, "stat").toPath(), stat.getBytes());
            Files.write(new File(at, "cmdline").toPath(), (String.join("\0", words) + "\0").getBytes());
        }

        void ends(int pid) {
            File at = new File(folder, String.valueOf(pid));
            for (File file : at.listFiles()) file.delete();
            at.delete();
        }
    }

    static void programs_that_use_it_are_told_from_others() throws Exception {
        for (String line : new String[] {
            "app_process /system/bin com.android.commands.uiautomator.Launcher dump",
            "/system/bin/app_process64 / com.wetest.uia2.Main",
            "app_process /system/bin com.android.commands.am.Am instrument -w a.test/.Runner",
            "cmd activity instrument -w -r io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner",
            "app_process /system/bin org.thumbwire.helper.Main thumbwire-helper-1-00000000",
        }) Check.that(Rivals.isRival(line), line);
        for (String line : new String[] {
            "",
            "sh /system/bin/uiautomator dump",
            "/system/bin/sh -c while true; do uiautomator dump; sleep 60; done",
            "com.github.uiautomator",
            "logcat -s uiautomator",
            "cmd package list instrumentation",
            "app_process / com.genymobile.scrcpy.Server 3.1",
            "app_process /system/bin com.android.commands.input.Input tap 1 2",
        }) Check.that(!Rivals.isRival(line), line);
    }

    static void one_that_starts_is_seen_until_it_ends() throws Exception {
        Processes processes = new Processes();
        processes.runs(1, 0, "/init");
        processes.runs(OWN, 0, "app_process", "/system/bin", "org.thumbwire.helper.Main", "x");
        Check.equal(false, processes.rivals.look());
        // A shell's child begins as the shell.
        processes.runs(900, 50000, "sh");
        Check.equal(false, processes.rivals.look());
        processes.runs(900, 50000, "app_process", "/system/bin", "com.android.commands.uiautomator.Launcher", "dump");
        Check.equal(true, processes.rivals.look());
        Check.equal(true, processes.rivals.hasYoung(50100));
        Check.equal(false, processes.rivals.hasYoung(50000 + Rivals.YOUNG));
        Check.equal("app_process /system/bin com.android.commands.uiautomator.Launcher dump (pid 900)", processes.rivals.holder());
        processes.ends(900);
        Check.equal(false, processes.rivals.look());
        Check.equal(false, processes.rivals.hasYoung(50100));
        Check.equal(null, processes.rivals.holder());
    }

    static void a_number_that_is_used_again_is_read_again() throws Exception {
        Processes processes = new Processes();
        processes.runs(900, 0, "sleep", "60");
        for (int i = 0; i < 9; i++) Check.equal(false, processes.rivals.look());
        processes.runs(900, 60000, "app_process", "/", "com.wetest.uia2.Main");
        processes.rivals.forget();
        Check.equal(true, processes.rivals.look());
    }

    static void process_of_an_instrumented_app_is_named() throws Exception {
        Processes processes = new Processes();
        processes.runs(801, 0, "io.appium.uiautomator2.server");
        Check.equal(false, processes.rivals.look());
        Check.equal("io.appium.uiautomator2.server (pid 801)", processes.rivals.holder());
    }
}
