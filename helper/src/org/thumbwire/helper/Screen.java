package org.thumbwire.helper;

/** The built-in display, as it is turned now. */
final class Screen {
    final int width;
    final int height;
    /** Quarter turns, counted like `android.view.Surface`. */
    final int rotation;

    private Screen(int width, int height, int rotation) {
        this.width = width;
        this.height = height;
        this.rotation = rotation;
    }

    static Screen now() throws Exception {
        Object manager = Call.of("getInstance").on(Services.named("android.hardware.display.DisplayManagerGlobal"));
        Object info = Call.of("getDisplayInfo").with(int.class, 0).on(manager);
        if (info == null) throw new Fault("internal", "Android describes no built-in display");
        Class<?> type = info.getClass();
        return new Screen(type.getField("logicalWidth").getInt(info), type.getField("logicalHeight").getInt(info),
                type.getField("rotation").getInt(info));
    }
}
