/* SPDX-License-Identifier: BSD-3-Clause */
// Linked statically: nothing can be put in front of it.
int main(void) { return 6; }
