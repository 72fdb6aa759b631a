package org.thumbwire.helper;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Other programs that use UiAutomation, of which a phone has one: `uiautomator`, instrumented tests
 * such as Appium's server, another version of this helper. They are seen in the list of processes
 * when they start, hundreds of milliseconds before they ask for it, because Java starts first.
 */
final class Rivals {
    /**
     * How long a program may take from its start until it has asked and, if it is a dump, ended.
     */
    static final long YOUNG = 10000;
    /** A new process may still become another program: a shell's child begins as the shell. */
    private static final int LOOKS = 5;
    /** The kernel counts a process's start in 1/100 s on every phone. */
    private static final long TICK = 10;
    /** The start is the 22nd word of `/proc/PID/stat`, the 20th after the name in brackets. */
    private static final int START = 19;

    /** Where the list of processes is. */
    private final File processes;
    private final String own;
    private final Map<String, Integer> looks = new HashMap<String, Integer>();
    /** Command lines by process number. */
    private final Map<String, String> found = new TreeMap<String, String>();

    Rivals(File processes, int own) {
        this.processes = processes;
        this.own = String.valueOf(own);
    }

    /** Forgets what is known: numbers of processes are used again. */
    synchronized void forget() {
        looks.clear();
        found.clear();
    }

    /** Looks at the processes that are new since the last look; returns whether a rival runs. */
    synchronized boolean look() {
        String[] names = processes.list();
        if (names == null) return false;
        Set<String> running = new HashSet<String>(Arrays.asList(names));
        looks.keySet().retainAll(running);
        found.keySet().retainAll(running);
        for (String pid : running) {
            if (!isNumber(pid) || pid.equals(own)) continue;
            Integer before = looks.get(pid);
            int number = before == null ? 0 : before;
            if (number >= LOOKS) continue;
            looks.put(pid, number + 1);
            String line = commandLine(pid);
            if (isRival(line)) found.put(pid, line);
            else found.remove(pid);
        }
        return !found.isEmpty();
    }

    /** Whether one of them has just started, at this time in ms since the phone's start. */
    synchronized boolean hasYoung(long now) {
        for (String pid : found.keySet()) if (now - start(pid) < YOUNG) return true;
        return false;
    }

    /** The command line of a process that looks like the holder; null if none does. */
    synchronized String holder() {
        look();
        if (!found.isEmpty()) return named(found.entrySet().iterator().next());
        String[] names = processes.list();
        if (names == null) return null;
        for (String pid : names) {
            // The process of an app that is instrumented has the app's name.
            String line = isNumber(pid) && !pid.equals(own) ? commandLine(pid) : "";
            if (line.contains("uiautomator") || line.contains("instrument")) return line + " (pid " + pid + ")";
        }
        return null;
    }

    private static String named(Map.Entry<String, String> rival) {
        return rival.getValue() + " (pid " + rival.getKey() + ")";
    }

    /** A script that starts one is none, and neither is an app that happens to have such a name. */
    static boolean isRival(String line) {
        String program = line.split(" ", 2)[0];
        program = program.substring(program.lastIndexOf('/') + 1);
        String lower = line.toLowerCase(java.util.Locale.ROOT);
        boolean instruments = lower.contains(" instrument ");
        if (program.equals("cmd")) return instruments;
        if (!program.startsWith("app_process")) return false;
        return instruments || lower.contains("uiautomator") || lower.contains("uia2") || lower.contains("thumbwire.helper");
    }

    private static boolean isNumber(String name) {
        return !name.isEmpty() && name.charAt(0) >= '0' && name.charAt(0) <= '9';
    }

    private String commandLine(String pid) {
        return read(pid, "cmdline").replace('\0', ' ').trim();
    }

    /** In ms since the phone's start; long ago if it has ended. */
    private long start(String pid) {
        String stat = read(pid, "stat");
        String[] words = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        try {
            return Long.parseLong(words[START]) * TICK;
        } catch (RuntimeException ended) {
            return Long.MIN_VALUE / 2;
        }
    }

    private String read(String pid, String file) {
        BufferedReader from = null;
        try {
            File at = new File(new File(processes, pid), file);
            from = new BufferedReader(new InputStreamReader(new FileInputStream(at), "UTF-8"), 512);
            char[] text = new char[400];
            int length = from.read(text);
            return length <= 0 ? "" : new String(text, 0, length);
        } catch (IOException gone) {
            return "";
        } finally {
            if (from != null) Connection.close(from);
        }
    }
}
