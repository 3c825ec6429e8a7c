// Replies, counted by what was answered, and the other counters of /metrics. Errors: none. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "app/programs/server/api_json.h"
#include "engine/base/error.h"

namespace winnow::app {

class CountedReplies {
 public:
  using Answer = std::shared_ptr<HttpAnswer>;

  void reply(const Answer& answer, HttpReply reply);
  void refuse(const Answer& answer, const ApiRefusal& refusal);
  // Answers with the step's exception, if it throws one.
  template <class Step>
  void orRefuse(const Answer& answer, const Step& step) {
    try {
      step();
    } catch (const ApiRefusal& refusal) {
      refuse(answer, refusal);
    } catch (const Exception& exception) {
      refuse(answer, refusalOf(exception.error()));
    } catch (const std::exception& exception) {
      refuse(answer, {500, std::string("internal error: ") + exception.what()});
    }
  }

  // For answers that reply() does not send.
  void answered(int status);
  void tokens(std::int64_t prompt, std::int64_t generated);
  void kept(std::int64_t bytes);

  // For Prometheus. waiting: requests in the line.
  std::string text(std::size_t waiting) const;

 private:
  mutable std::mutex m_mutex;  // guards the members below
  std::map<int, std::int64_t> m_byStatus;
  std::int64_t m_prompt = 0;
  std::int64_t m_generated = 0;
  std::int64_t m_kept = 0;
};

}  // namespace winnow::app
