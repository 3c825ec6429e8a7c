// Bytes of a source that is still running, one after the other; there is no way back.
//
// Used by LiveContainer. Errors of opening are thrown by the implementations' constructors; read() never throws, because C code calls it.
// Threads: the reading thread.
#pragma once

#include <cstdint>
#include <span>

namespace winnow::app {

// Why a source gives nothing any more.
enum class LiveEnd : int {
  kNotYet = 0,
  kEndOfStream,  // the sender ended it, or finish() was called
  kStalled,      // nothing came for as long as was asked for
  kInterrupted,  // the caller's token; the source itself can be read on
  kDamaged,      // it cannot be read on from here
};

class LiveBytes {
 public:
  virtual ~LiveBytes() = default;
  // Waits until there is something; how many bytes were copied, 0 when nothing will come any more: end() says why.
  virtual int read(std::span<std::uint8_t> into) noexcept = 0;
  virtual LiveEnd end() const = 0;
  // Nothing comes any more because the connection broke.
  virtual bool brokeOff() const { return false; }
};

}  // namespace winnow::app
