// Recognises files and folders as models without loading them: for programs that list the models of a machine.
//
// Part of the engine's face; the definitions are those of the rooms that know: is_gguf(), may_see_inside(), names_projector(),
// read_ollama_manifest(), known_family(), known_classes(), known_gguf_architectures() and open_package(). No torch. Threads: plain
// functions.
#pragma once

#include "engine/model_files/gguf_architectures.h"  // IWYU pragma: export
#include "engine/model_files/gguf_inner_vision.h"   // IWYU pragma: export
#include "engine/model_files/gguf_model.h"          // IWYU pragma: export
#include "engine/model_files/ollama_folder.h"       // IWYU pragma: export
#include "engine/model_files/open_package.h"        // IWYU pragma: export
#include "engine/models/known_family.h"             // IWYU pragma: export
