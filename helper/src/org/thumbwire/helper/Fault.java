package org.thumbwire.helper;

/** A failed request: a code for the host, one sentence for its user, and what to try next. */
final class Fault extends Exception {
    private static final long serialVersionUID = 1;

    final String code;
    final String advice;

    Fault(String code, String message, String advice) {
        super(message);
        this.code = code;
        this.advice = advice;
    }

    /** Nobody reads where it came from. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    Fault(String code, String message) {
        this(code, message, "");
    }

    static Fault malformed(String message) {
        return new Fault("malformed", message);
    }

    static Fault cancelled() {
        return new Fault("cancelled", "the request was cancelled; it may have acted");
    }

    static Fault unsupported(String message) {
        return new Fault("unsupported", message);
    }

    /** What an exception of the platform means to the host. */
    static Fault of(Throwable why) {
        if (why instanceof Fault) return (Fault) why;
        if (why instanceof InterruptedException) return cancelled();
        if (why instanceof SecurityException) {
            return new Fault("refused", message(why), "check the phone's developer options");
        }
        if (why instanceof OutOfMemoryError) return new Fault("too_large", "the phone has not enough memory for it");
        return new Fault("internal", message(why));
    }

    /** The exception's own words, or its name if it has none. At most 500 characters. */
    static String message(Throwable why) {
        String text = why.getMessage();
        if (text == null || text.isEmpty()) {
            text = why.getClass().getName();
            StackTraceElement[] trace = why.getStackTrace();
            if (trace.length > 0) text += " in " + trace[0].getClassName() + "." + trace[0].getMethodName();
        } else if (!(why instanceof SecurityException)) {
            text = why.getClass().getSimpleName() + ": " + text;
        }
        return text.length() > 500 ? text.substring(0, 500) : text;
    }
}
