#include "engine/base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "engine/base/error.h"

namespace winnow {
namespace {

void make_readable(int descriptor) noexcept {
  const int before = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor, &one, sizeof one);
  errno = before;
}

}  // namespace

InterruptToken::Node::~Node() {
  for (const std::atomic<int>& descriptor : descriptors) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

// The state is raised before the descriptors are looked for, and a descriptor is there before the state is looked at: one of the two sees
// the other.
void InterruptToken::Node::raise(Interrupt kind) noexcept {
  Interrupt seen = state;
  while (seen < kind && !state.compare_exchange_weak(seen, kind)) {
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(kind); ++i) {
    if (const int descriptor = descriptors[i]; descriptor >= 0) make_readable(descriptor);
  }
}

int InterruptToken::Node::descriptor(Interrupt from) const {
  std::atomic<int>& mine = descriptors[static_cast<std::size_t>(from) - 1];
  if (mine < 0) {
    const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0) throw Exception(ErrorCode::kInternal, "", std::string("no descriptor for an interrupt (") + std::strerror(errno) + ")");
    int expected = -1;
    if (!mine.compare_exchange_strong(expected, made)) ::close(made);
  }
  if (state >= from) make_readable(mine);
  return mine;
}

std::vector<int> InterruptToken::descriptors(Interrupt beyond) const {
  std::vector<int> all;
  if (beyond == Interrupt::kCancel) return all;
  const Interrupt from = beyond == Interrupt::kNone ? Interrupt::kStop : Interrupt::kCancel;
  for (const Node* node = node_.get(); node != nullptr; node = node->parent.get()) all.push_back(node->descriptor(from));
  return all;
}

}  // namespace winnow
