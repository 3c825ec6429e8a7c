#include "app/cli/media_reading.h"

#include <memory>

#include "app/media_process/process_media_reader.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

bool reads_in_process = false;

}  // namespace

app::MediaReader& media_reader() {
  static const std::unique_ptr<app::MediaReader> reader = app::makeMediaReader(reads_in_process);
  return *reader;
}

void read_media_in_process() { reads_in_process = true; }

std::string media_sandbox_words() {
  const auto* apart = dynamic_cast<app::ProcessMediaReader*>(&media_reader());
  if (apart == nullptr) return "none: media are read in this program (--in-process)";
  return app::wordsOf(apart->process().sandbox());
}

}  // namespace winnow::cli
