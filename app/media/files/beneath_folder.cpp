#include "app/media/files/beneath_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace winnow::app {
namespace {

constexpr std::string_view kBetween = "//./";  // as in no path that a person writes

OpenFile openFolder(const std::string& folder) { return OpenFile(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); }

OpenFile refused() {
  errno = EXDEV;
  return {};
}

}  // namespace

std::string BeneathFolder::name() const { return folder + std::string(kBetween) + rest; }

std::optional<BeneathFolder> BeneathFolder::named(std::string_view name) {
  const std::size_t at = name.find(kBetween);
  if (at == std::string_view::npos) return std::nullopt;
  return BeneathFolder{std::string(name.substr(0, at)), std::string(name.substr(at + kBetween.size()))};
}

OpenFile openBeneath(const BeneathFolder& file, int flags) {
  const OpenFile folder = openFolder(file.folder);
  if (!folder) return {};
  open_how how{};
  how.flags = static_cast<__u64>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const long opened = ::syscall(SYS_openat2, folder.descriptor(), file.rest.c_str(), &how, sizeof how);
  if (opened < 0 && (errno == ENOSYS || errno == EPERM)) return openStepByStep(file, flags);  // containers refuse what they do not know
  return OpenFile(static_cast<int>(opened));
}

OpenFile openStepByStep(const BeneathFolder& file, int flags) {
  OpenFile at = openFolder(file.folder);
  std::string_view rest = file.rest;
  while (at) {
    const std::size_t slash = rest.find('/');
    const std::string step(rest.substr(0, slash));
    if (step.empty() || step == "." || step == "..") return refused();
    const bool last = slash == std::string_view::npos;
    at = OpenFile(::openat(at.descriptor(), step.c_str(), O_NOFOLLOW | (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (last) break;
    rest.remove_prefix(slash + 1);
  }
  return at;
}

}  // namespace winnow::app
