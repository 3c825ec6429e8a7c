#include "app/programs/cli/encoding_option.h"

#include <CLI/CLI.hpp>

#include "app/media/files/text_encoding.h"
#include "app/programs/cli/console_output.h"

namespace winnow::cli {
namespace {

std::string encoding_problem(const std::string& name) {
  if (app::encodingNamed(name)) return {};
  return name + " is not a known encoding; use one of " + joined_words(app::encodingNames());
}

}  // namespace

void add_encoding_option(CLI::App& command, std::string& into) {
  const auto take = [&into](const std::string& name) { into = app::encodingNamed(name).value_or(name); };
  command
      .add_option_function<std::string>("--encoding", take,
                                        "encoding of documents and subtitles (Windows-1251, Shift_JIS, ...); default: detected")
      ->check(encoding_problem);
}

}  // namespace winnow::cli
