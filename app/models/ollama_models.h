// What Ollama has downloaded: manifests that name blobs.
//
// Used by found_models.cpp. A folder of Ollama's holds manifests/<registry>/<namespace>/<model>/<tag>, JSON of layers, and
// blobs/sha256-<hex>; the layer of type application/vnd.ollama.image.model is a GGUF file. Threads: any.
#pragma once

#include <QString>
#include <optional>

namespace winnow::app {

// The blob that a manifest names as its model, as a path; nullopt: none, or a manifest that cannot be read.
std::optional<QString> ollamaBlob(const QString& models, const QString& manifest);

// "llama3.2:3b" of <manifests>/registry.ollama.ai/library/llama3.2/3b; other owners and registries are named with it.
QString ollamaName(const QString& manifests, const QString& manifest);

}  // namespace winnow::app
