#include "app/programs/cli/media_reading.h"

#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <memory>
#include <utility>

#include "app/media/process/kernel_sandbox.h"
#include "app/media/process/process_media_reader.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/document_passwords.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

constexpr qint64 kPieceBytes = qint64{64} << 10;
constexpr qint64 kMostInputBytes = qint64{1} << 30;

bool reads_in_process = false;

}  // namespace

app::MediaReader& media_reader() {
  static const std::unique_ptr<app::MediaReader> reader = app::makeMediaReader(reads_in_process, &document_passwords());
  return *reader;
}

void read_media_in_process() { reads_in_process = true; }

void note_missing_sandbox() {
  static bool told = false;
  if (reads_in_process || std::exchange(told, true) || app::kernelSandboxes() || app::sandboxIsRequired()) return;
  print_err("note: this system refuses the sandbox (seccomp): media are read with your rights; %s refuses them\n",
            app::kRequireSandboxOption);
}

std::string standard_input_file() {
  static const QTemporaryDir folder;
  static const std::string path = [] {
    const QString name = folder.filePath(QStringLiteral("standard-input"));
    QFile in, out(name);
    if (!folder.isValid() || !out.open(QIODevice::WriteOnly))
      throw Exception(ErrorCode::kFileUnreadable, "standard input", "there is no room for it in " + QDir::tempPath().toStdString());
    if (!in.open(STDIN_FILENO, QIODevice::ReadOnly | QIODevice::Unbuffered))
      throw Exception(ErrorCode::kFileUnreadable, "standard input", in.errorString().toStdString());
    QByteArray piece(kPieceBytes, Qt::Uninitialized);
    for (qint64 got = 0; (got = in.read(piece.data(), piece.size())) != 0;) {
      if (got < 0) throw Exception(ErrorCode::kFileUnreadable, "standard input", in.errorString().toStdString());
      if (out.size() + got > kMostInputBytes) throw Exception(ErrorCode::kLimitExceeded, "standard input", "it is longer than 1 GiB");
      if (out.write(piece.constData(), got) != got)
        throw Exception(ErrorCode::kFileUnreadable, name.toStdString(), out.errorString().toStdString());
    }
    return name.toStdString();
  }();
  return path;
}

std::string media_sandbox_words() {
  const auto* apart = dynamic_cast<app::ProcessMediaReader*>(&media_reader());
  if (apart == nullptr) return "none: media are read in this program (--in-process)";
  return app::wordsOf(apart->process().sandbox());
}

}  // namespace winnow::cli
