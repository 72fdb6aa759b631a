package org.thumbwire.helper;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.security.SecureRandom;

/**
 * What tells hosts that they talk to us: random bytes in a file that only the shell can read. Any
 * app may listen at our socket's name before we do.
 */
final class Key {
    private static final int BITS = 128;

    private Key() {}

    /** A new key, which is in this file from now on. */
    static String write(File file) throws IOException {
        SecureRandom random = new SecureRandom();
        String key = hex(random);
        // Nobody can guess the name and open it before its permissions are right.
        File fresh = new File(file.getPath() + "." + hex(random));
        FileOutputStream to = new FileOutputStream(fresh);
        try {
            fresh.setReadable(false, false);
            fresh.setWritable(false, false);
            fresh.setReadable(true, true);
            to.write(key.getBytes(Json.UTF_8));
        } finally {
            to.close();
        }
        if (!fresh.renameTo(file)) throw new IOException("cannot write " + file);
        return key;
    }

    private static String hex(SecureRandom random) {
        return String.format("%032x", new BigInteger(BITS, random));
    }
}
