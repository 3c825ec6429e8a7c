// A chat as a file for people and as one for programs.
//
// Used by ui. Attachments are told by name: files and folders of this machine are in neither. Markdown is the branch on screen; JSON is
// everything that is saved of the chat, which resources/chat.schema.json describes. Threads: plain functions.
#pragma once

#include <QByteArray>

#include "app/chat/conversation.h"

namespace winnow::app {

QByteArray chatToMarkdown(const LoadedConversation& chat);
QByteArray chatToJson(const LoadedConversation& chat);

}  // namespace winnow::app
