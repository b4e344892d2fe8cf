/* Preloaded into a process: calls that write to files below a folder can be made to fail, as on a full or broken disk.

   fault_arm(folder, at, error, lasting): the `at`th such call from now on fails with `error`, and all after it if
   `lasting`; a call that writes to a full disk may write a part of it first. fault_count() says how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static atomic_long calls, failed;
static long fail_at;
static int fail_with, is_lasting;

void fault_arm(const char *below, long at, int error, int lasting) {
    strncpy(folder, below, sizeof folder - 1);
    atomic_store(&calls, 0);
    atomic_store(&failed, 0);
    fail_at = at;
    fail_with = error;
    is_lasting = lasting;
}

long fault_count(void) { return atomic_load(&calls); }

long fault_failed(void) { return atomic_load(&failed); }

static int is_below(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_below(path);
}

/* Whether this call is one to fail; errno is set then. */
static int fails(void) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (!fail_at || !(number == fail_at || (is_lasting && number > fail_at))) return 0;
    atomic_fetch_add(&failed, 1);
    errno = fail_with;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FILE(result, name, parameters, arguments, file) \
    result name parameters { return is_file_below(file) && fails() ? -1 : REAL(name) arguments; }
#define ON_FILE_GIVES_ERROR(name, parameters, arguments, file) \
    int name parameters { return is_file_below(file) && fails() ? fail_with : REAL(name) arguments; }
#define ON_PATH(name, parameters, arguments, path) \
    int name parameters { return is_below(path) && fails() ? -1 : REAL(name) arguments; }

ON_FILE(ssize_t, write, (int file, const void *data, size_t size), (file, data, size), file)
ON_FILE(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at), file)
ON_FILE(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at), file)
ON_FILE(ssize_t, writev, (int file, const struct iovec *data, int count), (file, data, count), file)
ON_FILE(int, fsync, (int file), (file), file)
ON_FILE(int, fdatasync, (int file), (file), file)
ON_FILE(int, ftruncate, (int file, off_t size), (file, size), file)
ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size), file)
ON_FILE(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size), file)
ON_FILE(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size), file)
ON_FILE_GIVES_ERROR(posix_fallocate, (int file, off_t at, off_t size), (file, at, size), file)
ON_FILE_GIVES_ERROR(posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size), file)
ON_PATH(rename, (const char *from, const char *to), (from, to), to)
ON_PATH(renameat, (int at, const char *from, int there, const char *to), (at, from, there, to), to)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path)
ON_PATH(link, (const char *from, const char *to), (from, to), to)

/* A new file needs space in its folder. */
#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return flags & O_CREAT && is_below(path) && fails() ? -1 : REAL(name)(path, flags, mode); \
    }

OPENING(open)
OPENING(open64)
