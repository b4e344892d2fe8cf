/* Preloaded into a process: from the (FSYNC_CALLS + 1)th call on, fsync and fdatasync fail as on a broken disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long calls;

static int sync_or_fail(const char *name, int file) {
    const char *allowed = getenv("FSYNC_CALLS");
    if (allowed != NULL && atomic_fetch_add(&calls, 1) >= atol(allowed)) {
        errno = EIO;
        return -1;
    }
    int (*sync_file)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return sync_file(file);
}

int fsync(int file) { return sync_or_fail("fsync", file); }

int fdatasync(int file) { return sync_or_fail("fdatasync", file); }
