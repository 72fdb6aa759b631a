package org.thumbwire.helper;

import android.app.UiAutomation;
import android.view.accessibility.AccessibilityEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What happens on the screen, as accessibility events tell it: when the last one came, and a queue
 * per subscriber.
 */
final class EventLog implements UiAutomation.OnAccessibilityEventListener {
    /** `TYPE_WINDOWS_CHANGED`, since Android 5. */
    private static final int WINDOWS_CHANGED = 0x00400000;

    /** What a subscriber has not read yet. When it does not keep up, the newest are dropped. */
    static final class Subscription {
        private final BlockingQueue<String> queue = new ArrayBlockingQueue<String>(256);
        private long content;

        /** The next change; null if there is none for so long. */
        String next(long millis) throws InterruptedException {
            return queue.poll(millis, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * With the 100 ms for which Android bundles an app's changes, the 200 ms for which a screen is
     * still.
     */
    private static final long UNHEARD = 100;

    private final List<Subscription> subscriptions = new ArrayList<Subscription>();
    private long last;
    private long acted = Long.MIN_VALUE / 2;
    private boolean hurried;
    private long number;

    /**
     * We were not listening. What an app changed before, and still changes, it will have told after
     * `UNHEARD` ms.
     */
    synchronized void restart() {
        last = Math.max(acted, Server.now() - UNHEARD);
    }

    /** What we do counts as something that happened: the app answers it a moment later. */
    synchronized void acted() {
        acted = Server.now();
        last = acted;
    }

    /** While another program wants UiAutomation, nobody waits until the screen is still. */
    synchronized void hurry(boolean wanted) {
        hurried = wanted;
        if (wanted) notifyAll();
    }

    @Override
    public synchronized void onAccessibilityEvent(AccessibilityEvent event) {
        last = Server.now();
        number++;
        notifyAll();
        if (subscriptions.isEmpty()) return;
        String change = change(event);
        if (change == null) return;
        for (Subscription one : subscriptions) {
            // A list that scrolls sends hundreds.
            if (change.equals("content")) {
                if (last - one.content < 100) continue;
                one.content = last;
            }
            one.queue.offer(change);
        }
    }

    synchronized Subscription subscribe() {
        Subscription one = new Subscription();
        subscriptions.add(one);
        return one;
    }

    synchronized void unsubscribe(Subscription one) {
        subscriptions.remove(one);
    }

    /**
     * Waits until no event came for `idle` ms. Returns false if that did not happen within `limit`
     * ms.
     */
    synchronized boolean waitForIdle(long idle, long limit, Task task) throws InterruptedException, Fault {
        long until = Server.now() + limit;
        while (true) {
            task.check();
            long now = Server.now();
            long still = last + idle - now;
            if (still <= 0) return true;
            if (hurried || now >= until) return false;
            wait(Math.min(still, until - now));
        }
    }

    /** Waits up to `limit` ms until another event has come than the one with this number. */
    synchronized void waitForChange(long seen, long limit, Task task) throws InterruptedException, Fault {
        long until = Server.now() + limit;
        long left;
        while (number == seen && (left = until - Server.now()) > 0) {
            task.check();
            wait(left);
        }
    }

    synchronized long number() {
        return number;
    }

    /** What it tells a host: another window, other content, or null. */
    private static String change(AccessibilityEvent event) {
        switch (event.getEventType()) {
            case AccessibilityEvent.TYPE_WINDOW_STATE_CHANGED:
            case WINDOWS_CHANGED:
                return "window";
            case AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED:
            case AccessibilityEvent.TYPE_VIEW_SCROLLED:
                return "content";
            default:
                return null;
        }
    }
}
