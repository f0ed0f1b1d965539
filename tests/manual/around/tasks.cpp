#include <steelyard/tasks.hpp>
#include <vector>

struct Cell { double state[8]; };
struct Rates { double rate[8]; };
Rates integrate(const Cell& cell);
void keep(const Cell& cell, const Rates& rates);
void simulate(const std::vector<Cell>& mine) {
@BLOCK@
}
