package org.thumbwire.helper;

import android.os.Looper;
import android.os.Process;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Starts the helper: `CLASSPATH=thumbwire-helper.jar app_process /system/bin
 * org.thumbwire.helper.Main NAME`. It prints `ready` when it listens at the abstract socket NAME,
 * of which a phone has one, and its key is in the file NAME.key. Whoever started it may go; it ends
 * when no host has been connected for a while.
 */
public final class Main {
    static final long PROTOCOL = 1;
    private static final String FOLDER = "/data/local/tmp";

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
        if (args.length != 1) {
            System.err.println("usage: Main NAME");
            return 2;
        }
        // First, because it fails if another one runs, whose key must stay.
        LocalListener listener = new LocalListener(args[0]);
        String key = Key.write(new File(FOLDER, args[0] + ".key"));
        // Some of Android's classes expect a main thread with a queue.
        Looper.prepareMainLooper();
        EventLog events = new EventLog();
        final Automation automation = new Automation(events, new Rivals(new File("/proc"), Process.myPid()));
        Map<String, Operation> operations = operations(automation, events);
        List<String> ops = new ArrayList<String>(operations.keySet());
        ops.add("bye");
        ops.add("cancel");
        Runnable whenAlone = new Runnable() {
            @Override
            public void run() {
                letGo(automation);
            }
        };
        Server server = new Server(listener, Process.myUid(), new Server.Limits(), new Hello(ops, key), operations, whenAlone);
        System.out.println("ready");
        String why = server.run();
        letGo(automation);
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
        operations.put("front", new Front());
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

    private static void letGo(Automation automation) {
        try {
            automation.release(1000);
        } catch (Exception used) {
            // What uses it was cancelled with its connection, and is about to let it go.
        }
    }
}
