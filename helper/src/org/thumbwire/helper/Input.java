package org.thumbwire.helper;

import android.os.SystemClock;
import android.view.InputEvent;

/** Puts events into Android's input queue, as `input` does. */
final class Input {
    /** How long an injection waits. */
    static final int NO_WAIT = 0;
    static final int WAIT_FOR_FINISH = 2;

    private final EventLog events;
    private Object manager;

    Input(EventLog events) {
        this.events = events;
    }

    void inject(InputEvent event, int mode) throws Exception {
        events.acted();
        Object done = Call.of("injectInputEvent").with(InputEvent.class, event).with(int.class, mode).on(manager());
        events.acted();
        if (Boolean.FALSE.equals(done)) {
            throw new Fault("refused", "Android did not deliver the event: the window in front belongs to nobody, or changes",
                    "list the screen, then try again");
        }
    }

    private synchronized Object manager() throws Exception {
        if (manager == null) manager = Call.of("getInstance").on(holder());
        return manager;
    }

    /** Since Android 14 the manager of apps leaves injection to another class. */
    private static Class<?> holder() throws Fault {
        try {
            return Class.forName("android.hardware.input.InputManagerGlobal");
        } catch (ClassNotFoundException old) {
            return Services.named("android.hardware.input.InputManager");
        }
    }

    static String variant() {
        try {
            return Call.of("injectInputEvent").with(InputEvent.class, null).with(int.class, 0).variant(holder());
        } catch (Fault none) {
            return null;
        }
    }

    /** Waits until this time of the uptime clock. */
    static void sleepUntil(long time, Task task) throws Fault {
        task.sleep(time - SystemClock.uptimeMillis());
    }
}
