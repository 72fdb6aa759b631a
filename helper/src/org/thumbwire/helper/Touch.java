package org.thumbwire.helper;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.MotionEvent;
import java.util.ArrayList;
import java.util.List;

/** The ops `tap`, `swipe` and `touch`: fingers on the screen. Coordinates are pixels of the screen as it is turned. */
final class Touch {
    private static final int MOST_FINGERS = 10;
    private static final int MOST_POINTS = 1000;
    private static final long LONGEST = 60000;
    /** Time between two events of a moving finger. */
    private static final long STEP = 10;

    private final Input input;

    Touch(Input input) {
        this.input = input;
    }

    /** A finger's way: it is at a point at a time, in ms from the gesture's start, and moves straight in between. */
    private static final class Finger {
        final List<float[]> points = new ArrayList<float[]>();

        Finger at(long time, float x, float y) {
            points.add(new float[] {time, x, y});
            return this;
        }

        long start() {
            return (long) points.get(0)[0];
        }

        long end() {
            return (long) points.get(points.size() - 1)[0];
        }

        void place(long time, MotionEvent.PointerCoords to) {
            float[] from = points.get(0);
            for (float[] next : points) {
                if (next[0] > time) {
                    float part = next[0] == from[0] ? 1 : Math.max(0, (time - from[0]) / (next[0] - from[0]));
                    set(to, from[1] + (next[1] - from[1]) * part, from[2] + (next[2] - from[2]) * part);
                    return;
                }
                from = next;
            }
            set(to, from[1], from[2]);
        }

        private static void set(MotionEvent.PointerCoords to, float x, float y) {
            to.x = x;
            to.y = y;
            to.pressure = 1;
            to.size = 1;
        }
    }

