#!/usr/bin/env bash
# A Java program with 300,000 small arrays and 2,000 direct buffers a little above 64 KiB: its peak of resident memory is at most
# 1.10 times that without huge pages.
source "$(dirname "$0")/common.sh"
need javac openjdk-17-jdk-headless

cat >Buffers.java <<'JAVA'
import java.nio.ByteBuffer;
import java.nio.file.*;

class Buffers {
    public static void main(String[] arguments) throws Exception {
        byte[][] small = new byte[300_000][];
        for (int i = 0; i < small.length; i++) small[i] = new byte[100 + i % 100];
        ByteBuffer[] direct = new ByteBuffer[2000];
        for (int i = 0; i < direct.length; i++) {
            direct[i] = ByteBuffer.allocateDirect(65536 + i);
            for (int k = 0; k < direct[i].capacity(); k += 512) direct[i].put(k, (byte) 1);
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) System.out.println(line.replaceAll("[^0-9]", ""));
        }
    }
}
JAVA
javac Buffers.java

peak() { under java -Xmx256m -XX:MaxDirectMemorySize=512m -XX:+UseSerialGC Buffers; }
with=$(peak)
without=$(TIDEPOOL_HUGE_PAGES=0 peak)
echo "$with KiB, without huge pages $without KiB"
[[ $without -gt 150000 ]] || fail 'the buffers are not there'
[[ $((with * 100)) -le $((without * 110)) ]] || fail 'huge pages cost more than 10 % of the memory'
