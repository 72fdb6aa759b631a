package org.thumbwire.helper;

import android.os.Looper;
import android.os.Process;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Starts the helper: `CLASSPATH=thumbwire-helper.jar app_process /system/bin org.thumbwire.helper.Main NAME`, with a token
 * as the first line of standard input. It prints `ready` when it listens at the abstract socket NAME, and ends with
 * standard input.
 */
public final class Main {
    static final long PROTOCOL = 1;
    private static final int LONGEST_TOKEN = 256;

    private Main() {}

    public static void main(String[] args) {
        int status = 1;
        try {
            status = serve(args);
        } catch (Throwable why) {
            System.err.println(why);
        }
        System.out.flush();
        // Threads that wait for the phone must not keep it.
        Runtime.getRuntime().halt(status);
    }

    private static int serve(String[] args) throws Exception {
        String token = args.length == 1 ? line(System.in) : "";
        if (token.isEmpty()) {
            System.err.println("usage: Main NAME, with a token in standard input");
            return 2;
        }
        // Some of Android's classes expect a main thread with a queue.
        Looper.prepareMainLooper();
        EventLog events = new EventLog();
        Automation automation = new Automation(events);
        Map<String, Operation> operations = operations(automation, events);
        List<String> ops = new ArrayList<String>(operations.keySet());
        ops.add("bye");
        ops.add("cancel");
        Server server = new Server(new LocalListener(args[0]), token, Process.myUid(), new Server.Limits(), new Hello(ops),
                operations);
        System.out.println("ready");
        watch(server);
        String why = server.run();
        automation.release(1000);
        System.err.println("ended: " + why);
        return 0;
    }

    private static Map<String, Operation> operations(final Automation automation, EventLog events) {
        Input input = new Input(events);
        Touch touch = new Touch(input);
        Keys keys = new Keys(input);
        Clipboard clipboard = new Clipboard();
        Screenshot screenshot = new Screenshot(automation);
        Map<String, Operation> operations = new TreeMap<String, Operation>();
        operations.put("tree", new Tree(automation, events));
        operations.put("tap", touch.tap);
        operations.put("swipe", touch.swipe);
        operations.put("touch", touch.touch);
        operations.put("key", keys);
        operations.put("text", new Text(automation, keys, clipboard));
        operations.put("clip_get", clipboard.get);
        operations.put("clip_set", clipboard.set);
        operations.put("shot", screenshot);
        operations.put("stream", new PictureStream(automation, events, screenshot));
        operations.put("events", new Events(automation, events));
        operations.put("apps", new Packages());
        operations.put("call_service", new ServiceCall());
        operations.put("release", new Operation() {
            @Override
            public Reply run(Request request, Task task) throws Exception {
                return new Reply().with("released", automation.release(request.millis("limit_ms", 10000, 2000)));
            }
        });
        return operations;
    }

    /** Standard input ends when the host's adb connection does. Hanging up alone would not tell on a phone without a terminal. */
    private static void watch(final Server server) {
        Thread watch = new Thread("standard input") {
            @Override
            public void run() {
                try {
                    byte[] bytes = new byte[256];
                    while (System.in.read(bytes) >= 0) continue;
                } catch (IOException gone) {
                    // As an end.
                }
                server.end("standard input ended");
            }
        };
        watch.setDaemon(true);
        watch.start();
    }

    private static String line(InputStream from) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next; (next = from.read()) >= 0 && next != '\n' && line.length() < LONGEST_TOKEN; ) line.append((char) next);
        return line.toString().trim();
    }
}
