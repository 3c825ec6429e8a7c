// Reads evaluation sets in Winnow's own format: JSON lines, one question each.
//
//   {"media": "clip.mp4", "question": "What comes first?", "answers": ["a red star"], "metric": "exact"}
//
// media: a path or an array of paths, relative to the file's folder. answers: right answers, or one as a string. Optional: frames (videos),
// id (else the line's number), group (a column of the tables), cluster (what questions have in common that are no independent draws: one
// document; they stand next to each other), tolerance_s (metric time). Other keys are refused: a misspelt one would quietly change what is
// measured. Used by the terminal's eval; resources/evaluation/make_set.py writes such sets.
// Errors: Exception(kInvalidArgument, "file:line", reason) for the first bad line; kFileNotFound for a missing set. Any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"

namespace winnow::app {

// What the reader must know of a media file: throws the media layer's Exception when there is none.
using KindOfMedia = std::function<MediaKind(const std::string& path)>;

struct DatasetOptions {
  int frames = 64;  // of videos whose line says nothing
  KindOfMedia kindOf;
  MediaDetails detail{};
};

struct Dataset {
  std::string name;         // the file's name without its ending
  std::string fingerprint;  // SHA-256 of everything that decides the answers but the media's pixels
  std::vector<EvaluationItem> items;
};

Dataset readDataset(const std::string& path, const DatasetOptions& options);

}  // namespace winnow::app
