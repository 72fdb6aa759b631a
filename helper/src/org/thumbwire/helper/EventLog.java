package org.thumbwire.helper;

import android.app.Notification;
import android.app.UiAutomation;
import android.view.accessibility.AccessibilityEvent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** What happens on the screen, as accessibility events tell it: when the last one came, and a queue per subscriber. */
final class EventLog implements UiAutomation.OnAccessibilityEventListener {
    /** `TYPE_WINDOWS_CHANGED`, since Android 5. */
    private static final int WINDOWS_CHANGED = 0x00400000;

    /** A subscriber's events. When it does not keep up, the newest are dropped and counted. */
    static final class Subscription {
        private final BlockingQueue<Reply> queue = new ArrayBlockingQueue<Reply>(256);
        private final Set<String> kinds;
        private long content;
        private int lost;

        private Subscription(List<String> kinds) {
            this.kinds = kinds == null ? null : new HashSet<String>(kinds);
        }

        Reply next(long millis) throws InterruptedException {
            return queue.poll(millis, TimeUnit.MILLISECONDS);
        }
    }

    private final List<Subscription> subscriptions = new ArrayList<Subscription>();
    private long last;
    private long number;

    /** Forgets the past: we were not listening. */
    synchronized void restart() {
        last = Server.now();
    }

    /** What we do counts as something that happened: the app answers it a moment later. */
    synchronized void acted() {
        last = Server.now();
    }

    @Override
    public synchronized void onAccessibilityEvent(AccessibilityEvent event) {
        last = Server.now();
        number++;
        notifyAll();
        if (subscriptions.isEmpty()) return;
        String kind = kind(event);
        for (Subscription one : subscriptions) {
            if (one.kinds != null && !one.kinds.contains(kind)) continue;
            // A list that scrolls sends hundreds.
            if (kind.equals("content")) {
                if (last - one.content < 100) continue;
                one.content = last;
            }
            Reply reply = describe(event, kind);
            if (one.lost > 0) reply.with("lost", one.lost);
            if (one.queue.offer(reply)) one.lost = 0;
            else one.lost++;
        }
    }

    synchronized Subscription subscribe(List<String> kinds) {
        Subscription one = new Subscription(kinds);
        subscriptions.add(one);
        return one;
    }

    synchronized void unsubscribe(Subscription one) {
        subscriptions.remove(one);
    }

    /** Waits until no event came for `idle` ms. Returns false if that did not happen within `limit` ms. */
    synchronized boolean waitForIdle(long idle, long limit, Task task) throws InterruptedException, Fault {
        long until = Server.now() + limit;
        while (true) {
            task.check();
            long now = Server.now();
            long still = last + idle - now;
            if (still <= 0) return true;
            if (now >= until) return false;
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

    private static String kind(AccessibilityEvent event) {
        switch (event.getEventType()) {
            case AccessibilityEvent.TYPE_WINDOW_STATE_CHANGED:
                return "screen";
            case WINDOWS_CHANGED:
                return "windows";
            case AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED:
                return "content";
            case AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED:
                return event.getParcelableData() instanceof Notification ? "notification" : "toast";
            case AccessibilityEvent.TYPE_VIEW_CLICKED:
                return "clicked";
            case AccessibilityEvent.TYPE_VIEW_LONG_CLICKED:
                return "long_clicked";
            case AccessibilityEvent.TYPE_VIEW_FOCUSED:
                return "focused";
            case AccessibilityEvent.TYPE_VIEW_TEXT_CHANGED:
                return "text";
            case AccessibilityEvent.TYPE_VIEW_SCROLLED:
                return "scrolled";
            default:
                return "other";
        }
    }

    private static Reply describe(AccessibilityEvent event, String kind) {
        List<String> texts = new ArrayList<String>();
        for (CharSequence text : event.getText()) {
            if (text != null && texts.size() < 32) texts.add(cut(text));
        }
        Reply reply = new Reply().with("kind", kind).with("package", cut(event.getPackageName()))
                .with("class", cut(event.getClassName())).with("texts", texts).with("at_ms", event.getEventTime());
        if (event.getContentDescription() != null) reply.with("description", cut(event.getContentDescription()));
        return reply;
    }

    private static String cut(CharSequence text) {
        if (text == null) return "";
        return text.length() > 500 ? text.subSequence(0, 500).toString() : text.toString();
    }
}
