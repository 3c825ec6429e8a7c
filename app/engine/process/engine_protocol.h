// The protocol between a program and its winnow-engine: the kinds of messages of their channel.
//
// The engine's process says kHello first. The program then sends kRequests, also while others run, and kInterrupts of them; the answers are
// kEvents and, when the request is over, one kReturned. A kPassword holds for every request that is sent behind it. Anything else, or
// another hello, is no engine of this program. Errors: none; what is no such message is nothing. Threads: plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/messages/requests.h"

namespace winnow::app {

enum class EngineMessage : std::uint32_t {
  kHello = 1,      // engineHello()
  kRequest = 2,    // encoded(Request)
  kInterrupt = 3,  // InterruptMessage
  kEvent = 4,      // encoded(Event)
  kReturned = 5,   // the request's id: a ForgetConversation has no last event
  kPassword = 6,   // FilePassword (app/media/files/passwords.h), by its fields
};

// Wire, program and libtorch by their versions: both sides are of one build.
std::string engineHello();

struct InterruptMessage {
  RequestId id = 0;
  Interrupt kind = Interrupt::kStop;
};

std::vector<std::uint8_t> bytesOf(const InterruptMessage& interrupt);
std::optional<InterruptMessage> interruptOf(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> bytesOf(RequestId id);
std::optional<RequestId> requestIdOf(std::span<const std::uint8_t> bytes);

}  // namespace winnow::app
