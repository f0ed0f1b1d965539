// Loops to be divided among threads. loops KERNEL HOW [--name=value ...] prints the seconds of all steps but the first 20,
// and a checksum that does not depend on HOW.
//   KERNEL   sweep       u[i] = mean of three neighbours, over rows of two arrays: bound by memory
//            triangle    iteration i has work i
//            mandelbrot  rows of an image, whose expensive part moves in mid-run
//   HOW      static, dynamic, dynamic8, guided   the schedule of the compiler's OpenMP runtime
//            runtime                              what OMP_SCHEDULE says: an unmodified program
//            auto, static!, steal, hybrid, ...   a strategy of Steelyard ("static!" is Steelyard's static)
//   --kib=N (sweep: of both arrays)  --steps=N  --delay=PERCENT (of the last thread)  --fraction=F
//   --noise=N: each N-th step another thread is delayed instead
#include <omp.h>

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
  long kib = 4096, steps = 200, delay = 0, noise = 0;
  double fraction = -1;
};

int delayed = -1;  // thread that is held up in this step
long every = 0;    // it runs each such iteration twice
thread_local long seen = 0;

template <class Row>
void run_row(const Row& row, long i) {
  row(i);
  // Rows can be run again without harm. The count goes on from step to step: short loops are delayed as much as long ones.
  if (delayed == omp_get_thread_num() && ++seen % every == 0) row(i);
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
        for (long i = mine.first; i < mine.last; ++i) run_row(row, i);
      if (steelyard_loop_end(&mine) != STEELYARD_SUCCESS) std::abort();
    }
  }
}

class Kernel {
 public:
  explicit Kernel(const Settings& settings) : settings_(settings) {
    if (settings.kernel == "sweep") {
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

  void step(steelyard_loop_t* loop, long number) {
    if (settings_.kernel == "sweep") {
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
      const double shift = number < settings_.steps / 2 ? 0.0 : 1.0;
      divide(settings_.how, loop, rows_, [this, shift](long i) {
        const double y = -1.6 + shift + 2.2 * static_cast<double>(i) / static_cast<double>(rows_);
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
        value_[static_cast<std::size_t>(i)] = static_cast<double>(total);
      });
    }
  }

  double checksum() const {
    double sum = 0;
    for (const double v : value_) sum += v;
    for (const double v : u_) sum += v;
    return sum;
  }

 private:
  void touch() {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows_ * columns_; ++i) {
      u_[static_cast<std::size_t>(i + 1)] = static_cast<double>(i % 1000);
      w_[static_cast<std::size_t>(i + 1)] = 0;
    }
  }

  Settings settings_;
  long rows_ = 0, columns_ = 0;
  std::vector<double> u_, w_, value_;
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
         number("--noise=", settings.noise) || number("--fraction=", settings.fraction);
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
  if (!good || (settings.kernel != "sweep" && settings.kernel != "triangle" && settings.kernel != "mandelbrot")) {
    std::fprintf(stderr,
                 "loops: call it as loops sweep|triangle|mandelbrot HOW [--kib=N] [--steps=N] [--delay=PERCENT] "
                 "[--noise=N] [--fraction=F]\n");
    return 2;
  }
  const std::string strategy = settings.how == "static!" ? "static" : settings.how;
  steelyard_loop_t* loop = nullptr;
  if (settings.how != "static" && settings.how.compare(0, 7, "dynamic") != 0 && settings.how != "guided" &&
      settings.how != "runtime") {
    const steelyard_loop_options_t options = {strategy.c_str(), settings.fraction, 0};
    if (steelyard_loop_create("kernel", &options, &loop) != STEELYARD_SUCCESS) {
      std::fprintf(stderr, "loops: %s\n", steelyard_message());
      return 2;
    }
  }
  Kernel kernel(settings);
  const int threads = omp_get_max_threads();
  double start = 0;
  for (long step = 0; step < settings.steps + 20; ++step) {
    if (step == 20) start = omp_get_wtime();
    delayed = settings.delay > 0 ? threads - 1 : -1;
    if (delayed >= 0 && settings.noise > 0)
      delayed = step % settings.noise == 0 ? static_cast<int>(step / settings.noise % threads) : -1;
    every = settings.delay > 0 ? 100 / settings.delay : 0;
    kernel.step(loop, step);
  }
  std::printf("seconds %.6f\nchecksum %.6f\n", omp_get_wtime() - start, kernel.checksum());
  if (loop != nullptr) {
    steelyard_loop_state_t state;
    steelyard_loop_inspect(loop, &state);
    std::printf("strategy %s%s, %.1f us, stolen %.1f %%\n", state.strategy, state.settled ? "" : " (not settled)",
                state.seconds * 1e6, state.stolen * 100);
    steelyard_loop_free(loop);
  }
  return 0;
}
