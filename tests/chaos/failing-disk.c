// A disk that fails now and then, for the programs that load this with LD_PRELOAD. Of the calls that touch files below
// FAILING_DISK_ROOT a share of FAILING_DISK_RATE fails, each with an error of a bad disk or file server; a link or a rename may also
// report an error although it was done. What failed is appended to FAILING_DISK_LOG, a line for each call. Only what goes through libc
// is seen: Node does, a Go program does not. No read is cut short: libuv and Node's `readFile` take a short read for the end of a
// file, as POSIX lets them, and no disk or file server that works reports one.
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(type, name, ...)                         \
  static type (*real)(__VA_ARGS__);                   \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static const char *root;
static size_t rootLength;
static uint64_t threshold;
static uint64_t state;
static int record = -1;

static ssize_t writeAll(int file, const char *text, size_t length) { return syscall(SYS_write, file, text, length); }

__attribute__((constructor)) static void begin(void) {
  const char *rate = getenv("FAILING_DISK_RATE");
  const char *path = getenv("FAILING_DISK_ROOT");
  const char *log = getenv("FAILING_DISK_LOG");
  const char *seed = getenv("FAILING_DISK_SEED");
  if (!rate || !path) return;
  threshold = (uint64_t)(atof(rate) * 4294967296.0);
  state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid();
  if (log) record = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  rootLength = strlen(path);
  root = path;
}

static uint32_t next(void) {
  uint64_t drawn = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED);
  drawn = (drawn ^ (drawn >> 30)) * 0xbf58476d1ce4e5b9ull;
  drawn = (drawn ^ (drawn >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)(drawn >> 32);
}

static int isBelow(const char *path) {
  return root && path && strncmp(path, root, rootLength) == 0 && (path[rootLength] == '/' || path[rootLength] == 0);
}

static void note(const char *kind, const char *what) {
  char line[64];
  int length = snprintf(line, sizeof line, "%s %s\n", kind, what);
  if (record >= 0) writeAll(record, line, (size_t)length);
}

static const struct {
  int code;
  const char *name;
} errors[] = {{EIO, "EIO"},       {EIO, "EIO"},       {ESTALE, "ESTALE"},       {EACCES, "EACCES"},
              {EAGAIN, "EAGAIN"}, {EMFILE, "EMFILE"}, {ETIMEDOUT, "ETIMEDOUT"}, {EPERM, "EPERM"}};

static int isDrawn(void) { return root && next() < threshold; }

/** Fails a call: errno says how. */
static int fail(const char *kind) {
  unsigned chosen = next() % (sizeof errors / sizeof *errors);
  note(kind, errors[chosen].name);
  errno = errors[chosen].code;
  return 1;
}

/** Whether a call for a path fails. */
static int fails(const char *path, const char *kind) { return isBelow(path) && isDrawn() && fail(kind); }

/** Whether a call for a descriptor fails. What it stands for is asked of the system: a table would miss that libuv closes by system call. */
static int failsOpen(int file, const char *kind) {
  if (!isDrawn()) return 0;
  char name[32];
  char path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  long length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return isBelow(path) && fail(kind);
}

