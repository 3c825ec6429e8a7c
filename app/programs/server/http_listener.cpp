#include "app/programs/server/http_listener.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "app/programs/server/peer_end.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Failure = boost::system::error_code;
using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kHalfClosedPoll{50};
constexpr milliseconds kLingering{1'000};
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;  // that are received at a time

auto into(Failure& failure) { return asio::redirect_error(asio::use_awaitable, failure); }

// The bytes of an answer on their way from its writer to the connection.
class Outbox final : public HttpAnswer, public std::enable_shared_from_this<Outbox> {
 public:
  Outbox(asio::io_context& loop, std::size_t mostWaiting) : m_loop(&loop), m_news(std::in_place, loop), m_mostWaiting(mostWaiting) {
    m_news->expires_at(asio::steady_timer::time_point::max());
  }

  void send(HttpReply reply) override {
    onLoop([reply = std::move(reply)](Outbox& self) mutable {
      self.head = std::move(reply);
      self.ended = true;
    });
  }
  void begin(HttpReply head) override {
    onLoop([head = std::move(head)](Outbox& self) mutable {
      self.streams = true;
      self.pieces.push_back(std::exchange(head.body, {}));
      self.head = std::move(head);
    });
  }
  void write(std::string piece) override {
    onLoop([piece = std::move(piece)](Outbox& self) mutable {
      if (self.gone) return;
      if (self.m_waiting > self.m_mostWaiting) return self.leave();  // one piece may be larger than all that may wait
      self.m_waiting += piece.size();
      self.pieces.push_back(std::move(piece));
    });
  }
  void end() override {
    onLoop([](Outbox& self) { self.ended = true; });
  }
  void whenGone(std::function<void()> tell) override {
    onLoop([tell = std::move(tell)](Outbox& self) mutable {
      if (self.gone) return tell();
      self.m_tell = std::move(tell);
    });
  }

  // The connection's side, on the loop's thread.
  asio::awaitable<void> news() {
    Failure cancelled;
    co_await m_news->async_wait(into(cancelled));
    m_news->expires_at(asio::steady_timer::time_point::max());
  }
  std::string next() {
    std::string piece = std::move(pieces.front());
    pieces.pop_front();
    m_waiting -= std::min(m_waiting, piece.size());
    return piece;
  }
  void leave() {
    if (gone) return;
    gone = true;
    pieces.clear();
    if (m_news) m_news->cancel();
    if (m_tell) std::exchange(m_tell, nullptr)();
  }
  // Its connection has no more to do with it: what is said from now on goes nowhere, and the loop may end.
  void detach() {
    m_tell = nullptr;
    m_news.reset();
    const std::lock_guard lock(m_mutex);
    m_loop = nullptr;
  }

  std::optional<HttpReply> head;
  std::deque<std::string> pieces;
  bool streams = false;
  bool ended = false;
  bool gone = false;

 private:
  template <class Change>
  void onLoop(Change change) {
    const std::lock_guard lock(m_mutex);
    if (m_loop == nullptr) return;
    asio::post(*m_loop, [self = shared_from_this(), change = std::move(change)]() mutable {
      change(*self);
      if (self->m_news) self->m_news->cancel();
    });
  }

  std::mutex m_mutex;  // guards m_loop
  asio::io_context* m_loop;
  std::optional<asio::steady_timer> m_news;  // never expires: cancelled where there is something new
  const std::size_t m_mostWaiting;
  std::size_t m_waiting = 0;
  std::function<void()> m_tell;
};

// A text that grows as it comes. Beast's own takes the memory of the length that is announced.
struct ArrivingBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>& /*header*/, value_type& body) : m_body(body) {}
    void init(const boost::optional<std::uint64_t>& /*announced*/, Failure& failure) { failure = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, Failure& failure) {
      failure = {};
      for (const asio::const_buffer buffer : beast::buffers_range_ref(buffers))
        m_body.append(static_cast<const char*>(buffer.data()), buffer.size());
      return beast::buffer_bytes(buffers);
    }
    void finish(Failure& failure) { failure = {}; }

   private:
    value_type& m_body;
  };
};
using Parser = http::request_parser<ArrivingBody>;

