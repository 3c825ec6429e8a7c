// `winnow-cli get`: a model of the Hugging Face hub by its name, or the small one of the package index; without a name the list of what is
// known to run.
//
// Declared apart from commands.h because it takes what it downloads with: tests have servers of their own. Needs QCoreApplication; runs an
// event loop until the download has ended. Ctrl+C ends it and keeps what has come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/exit_status.h"
#include "app/downloads/model_download.h"
#include "app/hub/hub_name.h"
#include "app/models/known_models.h"

namespace winnow::cli {

struct GetOptions {
  std::string model;  // id of an offer, or OWNER/NAME[:QUANTISATION]; empty: list them
};

// What is known to run, and how much memory this machine has for it (0: not known).
struct KnownToRun {
  std::vector<app::KnownModel> models;
  qint64 memory_bytes = 0;
};

using MakeHubDownload = std::function<std::unique_ptr<app::ModelDownload>(const app::HubName&)>;

// The model's path goes to stdout, everything else to stderr; a list goes to stdout.
ExitStatus run_get(const GetOptions& options, const app::ModelDownloads& downloads, const MakeHubDownload& hub, const KnownToRun& known);

}  // namespace winnow::cli
