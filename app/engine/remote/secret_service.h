// The keeper of secrets for programs on this machine, encrypted, as long as its user wants: the desktop's secret service.
//
// Used by key_ring.h on a thread of its own. Both calls wait, also for the person whom the desktop asks to unlock it. Errors:
// Exception(kServerKeyMissing) with the name as subject: no service runs, or it refuses. Interrupted. Threads: one.
#pragma once

#include <string>

#include "engine/base/interrupt.h"

namespace winnow::app {

class SecretService {
 public:
  virtual ~SecretService() = default;
  virtual std::string find(const std::string& name, const InterruptToken& interrupt) = 0;  // empty: it has none of this name
  virtual void keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) = 0;
};

}  // namespace winnow::app
