#include "ui/models/timeline_recorder.h"

#include <algorithm>

namespace winnow::ui {
namespace {

using app::TimelinePoint;

SlotCounts summed(const std::vector<SlotCounts>& layers) {
  SlotCounts sum;
  for (const SlotCounts& layer : layers) {
    sum.visual += layer.visual;
    sum.text += layer.text;
    sum.generated += layer.generated;
    sum.image += layer.image;
  }
  return sum;
}

// Bytes shared in proportion to slots: every slot takes the same.
TimelinePoint pointOf(const SlotCounts& slots, double bytes, double fullBytes) {
  const double each = slots.total() > 0.0 ? bytes / slots.total() : 0.0;
  return {.text = slots.text * each,
          .image = slots.image * each,
          .video = (slots.visual - slots.image) * each,
          .generated = slots.generated * each,
          .full = fullBytes};
}

}  // namespace

void TimelineRecorder::begin(std::chrono::steady_clock::time_point asked) {
  m_asked = asked;
  m_timeline = {};
  m_prefillEndMs = -1.0;
  m_retained = 0.0;
  m_imagesKnown = false;
  m_evicted = false;
}

void TimelineRecorder::take(const EventBody& event) {
  if (!m_asked) return;
  if (const auto* progress = std::get_if<Progress>(&event)) {
    const bool event = progress->phase == Phase::kCompress || progress->phase == Phase::kProbe;
    if (event && m_prefillEndMs < 0.0) m_prefillEndMs = now();
  } else if (const auto* report = std::get_if<CacheReport>(&event)) {
    addReport(*report);
  } else if (const auto* sample = std::get_if<DecodeSample>(&event)) {
    addSample(*sample);
  } else if (std::holds_alternative<Finished>(event) && !m_timeline.empty()) {
    // The engine's last sample was taken after the last token.
    TimelinePoint end = m_timeline.points.back();
    end.mark = TimelinePoint::Mark::kEnd;
    if (m_timeline.points.back().mark == TimelinePoint::Mark::kNone) {
      m_timeline.points.back() = end;
    } else {
      m_timeline.add(end);
    }
  }
}

void TimelineRecorder::addReport(const CacheReport& report) {
  const double full = static_cast<double>(report.kv_bytes.full);
  const double after = static_cast<double>(report.kv_bytes.after_event);
  const double time = now();
  if (after < full) {
    SlotCounts tokens;
    for (const TokenOrigin& token : report.tokens) ++(is_attached(token.modality) ? tokens.visual : tokens.text);
    const double peak = report.kv_bytes.peak > 0 ? std::min(static_cast<double>(report.kv_bytes.peak), full) : full;
    TimelinePoint before = pointOf(tokens, std::max(peak, after), full);
    before.ms = m_prefillEndMs >= 0.0 ? m_prefillEndMs : time;
    before.mark = TimelinePoint::Mark::kPrefillEnd;
    m_timeline.add(before);
  }
  SlotCounts slots;
  for (const LayerFigures& layer : report.layers) {
    slots.visual += layer.kept_visual;
    slots.text += layer.kept_text;
  }
  m_retained = slots.total();
  TimelinePoint point = pointOf(slots, after, full);
  point.ms = time;
  point.mark = after < full ? TimelinePoint::Mark::kEvent : TimelinePoint::Mark::kPrefillEnd;
  m_timeline.add(point);
}

void TimelineRecorder::addSample(const DecodeSample& sample) {
  const SlotCounts slots = summed(sample.layers);
  TimelinePoint point = pointOf(slots, static_cast<double>(sample.kv_bytes_now), static_cast<double>(sample.kv_bytes_full_now));
  point.ms = now();
  point.tokensPerS = sample.tokens_per_s;
  if (!m_imagesKnown && slots.visual > 0.0) {
    const double images = slots.image / slots.visual;
    for (TimelinePoint& earlier : m_timeline.points) {
      earlier.image = earlier.video * images;
      earlier.video -= earlier.image;
    }
  }
  m_imagesKnown = true;
  if (!m_evicted && slots.visual + slots.text < m_retained - 0.5) {
    m_evicted = true;
    point.mark = TimelinePoint::Mark::kEviction;
  }
  m_timeline.add(point);
}

}  // namespace winnow::ui
