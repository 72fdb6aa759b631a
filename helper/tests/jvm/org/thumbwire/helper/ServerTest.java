package org.thumbwire.helper;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The server over loopback sockets, with operations that need no phone. */
final class ServerTest {
    private static final int OWN = 1234;

    /** A server in a thread; peers come with the user ids that the test says. */
    private static final class Running implements AutoCloseable {
        final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        final LinkedBlockingQueue<Integer> uids = new LinkedBlockingQueue<Integer>();
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch cancelled = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final LinkedBlockingQueue<Boolean> alone = new LinkedBlockingQueue<Boolean>();
        final LinkedBlockingQueue<String> ended = new LinkedBlockingQueue<String>();
        final Server.Limits limits = new Server.Limits();

        Running() throws IOException {
            this(60000, 60000);
        }

        Running(long silence, long alone) throws IOException {
            limits.silence = silence;
            limits.alone = alone;
            Map<String, Operation> operations = new HashMap<String, Operation>();
            operations.put("echo", (request, task) -> new Reply().with("text", request.text("text")).body("body".getBytes()));
            operations.put("wait", (request, task) -> {
                started.countDown();
                try {
                    go.await();
                } catch (InterruptedException why) {
                    cancelled.countDown();
                    throw why;
                }
                return new Reply();
            });
            operations.put("refuse", (request, task) -> {
                throw new SecurityException("not allowed");
            });
            operations.put("fail", (request, task) -> {
                throw new IllegalStateException();
            });
            operations.put("overflow", (request, task) -> new Reply().body(new byte[Frame.LARGEST + 1]));
            operations.put("many", (request, task) -> {
                for (int i = 0; i < 3; i++) task.send(new Reply().with("n", i));
                return new Reply().with("n", 3);
            });
            Server server = new Server(new Sockets(this), OWN, limits, (request, task) -> new Reply().with("protocol", 1), operations,
                    () -> this.alone.add(true));
            Thread thread = new Thread(() -> {
                try {
                    ended.add(server.run());
                } catch (InterruptedException never) {
                    ended.add("interrupted");
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        Client connect(int uid) throws IOException {
            uids.add(uid);
            return new Client(new Socket(socket.getInetAddress(), socket.getLocalPort()));
        }

        Client host() throws Exception {
            Client client = connect(2000);
            client.ask(1, "hello", "protocol", 1);
            Check.equal(1L, client.read().get("protocol"));
            return client;
        }

        String end() throws InterruptedException {
            return ended.poll(20, TimeUnit.SECONDS);
        }

        @Override
        public void close() throws IOException {
            go.countDown();
            socket.close();
        }
    }

    private static final class Sockets implements Listener {
        private final Running running;

        Sockets(Running running) {
            this.running = running;
        }

        @Override
        public Peer accept() throws IOException {
            Socket peer = running.socket.accept();
            int uid = running.uids.remove();
            return new Peer() {
                @Override
                public InputStream in() throws IOException {
                    return peer.getInputStream();
                }

                @Override
                public OutputStream out() throws IOException {
                    return peer.getOutputStream();
                }

                @Override
                public int uid() {
                    return uid;
                }

                @Override
                public void close() throws IOException {
                    // What was written before must arrive.
                    peer.shutdownOutput();
                    peer.shutdownInput();
                }
            };
        }

        @Override
        public void close() throws IOException {
            running.socket.close();
        }
    }

    private static final class Client {
        final Socket socket;
        final DataInputStream in;

        Client(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(20000);
            in = new DataInputStream(socket.getInputStream());
        }

        void ask(long id, String op, Object... fields) throws IOException {
            Map<String, Object> header = new LinkedHashMap<String, Object>();
            header.put("id", id);
            header.put("op", op);
            for (int i = 0; i < fields.length; i += 2) header.put((String) fields[i], fields[i + 1]);
            new Frame(header, Frame.NO_BODY).write(socket.getOutputStream());
        }

        Map<String, Object> read() throws Exception {
            Frame frame = Frame.read(in, Frame.LARGEST);
            return frame == null ? null : frame.header;
        }

        void raw(byte... bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        /** Whether the server has closed, after at most one error with this code. */
        void closed(String code) throws Exception {
            try {
                Map<String, Object> last = read();
                if (last != null && code != null) {
                    Check.equal(code, last.get("error"));
                    last = read();
                }
                Check.equal(null, last);
            } catch (EOFException | java.net.SocketException end) {
                return;
            }
        }

        void error(String code) throws Exception {
            Map<String, Object> reply = read();
            Check.equal(code, reply.get("error"));
            Check.that(!((String) reply.get("message")).isEmpty(), reply);
        }
    }

    static void host_asks_and_is_answered() throws Exception {
        try (Running running = new Running()) {
            Client host = running.host();
            host.ask(2, "echo", "text", "é😀");
            Frame frame = Frame.read(host.in, Frame.LARGEST);
            Check.equal("{\"id\":2,\"ok\":true,\"text\":\"é😀\"}", Json.write(frame.header));
            Check.equal("body", new String(frame.body));
            host.ask(3, "cancel");
            Check.equal("{\"id\":3,\"ok\":true,\"cancelled\":false}", Json.write(host.read()));
            host.ask(4, "many");
            for (long i = 0; i < 3; i++) Check.equal("{\"id\":4,\"ok\":true,\"n\":" + i + ",\"more\":true}", Json.write(host.read()));
            Check.equal("{\"id\":4,\"ok\":true,\"n\":3}", Json.write(host.read()));
        }
    }

    static void failures_have_codes_and_words() throws Exception {
        try (Running running = new Running()) {
            Client host = running.host();
            host.ask(2, "fly");
            host.error("unsupported");
            host.ask(3, "echo", "text", 5);
            host.error("malformed");
            host.ask(4, "refuse");
            host.error("refused");
            host.ask(5, "fail");
            host.error("internal");
            host.ask(6, "overflow");
            host.error("too_large");
            host.ask(7, "cancel");
            Check.equal(true, host.read().get("ok"));
        }
    }

    static void answers_come_out_of_order_and_requests_can_be_cancelled() throws Exception {
        try (Running running = new Running()) {
            Client host = running.host();
            host.ask(2, "wait");
            running.started.await();
            host.ask(2, "echo", "text", "same id");
            host.error("malformed");
            host.ask(3, "echo", "text", "x");
            Check.equal(3L, host.read().get("id"));
            host.ask(4, "cancel", "of", 2);
            Map<String, Object> first = host.read();
            Map<String, Object> second = host.read();
            Map<String, Object> cancel = first.get("id").equals(4L) ? first : second;
            Map<String, Object> waited = cancel == first ? second : first;
            Check.equal(true, cancel.get("cancelled"));
            Check.equal("cancelled", waited.get("error"));
            running.cancelled.await();
            host.ask(5, "cancel", "of", 2);
            Check.equal(false, host.read().get("cancelled"));
            host.ask(6, "cancel");
            Check.equal(false, host.read().get("cancelled"));
        }
    }

    static void other_users_are_disconnected_at_once() throws Exception {
        try (Running running = new Running()) {
            running.connect(10030).closed(null);
            for (int uid : new int[] {0, 2000, OWN}) {
                Client client = running.connect(uid);
                client.ask(1, "cancel");
                Check.equal(true, client.read().get("ok"));
            }
        }
    }

    static void all_hosts_share_it_and_each_is_answered() throws Exception {
        try (Running running = new Running()) {
            Client first = running.host();
            Client second = running.host();
            first.ask(2, "wait");
            running.started.await();
            second.ask(2, "echo", "text", "x");
            Check.equal("x", second.read().get("text"));
            // One that breaks the protocol or leaves takes nothing from the others.
            second.ask(3, "bye");
            Check.equal(true, second.read().get("ok"));
            second.closed(null);
            running.go.countDown();
            Check.equal(2L, first.read().get("id"));
            Check.equal(null, running.alone.peek());
            Check.equal(null, running.ended.peek());
            first.socket.close();
            running.alone.take();
        }
    }

    static void another_version_is_unsupported() throws Exception {
        try (Running running = new Running()) {
            Client client = running.connect(2000);
            client.ask(1, "hello", "protocol", 2);
            client.closed("unsupported");
        }
    }

    static void large_and_malformed_frames_end_the_connection() throws Exception {
        try (Running running = new Running()) {
            Client large = running.connect(2000);
            // 10 MB, announced and refused.
            large.raw((byte) 0, (byte) 0x98, (byte) 0x96, (byte) 0x80, (byte) 0, (byte) 0, (byte) 0, (byte) 0);
            large.closed("too_large");
            Client list = running.connect(2000);
            list.raw((byte) 0, (byte) 0, (byte) 0, (byte) 2, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) '[', (byte) ']');
            list.closed("malformed");
            Client half = running.connect(2000);
            half.raw((byte) 0, (byte) 0);
            half.socket.shutdownOutput();
            half.closed(null);
            // None of it ended the server.
            Client host = running.host();
            host.raw((byte) 0, (byte) 0x80, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1);
            host.closed("too_large");
            running.host();
            Check.equal(null, running.ended.peek());
        }
    }

    static void random_bytes_never_end_the_server() throws Exception {
        Random random = new Random(20);
        try (Running running = new Running()) {
            for (int i = 0; i < 200; i++) {
                byte[] bytes = new byte[random.nextInt(200)];
                random.nextBytes(bytes);
                // Small lengths, so that some headers are read.
                if (i % 2 == 0 && bytes.length > 8) {
                    for (int at = 0; at < 8; at++) bytes[at] = 0;
                    bytes[3] = (byte) random.nextInt(bytes.length - 8);
                }
                Client client = running.connect(2000);
                client.raw(bytes);
                client.socket.shutdownOutput();
                try {
                    while (client.in.read() >= 0) continue;
                } catch (java.net.SocketException reset) {
                    continue;
                }
            }
            Client host = running.host();
            host.ask(2, "cancel");
            Check.equal(true, host.read().get("ok"));
        }
    }

    static void connections_are_limited() throws Exception {
        try (Running running = new Running()) {
            Client[] clients = new Client[Server.MOST_CONNECTIONS];
            for (int i = 0; i < clients.length; i++) clients[i] = running.connect(2000);
            running.connect(2000).closed(null);
            clients[0].socket.close();
        }
    }

    static void it_ends_some_time_after_its_last_host_and_cancels_what_runs() throws Exception {
        try (Running running = new Running(60000, 200)) {
            Client host = running.host();
            host.ask(2, "wait");
            running.started.await();
            Check.equal(null, running.ended.poll(500, TimeUnit.MILLISECONDS));
            host.socket.close();
            running.cancelled.await();
            Check.equal("nobody is connected", running.end());
        }
    }

    static void a_host_can_end_it_for_all() throws Exception {
        try (Running running = new Running()) {
            Client other = running.host();
            Client host = running.host();
            host.ask(2, "bye", "all", true);
            Check.equal(true, host.read().get("ok"));
            Check.equal("bye", running.end());
            other.closed(null);
        }
    }

    static void it_ends_if_nobody_connects() throws Exception {
        try (Running running = new Running(60000, 100)) {
            Check.equal("nobody is connected", running.end());
        }
    }

    static void it_ends_after_silence_but_not_while_a_request_runs() throws Exception {
        try (Running running = new Running(300, 60000)) {
            Client host = running.host();
            host.ask(2, "wait");
            running.started.await();
            Check.equal(null, running.ended.poll(700, TimeUnit.MILLISECONDS));
            running.go.countDown();
            Check.equal(2L, host.read().get("id"));
            Check.that(running.end().startsWith("nothing was asked"), "silence");
        }
    }

}
