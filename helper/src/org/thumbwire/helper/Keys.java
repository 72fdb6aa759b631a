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
        int times = (int) request.number("times", 1, 1000, 1);
        for (int i = 0; i < times; i++) press(code, task);
        return new Reply();
    }

    synchronized void press(int code, Task task) throws Exception {
        task.check();
        long down = SystemClock.uptimeMillis();
        send(down, down, KeyEvent.ACTION_DOWN, code, 0, Input.WAIT_FOR_FINISH);
        send(down, SystemClock.uptimeMillis(), KeyEvent.ACTION_UP, code, 0, Input.WAIT_FOR_FINISH);
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
            send(now, now, events[i].getAction(), events[i].getKeyCode(), events[i].getMetaState(), mode);
        }
    }

    private void send(long down, long at, int action, int code, int meta, int mode) throws Exception {
        input.inject(new KeyEvent(down, at, action, code, 0, meta, KeyCharacterMap.VIRTUAL_KEYBOARD, 0, 0,
                InputDevice.SOURCE_KEYBOARD), mode);
    }
}