// In a list for as long as this lives.
template <class T>
class Listed {
 public:
  Listed(std::list<T*>& list, T& entry) : m_list(list), m_entry(&entry) { m_list.push_back(m_entry); }
  ~Listed() { m_list.remove(m_entry); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::list<T*>& m_list;
  T* const m_entry;
};

// The handler's hold on the answer. Dropped without an answer: 500.
class Promise final : public HttpAnswer {
 public:
  explicit Promise(std::shared_ptr<Outbox> outbox) : m_outbox(std::move(outbox)) {}
  ~Promise() override {
    if (!m_begun) m_outbox->send({500, "text/plain", "internal error\n", {}});
    if (m_begun && !m_ended) m_outbox->end();
  }
  void send(HttpReply reply) override {
    if (m_begun.exchange(true)) return;
    m_ended = true;
    m_outbox->send(std::move(reply));
  }
  void begin(HttpReply head) override {
    if (!m_begun.exchange(true)) m_outbox->begin(std::move(head));
  }
  void write(std::string piece) override { m_outbox->write(std::move(piece)); }
  void end() override {
    m_ended = true;
    m_outbox->end();
  }
  void whenGone(std::function<void()> tell) override { m_outbox->whenGone(std::move(tell)); }

 private:
  const std::shared_ptr<Outbox> m_outbox;
  std::atomic<bool> m_begun{false};
  std::atomic<bool> m_ended{false};
};

std::string text(beast::string_view view) { return {view.data(), view.size()}; }

// Another coding than "chunked": where the body ends cannot be known.
bool hasForeignCoding(const http::request_header<>& header) {
  const auto [first, last] = header.equal_range(http::field::transfer_encoding);
  return std::any_of(first, last, [](const auto& field) { return !beast::iequals(field.value(), "chunked"); });
}

HttpRequest requestOf(const Parser& parser) {
  const http::request_header<>& header = parser.get().base();
  HttpRequest request{.method = text(header.method_string())};
  const std::string target = text(header.target());
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  request.host = text(header[http::field::host]);
  request.origin = text(header[http::field::origin]);
  request.authorization = text(header[http::field::authorization]);
  request.session = text(header["Winnow-Session"]);
  request.type = text(header[http::field::content_type]);
  request.announcesBody = parser.chunked() || parser.content_length().value_or(0) > 0;
  return request;
}

// Or was let go: the stream closes itself when its time is over.
bool hasLeft(const Failure& failure) {
  return failure == http::error::end_of_stream || failure == http::error::partial_message || failure == beast::error::timeout ||
         failure == asio::error::eof || failure == asio::error::connection_reset || failure == asio::error::operation_aborted;
}

int statusOf(const Failure& failure) {
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow) return 431;
  if (failure == http::error::body_limit) return 413;
  return 400;
}

std::string messageOf(int status) {
  switch (status) {
    case 413: return "the request is too large";
    case 431: return "the request's header is too large";
    case 501: return "this Transfer-Encoding is not supported: send a Content-Length, or chunked";
    case 503: return "too much is being received at once";
    default: return "this is not an HTTP request";
  }
}

}  // namespace

