// `winnow-cli get`: a model of the Hugging Face hub by its name, the small one of the package index, or the libraries that a GPU needs;
// without a name the list of what is known to run.
//
// Declared apart from commands.h because it takes what it downloads with: tests have servers of their own. Needs QCoreApplication; runs an
// event loop until the download has ended. Ctrl+C ends it and keeps what has come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/library/downloads/model_download.h"
#include "app/library/hub/hub_place.h"
#include "app/library/models/known_models.h"
#include "app/programs/cli/exit_status.h"

namespace winnow::cli {

struct GetOptions {
  std::string model;  // id of an offer, OWNER/NAME[:QUANTISATION], or kGpuLibraries; empty: list them
};

// The models known to run, and this machine's memory for them.
struct KnownToRun {
  std::vector<app::KnownModel> models;
  app::MachineMemory memory;
};

inline constexpr const char* kGpuLibraries = "gpu-libraries";

// The libraries that a package's GPU plug-in needs and no package may carry (app/library/gpu).
struct GpuOffer {
  bool plug_in = false;  // it is here: without it the libraries are of no use
  bool fetched = false;
  qint64 bytes = 0;
  std::function<std::unique_ptr<app::ModelDownload>()> make;
};

// The sources of downloads, and what this machine has.
struct GetSources {
  app::ModelDownloads downloads;
  std::function<std::unique_ptr<app::ModelDownload>(const app::HubName&)> hub;
  KnownToRun known;
  GpuOffer gpu;
};

// The path of what came goes to stdout, everything else to stderr; a list goes to stdout.
ExitStatus run_get(const GetOptions& options, const GetSources& sources);

}  // namespace winnow::cli
