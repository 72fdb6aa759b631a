package org.thumbwire.helper;

import java.io.IOException;

/** A running request: its cancellation, and replies before the last one. */
abstract class Task {
    private volatile boolean cancelled;
    private Thread thread;

    /** Sends a reply that is not the last one of this request. */
    abstract void send(Reply reply) throws IOException;

    /** Makes {@link #check} fail from now on, and interrupts the thread if it waits. */
    final synchronized void cancel() {
        cancelled = true;
        if (thread != null) thread.interrupt();
    }

    final synchronized void begin() {
        thread = Thread.currentThread();
        if (cancelled) thread.interrupt();
    }

    /** The thread may be interrupted no more. */
    final synchronized void end() {
        thread = null;
        Thread.interrupted();
    }

    final void check() throws Fault {
        if (cancelled) throw Fault.cancelled();
    }

    final void sleep(long millis) throws Fault {
        check();
        try {
            if (millis > 0) Thread.sleep(millis);
        } catch (InterruptedException why) {
            throw Fault.cancelled();
        }
    }
}
