package org.thumbwire.helper;

import java.io.IOException;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Accepts connections, and ends when the one host has gone, at `bye`, or after a time without a frame.
 *
 * Any app on the phone can reach the socket. So a peer must be root, the shell, or our own user; it must know the token,
 * which only the process that started us has; and the token opens one connection, so hearing it later is of no use.
 */
final class Server {
    /** The limits that the tests shorten. */
    static final class Limits {
        /** It ends after this long without a frame or a running request. */
        long silence = 60000;
        /** A peer without the token is disconnected after this long. */
        long strangers = 10000;
    }

    static final int MOST_CONNECTIONS = 16;
    private static final int ROOT = 0;
    private static final int SHELL = 2000;

    private final Listener listener;
    private final byte[] token;
    private final int uid;
    private final Limits limits;
    final Map<String, Operation> operations;
    final Operation hello;
    private final Set<Connection> connections = new HashSet<Connection>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private String why = "";
    private Connection host;
    private long heard = now();
    private int busy;

    Server(Listener listener, String token, int uid, Limits limits, Operation hello, Map<String, Operation> operations) {
        this.listener = listener;
        this.token = token.getBytes(Json.UTF_8);
        this.uid = uid;
        this.limits = limits;
        this.hello = hello;
        this.operations = operations;
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
        long pause = Math.max(1, Math.min(limits.silence, limits.strangers) / 10);
        while (!ended.await(pause, java.util.concurrent.TimeUnit.MILLISECONDS)) watch();
        Set<Connection> left;
        synchronized (this) {
            left = new HashSet<Connection>(connections);
        }
        for (Connection connection : left) connection.close();
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

    private void watch() {
        Set<Connection> late = new HashSet<Connection>();
        synchronized (this) {
            if (busy == 0 && now() - heard >= limits.silence) end("nothing was asked for " + limits.silence + " ms");
            for (Connection connection : connections) {
                if (connection != host && now() - connection.since >= limits.strangers) late.add(connection);
            }
        }
        for (Connection connection : late) connection.close();
    }

    synchronized void end(String reason) {
        if (ended.getCount() == 0) return;
        why = reason;
        ended.countDown();
    }

    /** Whether this connection may ask. The first with the token is the host; there is no other. */
    synchronized boolean admit(Connection connection, String said) {
        boolean right = MessageDigest.isEqual(token, said.getBytes(Json.UTF_8));
        if (!right || (host != null && host != connection)) return false;
        host = connection;
        return true;
    }

    synchronized boolean isHost(Connection connection) {
        return host == connection;
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
            if (connection != host) return;
        }
        end("the host disconnected");
    }

    static long now() {
        return System.nanoTime() / 1000000;
    }
}
