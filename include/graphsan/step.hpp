// A step under test, as a C++ class; C++17, header only.
//
// Check it in a test with graphsan/check.hpp, or make it a plug-in for `graphsan check --step` with
// graphsan/plugin.hpp. Its functions may throw: the report then names the function, the phase and
// the step, and repeats what().
#ifndef GRAPHSAN_STEP_HPP
#define GRAPHSAN_STEP_HPP

#include <graphsan/host.hpp>
#include <graphsan/values.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace graphsan {

/// One step of an engine: what GraphSan runs eagerly and as a CUDA graph, from the same state.
///
/// Calls come in the order set_up -> describe -> batch(0 .. steps - 1) -> for each arm: reset ->
/// history -> (prepare -> run) for each step. A capture is prepare -> run while the stream
/// captures. All device work goes to the stream that a call names; only prepare() may wait for it.
class Step {
 public:
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual ~Step() = default;

  /// Before each check, while memory can be asked for; once more where an experiment failed and the
  /// check begins again, with memory that is new. For steps that a factory makes, the constructor
  /// serves as well.
  virtual void set_up(Host& /*host*/) {}

  /// What the step is: its caches, how many batches it runs, and state that lives on. Called once,
  /// after set_up().
  [[nodiscard]] virtual Description describe() = 0;
  /// The batch of `step`, from 0 to Description::steps - 1. Called once for each, before any runs;
  /// the same batches serve all arms.
  [[nodiscard]] virtual Batch batch(int step) = 0;
  /// Puts this call's inputs in place. Pad lanes get slot -1 and keep an earlier batch's values.
  virtual void prepare(const Call& call) = 0;
  /// Issues the step's work to the call's stream, and nothing else.
  virtual void run(const Call& call) = 0;

  /// What a fresh process would hold. GraphSan fills the caches itself.
  virtual void reset(void* /*stream*/) {}
  /// Writes the rows of the context that was there before step 0.
  virtual void history(void* /*stream*/) {}
  /// The inputs of a call, each with memory for `call.lanes()` lanes. Without any, nothing proves
  /// that the steps' inputs differ, and no check agrees. Asked for at any time; `call.stream` is
  /// null, and nothing may be issued.
  [[nodiscard]] virtual std::vector<Input> inputs(const Call& /*call*/) { return {}; }
  /// The outputs of a call, each with memory for `call.tokens` lanes: pad lanes are not compared.
  /// Asked for before the call's run(), in the same way. Every arm declares the same ones, in the
  /// same order; where they lie may differ.
  [[nodiscard]] virtual std::vector<Output> outputs(const Call& /*call*/) { return {}; }
  /// The step's own capture of the batch or bucket that `call` names, on CUDA; none: GraphSan
  /// captures run().
  [[nodiscard]] virtual std::optional<OwnCapture> capture(const Call& /*call*/) {
    return std::nullopt;
  }

 protected:
  /// What GraphSan offers, from set_up() on until the check ends; throws std::logic_error else.
  [[nodiscard]] Host& host() const {
    if (host_ == nullptr)
      throw std::logic_error{"host() is there during a check, from set_up() on"};
    return *host_;
  }

 private:
  friend class StepBinding;
  Host* host_ = nullptr;
};

/// Makes the step of one check; its memory may come from `host`.
using StepFactory = std::function<std::unique_ptr<Step>(Host& host)>;

}  // namespace graphsan

#endif  // GRAPHSAN_STEP_HPP
