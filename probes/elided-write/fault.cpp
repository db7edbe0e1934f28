#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

using step::minimax_m3::InsertContext;
using step::minimax_m3::InsertPath;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::program_with;
using step::minimax_m3::sound_program;

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

void add_elided_write_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(
      {.id = "elided-write",
       .variant = "index-key",
       .description = "index-K is written only where there is metadata; K and V always",
       .options = "--kv-dtype fp8_e5m2 --write-path two-step",
       .program = program_with(std::make_shared<ElidedIndexKey>()),
       .clean_twin = sound_program()});
}

}  // namespace graphsan::faults
