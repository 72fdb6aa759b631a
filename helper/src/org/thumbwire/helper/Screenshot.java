package org.thumbwire.helper;

import android.app.UiAutomation;
import android.graphics.Bitmap;
import android.graphics.Matrix;
import android.os.Build;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** The op `shot`: a JPEG of the screen, scaled and compressed on the phone, because the cable is the slow part. */
final class Screenshot implements Operation {
    /** What a request wants. */
    static final class Options {
        final int side;
        final int quality;
        final long limit;

        Options(Request request) throws Fault {
            side = (int) request.number("max_side", 16, 10000, 10000);
            quality = (int) request.number("quality", 1, 100, 80);
            limit = request.millis("limit_ms", 10000, 2000);
        }
    }

    private final Automation automation;
    /** UiAutomation gave no picture once: some virtual screens never do. */
    private volatile boolean byProgram;

    Screenshot(Automation automation) {
        this.automation = automation;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        return take(new Options(request), task);
    }

    /** A picture of now. */
    Reply take(Options options, Task task) throws Exception {
        String method = byProgram ? "screencap" : "UiAutomation";
        Bitmap picture = byProgram ? null : take(task, options.limit);
        if (picture == null) {
            picture = run(task);
            method = "screencap";
            byProgram = true;
        }
        picture = scale(picture, options.side);
        ByteArrayOutputStream to = new ByteArrayOutputStream(1 << 16);
        if (!picture.compress(Bitmap.CompressFormat.JPEG, options.quality, to)) {
            throw new Fault("internal", "cannot compress the picture");
        }
        Reply reply = new Reply().with("width", picture.getWidth()).with("height", picture.getHeight())
                .with("method", method);
        picture.recycle();
        return reply.body(to.toByteArray());
    }

    /** Follows the rotation of the screen. Null if Android cannot or may not. */
    private Bitmap take(Task task, long limit) throws Exception {
        UiAutomation held = automation.acquire(task, limit);
        Bitmap picture;
        try {
            picture = held.takeScreenshot();
        } finally {
            automation.done();
        }
        if (picture == null || Build.VERSION.SDK_INT < 26 || picture.getConfig() == Bitmap.Config.ARGB_8888) return picture;
        // Since Android 8 the picture may be in the graphics chip's memory, which cannot be scaled.
        return picture.copy(Bitmap.Config.ARGB_8888, false);
    }

    /** Halves first: one step to a small picture would skip most pixels. */
    private static Bitmap scale(Bitmap picture, int side) {
        int longest = Math.max(picture.getWidth(), picture.getHeight());
        while (longest > side) {
            double by = Math.max(0.5, (double) side / longest);
            int width = Math.max(1, (int) Math.round(picture.getWidth() * by));
            int height = Math.max(1, (int) Math.round(picture.getHeight() * by));
            Bitmap smaller = Bitmap.createScaledBitmap(picture, width, height, true);
            if (smaller != picture) picture.recycle();
            picture = smaller;
            longest = Math.max(width, height);
        }
        return picture;
    }

    /** Raw pixels of `screencap`, which before Android 5 are in the panel's natural position. */
    private static Bitmap run(Task task) throws Exception {
        Process program = new ProcessBuilder("/system/bin/screencap").start();
        Bitmap picture;
        try {
            program.getOutputStream().close();
            DataInputStream from = new DataInputStream(program.getInputStream());
            int width = number(from);
            int height = number(from);
            Bitmap.Config config = config(number(from));
            if (width <= 0 || height <= 0 || (long) width * height > 50000000 || config == null) {
                throw new Fault("internal", "screencap printed pixels in an unknown format", "use screencap -p");
            }
            int length = width * height * (config == Bitmap.Config.RGB_565 ? 2 : 4);
            byte[] pixels = all(from, length, task);
            picture = Bitmap.createBitmap(width, height, config);
            // Since Android 8 a colour space comes first.
            picture.copyPixelsFromBuffer(ByteBuffer.wrap(pixels, pixels.length - length, length).slice());
            picture.setHasAlpha(false);
        } catch (EOFException end) {
            throw new Fault("internal", "Android gave no picture of the screen", "use screencap -p");
        } finally {
            program.destroy();
        }
        int rotation = Screen.now().rotation;
        if (rotation == 0 || Build.VERSION.SDK_INT >= 21) return picture;
        Matrix turned = new Matrix();
        turned.postRotate(-90 * rotation);
        return Bitmap.createBitmap(picture, 0, 0, picture.getWidth(), picture.getHeight(), turned, false);
    }

    /** Android's numbers of pixel formats; null for one that a bitmap does not have. */
    private static Bitmap.Config config(int format) {
        if (format == 1 || format == 2) return Bitmap.Config.ARGB_8888;
        return format == 4 ? Bitmap.Config.RGB_565 : null;
    }

    private static int number(DataInputStream from) throws IOException {
        return Integer.reverseBytes(from.readInt());
    }

    private static byte[] all(InputStream from, int least, Task task) throws IOException, Fault {
        byte[] bytes = new byte[least + 4];
        int have = 0;
        while (have < bytes.length) {
            task.check();
            int more = from.read(bytes, have, bytes.length - have);
            if (more < 0) break;
            have += more;
        }
        if (have < least) throw new EOFException();
        return have == bytes.length ? bytes : java.util.Arrays.copyOf(bytes, have);
    }
}
