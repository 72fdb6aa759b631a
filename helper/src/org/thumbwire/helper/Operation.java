package org.thumbwire.helper;

/** Something that a host can ask for. It may be called from several threads at once. */
interface Operation {
    /** Answers the request. Any exception becomes an error for the host. */
    Reply run(Request request, Task task) throws Exception;
}
