#include "app/evaluation/item_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::string_view kHead = R"({"winnow_evaluation":)";  // every log begins so
constexpr JsonLimits kLineLimits{.max_bytes = std::uint64_t{64} << 20};
constexpr std::size_t kLongestText = std::size_t{64} << 20;
constexpr std::size_t kMostNotices = 100'000;
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct OptionalField {
  const char* name;
  std::optional<double> AnswerRecord::*value;
};
constexpr OptionalField kOptional[] = {
    {"top1", &AnswerRecord::topAgreement}, {"kl", &AnswerRecord::divergence}, {"loss", &AnswerRecord::loss}};

// A figure as the one number that the log has of it; absent ones have none.
std::optional<double> numberOf(double figure) { return figure; }
std::optional<double> numberOf(const std::optional<double>& figure) { return figure; }
std::optional<double> numberOf(const std::vector<double>& figure) {
  return figure.empty() ? std::nullopt : std::optional<double>(figure.front());
}
void setNumber(double& figure, double number) { figure = number; }
void setNumber(std::optional<double>& figure, double number) { figure = number; }
void setNumber(std::vector<double>& figure, double number) { figure = {number}; }

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
  if (!record.notices.empty()) line["notices"] = record.notices;
  if (record.selection) {
    visit_fields(*record.selection, [&](const char* name, const auto& figure) {
      if (const std::optional<double> number = numberOf(figure)) line[name] = *number;
    });
  }
  return line;
}

AnswerRecord fromJson(const JsonObject& line) {
  AnswerRecord record;
  record.item = line.string("item", kLongestText);
  record.recipe = line.string("recipe", kLongestText);
  record.seed = line.natural("seed");
  record.answer = line.string("answer", kLongestText);
  record.score = line.real("score", 0.0, 1.0);
  record.requestedRetention = line.real("requested", 0.0, kLargest);
  record.achievedRetention = line.real("achieved", 0.0, kLargest);
  record.kvBytes = line.integer("kv_bytes", 0, kMost);
  record.kvBytesFull = line.integer("kv_bytes_full", 0, kMost);
  record.budgetDivergence = line.real("budget_jsd", -kLargest, kLargest);
  record.generatedTokens = line.integer("generated", 0, kMost);
  if (line.has("notices")) record.notices = line.strings("notices", kLongestText, kMostNotices);
  for (const auto& [name, value] : kOptional) {
    if (line.has(name)) record.*value = line.real(name, -kLargest, kLargest);
  }
  SelectionFigures selection;
  visit_fields(selection, [&](const char* name, auto& figure) {
    if (!line.has(name)) return;
    setNumber(figure, line.real(name, -kLargest, kLargest));
    record.selection.emplace();
  });
  if (record.selection) record.selection = selection;
  return record;
}

AnswerRecord recordIn(std::string_view line, const std::string& where) {
  return fromJson(JsonObject(parse_json(line, where, kLineLimits), where));
}

// A log, or the beginning of one that was cut off while its first line was written.
bool isLog(std::string_view text) {
  return text.starts_with(kHead) || (text.find('\n') == std::string_view::npos && kHead.starts_with(text));
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
  // O_NONBLOCK: a FIFO without another end would wait forever.
  m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (m_descriptor < 0) throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
  struct stat status {};
  if (::fstat(m_descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(m_descriptor);
    throw Exception(ErrorCode::kFileUnreadable, m_path, "it is not a regular file");
  }
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
    if (!isLog(text)) {
      throw Exception(ErrorCode::kInvalidArgument, m_path, "is no log of an evaluation and is left as it is; choose another folder");
    }
  }
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0: no complete line
  int number = 1;
  for (std::size_t start = 0; start < whole; ++number) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    const std::string where = m_path + ":" + std::to_string(number);
    if (number > 1) {
      AnswerRecord record = recordIn(line, where);
      m_records.insert_or_assign(Key(record.item, record.recipe, record.seed), std::move(record));
      continue;
    }
    const Json head = parse_json(line, where, kLineLimits);
    const JsonObject fields(head, where);
    if (fields.integer("winnow_evaluation", 0, kMost) != kFormat || fields.string("subject", kLongestText) != subject) {
      throw Exception(ErrorCode::kInvalidArgument, m_path,
                      "belongs to another evaluation (other questions, model or settings); choose another folder");
    }
  }
  // Not before all of it is known to be this evaluation's.
  if (whole < text.size() && ::ftruncate(m_descriptor, static_cast<off_t>(whole)) != 0) {
    throw Exception(ErrorCode::kFileUnreadable, m_path, std::strerror(errno));
  }
  if (whole == 0) append(lineOf({{"winnow_evaluation", kFormat}, {"subject", subject}}));
}

const AnswerRecord* ItemLog::find(const std::string& item, const std::string& recipe, std::uint64_t seed) const {
  const auto found = m_records.find(Key(item, recipe, seed));
  return found == m_records.end() ? nullptr : &found->second;
}

void ItemLog::add(const AnswerRecord& record) {
  // Kept as it will be read back, so that a resumed run and an uninterrupted one report the same.
  const std::string line = lineOf(asJson(record));
  append(line);
  m_records.insert_or_assign(Key(record.item, record.recipe, record.seed), recordIn(line, m_path));
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
