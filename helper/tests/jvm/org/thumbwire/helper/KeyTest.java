package org.thumbwire.helper;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;

final class KeyTest {
    static void key_is_new_each_time_and_only_its_owner_can_read_it() throws Exception {
        File folder = Files.createTempDirectory("key").toFile();
        File file = new File(folder, "name.key");
        String first = Key.write(file);
        String second = Key.write(file);
        Check.that(first.matches("[0-9a-f]{32}") && !first.equals(second), first);
        Check.equal(second, new String(Files.readAllBytes(file.toPath())));
        Check.equal("r--------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.toPath())));
        Check.equal(1, folder.list().length);
    }
}
