// Ollama's downloads: manifests that name blobs.
//
// Used by gguf_model.h, for the projector of a blob, and through engine/api by programs that list models. A folder of Ollama's holds
// manifests/<registry>/<namespace>/<model>/<tag>, JSON of layers, and blobs/sha256-<hex>; the layer of type
// application/vnd.ollama.image.model is a GGUF file, one of application/vnd.ollama.image.projector its mmproj file. A manifest may name
// digests only, no other paths. Errors: none; unreadable files count as missing. Touches the disk. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace winnow {

// Paths of blobs, which need not be there.
struct OllamaModel {
  std::string model;
  std::string projector;  // empty: it has none, or inside the model's file
};

// models: Ollama's folder. Nothing: a manifest that names no model.
std::optional<OllamaModel> read_ollama_manifest(const std::string& models, const std::string& manifest);

// The projectors that come with a blob, in the order of their manifests' names, of at most 2,000 manifests; empty for a file that is no
// blob of Ollama's.
std::vector<std::string> ollama_projectors(const std::string& blob);

}  // namespace winnow
