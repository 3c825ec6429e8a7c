#include "app/programs/server/served_sounds.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <span>

#include "app/programs/server/api_refusal.h"
#include "app/words/transcript_text.h"

namespace winnow::app {
namespace {

constexpr std::string_view kSpeechNames[] = {"", "default", "whisper-1"};  // that name no model

std::span<const std::uint8_t> bytesOf(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::string speechName(const Transcribe& request) {
  return QFileInfo(QFile::decodeName(QByteArray::fromStdString(request.model))).fileName().toStdString();
}

}  // namespace

std::string ServedSounds::model() const {
  const std::optional<Transcribe> request = m_hearing ? m_hearing() : std::nullopt;
  return request ? speechName(*request) : std::string();
}

Transcribe ServedSounds::request() const {
  std::optional<Transcribe> request = m_hearing ? m_hearing() : std::nullopt;
  if (request) return *std::move(request);
  throw ApiRefusal(400, "there is no model that hears on this machine; this fetches one: winnow-cli get whisper-tiny.en", {},
                   "no_speech_model");
}

Transcribe ServedSounds::requestOf(std::string_view bytes, const std::string& model) const {
  Transcribe sound = request();
  const std::string name = speechName(sound);
  if (model != name && !isAmong(kSpeechNames, model))
    throw ApiRefusal(404, "there is no such speech model here; \"" + name + "\" is", "model", "model_not_found");
  sound.path = m_store.put(bytesOf(bytes));
  return sound;
}

std::optional<Transcribe> ServedSounds::read(ChatRequest& chat) const {
  if (chat.sounds.empty()) return std::nullopt;
  Transcribe sound = request();
  const std::lock_guard lock(m_mutex);
  for (Message& message : chat.turn.messages) {
    for (Item& item : message.items) {
      auto* const medium = std::get_if<MediaItem>(&item);
      if (medium == nullptr || std::ranges::find(chat.sounds, medium->media.path) == chat.sounds.end()) continue;
      sound.path = medium->media.path;
      const auto found =
          std::ranges::find_if(m_heard, [&](const Heard& heard) { return heard.sound == sound.path && heard.model == sound.model; });
      if (found == m_heard.end()) return sound;
      if (found->text.empty()) throw ApiRefusal(400, "nothing is said in a sound", "messages", "nothing_said");
      medium->media.path = m_store.put(bytesOf(found->text));
    }
  }
  return std::nullopt;
}

void ServedSounds::keep(const Transcribe& sound, const Transcribed& heard) {
  const std::lock_guard lock(m_mutex);
  m_heard.push_front({sound.path, sound.model, clockedText(heard.lines)});
  if (m_heard.size() > kMost) m_heard.pop_back();
}

}  // namespace winnow::app
