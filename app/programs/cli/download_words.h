// The terminal program's words on downloads: how far one is, what was chosen, why one ended.
//
// Used by get_command.cpp. Names and reasons come from servers: what would steer a terminal is shown as an escape. No errors.
#pragma once

#include <QElapsedTimer>
#include <optional>
#include <string>

#include "app/library/downloads/download_queue.h"
#include "app/library/downloads/model_download.h"

namespace winnow::cli {

// Counted as on download pages: "98 MB", "4.7 GB".
std::string download_size(qint64 bytes);
// A sentence of app/words with more in brackets before its full stop: "pypi.org cannot be reached (no route)."
std::string with_details(const QString& sentence, const std::string& details);
// Cause, reason and remedy. `name`: of what was to be fetched.
std::string fault_sentence(const app::DownloadFault& fault, const std::string& name);
std::string choice_sentence(const app::DownloadChoice& choice, const std::string& name);

// On a terminal one line that changes, elsewhere a line per stage.
class DownloadLine {
 public:
  explicit DownloadLine(const std::string& name);
  void show(const app::DownloadProgress& progress);
  void clear() const;

 private:
  std::string text(const app::DownloadProgress& progress) const;

  const std::string name_;
  const bool interactive_;
  QElapsedTimer clock_;
  app::DownloadSpeed speed_;
  std::optional<app::DownloadStage> last_;
};

}  // namespace winnow::cli
