// A secret service that remembers what it is given, or refuses, or waits for a person who does not come.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/engine/remote/key_ring.h"
#include "engine/base/error.h"

namespace winnow::test {

class FakeSecretService final : public app::SecretService {
 public:
  enum class Mood : int { kKeeps = 1, kRefuses = 2, kWaitsForItsPerson = 3 };
  // What a test sees of it, which the ring owns.
  struct Record {
    std::atomic<Mood> mood{Mood::kKeeps};
    std::atomic<int> asked{0};
    std::mutex mutex;  // guards secrets
    std::map<std::string, std::string> secrets;

    std::string secret(const std::string& name) {
      const std::lock_guard lock(mutex);
      const auto found = secrets.find(name);
      return found == secrets.end() ? std::string() : found->second;
    }
  };

  explicit FakeSecretService(std::shared_ptr<Record> record) : m_record(std::move(record)) {}

  std::string find(const std::string& name, const InterruptToken& interrupt) override {
    answer(name, interrupt);
    return m_record->secret(name);
  }
  void keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) override {
    answer(name, interrupt);
    const std::lock_guard lock(m_record->mutex);
    m_record->secrets[name] = secret;
  }

 private:
  void answer(const std::string& name, const InterruptToken& interrupt) {
    ++m_record->asked;
    if (m_record->mood == Mood::kRefuses) throw Exception(ErrorCode::kServerKeyMissing, name, "there is no keyring");
    while (m_record->mood == Mood::kWaitsForItsPerson) {
      interrupt.throw_if_requested();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  const std::shared_ptr<Record> m_record;  // shared: a test looks at it while the ring's thread asks
};

}  // namespace winnow::test
