// The desktop's secret service (GNOME Keyring, KWallet), by QtKeychain. Never its fallback, which writes plain text.
#pragma once

#include "app/engine/remote/secret_service.h"

namespace winnow::app {

class DesktopSecrets final : public SecretService {
 public:
  std::string find(const std::string& name, const InterruptToken& interrupt) override;
  void keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) override;
};

}  // namespace winnow::app
