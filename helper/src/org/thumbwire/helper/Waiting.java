package org.thumbwire.helper;

import java.util.Arrays;
import java.util.List;

/** The ops `quiet`, which waits until the screen rests, and `events`, which reports what happens until it is cancelled. */
final class Waiting {
    /** How often a watch looks whether it was cancelled. */
    private static final long CHECK = 500;

    private final Automation automation;
    private final EventLog events;

    Waiting(Automation automation, EventLog events) {
        this.automation = automation;
        this.events = events;
    }

    final Operation quiet = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            long idle = request.millis("idle_ms", 10000, 300);
            long limit = request.millis("limit_ms", 60000, 5000);
            long from = Server.now();
            automation.acquire(task, Math.min(limit, 3000));
            try {
                long first = events.number();
                boolean quiet = events.waitForIdle(idle, limit, task);
                return new Reply().with("quiet", quiet).with("waited_ms", Server.now() - from)
                        .with("events", events.number() - first);
            } finally {
                automation.done();
            }
        }
    };

    final Operation watch = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            List<String> kinds = request.texts("kinds", 32);
            if (kinds == null) kinds = Arrays.asList("screen", "windows", "toast", "notification");
            long until = Server.now() + request.millis("limit_ms", Integer.MAX_VALUE, Integer.MAX_VALUE);
            EventLog.Subscription subscription = events.subscribe(kinds);
            long sent = 0;
            try {
                automation.acquire(task, 3000);
                try {
                    task.send(new Reply().with("listening", true));
                    long left;
                    while ((left = until - Server.now()) > 0) {
                        task.check();
                        // Not longer: writing to a socket may swallow the interruption that cancels.
                        Reply event = subscription.next(Math.min(left, CHECK));
                        task.check();
                        if (event == null) continue;
                        sent++;
                        task.send(new Reply().with("event", event.fields));
                    }
                } finally {
                    automation.done();
                }
            } finally {
                events.unsubscribe(subscription);
            }
            return new Reply().with("sent", sent);
        }
    };
}
