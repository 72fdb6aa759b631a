package org.thumbwire.helper;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.os.Build;
import android.os.HandlerThread;
import android.os.Looper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;

/**
 * Android's UiAutomation, of which a phone has one: while we hold it, `uiautomator dump` and every other test tool fails.
 * So it is connected when an operation needs it, and let go after 3 s without one.
 */
final class Automation {
    private static final long IDLE = 3000;
    private static final long RETRY = 150;
    /** `UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES`: TalkBack and password managers go on. */
    private static final int DO_NOT_SUPPRESS = 1;
    /** `AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS`, since Android 5. */
    private static final int WINDOWS = 0x40;

    private final EventLog events;
    private HandlerThread thread;
    private UiAutomation held;
    private int users;
    private long last;

    Automation(EventLog events) {
        this.events = events;
        Thread idle = new Thread("let go") {
            @Override
            public void run() {
                letGo();
            }
        };
        idle.setDaemon(true);
        idle.start();
    }

    /** Connects if it is not connected. Every call needs a {@link #done}. Another tool may hold it for up to `limit` ms. */
    UiAutomation acquire(Task task, long limit) throws Exception {
        long until = Server.now() + limit;
        while (true) {
            synchronized (this) {
                if (held == null) {
                    try {
                        held = connect();
                    } catch (IllegalStateException taken) {
                        if (Server.now() >= until) throw busy();
                    }
                }
                if (held != null) {
                    users++;
                    return held;
                }
            }
            task.sleep(RETRY);
        }
    }

    synchronized void done() {
        users--;
        last = Server.now();
        notifyAll();
    }

    /** Disconnects, after the operations that use it. Returns whether it was connected. */
    synchronized boolean release(long limit) throws Exception {
        long until = Server.now() + limit;
        while (users > 0) {
            long left = until - Server.now();
            if (left <= 0) throw new Fault("timeout", "another request still uses UiAutomation", "cancel it first");
            wait(left);
        }
        boolean was = held != null;
        disconnect();
        return was;
    }

    private synchronized void letGo() {
        try {
            while (true) {
                if (held == null || users > 0) {
                    wait();
                    continue;
                }
                long left = last + IDLE - Server.now();
                if (left > 0) wait(left);
                else disconnect();
            }
        } catch (InterruptedException end) {
            disconnect();
        }
    }

    /**
     * Android keeps nodes in our process until an event says that they changed, and some apps change without one. Setting the
     * service's info empties that cache.
     */
    static void forgetNodes(UiAutomation held) {
        AccessibilityServiceInfo info = held.getServiceInfo();
        if (info != null) held.setServiceInfo(info);
    }

    private UiAutomation connect() throws Exception {
        if (thread == null) {
            thread = new HandlerThread("ui automation");
            thread.start();
        }
        Class<?> link = Services.named("android.app.UiAutomationConnection");
        Constructor<?> linkOf = link.getDeclaredConstructor();
        linkOf.setAccessible(true);
        UiAutomation automation = construct(thread.getLooper(), linkOf.newInstance());
        Call.of("connect").maybe(int.class, DO_NOT_SUPPRESS).on(automation);
        try {
            AccessibilityServiceInfo info = automation.getServiceInfo();
            info.flags |= AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS
                    | AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS;
            if (Build.VERSION.SDK_INT >= 21) info.flags |= WINDOWS;
            automation.setServiceInfo(info);
            events.restart();
            automation.setOnAccessibilityEventListener(events);
        } catch (RuntimeException failed) {
            Call.of("disconnect").on(automation);
            throw failed;
        }
        return automation;
    }

    private static UiAutomation construct(Looper looper, Object link) throws Exception {
        for (Constructor<?> one : UiAutomation.class.getDeclaredConstructors()) {
            Class<?>[] types = one.getParameterTypes();
            if (types.length == 2 && types[0] == Looper.class && types[1].isInstance(link)) {
                one.setAccessible(true);
                return (UiAutomation) one.newInstance(looper, link);
            }
        }
        throw Fault.unsupported("this Android has no UiAutomation(Looper, IUiAutomationConnection)");
    }

    private void disconnect() {
        UiAutomation former = held;
        held = null;
        if (former == null) return;
        try {
            former.setOnAccessibilityEventListener(null);
            Call.of("disconnect").on(former);
        } catch (Exception gone) {
            // The system has forgotten it already.
        }
    }

    private static Fault busy() {
        String holder = holder();
        String message = "another tool holds UiAutomation";
        return new Fault("ua_busy", holder == null ? message : message + ": " + holder,
                "end the other tool (uiautomator, Appium, an instrumented test), then try again");
    }

    /** The command line of a process that looks like the holder; null if none does. */
    private static String holder() {
        String[] pids = new File("/proc").list();
        if (pids == null) return null;
        for (String pid : pids) {
            if (!pid.matches("[0-9]+")) continue;
            String line = commandLine(pid);
            String lower = line.toLowerCase(java.util.Locale.ROOT);
            if (lower.contains("uiautomator") || lower.contains("instrument")) return line + " (pid " + pid + ")";
        }
        return null;
    }

    private static String commandLine(String pid) {
        BufferedReader from = null;
        try {
            from = new BufferedReader(new InputStreamReader(new FileInputStream("/proc/" + pid + "/cmdline"), "UTF-8"), 512);
            char[] text = new char[200];
            int length = from.read(text);
            return length <= 0 ? "" : new String(text, 0, length).replace('\0', ' ').trim();
        } catch (IOException gone) {
            return "";
        } finally {
            if (from != null) Connection.close(from);
        }
    }
}
