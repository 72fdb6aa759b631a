package org.thumbwire.helper;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;

/** The op `key`, and text by keys. */
final class Keys implements Operation {
    private final Input input;

    Keys(Input input) {
        this.input = input;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        int code = (int) request.number("code", 1, 10000);
        int meta = (int) request.number("meta", 0, Integer.MAX_VALUE, 0);
        int times = (int) request.number("times", 1, 1000, 1);
        long hold = request.millis("hold_ms", 60000, 0);
        int mode = Input.mode(request);
        for (int i = 0; i < times; i++) press(code, meta, hold, mode, task);
        return new Reply();
    }

    synchronized void press(int code, int meta, long hold, int mode, Task task) throws Exception {
        task.check();
        long down = SystemClock.uptimeMillis();
        send(down, down, KeyEvent.ACTION_DOWN, code, 0, meta, 0, mode);
        try {
            if (hold > 0) {
                // The first repetition tells an app that the press is a long one.
                int flags = KeyEvent.FLAG_LONG_PRESS;
                Input.sleepUntil(down + Math.min(hold, 500), task);
                if (hold >= 500) send(down, SystemClock.uptimeMillis(), KeyEvent.ACTION_DOWN, code, 1, meta, flags, mode);
                Input.sleepUntil(down + hold, task);
            }
        } finally {
            send(down, SystemClock.uptimeMillis(), KeyEvent.ACTION_UP, code, 0, meta, 0, mode);
        }
    }

    /** Whether there is a key for each character. */
    static KeyEvent[] events(String text) {
        return KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD).getEvents(text.toCharArray());
    }

    synchronized void type(KeyEvent[] events, Task task) throws Exception {
        for (int i = 0; i < events.length; i++) {
            task.check();
            long now = SystemClock.uptimeMillis();
            // The application handles events in order: the last one tells that all are done.
            int mode = i % 16 == 15 || i == events.length - 1 ? Input.WAIT_FOR_FINISH : Input.NO_WAIT;
            send(now, now, events[i].getAction(), events[i].getKeyCode(), 0, events[i].getMetaState(), 0, mode);
        }
    }

    private void send(long down, long at, int action, int code, int repeat, int meta, int flags, int mode) throws Exception {
        input.inject(new KeyEvent(down, at, action, code, repeat, meta, KeyCharacterMap.VIRTUAL_KEYBOARD, 0, flags,
                InputDevice.SOURCE_KEYBOARD), mode);
    }
}
