package org.thumbwire.helper;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A connection: reads requests, runs each in a thread of its own, and answers in the order in which
 * they finish. A bad frame ends it, because the start of the next frame is unknown.
 */
final class Connection extends Thread {
    /** Maximum running requests; a further one waits, and with it all that follow. */
    static final int MOST_REQUESTS = 64;

    private final Server server;
    private final Peer peer;
    private final Map<Long, Task> running = new HashMap<Long, Task>();

    Connection(Server server, Peer peer) {
        super("connection");
        this.server = server;
        this.peer = peer;
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            DataInputStream from = new DataInputStream(new BufferedInputStream(peer.in(), 1 << 13));
            while (true) {
                Frame frame;
                try {
                    frame = Frame.read(from, Frame.LARGEST);
                } catch (Fault bad) {
                    answer(0, bad);
                    break;
                }
                if (frame == null || !take(frame)) break;
            }
        } catch (IOException gone) {
            // The other end has closed, or we have.
        } catch (InterruptedException gone) {
            // We have.
        } finally {
            close();
            synchronized (running) {
                for (Task task : running.values()) task.cancel();
            }
            server.left(this);
        }
    }

    /** Returns whether the connection goes on. */
    private boolean take(Frame frame) throws IOException, InterruptedException {
        Object number = frame.header.get("id");
        Object name = frame.header.get("op");
        if (!(number instanceof Long) || (Long) number < 0 || !(name instanceof String)) {
            answer(0, Fault.malformed("a header without a number `id` and a text `op`"));
            return false;
        }
        long id = (Long) number;
        String op = (String) name;
        Request request = new Request(frame.header);
        if (op.equals("hello")) return greet(id, request);
        server.heard();
        if (op.equals("cancel")) {
            answer(id, cancel(frame.header.get("of")));
        } else if (op.equals("bye")) {
            answer(id, new Reply());
            if (Boolean.TRUE.equals(frame.header.get("all"))) server.end("bye");
            return false;
        } else {
            start(id, op, request);
        }
        return true;
    }

    private boolean greet(long id, Request request) throws IOException {
        try {
            server.heard();
            if (request.number("protocol", 0, Long.MAX_VALUE) != Main.PROTOCOL) {
                answer(id, new Fault("unsupported", "this helper supports only protocol version " + Main.PROTOCOL,
                        "push the helper that matches the host"));
                return false;
            }
            answer(id, server.hello.run(request, null));
            return true;
        } catch (Exception why) {
            answer(id, Fault.of(why));
            return false;
        }
    }

    private Reply cancel(Object of) {
        Task task;
        synchronized (running) {
            task = running.get(of);
        }
        if (task != null) task.cancel();
        return new Reply().with("cancelled", task != null);
    }

    private void start(final long id, String op, final Request request) throws IOException, InterruptedException {
        final Operation operation = server.operations.get(op);
        if (operation == null) {
            String shown = op.length() > 100 ? op.substring(0, 100) : op;
            answer(id, new Fault("unsupported", "unknown op " + Json.write(shown), "use one of `ops` in the answer to hello"));
            return;
        }
        final Task task = new Task() {
            @Override
            void send(Reply reply) throws IOException {
                write(id, reply.with("more", true));
            }
        };
        synchronized (running) {
            if (running.containsKey(id)) {
                answer(id, Fault.malformed("request " + id + " is still under way"));
                return;
            }
            while (running.size() >= MOST_REQUESTS) running.wait();
            running.put(id, task);
        }
        server.busy(1);
        Thread thread = new Thread(op) {
            @Override
            public void run() {
                perform(id, operation, request, task);
            }
        };
        thread.setDaemon(true);
        thread.start();
    }

    private void perform(long id, Operation operation, Request request, Task task) {
        Reply reply = null;
        Fault failed = null;
        task.begin();
        try {
            task.check();
            boolean deflate = request.flag("deflate", false);
            reply = operation.run(request, task);
            if (deflate) reply.deflate();
        } catch (Throwable why) {
            failed = Fault.of(why);
        }
        task.end();
        synchronized (running) {
            running.remove(id);
            running.notify();
        }
        try {
            if (failed == null) answer(id, reply);
            else answer(id, failed);
        } catch (IOException gone) {
            close();
        }
        server.busy(-1);
    }

    private void answer(long id, Reply reply) throws IOException {
        write(id, reply);
    }

    private void answer(long id, Fault failed) throws IOException {
        Map<String, Object> header = new LinkedHashMap<String, Object>();
        header.put("id", id);
        header.put("error", failed.code);
        header.put("message", failed.getMessage());
        header.put("advice", failed.advice);
        write(new Frame(header, Frame.NO_BODY));
    }

    private void write(long id, Reply reply) throws IOException {
        Map<String, Object> header = new LinkedHashMap<String, Object>();
        header.put("id", id);
        header.put("ok", true);
        header.putAll(reply.fields);
        write(new Frame(header, reply.body));
    }

    private void write(Frame frame) throws IOException {
        synchronized (peer) {
            frame.write(peer.out());
        }
    }

    void close() {
        close(peer);
    }

    static void close(Closeable it) {
        try {
            it.close();
        } catch (IOException closed) {
            // It is closed in any case.
        }
    }
}
