package org.thumbwire.helper;

import android.app.UiAutomation;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;

/** The op `tree`: the nodes of the window in front, and reports of services that belong to it. */
final class Tree implements Operation {
    private final Automation automation;
    private final EventLog events;

    Tree(Automation automation, EventLog events) {
        this.automation = automation;
        this.events = events;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        int most = (int) request.number("max_nodes", 1, 20000, 5000);
        long limit = request.millis("limit_ms", 10000, 2000);
        long idle = request.millis("idle_ms", 10000, 0);
        long moving = request.millis("idle_limit_ms", 60000, 1000);
        boolean compressed = request.flag("compressed", false);
        List<?> reports = request.list("reports", 8);
        Reply reply = new Reply();
        UiAutomation held = automation.acquire(task, limit);
        Dump dump;
        try {
            if (idle > 0) reply.with("still", events.waitForIdle(idle, moving, task));
            // Which nodes there are holds for all requests.
            synchronized (this) {
                Automation.prepare(held, compressed);
                dump = take(held, most, compressed, limit, task, reply);
            }
        } finally {
            automation.done();
        }
        byte[] xml = dump.xml.toString().getBytes(Json.UTF_8);
        reply.with("tree_bytes", xml.length);
        return reply.body(reports == null ? xml : Reports.append(xml, reports, task));
    }

    private static Dump take(UiAutomation held, int most, boolean compressed, long limit, Task task, Reply reply)
            throws Exception {
        long until = Server.now() + limit;
        while (true) {
            Screen screen = Screen.now();
            AccessibilityNodeInfo root = held.getRootInActiveWindow();
            // While one activity replaces another there is no window for some hundred ms.
            if (root != null) {
                Dump dump = new Dump(screen, most, compressed, task);
                dump.window(root);
                dump.end();
                reply.with("nodes", dump.nodes).with("width", screen.width).with("height", screen.height);
                if (dump.truncated) reply.with("truncated", true);
                if (dump.missing > 0) reply.with("missing", dump.missing);
                return dump;
            }
            if (Server.now() >= until) {
                throw new Fault("no_window", "no window gave its nodes within " + limit + " ms",
                        "wake the phone, or wait until the app has started");
            }
            task.sleep(50);
        }
    }
}
