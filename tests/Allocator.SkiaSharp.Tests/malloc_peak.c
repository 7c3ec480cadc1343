/* Counts what one thread takes from malloc, for tests of how much Skia takes: loaded before the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

extern void *__libc_calloc(size_t, size_t);

static void *(*real_malloc)(size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);

static __thread int is_counting;
static __thread long current;
static __thread long peak;

static void find(void)
{
    if (!real_aligned_alloc) {
        real_malloc = dlsym(RTLD_NEXT, "malloc");
        real_realloc = dlsym(RTLD_NEXT, "realloc");
        real_free = dlsym(RTLD_NEXT, "free");
        real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
        real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    }
}

static void count(long bytes)
{
    if (is_counting) {
        current += bytes;
        peak = current > peak ? current : peak;
    }
}

static void *counted(void *memory)
{
    count(memory ? (long)malloc_usable_size(memory) : 0);
    return memory;
}

void *malloc(size_t size) { find(); return counted(real_malloc(size)); }
void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }
void *aligned_alloc(size_t alignment, size_t size) { find(); return counted(real_aligned_alloc(alignment, size)); }

void *realloc(void *memory, size_t size)
{
    find();
    long before = memory ? (long)malloc_usable_size(memory) : 0;
    void *after = real_realloc(memory, size);
    if (after) count((long)malloc_usable_size(after) - before);
    return after;
}

void free(void *memory)
{
    find();
    if (memory) count(-(long)malloc_usable_size(memory));
    real_free(memory);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    find();
    int result = real_posix_memalign(memory, alignment, size);
    if (!result) counted(*memory);
    return result;
}

void malloc_peak_begin(void) { current = peak = 0; is_counting = 1; }
long malloc_peak_end(void) { is_counting = 0; return peak; }
