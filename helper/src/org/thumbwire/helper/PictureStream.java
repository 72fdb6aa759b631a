package org.thumbwire.helper;

import java.util.Arrays;

/**
 * The op `stream`: a picture of the screen, and another whenever it shows something else, until it
 * is cancelled.
 */
final class PictureStream implements Operation {
    /** How often to look although nothing was told: a video changes without events. */
    private static final long CHECK = 1000;

    private final Automation automation;
    private final EventLog events;
    private final Screenshot screenshot;

    PictureStream(Automation automation, EventLog events, Screenshot screenshot) {
        this.automation = automation;
        this.events = events;
        this.screenshot = screenshot;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        Screenshot.Options options = new Screenshot.Options(request);
        long gap = request.millis("gap_ms", 10000, 200);
        byte[] last = Frame.NO_BODY;
        automation.acquire(task, options.limit);
        boolean acquired = true;
        try {
            while (true) {
                task.check();
                long seen = events.number();
                long taken = Server.now();
                Reply picture = screenshot.take(options, task);
                // Equal pixels give equal bytes. A host that reads slowly stops the writing, so no picture waits here.
                if (!Arrays.equals(picture.body, last)) {
                    last = picture.body;
                    task.send(picture);
                }
                task.sleep(taken + gap - Server.now());
                events.waitForChange(seen, CHECK, task);
                if (automation.isWanted()) {
                    automation.done();
                    acquired = false;
                    automation.acquire(task, Events.TURN);
                    acquired = true;
                }
            }
        } finally {
            if (acquired) automation.done();
        }
    }
}
