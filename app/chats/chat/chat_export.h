// A chat as a file for people and as one for programs.
//
// Used by ui. Attachments are told by name: files and folders of this machine are in neither. Markdown is the branch on screen; JSON is
// everything that is saved of the chat, which resources/chat.schema.json describes. Threads: plain functions.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <functional>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

// A message as the transcript has it.
struct ToldMessage {
  QString writer;           // of an answer; empty: nobody knows
  QStringList attachments;  // "64 frames · 0:00–2:08", one of each
  QStringList notes;        // under an answer: its figures, and what has to be known of it
};

// told: asked for every message on the branch.
QByteArray chatToMarkdown(const LoadedConversation& chat, const std::function<ToldMessage(const StoredMessage&)>& told);
QByteArray chatToJson(const LoadedConversation& chat);

}  // namespace winnow::app
