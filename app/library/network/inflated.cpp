#include "app/library/network/inflated.h"

#include <zlib.h>

#include <array>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::size_t kGivenBytes = 16 << 10;
constexpr int kGzipOrZlib = 32 + MAX_WBITS;

}  // namespace

struct Inflated::Stream {
  z_stream state{};
  bool ended = false;
};

Inflated::Inflated() : m_stream(std::make_unique<Stream>()) { require(inflateInit2(&m_stream->state, kGzipOrZlib) == Z_OK, "zlib begins"); }

Inflated::~Inflated() { inflateEnd(&m_stream->state); }

void Inflated::add(std::string_view piece, const TakePiece& take) {
  z_stream& state = m_stream->state;
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib's interface knows no const
  state.avail_in = static_cast<uInt>(piece.size());
  std::array<char, kGivenBytes> given;
  do {
    if (m_stream->ended) return;  // what stands behind the end is nothing
    state.next_out = reinterpret_cast<Bytef*>(given.data());
    state.avail_out = static_cast<uInt>(given.size());
    const int result = inflate(&state, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw Exception(ErrorCode::kDamagedFile, "", "what came compressed cannot be read");
    m_stream->ended = result == Z_STREAM_END;
    if (const std::size_t size = given.size() - state.avail_out; size > 0) take({given.data(), size});
  } while (state.avail_in > 0 || state.avail_out == 0);
}

}  // namespace winnow::app
