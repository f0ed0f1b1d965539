#include <stdint.h>
#include <steelyard/loops.h>

double f(int64_t i);
void sweep(double* y, int64_t n);
void sweep(double* y, int64_t n) {
@BLOCK@
}
