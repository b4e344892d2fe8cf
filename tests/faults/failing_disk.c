/* Preloaded into a process: calls to files below a folder can be made to fail, as on a full or broken disk.

   fault_arm(folder, at, error, lasting): the `at`th call that writes, from now on, fails with `error`, and all after it
   if `lasting`. fault_count() says how many there were. fault_arm_reads(folder, at, error) is the same for one that
   reads. fault_disk(folder, bytes, is_read_only): it is on a disk of its own, of this size, to whoever writes by calls
   or asks how much is free. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Shared with the processes that are started from here, so that the calls of all of them count. */
static struct state {
    char folder[PATH_MAX];
    atomic_long calls, failed, disk_size;
    long fail_at;
    int fail_with, is_lasting, is_of_reads;
    atomic_int is_read_only;
} *state;

__attribute__((constructor)) static void share(void) {
    const char *known = getenv("FAULT_STATE");
    int file = known ? open(known, O_RDWR | O_CLOEXEC) : -1;
    int is_new = file < 0;
    if (is_new) {
        char name[64];
        file = memfd_create("fault", MFD_CLOEXEC);
        if (ftruncate(file, sizeof *state)) abort();
        snprintf(name, sizeof name, "/proc/%d/fd/%d", getpid(), file);
        setenv("FAULT_STATE", name, 1);
    }
    void *shared = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) abort();
    state = shared;
    if (is_new) atomic_store(&state->disk_size, -1);
}

void fault_arm(const char *below, long at, int error, int lasting) {
    strncpy(state->folder, below, sizeof state->folder - 1);
    atomic_store(&state->calls, 0);
    atomic_store(&state->failed, 0);
    state->fail_at = at;
    state->fail_with = error;
    state->is_lasting = lasting;
    state->is_of_reads = 0;
}

void fault_arm_reads(const char *below, long at, int error) {
    fault_arm(below, at, error, 0);
    state->is_of_reads = 1;
}

void fault_disk(const char *below, long bytes, int read_only) {
    fault_arm(below, 0, 0, 0);
    atomic_store(&state->disk_size, bytes);
    atomic_store(&state->is_read_only, read_only);
}

long fault_count(void) { return atomic_load(&state->calls); }

long fault_failed(void) { return atomic_load(&state->failed); }

static int is_below(const char *path) {
    return state && state->folder[0] && strncmp(path, state->folder, strlen(state->folder)) == 0;
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    if (!state || !state->folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_below(path);
}

/* Whether this call is one to fail; errno is set then. */
static int fails(int is_read) {
    if (is_read != state->is_of_reads) return 0;
    long number = atomic_fetch_add(&state->calls, 1) + 1;
    if (!state->fail_at || !(number == state->fail_at || (state->is_lasting && number > state->fail_at))) return 0;
    atomic_fetch_add(&state->failed, 1);
    errno = state->fail_with;
    return 1;
}

static long used(const char *path) {
    struct stat found;
    if (lstat(path, &found)) return 0;
    long sum = found.st_blocks * 512;
    DIR *listing = S_ISDIR(found.st_mode) ? opendir(path) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        char inner[PATH_MAX];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner) sum += used(inner);
    }
    if (listing) closedir(listing);
    return sum;
}

static long left(void) {
    long free = atomic_load(&state->disk_size) - used(state->folder);
    return free > 0 ? free : 0;
}

/* Whether the disk takes no writing, or not so many bytes more; errno is set then. */
static int refuses(size_t size) {
    int is_full = size && atomic_load(&state->disk_size) >= 0 && (long)size > left();
    if (!is_full && !atomic_load(&state->is_read_only)) return 0;
    errno = is_full ? ENOSPC : EROFS;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FILE(result, name, parameters, arguments, file) \
    result name parameters { return is_file_below(file) && fails(0) ? -1 : REAL(name) arguments; }
#define WRITING(result, name, parameters, arguments) \
    result name parameters { \
        return is_file_below(file) && (refuses(size) || fails(0)) ? -1 : REAL(name) arguments; \
    }
#define ALLOCATING(name, parameters, arguments) \
    int name parameters { return is_file_below(file) && (refuses(size) || fails(0)) ? errno : REAL(name) arguments; }
#define ON_PATH(name, parameters, arguments, path) \
    int name parameters { return is_below(path) && (refuses(0) || fails(0)) ? -1 : REAL(name) arguments; }

WRITING(ssize_t, write, (int file, const void *data, size_t size), (file, data, size))
WRITING(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
WRITING(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
ON_FILE(ssize_t, writev, (int file, const struct iovec *data, int count), (file, data, count), file)
ON_FILE(int, fsync, (int file), (file), file)
ON_FILE(int, fdatasync, (int file), (file), file)
ON_FILE(int, ftruncate, (int file, off_t size), (file, size), file)
ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size), file)
WRITING(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size))
WRITING(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size))
ALLOCATING(posix_fallocate, (int file, off_t at, off_t size), (file, at, size))
ALLOCATING(posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size))
ON_PATH(rename, (const char *from, const char *to), (from, to), to)
ON_PATH(renameat, (int at, const char *from, int there, const char *to), (at, from, there, to), to)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path)
ON_PATH(link, (const char *from, const char *to), (from, to), to)

ssize_t read(int file, void *data, size_t size) {
    return state->is_of_reads && is_file_below(file) && fails(1) ? -1 : REAL(read)(file, data, size);
}

#define STATVFS(name) \
    int name(const char *path, struct name *found) { \
        int status = REAL(name)(path, found); \
        if (!status && atomic_load(&state->disk_size) >= 0 && is_below(path)) \
            found->f_bfree = found->f_bavail = (unsigned long)left() / found->f_frsize; \
        return status; \
    }

STATVFS(statvfs)
STATVFS(statvfs64)

int access(const char *path, int mode) {
    return mode & W_OK && is_below(path) && refuses(0) ? -1 : REAL(access)(path, mode);
}

/* A new file needs space in its folder. */
#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (flags & (O_ACCMODE | O_CREAT) && is_below(path) && refuses(0)) return -1; \
        return flags & O_CREAT && is_below(path) && fails(0) ? -1 : REAL(name)(path, flags, mode); \
    }

OPENING(open)
OPENING(open64)
