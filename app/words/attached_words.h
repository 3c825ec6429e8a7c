// Words for attachments and watched sources: what it is called, how long a text is, and what was noticed of it.
//
// Used by every view that names what is attached or counts its tokens. Plain functions; UI thread only (translations).
#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/media/frame_source.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

// kVisual: images and videos. kMixed: documents beside either.
enum class AttachedKind : int { kNothing = 1, kImage, kImages, kVideo, kVideos, kVisual, kDocument, kDocuments, kMixed };

struct AttachedCounts {
  int images = 0;
  int videos = 0;
  int documents = 0;

  void add(MediaKind kind);
};

AttachedKind attachedKind(const AttachedCounts& counts);
AttachedKind attachedKind(const QList<Attachment>& attachments);
// The label next to "Text": "Image", "Videos", "Documents", "Attached".
QString attachedLabel(AttachedKind kind);
// In a sentence: "the image", "the videos", "the documents", "what is attached".
QString attachedNoun(AttachedKind kind);

// The file as people know it: its name, or that it was pasted if an earlier version named it by its hash.
QString attachedName(const QString& path);

// "1,512 words · 2,034 tokens"; where it is cut: "1,512 words · the first 1,000 of 2,034 tokens". tokens: of all of it, 0: not counted yet;
// mostTokens: that are read from its beginning, 0: all.
QString documentLength(qint64 words, qint64 tokens, qint64 mostTokens);

// The name of a watched source: "the screen", "the camera /dev/video0", otherwise its address.
QString watchedName(const QString& address);

// A notice about a medium, as a sentence of the window: "The picture is animated; its first frame is used."
//
// The clauses are those of app/ground/notices, translated.
QString noticeWords(const MediaNotice& notice);
// A line each.
QString noticeWords(const std::vector<MediaNotice>& notices);

}  // namespace winnow::app