class HttpListener::Loop {
 public:
  Loop(const std::string& address, std::uint16_t port, const HttpLimits& limits, Gate gate, Handler handler)
      : m_limits(limits), m_gate(std::move(gate)), m_handler(std::move(handler)), m_acceptor(m_loop) {
    Failure failure;
    const auto ip = asio::ip::make_address(address, failure);
    if (failure) throw Exception(ErrorCode::kInvalidArgument, address, "this is no numeric address");
    const Tcp::endpoint place(ip, port);
    m_acceptor.open(place.protocol(), failure);
    if (!failure) m_acceptor.set_option(Tcp::acceptor::reuse_address(true), failure);
    if (!failure) m_acceptor.bind(place, failure);
    if (!failure) m_acceptor.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
      const std::string where = address + " port " + std::to_string(port);
      const bool taken = failure == asio::error::address_in_use;
      throw Exception(ErrorCode::kInvalidArgument, where, taken ? "another program listens there" : failure.message());
    }
    asio::co_spawn(m_loop, accept(), asio::detached);
    m_thread = std::thread([this] { m_loop.run(); });
  }
  ~Loop() {
    asio::post(m_loop, [this] {
      m_closing = true;
      Failure ignored;
      m_acceptor.close(ignored);
      for (beast::tcp_stream* stream : m_streams) stream->close();
      for (Outbox* outbox : m_open) outbox->leave();
    });
    m_thread.join();  // when no connection is left
  }
  std::uint16_t port() const { return m_acceptor.local_endpoint().port(); }

 private:
  asio::awaitable<void> accept() {
    while (!m_closing) {
      Failure failure;
      Tcp::socket socket = co_await m_acceptor.async_accept(into(failure));
      if (m_closing) co_return;
      if (failure) {  // no descriptor is free, or the other side left at once
        asio::steady_timer pause(m_loop, milliseconds(50));
        co_await pause.async_wait(into(failure));
        continue;
      }
      if (std::ssize(m_streams) >= m_limits.connections && !makeRoom()) continue;  // closed
      asio::co_spawn(m_loop, serve(std::move(socket)), asio::detached);
    }
  }

  // False: everybody is in the middle of a request.
  bool makeRoom() {
    if (m_idle.empty()) return false;
    beast::tcp_stream* const oldest = m_idle.front();
    m_idle.pop_front();
    m_streams.remove(oldest);
    oldest->close();
    return true;
  }

  asio::awaitable<void> serve(Tcp::socket socket) {
    beast::tcp_stream stream(std::move(socket));
    Failure ignored;
    stream.socket().set_option(Tcp::no_delay(true), ignored);
    const Listed open(m_streams, stream);
    beast::flat_buffer received(m_limits.headerBytes + kPieceBytes);
    while (!m_closing && co_await serveOne(stream, received)) {
    }
    if (!m_closing) co_await linger(stream);
    stream.socket().shutdown(Tcp::socket::shutdown_both, ignored);
  }

  // To close on what was sent and not read would take the last answer from whoever is still sending.
  asio::awaitable<void> linger(beast::tcp_stream& stream) {
    const Listed idle(m_idle, stream);
    Failure failure;
    stream.socket().shutdown(Tcp::socket::shutdown_send, failure);
    stream.expires_after(kLingering);
    std::vector<char> unread(kPieceBytes);
    while (!failure) co_await stream.async_read_some(asio::buffer(unread), into(failure));
  }

  // False: the connection ends.
  asio::awaitable<bool> serveOne(beast::tcp_stream& stream, beast::flat_buffer& received) {
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(m_limits.headerBytes));
    parser.body_limit(m_limits.bodyBytes);
    Failure failure = co_await headerRead(stream, received, parser);
    if (hasLeft(failure)) co_return false;
    if (failure) co_return co_await refuse(stream, statusOf(failure));
    if (hasForeignCoding(parser.get().base())) co_return co_await refuse(stream, 501);
    const unsigned version = parser.get().version();
    HttpRequest request = requestOf(parser);
    if (const auto refusal = m_gate(request)) {
      co_await reply(stream, *refusal, version, false);
      co_return false;  // its body is not read
    }
    if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      http::response<http::empty_body> goOn(http::status::continue_, version);
      co_await http::async_write(stream, goOn, into(failure));
    }
    BodyShare share(*this);
    const Clock::time_point begun = Clock::now();
    while (!failure && !parser.is_done()) {
      stream.expires_at(latestPiece(begun, parser.get().body().size()));
      co_await http::async_read_some(stream, received, parser, into(failure));
      if (!share.grow(parser.get().body().size())) co_return co_await refuse(stream, 503);
    }
    if (hasLeft(failure)) co_return false;
    if (failure) co_return co_await refuse(stream, statusOf(failure));
    const bool keep = parser.keep_alive();
    request.body = std::move(parser.get().body());
    co_return co_await answer(stream, std::move(request), version, keep);
  }

  asio::awaitable<Failure> headerRead(beast::tcp_stream& stream, beast::flat_buffer& received, Parser& parser) {
    const Listed idle(m_idle, stream);
    Failure failure;
    stream.expires_after(milliseconds(m_limits.headerMs));
    co_await http::async_read_header(stream, received, parser, into(failure));
    co_return failure;
  }

  // When the next piece of a body must be there: neither silence nor a drip holds its place.
  Clock::time_point latestPiece(Clock::time_point begun, std::size_t came) const {
    const milliseconds silence(m_limits.silenceMs);
    const milliseconds paidFor(1000 * came / m_limits.leastBytesPerS);
    return std::min(Clock::now() + silence, begun + silence + paidFor);
  }

  asio::awaitable<bool> answer(beast::tcp_stream& stream, HttpRequest request, unsigned version, bool keep) {
    const auto outbox = std::make_shared<Outbox>(m_loop, m_limits.waitingBytes);
    m_open.insert(outbox.get());
    m_handler(std::move(request), std::make_shared<Promise>(outbox));
    stream.expires_never();
    const auto watched = std::make_shared<bool>(true);
    watch(stream, outbox, watched);
    while (!outbox->head && !outbox->gone) co_await outbox->news();
    bool sent = !outbox->gone;
    if (sent && outbox->streams) {
      sent = co_await streamPieces(stream, *outbox, version);
      keep = keep && version >= 11;
    } else if (sent) {
      sent = co_await reply(stream, *outbox->head, version, keep);
    }
    *watched = false;
    Failure ignored;
    if (sent && keep) stream.socket().cancel(ignored);  // ends the watch
    if (!sent) outbox->leave();
    outbox->detach();
    m_open.erase(outbox.get());
    co_return (sent && keep);
  }

  // Tells the answer that the other side is gone. What it sends meanwhile is the next request and stays where it is.
  void watch(beast::tcp_stream& stream, const std::shared_ptr<Outbox>& outbox, const std::shared_ptr<bool>& watched) {
    stream.socket().async_wait(Tcp::socket::wait_read, [this, &stream, outbox, watched](const Failure& failure) {
      if (!*watched) return;
      char first = 0;
      Failure closed = failure;
      if (!closed) stream.socket().receive(asio::buffer(&first, 1), asio::socket_base::message_peek, closed);
      if (closed == asio::error::eof) {
        asio::co_spawn(m_loop, watchHalf(stream, outbox, watched), asio::detached);
      } else if (closed && closed != asio::error::would_block) {
        outbox->leave();
      }
    });
  }

  // Watches a client that sends nothing more, and perhaps waits for the answer.
  asio::awaitable<void> watchHalf(beast::tcp_stream& stream, std::shared_ptr<Outbox> outbox, std::shared_ptr<bool> watched) {
    asio::steady_timer pause(m_loop);
    Failure ignored;
    askWhetherPeerIsThere(stream.socket().native_handle());
    while (*watched) {
      if (peerIsGone(stream.socket().native_handle())) co_return outbox->leave();
      pause.expires_after(kHalfClosedPoll);
      co_await pause.async_wait(into(ignored));
    }
  }

  asio::awaitable<bool> reply(beast::tcp_stream& stream, const HttpReply& reply, unsigned version, bool keep) {
    http::response<http::string_body> response(static_cast<http::status>(reply.status), version);
    fill(response, reply, keep);
    response.body() = reply.body;
    response.prepare_payload();
    co_return co_await written(stream, response);
  }

  asio::awaitable<bool> refuse(beast::tcp_stream& stream, int status) {
    // Named: GCC 12 destroys a temporary twice that a co_await's expression makes by braces (its bug 104031).
    HttpReply refusal;
    refusal.status = status;
    refusal.body = R"({"error":{"message":")" + messageOf(status) + R"(","type":"invalid_request_error","param":null,"code":null}})";
    co_await reply(stream, refusal, 11, false);
    co_return false;
  }

  asio::awaitable<bool> streamPieces(beast::tcp_stream& stream, Outbox& outbox, unsigned version) {
    http::response<http::empty_body> response(static_cast<http::status>(outbox.head->status), version);
    const bool chunked = version >= 11;
    fill(response, *outbox.head, chunked);
    response.chunked(chunked);
    http::response_serializer<http::empty_body> head(response);
    Failure failure;
    stream.expires_after(milliseconds(m_limits.silenceMs));
    co_await http::async_write_header(stream, head, into(failure));
    while (!failure && !outbox.gone) {
      if (outbox.pieces.empty()) {
        if (outbox.ended) break;
        stream.expires_never();
        co_await outbox.news();
        continue;
      }
      const std::string piece = outbox.next();
      if (piece.empty()) continue;  // an empty chunk would end it
      stream.expires_after(milliseconds(m_limits.silenceMs));
      if (chunked) {
        co_await asio::async_write(stream, http::make_chunk(asio::buffer(piece)), into(failure));
      } else {
        co_await asio::async_write(stream, asio::buffer(piece), into(failure));
      }
    }
    if (failure || outbox.gone) co_return false;
    if (chunked) co_await asio::async_write(stream, http::make_chunk_last(), into(failure));
    co_return !failure;
  }

  template <class Response>
  void fill(Response& response, const HttpReply& reply, bool keep) {
    response.set(http::field::server, "winnow");
    if (!reply.type.empty()) response.set(http::field::content_type, reply.type);
    for (const auto& [name, value] : reply.headers) response.set(name, value);
    response.keep_alive(keep);
  }

  template <class Response>
  asio::awaitable<bool> written(beast::tcp_stream& stream, Response& response) {
    Failure failure;
    stream.expires_after(milliseconds(m_limits.silenceMs));
    co_await http::async_write(stream, response, into(failure));
    co_return !failure;
  }

  // Counts what has come of this body against the memory for bodies.
  class BodyShare {
   public:
    explicit BodyShare(Loop& loop) : m_loop(loop) {}
    ~BodyShare() { m_loop.m_bodyBytes -= m_bytes; }
    BodyShare(const BodyShare&) = delete;
    BodyShare& operator=(const BodyShare&) = delete;

    // False: there is no room for so many.
    bool grow(std::uint64_t bytes) {
      m_loop.m_bodyBytes += bytes - m_bytes;
      m_bytes = bytes;
      return m_loop.m_bodyBytes <= m_loop.m_limits.allBodyBytes;
    }

   private:
    Loop& m_loop;
    std::uint64_t m_bytes = 0;
  };

  const HttpLimits m_limits;
  const Gate m_gate;
  const Handler m_handler;
  asio::io_context m_loop{1};
  Tcp::acceptor m_acceptor;
  std::list<beast::tcp_stream*> m_streams;  // of the loop's thread, as the four below
  std::list<beast::tcp_stream*> m_idle;     // of these, those without a whole header, the oldest first
  std::set<Outbox*> m_open;
  std::uint64_t m_bodyBytes = 0;
  bool m_closing = false;
  std::thread m_thread;  // last
};

HttpListener::HttpListener(const std::string& address, std::uint16_t port, const HttpLimits& limits, Gate gate, Handler handler)
    : m_loop(std::make_unique<Loop>(address, port, limits, std::move(gate), std::move(handler))) {}

HttpListener::~HttpListener() = default;

std::uint16_t HttpListener::port() const { return m_loop->port(); }

}  // namespace winnow::app
