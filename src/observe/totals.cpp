// SPDX-License-Identifier: BSD-3-Clause
#include "observe/totals.h"

namespace steelyard::observe {

Totals operator-(const Totals& later, const Totals& earlier) {
  Totals difference;
  for (const TotalsField& field : kTotalsFields) difference.*field.value = later.*field.value - earlier.*field.value;
  return difference;
}

Totals& operator+=(Totals& sum, const Totals& part) {
  for (const TotalsField& field : kTotalsFields) sum.*field.value += part.*field.value;
  return sum;
}

}  // namespace steelyard::observe
