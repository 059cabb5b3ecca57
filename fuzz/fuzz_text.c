// libFuzzer target: any bytes as a trajectory in text, gzip included. Either a clear error comes out, or
// frames in ascending order that add up to what was counted. SPDX-License-Identifier: Apache-2.0
#include "trajectory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Whether the input is text or gzip is for the fuzzer to find; other formats have their own target.
    if (size >= 8 &&
        (memcmp(data, "SQLite f", 8) == 0 || memcmp(data, "\x89HDF\r\n\x1a\n", 8) == 0))
        return 0;
    read_trajectory(data, size);
    return 0;
}
