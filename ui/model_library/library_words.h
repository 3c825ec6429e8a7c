// The words of the page of models about one: what it is, what it needs, when it was used, and how a check or a removal ended.
//
// Used by here_page.h and get_page.h. UI thread only (translations).
#pragma once

#include <QString>
#include <vector>

#include "app/models/known_models.h"
#include "app/models/model_care.h"
#include "app/models/model_listing.h"

namespace winnow::ui {

// "4.7 GB · qwen2 · reads text · context 32,768 tokens · about 38 MB for each 1,000 words read"
QString modelFacts(const app::ListedModel& model);
// "Hugging Face · last used yesterday"
QString modelPlace(const app::ListedModel& model);
// A sentence on whether it can be used here.
struct FitWords {
  QString text;
  bool good = false;
};
FitWords fitWords(const app::ListedModel& model, const app::MachineMemory& memory);
FitWords fitWords(const app::KnownModel& model, const app::MachineMemory& memory);
// "About 6 words a second here."; empty: nobody has measured, or a GPU answers.
QString paceWords(const app::KnownModel& model, const app::MachineMemory& memory);
// "sees videos and images · 2.0 GB · Licence: Apache-2.0 · huggingface.co/owner/name"
QString knownFacts(const app::KnownModel& model, const QString& host);

FitWords checkWords(const std::vector<app::VerifiedFile>& files);  // not empty
// Why it is where it was.
QString removalWords(const app::RemovedModel& result, const QString& name);

}  // namespace winnow::ui
