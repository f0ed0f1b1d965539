#include <functional>
#include <steelyard/loops.hpp>
#include <vector>

double f(int i);
double sweep(std::vector<double>& x, std::vector<double>& y, int n) {
@BLOCK@
  return sum;
}
