package org.thumbwire.helper;

import java.io.Closeable;
import java.io.IOException;

/** A socket that accepts connections. */
interface Listener extends Closeable {
    Peer accept() throws IOException;
}
