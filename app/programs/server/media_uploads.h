// Media that clients send piece by piece: a file is in the store when all of it has come and its bytes are what its name says.
//
// Used by wire_service.h. A piece begins where the last one ended, whoever sends it, so that a transfer that broke off goes on. At most
// kMostOpen are open at a time; one that nobody adds to for a minute makes room. Errors: ApiRefusal, Exception (those of MediaStore).
// Threads: one.
#pragma once

#include <QCryptographicHash>
#include <QFile>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "app/media/files/media_store.h"

namespace winnow::app {

class MediaUploads {
 public:
  static constexpr std::size_t kMostOpen = 4;

  explicit MediaUploads(MediaStore& store) : m_store(store) {}  // outlives this

  struct State {
    std::int64_t received = 0;
    bool whole = false;
  };
  State stateOf(const std::string& sha256);
  // Bytes from `at` on of a file of `of` bytes. Taken only if `at` is what was received before: the answer tells.
  State add(const std::string& sha256, std::int64_t at, std::int64_t of, std::string_view bytes);

 private:
  struct Part {
    Part() : hash(QCryptographicHash::Sha256) {}
    QFile file;
    QCryptographicHash hash;
    std::int64_t size = 0;
    std::chrono::steady_clock::time_point used;
  };
  Part& partOf(const std::string& sha256, std::int64_t size);
  void drop(const std::string& sha256);

  MediaStore& m_store;
  std::map<std::string, std::unique_ptr<Part>> m_parts;  // by hash
};

}  // namespace winnow::app
