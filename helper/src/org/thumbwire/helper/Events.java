package org.thumbwire.helper;

/** The op `events`: reports what changes on the screen until it is cancelled. */
final class Events implements Operation {
    /** How often it looks whether it was cancelled. */
    private static final long CHECK = 500;
    /** How long another tool may hold UiAutomation. */
    private static final long LIMIT = 3000;
    /** How long another program's turn may take. */
    static final long TURN = 12000;

    private final Automation automation;
    private final EventLog events;

    Events(Automation automation, EventLog events) {
        this.automation = automation;
        this.events = events;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        EventLog.Subscription subscription = events.subscribe();
        try {
            automation.acquire(task, LIMIT);
            boolean acquired = true;
            try {
                task.send(new Reply().with("listening", true));
                while (true) {
                    task.check();
                    // Not longer: writing to a socket may swallow the interruption that cancels.
                    String change = subscription.next(CHECK);
                    task.check();
                    if (automation.isWanted()) {
                        automation.done();
                        acquired = false;
                        automation.acquire(task, TURN);
                        acquired = true;
                        // Something may have changed meanwhile.
                        if (change == null) change = "content";
                    }
                    if (change != null) task.send(new Reply().with("event", change));
                }
            } finally {
                if (acquired) automation.done();
            }
        } finally {
            events.unsubscribe(subscription);
        }
    }
}
