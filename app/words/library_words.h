// The sentences about a model: what it is called and what keeps it, what it is, what it needs, when it was used, and how a check or a
// removal ended.
//
// Used by the page of models, the terminal program, and wherever a model is named. UI thread only (translations).
#pragma once

#include <QString>
#include <vector>

#include "app/library/models/known_models.h"
#include "app/library/models/model_care.h"
#include "app/library/models/model_folders.h"
#include "app/library/models/model_listing.h"

namespace winnow::app {

QString sightWords(Sight sight);  // "sees videos and images"
// "4.7 GB · qwen2 · reads text · context 32,768 tokens · about 38 MB for each 1,000 words read"
QString modelFacts(const ListedModel& model);
// "Hugging Face · last used yesterday"
QString modelPlace(const ListedModel& model);
// A sentence about whether it can be used here.
struct FitWords {
  QString text;
  bool good = false;
};
FitWords fitWords(const ListedModel& model, const MachineMemory& memory);
FitWords needWords(const MemoryNeed& need, const MachineMemory& memory);
// "About 6 words a second here."; empty: nobody has measured, or a GPU answers.
QString paceWords(const KnownModel& model, const MachineMemory& memory);
// "sees videos and images · 2.0 GB · Licence: Apache-2.0 · huggingface.co/owner/name"
QString knownFacts(const KnownModel& model, const QString& host);

FitWords checkWords(const std::vector<VerifiedFile>& files);  // not empty
// Why it is where it was.
QString removalWords(const RemovedModel& result, const QString& name);

// The name of a model by its place: a file, a folder or a server; and what the program is called that keeps it.

// "SmolLM2-135M"; of a server's model "Qwen2-VL at gpu:8000".
QString modelLabel(const QString& place);
QString modelOriginName(ModelOrigin origin);

}  // namespace winnow::app
