package org.thumbwire.helper;

import android.app.UiAutomation;
import android.os.Build;
import android.os.Bundle;
import android.view.accessibility.AccessibilityNodeInfo;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The ops `tree` and `act`: the screen's nodes, and actions on the very nodes that were shown. */
final class Nodes {
    private static final String[] NAMES = {"focus", "clear_focus", "select", "clear_selection", "click", "long_click",
        "accessibility_focus", "clear_accessibility_focus", "next_at_granularity", "previous_at_granularity",
        "next_html_element", "previous_html_element", "scroll_forward", "scroll_backward", "copy", "paste", "cut",
        "set_selection", "expand", "collapse", "dismiss", "set_text"};

    private final Automation automation;
    private final EventLog events;
    /** The last tree. */
    private List<AccessibilityNodeInfo> nodes = new ArrayList<AccessibilityNodeInfo>();
    private long rev;

    Nodes(Automation automation, EventLog events) {
        this.automation = automation;
        this.events = events;
    }

    final Operation tree = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            int most = (int) request.number("max_nodes", 1, 20000, 5000);
            long limit = request.millis("limit_ms", 10000, 2000);
            long idle = request.millis("idle_ms", 10000, 0);
            long moving = request.millis("idle_limit_ms", 60000, 1000);
            boolean windows = request.flag("windows", false) && Build.VERSION.SDK_INT >= 21;
            List<?> reports = request.list("reports", 8);
            Reply reply = new Reply();
            UiAutomation held = automation.acquire(task, limit);
            Dump dump;
            try {
                if (idle > 0) reply.with("still", events.waitForIdle(idle, moving, task));
                Automation.forgetNodes(held);
                dump = take(held, windows, most, limit, task, reply);
            } finally {
                automation.done();
            }
            byte[] xml = dump.xml.toString().getBytes(Json.UTF_8);
            reply.with("tree_bytes", xml.length);
            return reply.body(reports == null ? xml : Reports.append(xml, reports, task));
        }
    };

    private synchronized Dump take(UiAutomation held, boolean windows, int most, long limit, Task task, Reply reply)
            throws Exception {
        long until = Server.now() + limit;
        while (true) {
            Screen screen = Screen.now();
            Dump dump = new Dump(screen, most, task);
            List<Object> list = null;
            if (windows) {
                list = Windows.dump(held, dump);
            } else {
                AccessibilityNodeInfo root = held.getRootInActiveWindow();
                if (root != null) dump.window(root);
            }
            dump.end();
            // While one activity replaces another there is no window for some hundred ms.
            if (!dump.nodes.isEmpty()) {
                nodes = dump.nodes;
                rev++;
                reply.with("rev", rev).with("nodes", nodes.size()).with("width", screen.width)
                        .with("height", screen.height).with("rotation", screen.rotation);
                if (dump.truncated) reply.with("truncated", true);
                if (dump.missing > 0) reply.with("missing", dump.missing);
                if (list != null) reply.with("windows", list);
                return dump;
            }
            if (Server.now() >= until) {
                throw new Fault("no_window", "no window gave its nodes within " + limit + " ms",
                        "wake the phone, or wait until the app has started");
            }
            task.sleep(50);
        }
    }

    final Operation act = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            long of = request.number("rev", 1, Long.MAX_VALUE);
            int number = (int) request.number("node", 0, Integer.MAX_VALUE);
            String name = request.text("action");
            int action = action(name);
            Bundle arguments = arguments(request);
            UiAutomation held = automation.acquire(task, request.millis("limit_ms", 10000, 2000));
            events.acted();
            try {
                perform(held, of, number, name, action, arguments);
            } finally {
                automation.done();
            }
            return new Reply();
        }
    };

    @SuppressWarnings("deprecation")
    private synchronized void perform(UiAutomation held, long of, int number, String name, int action, Bundle arguments)
            throws Exception {
        if (of != rev) throw stale("tree " + of + " is not the last one, which is " + rev);
        if (number >= nodes.size()) throw stale("tree " + of + " has " + nodes.size() + " nodes");
        AccessibilityNodeInfo node = nodes.get(number);
        String was = words(node);
        adopt(node, held);
        if (!node.refresh()) throw stale("the node has gone");
        String is = words(node);
        // Lists show other items in the same view.
        if (!is.equals(was)) throw stale("the node now says " + is + ", then " + was);
        if (!node.isVisibleToUser()) throw stale("the node is not visible any more");
        if (action < 1 << 22 && (node.getActions() & action) == 0) {
            throw new Fault("refused", "the node does not offer " + name + ", only " + actions(node), "use one of these, or tap");
        }
        if (!node.performAction(action, arguments)) {
            throw new Fault("refused", "the app did not do " + name, "list the screen again");
        }
    }

    /** What a person would tell the node by. */
    private static String words(AccessibilityNodeInfo node) {
        return Json.write(Arrays.asList(node.getClassName() + "", node.getText() + "", node.getContentDescription() + ""));
    }

    private static Fault stale(String says) {
        return new Fault("stale_node", says, "list the screen again");
    }

    /**
     * Lets the node speak over today's connection. It remembers the one it came by, which ended when we let UiAutomation
     * go; the view that it stands for is the same.
     */
    static void adopt(AccessibilityNodeInfo node, UiAutomation held) throws Exception {
        Object connection = Call.of("getConnectionId").on(held);
        try {
            Field field = AccessibilityNodeInfo.class.getDeclaredField("mConnectionId");
            field.setAccessible(true);
            field.setInt(node, (Integer) connection);
        } catch (NoSuchFieldException changed) {
            // Then a node is stale after the next connection.
        }
    }

    private static int action(String name) throws Fault {
        for (int i = 0; i < NAMES.length; i++) if (NAMES[i].equals(name)) return 1 << i;
        // Since Android 6 actions are resources' ids.
        if (name.matches("[0-9]{1,9}")) return Integer.parseInt(name);
        throw Request.wrong("action", "a known action");
    }

    @SuppressWarnings("deprecation")
    private static String actions(AccessibilityNodeInfo node) {
        List<String> list = new ArrayList<String>();
        for (int i = 0; i < NAMES.length; i++) if ((node.getActions() & 1 << i) != 0) list.add(NAMES[i]);
        return list.toString();
    }

    private static Bundle arguments(Request request) throws Fault {
        Bundle arguments = new Bundle();
        if (request.has("start") || request.has("end")) {
            arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT,
                    (int) request.number("start", 0, Integer.MAX_VALUE));
            arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT,
                    (int) request.number("end", 0, Integer.MAX_VALUE));
        }
        if (request.has("text")) {
            arguments.putCharSequence("ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE", request.text("text"));
        }
        return arguments;
    }
}
