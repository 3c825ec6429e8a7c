// Opens the model package at a path that a user chose, or reports what the path is instead: a parent folder, a file, another format.
//
// A model is a Hugging Face folder, a GGUF file (whatever its name: Ollama's have none) or a Whisper file of whisper.cpp; a folder that
// holds a single GGUF file stands for it. Used before a model is loaded (engine/generation). Only names in a folder are checked here; the
// package checks the files' content. A file is identified by its first bytes (engine/weights/foreign_format.h); an unreadable one gives
// kFileUnreadable. Errors: Exception
//   kModelFolderMissing  subject: the path
//   kNoModel             subject: the folder, which has neither config.json nor a GGUF file, or the file, which is no GGUF
//   kNotFetched          subject: the file, in whose place a pointer, a web page, nothing or a part of it lies
//   kArchive             subject: the file, which has to be unpacked first
//   kModelInside         subject: the first model (folder or GGUF file) below the chosen folder, which is none itself
//   kUnsupportedFormat   subject: the pickle, ONNX ... file that was chosen, or that lies in the folder without config.json
//   those of RegularFile and gguf_model.h
// Threads: plain function.
#pragma once

#include <memory>
#include <string>

#include "engine/model_files/model_package.h"

namespace winnow {

// path: bytes. projector: of a GGUF file, gguf_model.h; refused with a folder (kInvalidArgument).
std::unique_ptr<ModelPackage> open_package(const std::string& path, const std::string& projector = {});

}  // namespace winnow
