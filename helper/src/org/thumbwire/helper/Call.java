package org.thumbwire.helper;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A call of a method that Android hides and changes from release to release. It is found by its names, and its parameters
 * are filled by their types, never by the release's number: makers of phones add parameters of their own.
 *
 * The given values take the parameters in order, each the next one of its type; parameters that remain get null, 0 or
 * false. A method without a place for every required value does not fit. Of those that fit, the one with places for most
 * values is called, then the one with fewest parameters left over.
 */
final class Call {
    private static final class Value {
        final Class<?>[] types;
        final Object value;
        final boolean required;

        Value(Object value, boolean required, Class<?>... types) {
            this.types = types;
            this.value = value;
            this.required = required;
        }

        Object as(Class<?> type) {
            if (type == long.class && value instanceof Number) return ((Number) value).longValue();
            return value;
        }
    }

    /** What was found, by class, names and types: Dalvik takes 50 ms to list the methods of a large class. */
    private static final Map<String, Method> FOUND = new ConcurrentHashMap<String, Method>();

    private final String[] names;
    private final List<Value> values = new ArrayList<Value>();

    private Call(String... names) {
        this.names = names;
    }

    /** A method with the first of these names that the class has. */
    static Call of(String... names) {
        return new Call(names);
    }

    Call with(Class<?> type, Object value) {
        values.add(new Value(value, true, type));
        return this;
    }

    /** For a parameter that some releases do not have. */
    Call maybe(Class<?> type, Object value) {
        values.add(new Value(value, false, type));
        return this;
    }

    /** For a parameter that was an int and became a long, as flags do. */
    Call number(int value) {
        values.add(new Value(value, true, int.class, long.class));
        return this;
    }

    /** Calls the method of this object. */
    Object on(Object target) throws Exception {
        return call(target.getClass(), target);
    }

    /** Calls the static method of this class. */
    Object on(Class<?> holder) throws Exception {
        return call(holder, null);
    }

    private Object call(Class<?> holder, Object target) throws Exception {
        Method method = find(holder);
        if (method == null) throw Fault.unsupported("this Android has no fitting " + names[0] + " in " + holder.getName());
        method.setAccessible(true);
        try {
            return method.invoke(target, fill(method.getParameterTypes()));
        } catch (InvocationTargetException why) {
            Throwable cause = why.getCause();
            if (cause instanceof Error) throw (Error) cause;
            throw (Exception) cause;
        }
    }

    /** The method that would be called, for the answer to hello; null if there is none. */
    String variant(Class<?> holder) {
        Method method = find(holder);
        if (method == null) return null;
        StringBuilder text = new StringBuilder(holder.getSimpleName()).append('.').append(method.getName()).append('(');
        String before = "";
        for (Class<?> type : method.getParameterTypes()) {
            text.append(before).append(type.getSimpleName());
            before = ",";
        }
        return text.append(')').toString();
    }

    private Method find(Class<?> holder) {
        StringBuilder key = new StringBuilder(holder.getName());
        for (String name : names) key.append(' ').append(name);
        for (Value value : values) {
            key.append(value.required ? '+' : '?');
            for (Class<?> type : value.types) key.append(type.getName()).append(' ');
        }
        Method found = FOUND.get(key.toString());
        if (found == null) {
            found = search(holder);
            if (found != null) FOUND.put(key.toString(), found);
        }
        return found;
    }

    private Method search(Class<?> holder) {
        for (String name : names) {
            Method best = null;
            int score = -1;
            for (Class<?> from = holder; from != null; from = from.getSuperclass()) {
                for (Method method : from.getDeclaredMethods()) {
                    if (!method.getName().equals(name) || method.isBridge()) continue;
                    int its = score(method.getParameterTypes());
                    if (its > score) {
                        best = method;
                        score = its;
                    }
                }
            }
            if (best == null && holder.isInterface()) {
                for (Method method : holder.getMethods()) {
                    int its = method.getName().equals(name) ? score(method.getParameterTypes()) : -1;
                    if (its > score) {
                        best = method;
                        score = its;
                    }
                }
            }
            if (best != null) return best;
        }
        return null;
    }

    /** How well these parameters fit; negative if they do not. */
    private int score(Class<?>[] types) {
        boolean[] used = new boolean[values.size()];
        int filled = 0;
        for (Class<?> type : types) if (take(type, used) != null) filled++;
        for (int i = 0; i < used.length; i++) if (values.get(i).required && !used[i]) return -1;
        return filled * 100 + Math.max(0, 99 - (types.length - filled));
    }

    private Object[] fill(Class<?>[] types) {
        boolean[] used = new boolean[values.size()];
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            Value value = take(types[i], used);
            arguments[i] = value != null ? value.as(types[i]) : nothing(types[i]);
        }
        return arguments;
    }

    private Value take(Class<?> type, boolean[] used) {
        for (int i = 0; i < used.length; i++) {
            if (used[i]) continue;
            for (Class<?> its : values.get(i).types) {
                if (its == type || (!type.isPrimitive() && type != Object.class && type.isAssignableFrom(its))) {
                    used[i] = true;
                    return values.get(i);
                }
            }
        }
        return null;
    }

    private static Object nothing(Class<?> type) {
        if (!type.isPrimitive()) return null;
        if (type == boolean.class) return false;
        if (type == char.class) return (char) 0;
        if (type == byte.class) return (byte) 0;
        if (type == short.class) return (short) 0;
        if (type == int.class) return 0;
        if (type == long.class) return 0L;
        if (type == float.class) return 0f;
        return 0d;
    }
}
