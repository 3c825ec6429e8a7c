// --encoding: what documents and subtitles are read in, as the terminal takes it.
//
// Used by every command that reads some.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace winnow::cli {

// into: receives a name of app/media/files/text_encoding.h, of one that people write ("cp1251").
void add_encoding_option(CLI::App& command, std::string& into);

}  // namespace winnow::cli
