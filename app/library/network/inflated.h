// Decompresses gzip or zlib: for servers that compress what nobody asked them to.
//
// Streams: hands on what a piece holds, in pieces of at most 16 KiB, and holds nothing back. Errors: Exception(kDamagedFile) for bytes that
// are not compressed so. Threads: one.
#pragma once

#include <memory>
#include <string_view>

#include "app/library/network/awaited_reply.h"

namespace winnow::app {

class Inflated {
 public:
  Inflated();
  ~Inflated();
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;

  void add(std::string_view piece, const TakePiece& take);

 private:
  struct Stream;
  std::unique_ptr<Stream> m_stream;
};

}  // namespace winnow::app
