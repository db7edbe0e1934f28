#include <stdexcept>
#include <utility>

#include "diagnose/probe.hpp"

namespace graphsan::diagnose {

void ProbeRegistry::add(MechanismText text, std::unique_ptr<Probe> probe) {
  std::string id = text.id;
  if (entries_.contains(id)) throw std::logic_error{"mechanism registered twice: " + id};
  entries_.emplace(id, Entry{std::move(text), std::move(probe)});
  order_.push_back(std::move(id));
}

const Probe* ProbeRegistry::find(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second.probe.get();
}

const MechanismText* ProbeRegistry::text(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.text;
}

}  // namespace graphsan::diagnose
