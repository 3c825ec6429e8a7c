#include "app/programs/bootstrap/initial_state.h"

#include <QFile>

namespace winnow::bootstrap {

ui::InitialState initialState(const Options& options) {
  ui::InitialState state;
  state.device = options.device;
  state.format = options.format;
  state.demoModelFolder = app::demoModelFolder();
  state.samples = app::demoSamples();
  state.modelFolder = options.modelFolder;
  state.attachedFiles = options.files;
  if (!options.demo) return state;
  state.demoWanted = true;
  state.modelFolder = state.demoModelFolder;
  for (const app::Sample& sample : state.samples) {
    if (sample.questions.isEmpty()) continue;
    state.attachedFiles = {QFile::encodeName(sample.file)};
    state.question = sample.questions.first().question;
    break;
  }
  return state;
}

app::StartRequest startRequest(const ui::InitialState& initial) {
  return {initial.attachedFiles, initial.question, initial.modelFolder, qgetenv("XDG_ACTIVATION_TOKEN")};
}

}  // namespace winnow::bootstrap
