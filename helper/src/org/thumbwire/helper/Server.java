package org.thumbwire.helper;

import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Accepts the connections of all hosts of this phone, and ends some time after the last one has
 * gone.
 *
 * Any app on the phone can reach the socket. So a peer must be root, the shell, or our own user,
 * all of which can do without us what we do. Hosts know us by a key that only they can read.
 */
final class Server {
    /** The limits that the tests shorten. */
    static final class Limits {
        /** It ends after this long without a connection. */
        long alone = 10000;
        /** It ends after this long without a frame or a running request. */
        long silence = 600000;
    }

    static final int MOST_CONNECTIONS = 16;
    private static final int ROOT = 0;
    private static final int SHELL = 2000;

    private final Listener listener;
    private final int uid;
    private final Limits limits;
    final Map<String, Operation> operations;
    final Operation hello;
    private final Runnable whenAlone;
    private final Set<Connection> connections = new HashSet<Connection>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private String why = "";
    private long heard = now();
    private long left = now();
    private int busy;

    /** `whenAlone` runs each time when the last connection has gone. */
    Server(Listener listener, int uid, Limits limits, Operation hello, Map<String, Operation> operations, Runnable whenAlone) {
        this.listener = listener;
        this.uid = uid;
        this.limits = limits;
        this.hello = hello;
        this.operations = operations;
        this.whenAlone = whenAlone;
    }

    /** Serves until the end; returns its reason. */
    String run() throws InterruptedException {
        Thread accept = new Thread("accept") {
            @Override
            public void run() {
                acceptAll();
            }
        };
        accept.setDaemon(true);
        accept.start();
        long pause = Math.max(1, Math.min(limits.silence, limits.alone) / 10);
        while (!ended.await(pause, java.util.concurrent.TimeUnit.MILLISECONDS)) watch();
        Set<Connection> last;
        synchronized (this) {
            last = new HashSet<Connection>(connections);
        }
        for (Connection connection : last) connection.close();
        try {
            listener.close();
        } catch (IOException closed) {
            // Nothing is left to do.
        }
        return why;
    }

    private void acceptAll() {
        while (true) {
            Peer peer;
            try {
                peer = listener.accept();
            } catch (IOException failed) {
                end("the socket failed: " + failed.getMessage());
                return;
            }
            try {
                int from = peer.uid();
                if (from != ROOT && from != SHELL && from != uid) throw new IOException("user " + from + " may not connect");
                Connection connection = new Connection(this, peer);
                synchronized (this) {
                    if (connections.size() >= MOST_CONNECTIONS) throw new IOException("too many connections");
                    connections.add(connection);
                }
                connection.start();
            } catch (IOException refused) {
                Connection.close(peer);
            }
        }
    }

    private synchronized void watch() {
        if (connections.isEmpty() && now() - left >= limits.alone) end("nobody is connected");
        if (busy == 0 && now() - heard >= limits.silence) end("nothing was asked for " + limits.silence + " ms");
    }

    synchronized void end(String reason) {
        if (ended.getCount() == 0) return;
        why = reason;
        ended.countDown();
    }

    synchronized void heard() {
        heard = now();
    }

    synchronized void busy(int more) {
        busy += more;
        heard = now();
    }

    void left(Connection connection) {
        synchronized (this) {
            connections.remove(connection);
            left = now();
            if (!connections.isEmpty()) return;
        }
        whenAlone.run();
    }

    static long now() {
        return System.nanoTime() / 1000000;
    }
}
