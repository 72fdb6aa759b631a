package org.thumbwire.helper;

import android.os.IBinder;
import android.os.ParcelFileDescriptor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** What `dumpsys SERVICE` prints, without starting a program. */
final class Reports {
    private static final int LARGEST = 6 << 20;
    private static final long LIMIT = 5000;

    private Reports() {}

    /** A list of reports after these bytes, as they come one after the other on a shell's output. */
    static byte[] append(byte[] bytes, List<?> reports, Task task) throws Exception {
        ByteArrayOutputStream to = new ByteArrayOutputStream(bytes.length + (1 << 15));
        to.write(bytes);
        for (Object report : reports) {
            if (!(report instanceof List) || ((List<?>) report).isEmpty()) throw wrong();
            for (Object word : (List<?>) report) if (!(word instanceof String)) throw wrong();
            @SuppressWarnings("unchecked")
            List<String> words = (List<String>) report;
            print(words, to, task);
        }
        return to.toByteArray();
    }

    private static Fault wrong() {
        return Request.wrong("reports", "a list of lists of a service and its arguments");
    }

    private static void print(List<String> words, final ByteArrayOutputStream to, Task task) throws Exception {
        String name = words.get(0);
        Object binder = Call.of("getService").with(String.class, name).on(Services.named("android.os.ServiceManager"));
        if (binder == null) throw new Fault("not_found", "there is no service " + Json.write(name));
        ParcelFileDescriptor[] pipe = ParcelFileDescriptor.createPipe();
        final InputStream from = new ParcelFileDescriptor.AutoCloseInputStream(pipe[0]);
        try {
            // Returns at once; the service writes until it closes its copy of our end.
            ((IBinder) binder).dumpAsync(pipe[1].getFileDescriptor(), words.subList(1, words.size()).toArray(new String[0]));
        } finally {
            pipe[1].close();
        }
        Thread reader = new Thread("report") {
            @Override
            public void run() {
                byte[] bytes = new byte[1 << 14];
                try {
                    int length;
                    while ((length = from.read(bytes)) > 0 && to.size() < LARGEST) to.write(bytes, 0, length);
                } catch (IOException closed) {
                    // We have closed it.
                } finally {
                    Connection.close(from);
                }
            }
        };
        reader.setDaemon(true);
        reader.start();
        try {
            reader.join(LIMIT);
        } finally {
            Connection.close(from);
        }
        task.check();
        if (reader.isAlive()) throw new Fault("timeout", "the service " + Json.write(name) + " did not report in time");
    }
}
