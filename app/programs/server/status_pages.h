// The answers that GET has at once: whether a model is loaded, which one, what it can do, counters, and the description of all endpoints.
//
// Errors: ApiRefusal (404, 503). Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/programs/server/answer_line.h"
#include "app/programs/server/api_options.h"
#include "app/programs/server/counted_replies.h"
#include "app/programs/server/loaded_model.h"

namespace winnow::app {

class StatusPages {
 public:
  // All outlive this.
  struct Uses {
    const LoadedModel& model;
    const CountedReplies& replies;
    const AnswerLine& line;
    const ServedSounds& sounds;
  };
  StatusPages(const ApiOptions& options, const Uses& uses);

  static bool has(std::string_view path);
  // path: one that there is.
  HttpReply at(const std::string& path) const;

 private:
  HttpReply properties() const;
  HttpReply models() const;
  HttpReply modelNamed(const std::string& name) const;

  const ApiOptions& m_options;
  const Uses m_uses;
  const std::int64_t m_startedS;
};

}  // namespace winnow::app
