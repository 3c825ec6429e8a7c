// Files below a folder in which strangers may name them: one name says both, and such a file is opened below its folder or not at all.
//
// Made by app/programs/server for --media-folder, understood by openMedia() in whichever process opens it. No link is followed below the
// folder, so that nothing that is swapped between a look at the name and its opening leads outside. Other calls take the name for an
// ordinary one. Errors: errno. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/ground/process/open_file.h"

namespace winnow::app {

struct BeneathFolder {
  std::string folder;
  std::string rest;  // without "." and ".."

  std::string name() const;
  static std::optional<BeneathFolder> named(std::string_view name);  // nothing: an ordinary name
};

// By openat2, or where the kernel has none (before Linux 5.6) by the same steps one after another.
OpenFile openBeneath(const BeneathFolder& file, int flags);
OpenFile openStepByStep(const BeneathFolder& file, int flags);

}  // namespace winnow::app