#define OPEN(name)                                              \
  int name(const char *path, int flags, ...) {                  \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    mode_t mode = va_arg(rest, mode_t);                         \
    va_end(rest);                                               \
    REAL(int, #name, const char *, int, mode_t);                \
    if (fails(path, "open")) return -1;                         \
    return real(path, flags, mode);                             \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
  int name(int folder, const char *path, int flags, ...) {      \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    mode_t mode = va_arg(rest, mode_t);                         \
    va_end(rest);                                               \
    REAL(int, #name, int, const char *, int, mode_t);           \
    if (fails(path, "open")) return -1;                         \
    return real(folder, path, flags, mode);                     \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int file, void *buffer, size_t length) {
  REAL(ssize_t, "read", int, void *, size_t);
  if (failsOpen(file, "read")) return -1;
  return real(file, buffer, length);
}

#define PREAD(name, offset_t)                                                 \
  ssize_t name(int file, void *buffer, size_t length, offset_t offset) {      \
    REAL(ssize_t, #name, int, void *, size_t, offset_t);                      \
    if (failsOpen(file, "pread")) return -1;                                  \
    return real(file, buffer, length, offset);                                \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

ssize_t write(int file, const void *buffer, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (failsOpen(file, "write")) return -1;
  return real(file, buffer, length);
}

#define PWRITE(name, offset_t)                                                \
  ssize_t name(int file, const void *buffer, size_t length, offset_t offset) { \
    REAL(ssize_t, #name, int, const void *, size_t, offset_t);                \
    if (failsOpen(file, "pwrite")) return -1;                                 \
    return real(file, buffer, length, offset);                                \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define OF_DESCRIPTOR(name)                                    \
  int name(int file) {                                         \
    REAL(int, #name, int);                                     \
    if (failsOpen(file, #name)) return -1;                     \
    return real(file);                                         \
  }
OF_DESCRIPTOR(fsync)
OF_DESCRIPTOR(fdatasync)

#define OF_PATH(name, parameters, types, ...)                  \
  int name parameters {                                        \
    REAL(int, #name, types);                                   \
    if (fails(path, #name)) return -1;                         \
    return real(__VA_ARGS__);                                  \
  }
#define TYPES(...) __VA_ARGS__
OF_PATH(access, (const char *path, int mode), TYPES(const char *, int), path, mode)
OF_PATH(mkdir, (const char *path, mode_t mode), TYPES(const char *, mode_t), path, mode)
OF_PATH(rmdir, (const char *path), TYPES(const char *), path)
OF_PATH(unlink, (const char *path), TYPES(const char *), path)
OF_PATH(stat, (const char *path, struct stat *found), TYPES(const char *, struct stat *), path, found)
OF_PATH(lstat, (const char *path, struct stat *found), TYPES(const char *, struct stat *), path, found)
OF_PATH(__xstat, (int version, const char *path, struct stat *found), TYPES(int, const char *, struct stat *), version, path, found)
OF_PATH(__xstat64, (int version, const char *path, struct stat64 *found), TYPES(int, const char *, struct stat64 *), version, path,
        found)
OF_PATH(__lxstat, (int version, const char *path, struct stat *found), TYPES(int, const char *, struct stat *), version, path, found)
OF_PATH(__lxstat64, (int version, const char *path, struct stat64 *found), TYPES(int, const char *, struct stat64 *), version, path,
        found)
OF_PATH(utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
        TYPES(int, const char *, const struct timespec *, int), folder, path, times, flags)
OF_PATH(scandir,
        (const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
         int (*compare)(const struct dirent **, const struct dirent **)),
        TYPES(const char *, struct dirent ***, int (*)(const struct dirent *),
              int (*)(const struct dirent **, const struct dirent **)),
        path, names, filter, compare)
OF_PATH(scandir64,
        (const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
         int (*compare)(const struct dirent64 **, const struct dirent64 **)),
        TYPES(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
              int (*)(const struct dirent64 **, const struct dirent64 **)),
        path, names, filter, compare)

DIR *opendir(const char *path) {
  REAL(DIR *, "opendir", const char *);
  return fails(path, "opendir") ? NULL : real(path);
}

/** Half of those that fail were done all the same: the answer of a file server got lost. */
#define TO_PATH(name)                                           \
  int name(const char *from, const char *to) {                  \
    REAL(int, #name, const char *, const char *);               \
    if (fails(to, #name)) return -1;                            \
    if (isBelow(to) && isDrawn()) {                             \
      real(from, to);                                           \
      note(#name, "EIO afterwards");                            \
      errno = EIO;                                              \
      return -1;                                                \
    }                                                           \
    return real(from, to);                                      \
  }
TO_PATH(link)
TO_PATH(rename)

#define MMAP(name, offset_t)                                                              \
  void *name(void *address, size_t length, int protection, int flags, int file, offset_t offset) { \
    REAL(void *, #name, void *, size_t, int, int, int, offset_t);                         \
    if (file >= 0 && failsOpen(file, "mmap")) return MAP_FAILED;                          \
    return real(address, length, protection, flags, file, offset);                        \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/** Not with EPERM: libuv takes that for a kernel without this call, and asks by `stat` from then on. */
static int failsStatx(int folder, const char *path) {
  if (path == NULL || !(*path == 0 ? failsOpen(folder, "statx") : fails(path, "statx"))) return 0;
  if (errno == EPERM) errno = EIO;
  return 1;
}

/** Node's libuv asks for a file's state by `syscall(SYS_statx, …)`. */
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long given[6];
  for (int index = 0; index < 6; index++) given[index] = va_arg(rest, long);
  va_end(rest);
  REAL(long, "syscall", long, ...);
  if (number == SYS_statx && failsStatx((int)given[0], (const char *)given[1])) return -1;
  return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found) {
  REAL(int, "statx", int, const char *, int, unsigned, struct statx *);
  return failsStatx(folder, path) ? -1 : real(folder, path, flags, mask, found);
}
