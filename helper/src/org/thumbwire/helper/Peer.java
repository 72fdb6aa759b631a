package org.thumbwire.helper;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** One end of a socket. Closing it ends reads and writes of other threads. */
interface Peer extends Closeable {
    InputStream in() throws IOException;

    OutputStream out() throws IOException;

    /** The Linux user at the other end; the kernel vouches for it. */
    int uid() throws IOException;
}
