// SPDX-License-Identifier: BSD-3-Clause
// LLVM's OpenMP runtime (16 and later, and Intel's) registers itself under a name in /dev/shm, so that a second copy of
// it in the same process finds the first. It removes the name at a normal exit only: a killed rank leaves
// /dev/shm/__KMP_REGISTERED_LIB_<pid>_<uid> behind. No setting of the runtime avoids that, so the registration gets a
// file without a name here. Only copies in one process look for it, and its name holds the process id.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "base/loaded_library.h"
#include "intercept/clause.h"

namespace steelyard::intercept {
namespace {

constexpr std::string_view kRegistration = "/__KMP_REGISTERED_LIB_";

bool is_registration(const char* name) { return name != nullptr && std::string_view(name).starts_with(kRegistration); }

/// The registration of this process. A forked child has another name, and registers anew.
class Registration {
 public:
  int open(std::string_view name, int flags) {
    const std::scoped_lock lock(mutex_);
    if (name == name_ && is_intact()) {
      if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return refused(EEXIST);
      return fcntl(file_, F_DUPFD_CLOEXEC, 0);
    }
    if ((flags & O_CREAT) == 0) return refused(ENOENT);
    return create(name);
  }

  void forget(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    if (name != name_) return;
    if (is_intact()) close(file_);
    file_ = -1;
    name_[0] = '\0';
  }

 private:
  static int refused(int error) {
    errno = error;
    return -1;
  }

  /// False where the program has closed the file: its descriptor may be another file's by now.
  bool is_intact() const {
    struct stat now{};
    return file_ >= 0 && fstat(file_, &now) == 0 && now.st_ino == inode_ && now.st_dev == device_;
  }

  int create(std::string_view name) {
    if (name.size() >= sizeof(name_)) return refused(ENAMETOOLONG);
    const int file = memfd_create("openmp-registration", MFD_CLOEXEC);
    struct stat made{};
    if (file < 0 || fstat(file, &made) != 0) return -1;
    if (is_intact()) close(file_);
    file_ = file;
    inode_ = made.st_ino;
    device_ = made.st_dev;
    name_[name.copy(name_, sizeof(name_) - 1)] = '\0';
    return fcntl(file_, F_DUPFD_CLOEXEC, 0);
  }

  std::mutex mutex_;
  char name_[64] = {};  // the prefix and two numbers
  int file_ = -1;
  ino_t inode_ = 0;
  dev_t device_ = 0;
};

constinit Registration g_registration;

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;

STEELYARD_EXPORT int shm_open(const char* name, int flags, mode_t mode) {
  if (is_registration(name)) {
    const int file = g_registration.open(name, flags);
    if (file >= 0 || errno == EEXIST || errno == ENOENT) return file;  // else the kernel refuses files without a name
  }
  static const auto next = steelyard::base::next_definition<int(const char*, int, mode_t)>("shm_open");
  if (next == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return next(name, flags, mode);
}

STEELYARD_EXPORT int shm_unlink(const char* name) {
  if (is_registration(name)) g_registration.forget(name);
  static const auto next = steelyard::base::next_definition<int(const char*)>("shm_unlink");
  if (next == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int status = next(name);
  return is_registration(name) ? 0 : status;
}
