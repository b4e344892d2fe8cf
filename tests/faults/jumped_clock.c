/* Preloaded into a process: its clock is wrong by CLOCK_JUMP seconds. The steady clocks and the files' times are right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long jump(void) {
    const char *seconds = getenv("CLOCK_JUMP");
    return seconds == NULL ? 0 : atol(seconds);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = ((int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday"))(now, zone);
    if (result == 0 && now != NULL) now->tv_sec += jump();
    return result;
}

time_t time(time_t *now) {
    time_t found = ((time_t (*)(time_t *))dlsym(RTLD_NEXT, "time"))(NULL) + jump();
    if (now != NULL) *now = found;
    return found;
}
