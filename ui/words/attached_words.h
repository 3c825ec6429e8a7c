// What is attached, in words: what it is called, whether it is pictures or texts, and how long a text is.
//
// Used by every view that names what is attached or counts its tokens. Plain functions; UI thread only (translations).
#pragma once

#include <QString>

namespace winnow::ui {

enum class AttachedKind : int { kPictures = 1, kDocuments = 2, kBoth = 3 };

// Nothing at all may become either.
AttachedKind attachedKind(bool pictures, bool documents);
// Beside "Text": "Visual", "Document", "Attached".
QString attachedLabel(AttachedKind kind);
// "of pictures", "of the document", "of what is attached".
QString ofAttached(AttachedKind kind);
// Of a share that is kept: "of the pictures"; text: nothing is attached.
QString keptOf(AttachedKind kind, bool text);
// As the subject of a sentence about all of it: "the pictures", "the document", "what is attached".
QString attachedNoun(AttachedKind kind);

// As people know the file: its name; of one that an earlier version kept under the hash of what was pasted, that it was pasted.
QString attachedName(const QString& path);

// "1,512 words · 2,034 tokens"; where it is cut: "1,512 words · the first 1,000 of 2,034 tokens". tokens: of all of it, 0: not counted yet;
// mostTokens: that are read from its beginning, 0: all.
QString documentLength(qint64 words, qint64 tokens, qint64 mostTokens);

}  // namespace winnow::ui
