// What GraphSan offers to a step: memory, copies, launches on the host device, labels; C++17.
#ifndef GRAPHSAN_HOST_HPP
#define GRAPHSAN_HOST_HPP

#include <graphsan/plugin.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphsan {

/// A field of a host kernel's arguments; see GRAPHSAN_FIELD.
using Field = graphsan_field;

namespace detail {

/// A pointer to what is not const may be written through.
template <typename Member>
constexpr Field make_field(const char* name, std::size_t offset) {
  return {name, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(sizeof(Member)),
          std::is_pointer_v<Member> ? 1 : 0,
          std::is_pointer_v<Member> && !std::is_const_v<std::remove_pointer_t<Member>> ? 1 : 0};
}

template <typename Function>
struct ArgumentsOf;
template <typename Arguments>
struct ArgumentsOf<void (*)(const Arguments&)> {
  using Type = Arguments;
};

template <typename Arguments, typename = void>
struct FieldsOf {
  static std::vector<Field> get() { return {}; }
};
template <typename Arguments>
struct FieldsOf<Arguments, std::void_t<decltype(Arguments::fields())>> {
  static std::vector<Field> get() { return Arguments::fields(); }
};

/// The host kernel of a function; it lives as long as the program, as the ABI wants.
template <auto kRun>
struct HostKernel {
  using Arguments = typename ArgumentsOf<decltype(kRun)>::Type;
  static_assert(std::is_trivially_copyable_v<Arguments>,
                "the arguments are copied when the kernel is launched, byte by byte");

  static void run(const void* arguments) { kRun(*static_cast<const Arguments*>(arguments)); }

  static const graphsan_host_kernel& get(const char* name) {
    static const std::vector<Field> fields = FieldsOf<Arguments>::get();
    static const std::string own_name = name;
    static const graphsan_host_kernel kernel{sizeof(graphsan_host_kernel),
                                             own_name.c_str(),
                                             &HostKernel::run,
                                             sizeof(Arguments),
                                             fields.data(),
                                             static_cast<std::int32_t>(fields.size())};
    return kernel;
  }
};

}  // namespace detail

/// Names a field of `Type` for reports and experiments:
/// `static std::vector<Field> fields() { return {GRAPHSAN_FIELD(WriteArguments, slots), ...}; }`
#define GRAPHSAN_FIELD(Type, member) \
  ::graphsan::detail::make_field<decltype(Type::member)>(#member, offsetof(Type, member))

#define GRAPHSAN_TEXT_OF(number) #number
#define GRAPHSAN_LINE_TEXT(number) GRAPHSAN_TEXT_OF(number)
/// This line, as "file:line"; for Host::label().
#define GRAPHSAN_HERE __FILE__ ":" GRAPHSAN_LINE_TEXT(__LINE__)

/// What GraphSan offers to a step, until the check ends. Functions throw std::runtime_error where
/// the device refuses; the report has its reason.
class Host {
 public:
  explicit Host(const graphsan_host* host, std::string options = {})
      : host_{host}, options_{std::move(options)} {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// False on the host device, where pointers are host memory and there are no CUDA streams.
  [[nodiscard]] bool is_cuda() const { return host_->is_cuda != 0; }

  /// The text of `--step-options`, where the step is a plug-in; else "".
  [[nodiscard]] const std::string& options() const { return options_; }

  /// Device memory for `count` elements, zero-filled, with guard zones at both ends that nobody may
  /// write; freed after the step. While the step is made only: in its constructor or set_up().
  template <typename Element>
  [[nodiscard]] Element* allocate(const std::string& name, std::size_t count) {
    void* data = host_->allocate(host_, name.c_str(), count * sizeof(Element));
    if (data == nullptr) throw std::runtime_error{"no memory for " + name};
    return static_cast<Element*>(data);
  }

  /// Copies between any two addresses, in stream order: `from` is read when the stream gets to it.
  /// A captured copy reads `from` again at each replay: never a local variable.
  void copy(void* stream, void* to, const void* from, std::size_t bytes) {
    require(host_->copy(host_, stream, to, from, bytes), "copy()");
  }
  /// Sets `bytes` bytes from `to` on to `value`, in stream order; a captured fill at each replay.
  void fill(void* stream, void* to, std::uint8_t value, std::size_t bytes) {
    require(host_->fill(host_, stream, to, value, bytes), "fill()");
  }
  /// Waits for the stream. Refused while it captures, as CUDA refuses it.
  void synchronize(void* stream) { require(host_->synchronize(host_, stream), "synchronize()"); }

  /// Host device only: launches `kRun`, a function `void(const Arguments&)`, with a copy of its
  /// arguments. It runs when the stream gets to it, once for the whole grid. `name` is what reports
  /// call it; the first one given counts. Padding between the arguments is copied and compared too,
  /// so leave none.
  template <auto kRun>
  void launch(void* stream, const char* name,
              const typename detail::HostKernel<kRun>::Arguments& arguments) {
    require(host_->launch(host_, stream, &detail::HostKernel<kRun>::get(name), &arguments),
            "launch()");
  }

  /// Names the work that follows on the stream, such as GRAPHSAN_HERE, until the next label or the
  /// end of the call. Findings then say which of your lines launched a kernel.
  void label(void* stream, const std::string& source) {
    host_->label(host_, stream, source.c_str());
  }
  /// What follows has no name.
  void end_label(void* stream) { host_->label(host_, stream, nullptr); }

  /// Runs an op that a breakable graph leaves out: now, and again between the segments at each
  /// replay where the stream is captured. `op` itself is kept until the step ends, for each call.
  /// What it holds by reference or pointer must live as long: a lambda with [&] over local
  /// variables dangles at replay.
  void run_eagerly(void* stream, const std::string& name, std::function<void(void* stream)> op) {
    ops_.push_back({this, std::move(op)});
    require(host_->run_eagerly(host_, stream, name.c_str(), &Host::run_op, &ops_.back()),
            "run_eagerly()");
  }

  /// Runs `body`; an exception becomes a failure of the call, with its text. Returns what the ABI
  /// wants.
  template <typename Body>
  int guarded(Body&& body) const noexcept {
    try {
      body();
      return 0;
    } catch (const std::exception& error) {
      host_->fail(host_, error.what());
    } catch (...) {
      host_->fail(host_, "it threw something that is no std::exception");
    }
    return 1;
  }

  /// The table of the C ABI.
  [[nodiscard]] const graphsan_host* table() const { return host_; }

 private:
  struct Op {
    Host* host = nullptr;
    std::function<void(void* stream)> run;
  };

  static int run_op(void* argument, void* stream) {
    const Op& op = *static_cast<Op*>(argument);
    return op.host->guarded([&] { op.run(stream); });
  }

  static void require(int status, const char* what) {
    // The reason is kept on the other side of the ABI, which tells it in place of this text.
    if (status != 0) throw std::runtime_error{std::string{what} + " failed"};
  }

  const graphsan_host* host_;
  std::string options_;
  std::deque<Op> ops_;  ///< never moved: a capture names them
};

}  // namespace graphsan

#endif  // GRAPHSAN_HOST_HPP
