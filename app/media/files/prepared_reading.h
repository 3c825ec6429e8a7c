// Takes from the system now what the first reading would take, for a process that will not be able to open anything later.
#pragma once

namespace winnow::app {

// The C library's modules for all encodings, the number of processors, and what codecs and OpenCV look up once. Once, before any thread.
void prepareReading();

}  // namespace winnow::app
