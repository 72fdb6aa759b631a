package org.thumbwire.helper;

import java.util.Arrays;

/** The op `stream`: a picture of the screen, and another whenever it shows something else, until it is cancelled. */
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
        long until = Server.now() + request.millis("for_ms", Integer.MAX_VALUE, Integer.MAX_VALUE);
        byte[] last = Frame.NO_BODY;
        long sent = 0;
        automation.acquire(task, options.limit);
        try {
            while (true) {
                task.check();
                long seen = events.number();
                long taken = Server.now();
                Reply picture = screenshot.take(options, task);
                // Equal pixels give equal bytes. A host that reads slowly stops the writing, so no picture waits here.
                if (!Arrays.equals(picture.body, last)) {
                    last = picture.body;
                    sent++;
                    task.send(picture);
                }
                task.sleep(Math.min(taken + gap, until) - Server.now());
                long left = until - Server.now();
                if (left <= 0) break;
                events.waitForChange(seen, Math.min(left, CHECK), task);
            }
        } finally {
            automation.done();
        }
        return new Reply().with("sent", sent);
    }
}
