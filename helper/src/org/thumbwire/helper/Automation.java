package org.thumbwire.helper;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.os.Build;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.SystemClock;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;

/**
 * Android's UiAutomation, of which a phone has one: while we hold it, `uiautomator dump` and every
 * other test tool fails. So it is connected when an operation needs it, and let go some time after
 * the last one, or when another program starts that wants it.
 */
final class Automation {
    /** How long it is held after its last use: models think for 5 to 20 s between two looks. */
    private static final long IDLE = 30000;
    /**
     * The same before Android 7, where TalkBack and other accessibility services stop meanwhile.
     */
    private static final long OLD_IDLE = 3000;
    /** How often to look for rivals while it is held. */
    private static final long WATCH = 100;
    private static final long RETRY = 100;
    /**
     * `UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES`: TalkBack and password managers go
     * on.
     */
    private static final int DO_NOT_SUPPRESS = 1;
    /** `AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS`, since Android 5. */
    private static final int WINDOWS = 0x40;

    private final EventLog events;
    private final Rivals rivals;
    private final long idle = Build.VERSION.SDK_INT < 24 ? OLD_IDLE : IDLE;
    private HandlerThread thread;
    private Object link;
    private UiAutomation held;
    private int users;
    private long last;
    /** A rival runs; one has just started. */
    private boolean shared;
    private volatile boolean wanted;

    Automation(EventLog events, Rivals rivals) {
        this.events = events;
        this.rivals = rivals;
        Thread watch = new Thread("watch") {
            @Override
            public void run() {
                watch();
            }
        };
        watch.setDaemon(true);
        watch.start();
    }

    /**
     * Connects if it is not connected. Every call needs a {@link #done}. Another tool may hold it
     * for up to `limit` ms, and has the first turn if it has just started.
     */
    UiAutomation acquire(Task task, long limit) throws Exception {
        long until = Server.now() + limit;
        synchronized (this) {
            // While it is not held, nobody looks.
            if (held == null) rivals.forget();
        }
        while (true) {
            synchronized (this) {
                if (held == null) look();
                boolean late = Server.now() >= until;
                if (held == null && !wanted) {
                    try {
                        held = connect();
                        notifyAll();
                    } catch (IllegalStateException taken) {
                        // Once more, unless it is late.
                    }
                }
                if (held != null && !wanted) {
                    users++;
                    return held;
                }
                if (late) throw busy();
            }
            task.sleep(RETRY);
        }
    }

    synchronized void done() {
        users--;
        last = Server.now();
        if (users == 0 && shared) disconnect();
        notifyAll();
    }

    /** Whether a long operation should let another program have a turn: `done`, then `acquire`. */
    boolean isWanted() {
        return wanted;
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

    private synchronized void watch() {
        try {
            while (true) {
                if (held == null) {
                    wait();
                    continue;
                }
                look();
                long left = last + idle - Server.now();
                if (users == 0 && (shared || left <= 0)) disconnect();
                else wait(WATCH);
            }
        } catch (InterruptedException end) {
            disconnect();
        }
    }

    private void look() {
        shared = rivals.look();
        wanted = shared && rivals.hasYoung(SystemClock.elapsedRealtime());
        events.hurry(wanted);
    }

    /**
     * Sets which nodes there are: all, or those that `uiautomator dump --compressed` has. Android
     * keeps nodes in our process until an event says that they changed, and some apps change
     * without one; this empties that cache, too.
     */
    static void prepare(UiAutomation held, boolean compressed) {
        AccessibilityServiceInfo info = held.getServiceInfo();
        if (info == null) return;
        int all = AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS;
        info.flags = compressed ? info.flags & ~all : info.flags | all;
        held.setServiceInfo(info);
    }

    private UiAutomation connect() throws Exception {
        if (thread == null) {
            thread = new HandlerThread("ui automation");
            thread.start();
        }
        Class<?> type = Services.named("android.app.UiAutomationConnection");
        Constructor<?> linkOf = type.getDeclaredConstructor();
        linkOf.setAccessible(true);
        link = linkOf.newInstance();
        UiAutomation automation = construct(thread.getLooper(), link);
        boolean hears = listen(automation);
        Call.of("connect").maybe(int.class, DO_NOT_SUPPRESS).on(automation);
        try {
            AccessibilityServiceInfo info = automation.getServiceInfo();
            info.flags |= AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS
                    | AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS;
            if (Build.VERSION.SDK_INT >= 21) info.flags |= WINDOWS;
            automation.setServiceInfo(info);
            if (!hears) listen(automation);
        } catch (RuntimeException failed) {
            Call.of("disconnect").on(automation);
            throw failed;
        }
        return automation;
    }

    /** Some releases allow it only when it is connected. */
    private boolean listen(UiAutomation automation) {
        events.restart();
        try {
            automation.setOnAccessibilityEventListener(events);
            return true;
        } catch (IllegalStateException early) {
            return false;
        }
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
            keepRotation();
            Call.of("disconnect").on(former);
        } catch (Exception gone) {
            // The system has forgotten it already.
        }
    }

    /**
     * Disconnecting puts the rotation back to what it was at connect; whoever changed it since
     * wants it as it is.
     */
    private void keepRotation() {
        try {
            Field before = link.getClass().getDeclaredField("mInitialFrozenRotation");
            before.setAccessible(true);
            before.setInt(link, -1);
            Call.of("storeRotationStateLocked").on(link);
        } catch (Exception other) {
            // Then it is put back.
        }
    }

    private Fault busy() {
        String holder = rivals.holder();
        String message = "another tool holds UiAutomation";
        return new Fault("ua_busy", holder == null ? message : message + ": " + holder,
                "end the other tool (uiautomator, Appium, an instrumented test), then try again");
    }
}
