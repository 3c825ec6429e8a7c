// The window program's command line, and the window's first contents, which are decided from it and the resource folder before the window
// exists.
#pragma once

#include <QByteArray>
#include <QCoreApplication>
#include <QList>
#include <QString>
#include <optional>

#include "engine/messages/requests.h"
#include "ui/shell/window/main_window.h"

namespace winnow::bootstrap {

struct Options {
  bool demo = false;      // demo model, a sample video attached, its question typed in
  QString modelFolder{};  // or GGUF file; empty: the one used last, or the demo model
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;
  QList<QByteArray> files{};  // attached to a new chat
};

// Prints help or version and exits where asked; nothing for wrong usage (the reason was printed).
std::optional<Options> parseOptions(const QCoreApplication& application);

// The window's first contents: decided from the command line and the resource folder, before the window exists.
ui::InitialState initialState(const Options& options);
// The same, for a program that runs already.
app::StartRequest startRequest(const ui::InitialState& initial);

}  // namespace winnow::bootstrap
