#include "app/cli/media_reading.h"

#include <memory>
#include <utility>

#include "app/cli/console_output.h"
#include "app/media_process/kernel_sandbox.h"
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

void note_missing_sandbox() {
  static bool told = false;
  if (reads_in_process || std::exchange(told, true) || app::kernelSandboxes() || app::sandboxIsRequired()) return;
  print_err("note: this system refuses the sandbox (seccomp): media are read with your rights; %s refuses them\n",
            app::kRequireSandboxOption);
}

std::string media_sandbox_words() {
  const auto* apart = dynamic_cast<app::ProcessMediaReader*>(&media_reader());
  if (apart == nullptr) return "none: media are read in this program (--in-process)";
  return app::wordsOf(apart->process().sandbox());
}

}  // namespace winnow::cli
