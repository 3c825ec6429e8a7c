#include "app/evaluation/item_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;

struct OptionalField {
  const char* name;
  std::optional<double> AnswerRecord::*value;
};
constexpr OptionalField kOptional[] = {{"top1", &AnswerRecord::topAgreement},
                                       {"kl", &AnswerRecord::divergence},
                                       {"hit_rate", &AnswerRecord::hitRate},
                                       {"output_error", &AnswerRecord::outputError},
                                       {"visual_contribution", &AnswerRecord::visualContribution},
                                       {"visual_coverage", &AnswerRecord::visualCoverage},
                                       {"sparsity", &AnswerRecord::sparsity}};

std::string lineOf(const ordered_json& value) { return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"; }

ordered_json asJson(const AnswerRecord& record) {
  ordered_json line = {{"item", record.item},
                       {"recipe", record.recipe},
                       {"seed", record.seed},
                       {"answer", record.answer},
                       {"score", record.score},
                       {"requested", record.requestedRetention},
                       {"achieved", record.achievedRetention},
                       {"kv_bytes", record.kvBytes},
                       {"kv_bytes_full", record.kvBytesFull},
                       {"budget_jsd", record.budgetDivergence},
                       {"generated", record.generatedTokens}};
  for (const auto& [name, value] : kOptional) {
    if (record.*value) line[name] = *(record.*value);
  }
  return line;
}

AnswerRecord fromJson(const ordered_json& line) {
  AnswerRecord record;
  record.item = line.at("item").get<std::string>();
  record.recipe = line.at("recipe").get<std::string>();
  record.seed = line.at("seed").get<std::uint64_t>();
  record.answer = line.at("answer").get<std::string>();
  record.score = line.at("score").get<double>();
  record.requestedRetention = line.at("requested").get<double>();
  record.achievedRetention = line.at("achieved").get<double>();
  record.kvBytes = line.at("kv_bytes").get<std::int64_t>();
  record.kvBytesFull = line.at("kv_bytes_full").get<std::int64_t>();
  record.budgetDivergence = line.at("budget_jsd").get<double>();
  record.generatedTokens = line.at("generated").get<std::int64_t>();
  for (const auto& [name, value] : kOptional) {
    if (line.contains(name)) record.*value = line.at(name).get<double>();
  }
  return record;
}

}  // namespace

ItemLog::ItemLog(const std::string& path, const std::string& subject) : m_path(path) {
  openLocked();
  try {
    readExisting(subject);
  } catch (...) {
    ::close(m_descriptor);
    throw;
  }
}

ItemLog::~ItemLog() { ::close(m_descriptor); }

void ItemLog::openLocked() {
  m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (m_descriptor < 0) throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
  if (::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0) return;
  ::close(m_descriptor);
  throw Exception(ErrorCode::kInvalidArgument, m_path, "another evaluation is writing here");
}

void ItemLog::readExisting(const std::string& subject) {
  std::string text;
  std::array<char, 1 << 16> part;
  for (;;) {
    const ssize_t got = ::read(m_descriptor, part.data(), part.size());
    if (got < 0) throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
    if (got == 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0: no complete line
  if (whole < text.size() && ::ftruncate(m_descriptor, static_cast<off_t>(whole)) != 0) {
    throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
  }
  if (whole == 0) {
    append(lineOf({{"winnow_evaluation", kFormat}, {"subject", subject}}));
    return;
  }
  int number = 1;
  for (std::size_t start = 0; start < whole; ++number) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    try {
      const ordered_json read = ordered_json::parse(line);
      if (number > 1) {
        AnswerRecord record = fromJson(read);
        m_records.insert_or_assign(Key(record.item, record.recipe, record.seed), std::move(record));
      } else if (read.at("winnow_evaluation").get<int>() != kFormat || read.at("subject").get<std::string>() != subject) {
        throw Exception(ErrorCode::kInvalidArgument, m_path,
                        "belongs to another evaluation (other questions, model or settings); choose another folder");
      }
    } catch (const ordered_json::exception& problem) {
      throw Exception(ErrorCode::kDamagedFile, m_path + ":" + std::to_string(number), problem.what());
    }
  }
}

const AnswerRecord* ItemLog::find(const std::string& item, const std::string& recipe, std::uint64_t seed) const {
  const auto found = m_records.find(Key(item, recipe, seed));
  return found == m_records.end() ? nullptr : &found->second;
}

void ItemLog::add(const AnswerRecord& record) {
  // Kept as it will be read back, so that a resumed run and an uninterrupted one report the same.
  const std::string line = lineOf(asJson(record));
  append(line);
  m_records.insert_or_assign(Key(record.item, record.recipe, record.seed), fromJson(ordered_json::parse(line)));
}

void ItemLog::append(const std::string& line) {
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t done = ::write(m_descriptor, line.data() + written, line.size() - written);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
    written += static_cast<std::size_t>(done);
  }
  if (::fsync(m_descriptor) != 0) throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
}

}  // namespace winnow::app