    final Operation tap = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            float x = request.pixels("x");
            float y = request.pixels("y");
            int times = (int) request.number("times", 1, 10, 1);
            long hold = request.millis("hold_ms", LONGEST, 0);
            long gap = request.millis("gap_ms", 1000, 100);
            for (int i = 0; i < times; i++) {
                if (i > 0) task.sleep(gap);
                List<Finger> finger = new ArrayList<Finger>();
                finger.add(new Finger().at(0, x, y).at(hold, x, y));
                play(finger, task);
            }
            return new Reply();
        }
    };

    final Operation swipe = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            long duration = request.millis("duration_ms", LONGEST, 300);
            // A finger that rests first drags what is under it.
            long hold = request.millis("hold_ms", LONGEST, 0);
            Finger finger = new Finger().at(0, request.pixels("x1"), request.pixels("y1"));
            if (hold > 0) finger.at(hold, request.pixels("x1"), request.pixels("y1"));
            finger.at(hold + duration, request.pixels("x2"), request.pixels("y2"));
            List<Finger> fingers = new ArrayList<Finger>();
            fingers.add(finger);
            play(fingers, task);
            return new Reply();
        }
    };

    final Operation touch = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            List<?> list = request.list("fingers", MOST_FINGERS);
            if (list == null || list.isEmpty()) throw wrong();
            List<Finger> fingers = new ArrayList<Finger>();
            for (Object points : list) fingers.add(finger(points));
            play(fingers, task);
            return new Reply();
        }
    };

    private static Fault wrong() {
        return Request.wrong("fingers", "a list of lists of points [ms, x, y] in the order of time, up to " + LONGEST + " ms");
    }

    private static Finger finger(Object points) throws Fault {
        if (!(points instanceof List) || ((List<?>) points).isEmpty() || ((List<?>) points).size() > MOST_POINTS) throw wrong();
        Finger finger = new Finger();
        long before = 0;
        for (Object point : (List<?>) points) {
            if (!(point instanceof List) || ((List<?>) point).size() != 3) throw wrong();
            Object time = ((List<?>) point).get(0);
            if (!(time instanceof Long) || (Long) time < before || (Long) time > LONGEST) throw wrong();
            before = (Long) time;
            finger.at(before, Request.pixels("fingers", ((List<?>) point).get(1)),
                    Request.pixels("fingers", ((List<?>) point).get(2)));
        }
        return finger;
    }

    /** One gesture at a time: events of two would mix. */
    private synchronized void play(List<Finger> fingers, Task task) throws Exception {
        long start = SystemClock.uptimeMillis();
        boolean[] down = new boolean[fingers.size()];
        boolean[] done = new boolean[fingers.size()];
        int left = fingers.size();
        long firstDown = 0;
        try {
            while (left > 0) {
                long time = SystemClock.uptimeMillis() - start;
                boolean moving = false;
                for (int i = 0; i < done.length; i++) {
                    if (done[i]) continue;
                    Finger finger = fingers.get(i);
                    boolean lands = !down[i] && time >= finger.start();
                    if (lands) {
                        down[i] = true;
                        if (count(down) == 1) firstDown = start + time;
                        send(fingers, down, firstDown, start, finger.start(), MotionEvent.ACTION_DOWN, i,
                                Input.WAIT_FOR_FINISH);
                    }
                    if (down[i] && time >= finger.end()) {
                        // A slow phone may have missed all steps; the app must see where the finger went.
                        if (finger.points.size() > 1 && moves(finger)) {
                            send(fingers, down, firstDown, start, finger.end(), MotionEvent.ACTION_MOVE, i, Input.NO_WAIT);
                        }
                        send(fingers, down, firstDown, start, finger.end(), MotionEvent.ACTION_UP, i, Input.WAIT_FOR_FINISH);
                        down[i] = false;
                        done[i] = true;
                        left--;
                    } else if (down[i] && !lands) {
                        moving = true;
                    }
                }
                if (moving) send(fingers, down, firstDown, start, time, MotionEvent.ACTION_MOVE, 0, Input.NO_WAIT);
                if (left > 0) Input.sleepUntil(start + next(fingers, down, done, SystemClock.uptimeMillis() - start), task);
            }
        } finally {
            if (left > 0 && count(down) > 0) lift(fingers, down, firstDown, start);
        }
    }

    /** No finger may stay on the screen. The app is told that the gesture does not count. */
    private void lift(List<Finger> fingers, boolean[] down, long firstDown, long start) {
        try {
            long time = SystemClock.uptimeMillis() - start;
            send(fingers, down, firstDown, start, time, MotionEvent.ACTION_CANCEL, 0, Input.NO_WAIT);
        } catch (Exception failed) {
            // Then Android has no gesture of ours.
        }
    }

    private static boolean moves(Finger finger) {
        float[] first = finger.points.get(0);
        for (float[] point : finger.points) if (point[1] != first[1] || point[2] != first[2]) return true;
        return false;
    }

    /** When the next event is due. */
    private static long next(List<Finger> fingers, boolean[] down, boolean[] done, long now) {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < done.length; i++) {
            if (done[i]) continue;
            Finger finger = fingers.get(i);
            long due = !down[i] ? finger.start() : moves(finger) ? Math.min(now + STEP, finger.end()) : finger.end();
            next = Math.min(next, due);
        }
        return next;
    }

    private static int count(boolean[] down) {
        int count = 0;
        for (boolean one : down) if (one) count++;
        return count;
    }

    private void send(List<Finger> fingers, boolean[] down, long firstDown, long start, long time, int action, int finger,
            int mode) throws Exception {
        int count = count(down);
        MotionEvent.PointerProperties[] properties = new MotionEvent.PointerProperties[count];
        MotionEvent.PointerCoords[] coords = new MotionEvent.PointerCoords[count];
        int place = 0;
        int changed = 0;
        for (int i = 0; i < down.length; i++) {
            if (!down[i]) continue;
            if (i == finger) changed = place;
            properties[place] = new MotionEvent.PointerProperties();
            properties[place].id = i;
            properties[place].toolType = MotionEvent.TOOL_TYPE_FINGER;
            coords[place] = new MotionEvent.PointerCoords();
            fingers.get(i).place(time, coords[place]);
            place++;
        }
        if (count > 1 && action == MotionEvent.ACTION_DOWN) action = MotionEvent.ACTION_POINTER_DOWN;
        if (count > 1 && action == MotionEvent.ACTION_UP) action = MotionEvent.ACTION_POINTER_UP;
        if (action == MotionEvent.ACTION_POINTER_DOWN || action == MotionEvent.ACTION_POINTER_UP) {
            action |= changed << MotionEvent.ACTION_POINTER_INDEX_SHIFT;
        }
        // Late is better than in the past: Android drops events that are older than some seconds.
        long at = Math.max(firstDown, start + time);
        MotionEvent event = MotionEvent.obtain(firstDown, at, action, count, properties, coords, 0, 0, 1, 1, 0, 0,
                InputDevice.SOURCE_TOUCHSCREEN, 0);
        try {
            input.inject(event, mode);
        } finally {
            event.recycle();
        }
    }
}
