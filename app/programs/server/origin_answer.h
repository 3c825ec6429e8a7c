// An answer that says to a page of another origin that it may read it. Threads: as the answer that it stands around.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/programs/server/http_listener.h"

namespace winnow::app {

class OriginAnswer final : public HttpAnswer {
 public:
  OriginAnswer(std::shared_ptr<HttpAnswer> answer, std::string origin) : m_answer(std::move(answer)), m_origin(std::move(origin)) {}
  void send(HttpReply reply) override { m_answer->send(allowed(std::move(reply))); }
  void begin(HttpReply head) override { m_answer->begin(allowed(std::move(head))); }
  void write(std::string piece) override { m_answer->write(std::move(piece)); }
  void end() override { m_answer->end(); }
  void whenGone(std::function<void()> tell) override { m_answer->whenGone(std::move(tell)); }

 private:
  HttpReply allowed(HttpReply reply) const {
    for (const auto& [name, value] : {std::pair{"Access-Control-Allow-Origin", m_origin.c_str()},
                                      std::pair{"Access-Control-Allow-Headers", "authorization, content-type"},
                                      std::pair{"Access-Control-Allow-Methods", "GET, POST"}, std::pair{"Vary", "Origin"}})
      reply.headers.emplace_back(name, value);
    return reply;
  }

  const std::shared_ptr<HttpAnswer> m_answer;
  const std::string m_origin;
};

}  // namespace winnow::app
