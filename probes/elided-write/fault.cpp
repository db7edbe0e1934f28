#include "probes/elided-write/fault.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::InsertPath;
using step::minimax_m3::NegativeSlot;

namespace {

class ElidedIndexKey final : public InsertPath {
 public:
  void insert(const InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    step::minimax_m3::write_main(context, context.slots, context.tokens);
    if (context.metadata == nullptr) return;
    step::minimax_m3::write_index(context, context.slots, context.tokens, NegativeSlot::kSkip);
  }
};

}  // namespace

std::shared_ptr<const InsertPath> elided_index_key(const Config&) {
  return std::make_shared<ElidedIndexKey>();
}

}  // namespace graphsan::faults
