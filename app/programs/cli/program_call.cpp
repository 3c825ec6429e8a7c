#include "app/programs/cli/program_call.h"

#include <QCoreApplication>
#include <QFile>
#include <filesystem>
#include <system_error>

namespace winnow::cli {
namespace {

namespace fs = std::filesystem;

// The script that starts the program from its folder.
bool has_launcher(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "winnow", none);
}

}  // namespace

std::string program_call_in(const std::string& program_folder, const std::string& command) {
  const fs::path folder(program_folder);
  std::error_code none;
  const fs::path tree = folder / "../../..";  // of build/PRESET/bin
  if (has_launcher(tree) && fs::exists(tree / "CMakeLists.txt", none)) return (command == "get" ? "./winnow " : "./winnow cli ") + command;
  return (has_launcher(folder / "..") ? "./winnow cli " : "winnow-cli ") + command;
}

std::string program_call(const std::string& command) {
  return program_call_in(QFile::encodeName(QCoreApplication::applicationDirPath()).toStdString(), command);
}

}  // namespace winnow::cli
