// The reader of media that everything in the terminal program shares: one process for a command, however many files it has.
//
// Made at the first call. Threads: any.
#pragma once

#include <string>

#include "app/media/files/media_reader.h"

namespace winnow::cli {

app::MediaReader& media_reader();

// Before the first call of media_reader(): the reader is this program itself.
void read_media_in_process();

// Says once, on standard error, that media are read without a sandbox, where that is so.
void note_missing_sandbox();
// The contents of standard input, as a file that is removed when the program ends: media are opened by their names, in another process.
// Read at the first call. Throws Exception(kFileUnreadable, kLimitExceeded).
std::string standard_input_file();

// The rights that the kernel takes from the process that reads media, for `system`.
std::string media_sandbox_words();

}  // namespace winnow::cli
