#include "app/ground/process/power_supply.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "app/ground/threads/in_background.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

std::string wordIn(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

}  // namespace

bool onMains(const std::string& folder) {
  std::error_code failed;
  for (const fs::directory_entry& supply : fs::directory_iterator(folder, failed)) {
    // Those of mice and headsets have the scope Device.
    if (wordIn(supply.path() / "type") == "Battery" && wordIn(supply.path() / "scope") != "Device" &&
        wordIn(supply.path() / "status") == "Discharging") {
      return false;
    }
  }
  return true;
}

void tellMains(QObject* receiver, std::function<void(bool mains)> told) {
  inBackground(
      receiver, [] { return onMains(); }, std::move(told));
}

}  // namespace winnow::app
