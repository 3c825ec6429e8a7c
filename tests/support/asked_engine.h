// Tests of the engine's face ask the engine in this process, or winnow-engine where WINNOW_TEST_ENGINE names it: the same tests through
// processes, wire and files (ctest -L worker).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::testing {

bool engine_is_apart();

// opener: for an engine in this process.
std::unique_ptr<Engine> make_asked_engine(MediaOpener* opener);

// An engine in another process reads files: the pictures of `opener` that these messages have become files in `folder`. False: there is a
// video among them, which no file would give back to the bit.
bool put_into_files(std::vector<Message>& messages, MediaOpener& opener, const std::string& folder);

}  // namespace winnow::testing
