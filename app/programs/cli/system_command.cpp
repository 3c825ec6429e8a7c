#include "app/ground/diagnostics/system_report.h"
#include "app/media/files/media_opener.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_reading.h"
#include "engine/api/engine.h"

namespace winnow::cli {

namespace {

ExitStatus run_system() {
  const QString report = app::systemReport({{QStringLiteral("libtorch"), QString::fromStdString(libtorch_version())},
                                            {QStringLiteral("FFmpeg"), QString::fromStdString(app::ffmpegVersion())},
                                            {QStringLiteral("Media sandbox"), QString::fromStdString(media_sandbox_words())}});
  print_out("%s", report.toUtf8().constData());
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_system(CLI::App& /*command*/) { return run_system; }

}  // namespace winnow::cli
