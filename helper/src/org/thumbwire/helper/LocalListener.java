package org.thumbwire.helper;

import android.net.LocalServerSocket;
import android.net.LocalSocket;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** An abstract socket, which needs no file and vanishes with its process. */
final class LocalListener implements Listener {
    private final LocalServerSocket socket;

    LocalListener(String name) throws IOException {
        socket = new LocalServerSocket(name);
    }

    @Override
    public Peer accept() throws IOException {
        final LocalSocket peer = socket.accept();
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
            public int uid() throws IOException {
                return peer.getPeerCredentials().getUid();
            }

            @Override
            public void close() throws IOException {
                try {
                    // Closing alone does not wake a thread that reads.
                    peer.shutdownInput();
                    peer.shutdownOutput();
                } finally {
                    peer.close();
                }
            }
        };
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
