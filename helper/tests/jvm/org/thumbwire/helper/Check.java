package org.thumbwire.helper;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/** Runs the tests: every static method without parameters of the classes named below is one. */
public final class Check {
    private static final Class<?>[] TESTS = {JsonTest.class, FrameTest.class, ReplyTest.class, RequestTest.class, CallTest.class, RivalsTest.class,
            ServerTest.class, KeyTest.class};

    private Check() {}

    public static void main(String[] args) throws Exception {
        int passed = 0;
        int failed = 0;
        for (Class<?> tests : TESTS) {
            Method[] methods = tests.getDeclaredMethods();
            Arrays.sort(methods, (a, b) -> a.getName().compareTo(b.getName()));
            for (Method test : methods) {
                int is = test.getModifiers();
                if (!Modifier.isStatic(is) || Modifier.isPrivate(is) || test.isSynthetic() || test.getParameterCount() > 0) continue;
                try {
                    test.invoke(null);
                    passed++;
                } catch (InvocationTargetException why) {
                    failed++;
                    System.out.println("failed: " + tests.getSimpleName() + "." + test.getName());
                    why.getCause().printStackTrace(System.out);
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void equal(Object expected, Object found) {
        boolean same = expected instanceof byte[] ? Arrays.equals((byte[]) expected, (byte[]) found)
                : expected == null ? found == null : expected.equals(found);
        if (!same) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static void that(boolean is, Object shown) {
        if (!is) throw new AssertionError(String.valueOf(shown));
    }

    interface Block {
        void run() throws Exception;
    }

    /** The error that this gives, of this code. */
    static Fault fault(String code, Block block) throws Exception {
        try {
            block.run();
        } catch (Fault fault) {
            equal(code, fault.code);
            return fault;
        }
        throw new AssertionError("no error " + code);
    }
}
