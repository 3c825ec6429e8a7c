#include "app/programs/server/counted_replies.h"

#include <utility>

namespace winnow::app {

void CountedReplies::reply(const Answer& answer, HttpReply reply) {
  answered(reply.status);
  answer->send(std::move(reply));
}

void CountedReplies::refuse(const Answer& answer, const ApiRefusal& refusal) { reply(answer, errorReply(refusal)); }

void CountedReplies::answered(int status) {
  const std::lock_guard lock(m_mutex);
  ++m_byStatus[status];
}

void CountedReplies::tokens(std::int64_t prompt, std::int64_t generated) {
  const std::lock_guard lock(m_mutex);
  m_prompt += prompt;
  m_generated += generated;
}

void CountedReplies::kept(std::int64_t bytes) {
  const std::lock_guard lock(m_mutex);
  m_kept = bytes;
}

std::string CountedReplies::text(std::size_t waiting) const {
  const std::lock_guard lock(m_mutex);
  std::string text = "# TYPE winnow_requests_total counter\n";
  for (const auto& [status, count] : m_byStatus)
    text += "winnow_requests_total{status=\"" + std::to_string(status) + "\"} " + std::to_string(count) + "\n";
  const auto add = [&](const char* name, const char* type, std::int64_t value) {
    text += std::string("# TYPE ") + name + " " + type + "\n" + name + " " + std::to_string(value) + "\n";
  };
  add("winnow_prompt_tokens_total", "counter", m_prompt);
  add("winnow_generated_tokens_total", "counter", m_generated);
  add("winnow_requests_waiting", "gauge", static_cast<std::int64_t>(waiting));
  add("winnow_kept_cache_bytes", "gauge", m_kept);
  return text;
}

}  // namespace winnow::app
