// SPDX-License-Identifier: BSD-3-Clause
// Loops to be divided among threads. loops KERNEL HOW [--name=value ...] prints the seconds of all steps but the first
// 20, the CPU time of an iteration, and a checksum that does not depend on HOW.
//   KERNEL   sweep       u[i] = mean of three neighbours, over rows of two arrays: bound by memory
//            triangle    iteration i has work i
//            mandelbrot  rows of an image, whose expensive part moves in mid-run
//            chunks      iterations without work, each a chunk of its own: what taking one costs
//   HOW      static, dynamic, dynamic8, guided   the schedule of the compiler's OpenMP runtime
//            runtime                              what OMP_SCHEDULE says: an unmodified program
//            auto, static!, steal, hybrid, ...   a strategy of Steelyard ("static!" is Steelyard's static)
//   --kib=N (sweep: of both arrays)  --steps=N  --delay=PERCENT (of the last thread)  --fraction=F
//   --noise=N: each N-th step another thread is delayed instead
//   --emulated=US: iterations sleep as long as their work would take, US microseconds on average, and so any number of
//   threads needs no cores
#include <omp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "steelyard/loops.h"

namespace {

struct Settings {
  std::string kernel, how;
  long kib = 4096, steps = 200, delay = 0, noise = 0, emulated = 0;
  double fraction = 0;
};

int delayed = -1;  // thread that is held up in this step
long every = 0;    // it runs each such iteration twice
thread_local long seen = 0;

template <class Row>
void run_row(const Row& row, long i) {
  row(i);
  // Rows can be run again without harm. The count goes on from step to step: short loops are delayed as much as long
  // ones.
  if (delayed >= 0 && delayed == omp_get_thread_num() && ++seen % every == 0) row(i);
}

double seconds_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A core of its own for each thread, as far as sleeping can stand for computing: the thread is where its core would be,
// from the begin of the loop on. What it slept too long it need not sleep the next time.
double loop_began = 0;
thread_local double core_is_at = 0;

void compute_emulated(double seconds) {
  constexpr double kTooShort = 50e-6;  // to fall asleep for
  core_is_at = std::max(core_is_at, loop_began) + seconds;
  if (core_is_at - seconds_of(CLOCK_MONOTONIC) < kTooShort) return;
  const auto whole = static_cast<time_t>(core_is_at);
  const timespec until = {whole, static_cast<long>((core_is_at - static_cast<double>(whole)) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

double mandelbrot_row(double y) {
  long total = 0;
  for (int column = 0; column < 120; ++column) {
    const double x = -2.0 + 2.5 * column / 120;
    double a = 0, b = 0;
    int n = 0;
    for (; n < 200 && a * a + b * b < 4; ++n) {
      const double next = a * a - b * b + x;
      b = 2 * a * b + y;
      a = next;
    }
    total += n;
  }
  return static_cast<double>(total);
}

template <class Row>
void divide(const std::string& how, steelyard_loop_t* loop, long rows, const Row& row) {
  if (how == "static") {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; ++i) run_row(row, i);
  } else if (how == "dynamic") {
#pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < rows; ++i) run_row(row, i);
  } else if (how == "dynamic8") {
#pragma omp parallel for schedule(dynamic, 8)
    for (long i = 0; i < rows; ++i) run_row(row, i);
  } else if (how == "guided") {
#pragma omp parallel for schedule(guided)
    for (long i = 0; i < rows; ++i) run_row(row, i);
  } else if (how == "runtime") {
#pragma omp parallel for schedule(runtime)
    for (long i = 0; i < rows; ++i) run_row(row, i);
  } else {
#pragma omp parallel
    {
      steelyard_iterations_t mine;
      steelyard_loop_begin(loop, 0, rows, 1, &mine);
      while (steelyard_loop_next(&mine) != 0)
        for (long i = mine.begin; i < mine.end; ++i) run_row(row, i);
      if (steelyard_loop_end(&mine) != STEELYARD_SUCCESS) std::abort();
    }
  }
}

// Small pages lie in a cache as chance has it: one run of the same binary is 10 % slower than another.
template <class T>
struct InHugePages {
  using value_type = T;
  static constexpr std::size_t kPage = 2U << 20;
  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* const memory = std::aligned_alloc(kPage, bytes);
    if (memory == nullptr) std::abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  bool operator==(const InHugePages&) const { return true; }
  bool operator!=(const InHugePages&) const { return false; }
};

class Kernel {
 public:
  explicit Kernel(const Settings& settings) : settings_(settings) {
    if (settings.emulated > 0) {
      rows_ = 2400;
      for (const double shift : {0.0, 1.0}) emulate(shift);
    } else if (settings.kernel == "chunks") {
      rows_ = 1000000;
    } else if (settings.kernel == "sweep") {
      rows_ = 1024;
      columns_ = settings.kib * 1024 / (2 * 8 * rows_);
      u_.resize(static_cast<std::size_t>(rows_ * columns_ + 2));
      w_.resize(u_.size());
      touch();
    } else {
      rows_ = settings.kernel == "triangle" ? 2000 : 400;
      value_.resize(static_cast<std::size_t>(rows_));
    }
  }

  long rows() const { return rows_; }

  void step(steelyard_loop_t* loop, long number) {
    const double shift = number < settings_.steps / 2 ? 0.0 : 1.0;
    if (settings_.emulated > 0) {
      const double* cost = cost_.data() + (shift > 0 ? rows_ : 0);
      loop_began = seconds_of(CLOCK_MONOTONIC);
      divide(settings_.how, loop, rows_, [cost](long i) { compute_emulated(cost[i]); });
    } else if (settings_.kernel == "chunks") {
      divide(settings_.how, loop, rows_, [](long i) { asm volatile("" : : "r"(i)); });
    } else if (settings_.kernel == "sweep") {
      const double* from = u_.data() + 1;
      double* to = w_.data() + 1;
      divide(settings_.how, loop, rows_, [=, columns = columns_](long i) {
        const double* u = from + i * columns;
        double* w = to + i * columns;
        for (long j = 0; j < columns; ++j) w[j] = (u[j - 1] + u[j] + u[j + 1]) / 3;
      });
      u_.swap(w_);
    } else if (settings_.kernel == "triangle") {
      divide(settings_.how, loop, rows_, [this](long i) {
        double sum = 0;
        for (long j = 0; j <= i; ++j) sum += 1 / (1.0 + static_cast<double>(j));
        value_[static_cast<std::size_t>(i)] = sum;
      });
    } else {
      divide(settings_.how, loop, rows_,
             [this, shift](long i) { value_[static_cast<std::size_t>(i)] = mandelbrot_row(height(i, shift)); });
    }
  }

  double checksum() const {
    double sum = 0;
    for (const double v : value_) sum += v;
    for (const double v : u_) sum += v;
    return sum;
  }

 private:
  double height(long row, double shift) const {
    return -1.6 + shift + 2.2 * static_cast<double>(row) / static_cast<double>(rows_);
  }

  void emulate(double shift) {
    double sum = 0;
    const std::size_t first = cost_.size();
    for (long i = 0; i < rows_; ++i) {
      const double row = settings_.kernel == "triangle"     ? static_cast<double>(i)
                         : settings_.kernel == "mandelbrot" ? mandelbrot_row(height(i, shift))
                                                            : 1;
      cost_.push_back(row);
      sum += row;
    }
    const double unit = 1e-6 * static_cast<double>(settings_.emulated * rows_) / sum;
    for (std::size_t i = first; i < cost_.size(); ++i) cost_[i] *= unit;
  }

  void touch() {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows_ * columns_; ++i) {
      u_[static_cast<std::size_t>(i + 1)] = static_cast<double>(i % 1000);
      w_[static_cast<std::size_t>(i + 1)] = 0;
    }
  }

  Settings settings_;
  long rows_ = 0, columns_ = 0;
  std::vector<double, InHugePages<double>> u_, w_;
  std::vector<double> value_;
  std::vector<double> cost_;  ///< seconds of each row, where they are emulated: before the shift and after it
};

bool read(const char* word, Settings& settings) {
  const auto number = [&](const char* name, auto& value) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(word, name, length) != 0) return false;
    char* end = nullptr;
    value = static_cast<std::remove_reference_t<decltype(value)>>(std::strtod(word + length, &end));
    return end != word + length && *end == '\0' && (value >= 0);
  };
  return number("--kib=", settings.kib) || number("--steps=", settings.steps) || number("--delay=", settings.delay) ||
         number("--noise=", settings.noise) || number("--fraction=", settings.fraction) ||
         number("--emulated=", settings.emulated);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool good = argc >= 3;
  if (good) {
    settings.kernel = argv[1];
    settings.how = argv[2];
  }
  for (int i = 3; i < argc; ++i) good = good && read(argv[i], settings);
  if (!good || (settings.kernel != "sweep" && settings.kernel != "triangle" && settings.kernel != "mandelbrot" &&
                settings.kernel != "chunks")) {
    std::fprintf(stderr,
                 "loops: call it as loops sweep|triangle|mandelbrot|chunks HOW [--kib=N] [--steps=N] [--delay=PERCENT] "
                 "[--noise=N] [--fraction=F] [--emulated=US]\n");
    return 2;
  }
  const std::string strategy = settings.how == "static!" ? "static" : settings.how;
  steelyard_loop_t* loop = nullptr;
  if (settings.how != "static" && settings.how.compare(0, 7, "dynamic") != 0 && settings.how != "guided" &&
      settings.how != "runtime") {
    const steelyard_loop_options_t options = {strategy.c_str(), settings.fraction,
                                              settings.kernel == "chunks" ? 1U : 0U};
    if (steelyard_loop_create("kernel", &options, &loop) != STEELYARD_SUCCESS) {
      std::fprintf(stderr, "loops: %s\n", steelyard_message());
      return 2;
    }
  }
  prctl(PR_SET_TIMERSLACK, 1UL);  // the threads inherit it
  Kernel kernel(settings);
  const int threads = omp_get_max_threads();
  double start = 0, start_cpu = 0;
  for (long step = 0; step < settings.steps + 20; ++step) {
    if (step == 20) {
      start = omp_get_wtime();
      start_cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    }
    delayed = settings.delay > 0 ? threads - 1 : -1;
    if (delayed >= 0 && settings.noise > 0)
      delayed = step % settings.noise == 0 ? static_cast<int>(step / settings.noise % threads) : -1;
    every = settings.delay > 0 ? 100 / settings.delay : 0;
    kernel.step(loop, step);
  }
  const double seconds = omp_get_wtime() - start, cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
  const double iterations = static_cast<double>(settings.steps * kernel.rows());
  std::printf("seconds %.6f\nns_a_chunk %.2f\nchecksum %.6f\n", seconds, cpu / iterations * 1e9, kernel.checksum());
  if (loop != nullptr) {
    steelyard_loop_state_t state;
    steelyard_loop_get_state(loop, &state);
    std::printf("strategy %s%s, %.1f us, stolen %.1f %%\n", state.strategy, state.settled ? "" : " (not settled)",
                state.seconds * 1e6, state.stolen_fraction * 100);
    steelyard_loop_free(loop);
  }
  return 0;
}
