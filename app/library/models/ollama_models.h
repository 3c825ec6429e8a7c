// Names of what Ollama has downloaded; what a manifest says reads engine/model_files/ollama_folder.h.
//
// Used by found_models.cpp. Threads: any.
#pragma once

#include <QString>

namespace winnow::app {

// "llama3.2:3b" of <manifests>/registry.ollama.ai/library/llama3.2/3b; other owners and registries are named with it.
QString ollamaName(const QString& manifests, const QString& manifest);

}  // namespace winnow::app
