#include "tests/unseen/first.hpp"

namespace graphsan::test {

const std::vector<UnseenFault>& unseen_faults_first() {
  static const std::vector<UnseenFault> faults = [] {
    std::vector<UnseenFault> made;
    add_first_work(made);
    add_first_values(made);
    add_first_contents(made);
    add_first_lifetimes(made);
    add_first_pools(made);
    add_first_sources(made);
    return made;
  }();
  return faults;
}

}  // namespace graphsan::test
